/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/thread.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "libmimic/base/probe.h"
#include "libmimic/mimic.h"

__thread struct mimic_thread *mimic_thread_own __attribute__((tls_model("initial-exec")));

static pthread_key_t end_key;
static atomic_bool end_key_exists;
static _Atomic uint32_t last_number;
static void (*_Atomic on_end)(void);

void mimic_thread_on_end(void (*function)(void))
{
	atomic_store_explicit(&on_end, function, memory_order_relaxed);
}

static void end_thread(void *record)
{
	void (*function)(void) = atomic_load_explicit(&on_end, memory_order_relaxed);

	if (function)
		function();
	mimic_thread_own = NULL;
	munmap(record, sizeof(struct mimic_thread));
}

/*
 * Early, because only the first keys of a process have their place in the
 * thread's descriptor: pthread_setspecific() of a later one allocates.
 */
__attribute__((constructor))
static void make_end_key(void)
{
	bool exists = false;

	if (!atomic_compare_exchange_strong(&end_key_exists, &exists, true))
		return;
	if (pthread_key_create(&end_key, end_thread))
		atomic_store(&end_key_exists, false);
}

struct mimic_thread *mimic_thread_make(void)
{
	struct mimic_thread *record, *nothing = NULL;
	int saved = errno;

	record = mmap(NULL, sizeof(*record), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	errno = saved;
	if (record == MAP_FAILED)
		return NULL;
	record->number = atomic_fetch_add(&last_number, 1) + 1;
	/* A signal handler on this thread may have been faster. */
	if (!__atomic_compare_exchange_n(&mimic_thread_own, &nothing, record, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED)) {
		munmap(record, sizeof(*record));
		return mimic_thread_own;
	}
	/* Another library's constructor may open a device before ours has run. */
	make_end_key();
	pthread_setspecific(end_key, record);
	mimic_probe_unblock_signals();
	return record;
}

int mimic_thread_attach(void)
{
	return mimic_thread_self() ? 0 : -ENOMEM;
}
