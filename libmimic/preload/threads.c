/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads. */
#include <pthread.h>

#include "libmimic/base/hold.h"
#include "patch.h"
#include "preload.h"

static THREAD_LOCAL bool is_attached;

void mimic_preload_threads_attach(void)
{
	unsigned int blocked = mimic_preload_mask_blocked();

	if (is_attached)
		return;
	/* It unblocks our two signals, through our wrapper: the program's view stays. */
	is_attached = mimic_thread_attach() == 0;
	mimic_preload_mask_set_blocked(blocked);
}

/*
 * A thread that is cancelled between two instructions of an access would keep the device's lock. The library holds the
 * cancellation up there, in threads that have set the asynchronous type by this function.
 */
EXPORT int pthread_setcanceltype(int type, int *before)
{
	bool is_asynchronous = type == PTHREAD_CANCEL_ASYNCHRONOUS;
	int error;

	if (is_asynchronous)
		mimic_hold_cancel_type(true);
	error = NEXT(pthread_setcanceltype)(type, before);
	/* Of another type (an error, too) nothing has changed. */
	if (!error && !is_asynchronous)
		mimic_hold_cancel_type(false);
	return error;
}

void mimic_preload_threads_after_fork(void)
{
	is_attached = false;
}
