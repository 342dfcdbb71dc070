/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The accesses to devices that are in progress. A thread that unmaps a page removes it from the table, and
 * then checks here whether the page's holder is being accessed. A thread that makes an access announces it
 * first, and then reads the table once more. Between these two steps there would have to be a barrier, which
 * takes longer than the rest: so the thread that unmaps, which is rare, makes one for all threads.
 */
#include <errno.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#define SLOTS 256u

static struct access_slot slots[SLOTS];
static struct holder nothing;
static struct access_slot none = { .holder = &nothing };
THREAD_LOCAL struct access_slot *mimic_preload_access_own = &none;
static THREAD_LOCAL bool is_asked;

static long thread_id(void)
{
	return mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static bool take(struct access_slot *slot, long before)
{
	if (!atomic_compare_exchange_strong(&slot->thread, &before, thread_id()))
		return false;
	/* Left by a thread that jumped out of an access and has ended. */
	if (before)
		atomic_store(&slot->holder, NULL);
	mimic_preload_access_own = slot;
	return true;
}

static bool is_gone(long thread)
{
	long process = mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);

	return mimic_raw_syscall(SYS_tgkill, process, thread, 0, 0, 0, 0) == -ESRCH;
}

/* A thread's end is not reported: its slot is taken by a thread that finds none free. */
static void find_slot(void)
{
	unsigned int i;

	is_asked = true;
	if (!mimic_preload_patch_is_on())
		return;
	for (i = 0; i < SLOTS; i++)
		if (!atomic_load(&slots[i].thread) && take(&slots[i], 0))
			return;
	for (i = 0; i < SLOTS; i++) {
		long thread = atomic_load(&slots[i].thread);

		if (is_gone(thread) && take(&slots[i], thread))
			return;
	}
}

struct access_slot *mimic_preload_access_begin_anyhow(struct holder *holder)
{
	if (!is_asked)
		find_slot();
	if (mimic_preload_access_is_in_use(mimic_preload_access_own)) {
		atomic_fetch_add(&holder->accesses, 1);
		return NULL;
	}
	return mimic_preload_access_begin(holder);
}

bool mimic_preload_access_is_none(struct holder *holder)
{
	unsigned int i;

	if (atomic_load(&holder->accesses))
		return false;
	if (!mimic_preload_patch_is_on())
		return true;
	/* Without the barrier this is not known: the slot is kept. */
	if (mimic_preload_code_synchronize())
		return false;
	for (i = 0; i < SLOTS; i++)
		if (atomic_load(&slots[i].holder) == holder)
			return false;
	return true;
}

/* The child has one thread, which may be in no access: fork() is none. */
void mimic_preload_accesses_after_fork(void)
{
	unsigned int i;

	for (i = 0; i < SLOTS; i++) {
		atomic_store(&slots[i].holder, NULL);
		atomic_store(&slots[i].thread, 0);
	}
	mimic_preload_access_own = &none;
	is_asked = false;
}
