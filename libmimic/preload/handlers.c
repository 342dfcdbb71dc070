/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program's handlers of signals that we do not need for ourselves. The kernel gets ours,
 * with the program's flags and mask: it keeps the program's from where the device cannot be
 * used, shows the program its own context, wherever the signal came to, and calls the handler
 * that the program has set.
 */
#include <signal.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#define SIGNAL_COUNT 65

typedef void (*handler)(int number, siginfo_t *information, void *context);

static _Atomic(handler) handlers[SIGNAL_COUNT];

static void dispatch(int number, siginfo_t *information, void *context);

/* The kernel has put the default in the place of a handler for one signal, which has not been called yet. */
static void set_anew(int number)
{
	struct sigaction action;

	if (NEXT(sigaction)(number, NULL, &action) || action.sa_handler != SIG_DFL ||
	    !(action.sa_flags & (int)SA_RESETHAND))
		return;
	action.sa_sigaction = dispatch;
	NEXT(sigaction)(number, &action, NULL);
}

/* The kernel gives all three arguments to a handler of one, too. */
static void dispatch(int number, siginfo_t *information, void *context)
{
	handler program = atomic_load_explicit(&handlers[number], memory_order_acquire);
	struct mimic_vectors *kept = mimic_preload_vectors_hide();
	struct patch_shown shown;

	if (mimic_preload_signals_defer(number, information, context)) {
		set_anew(number);
	} else {
		mimic_preload_patch_show(context, &shown);
		program(number, information, context);
		mimic_preload_patch_resume(context, &shown);
	}
	mimic_preload_vectors_show(kept);
}

sighandler_t mimic_preload_handlers_get(int number)
{
	if (number <= 0 || number >= SIGNAL_COUNT)
		return SIG_DFL;
	return (sighandler_t)(void *)atomic_load(&handlers[number]);
}

sighandler_t mimic_preload_handlers_replace(int number, sighandler_t program)
{
	if (number <= 0 || number >= SIGNAL_COUNT || program == SIG_DFL ||
	    program == SIG_IGN || program == SIG_ERR || program == SIG_HOLD)
		return program;
	/* Before the kernel knows: a signal that comes at once finds it. */
	atomic_store_explicit(&handlers[number], (handler)(void *)program, memory_order_release);
	return (sighandler_t)(void *)dispatch;
}

sighandler_t mimic_preload_handlers_restore(sighandler_t of_kernel, sighandler_t before)
{
	return of_kernel == (sighandler_t)(void *)dispatch ? before : of_kernel;
}
