/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/quiet_thread.h"

#include <signal.h>
#include <stddef.h>

static void mask_of_thread(sigset_t *mask)
{
	static const int let_through[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS };

	sigfillset(mask);
	for (size_t i = 0; i < sizeof(let_through) / sizeof(let_through[0]); i++)
		sigdelset(mask, let_through[i]);
}

#if __GLIBC_PREREQ(2, 32)

int mimic_quiet_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
	pthread_attr_t attributes;
	sigset_t mask;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	mask_of_thread(&mask);
	error = pthread_attr_setsigmask_np(&attributes, &mask);
	if (!error)
		error = pthread_create(thread, &attributes, run, argument);
	pthread_attr_destroy(&attributes);
	return error;
}

#else

/* The thread inherits the mask of the one that makes it. */
int mimic_quiet_thread(pthread_t *thread, void *(*run)(void *), void *argument)
{
	sigset_t mask, before;
	int error;

	mask_of_thread(&mask);
	error = pthread_sigmask(SIG_BLOCK, &mask, &before);
	if (error)
		return error;
	error = pthread_create(thread, NULL, run, argument);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

#endif
