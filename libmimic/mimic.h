/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libmimic: the program's end of the transports. The libraries of devices and the
 * preload library of `mimic run` are built on it; it knows no device in particular.
 *
 * A device handle stands for one instance that this process holds, or for one
 * context of an instance. Every function returns 0 (or a count), or -errno; none prints or exits.
 *
 * Threads: any thread may use a handle at any time; each is an owner of its
 * own (struct mimic_access, `owner`, is filled in here). mimic_device_access()
 * may be called from a signal handler once mimic_thread_attach() was called on
 * the thread.
 *
 * Fork: a child has no devices. Handles of the parent answer -ENODEV there.
 */
#ifndef MIMIC_H
#define MIMIC_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mimic/access.h"

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct mimic_device;

enum mimic_transport {
	MIMIC_TRANSPORT_AUTO,		/* the first that is there of kernel, daemon, embedded */
	MIMIC_TRANSPORT_EMBEDDED,
	MIMIC_TRANSPORT_DAEMON,
	MIMIC_TRANSPORT_KERNEL,
};

/*
 * All NULL or 0: environment (MIMIC_TRANSPORT, MIMIC_SOCKET, MIMIC_CONFIG, MIMIC_DEVICES), then defaults.
 * config_path and devices are of the embedded transport: given here, they make auto choose it, and are
 * -EINVAL with transport daemon or kernel. In the environment, these ignore them. socket_path is of the
 * daemon transport; the kernel knows the way to its daemon.
 */
struct mimic_options {
	enum mimic_transport transport;
	const char *socket_path;	/* of mimicd */
	const char *config_path;	/* INI file, or the name of a kind's profile, such as "paper" */
	const char *devices;		/* "maple:2,dare:1,virgo:2": all that there are */
};

/*
 * Opens an instance for this process.
 *   "maple"    any free one; -EBUSY if there is none
 *   "maple3"   that one; -EBUSY if another process holds it, -ENODEV if there
 *              is none. A process that holds it gets the same instance again.
 *   "maple@5"  a private instance for physical tile 5 (0 to 63), made on
 *              demand; the same number gives the same instance. The kernel has
 *              none: with transport kernel it is the daemon's or embedded.
 *   "dare"     a free context of any instance, with registers of its own: each
 *              open gives another one. -EBUSY if all are taken
 *   "dare0"    the same of that instance. A context has page 0 and no other:
 *              loads give 0, stores are dropped
 *   "virgo", "virgo0"   as with maple; there are no private ones
 * -ENOENT: unknown kind of device. -ECONNREFUSED: no daemon (transport daemon),
 * no device that answers (transport kernel). -EACCES: it is another user's.
 * -EPROTO: the daemon speaks another version. -EINVAL: options or configuration;
 * mimic_error_text() then says what and where.
 * Every successful open needs one mimic_device_close(); the last one of an
 * instance, or of a context its only one, gives it back, and it is then as after
 * power-on.
 */
int mimic_device_open(struct mimic_device **device, const char *name,
		      const struct mimic_options *options);
void mimic_device_close(struct mimic_device *device);

/* Longer text for the last error of this thread, "" if there is none. */
const char *mimic_error_text(void);

/* Name as the daemon knows it ("maple0", "maple@5"), and "embedded", "daemon" or "kernel". */
const char *mimic_device_name(const struct mimic_device *device);
const char *mimic_device_transport(const struct mimic_device *device);

/*
 * One access; waits as the hardware would. For a load access->data is the
 * answer. Everything posted before by any thread takes effect first, unless
 * the device holds it up (a full queue); this thread's own posts always do.
 * -ENODEV: the instance is gone (closed, the process forked, or a person has removed
 *          the device or reset it in the daemon; after close it can be opened anew).
 * -ENOTCONN: the daemon is gone.
 * -EDEADLK: called in a signal handler that interrupted another call of this
 * header at a moment when it cannot be entered twice (embedded transport). mimic_signal_defer()
 * keeps handlers from there. A wait is no such moment, and a handler may leave a wait by
 * siglongjmp(): the access is withdrawn.
 */
int mimic_device_access(struct mimic_device *device, struct mimic_access *access);

/*
 * `count` stores of values[] to the register that `pattern` names (page,
 * offset, size). Returns when all are accepted. Stores that work on what this
 * thread has to itself (data, pointers and loops for a queue; a context; commands of Virgo) may take effect
 * later: in order, and before anything this thread does to the device, and
 * before any access, load or counters() of another thread; to a context, and to Virgo, also
 * before what another thread posts after this has returned. All other stores
 * have taken effect when this returns. Waits while the device (a full queue)
 * and the ring hold it up.
 * Returns count or -errno. Not for signal handlers.
 */
ssize_t mimic_device_post(struct mimic_device *device, const struct mimic_access *pattern,
			  const uint64_t *values, size_t count);

/*
 * `count` loads of the register that `pattern` names; answers are packed into
 * values, pattern->size bytes each. Waits until all have come.
 * Returns count or -errno. Not for signal handlers.
 */
ssize_t mimic_device_load(struct mimic_device *device, const struct mimic_access *pattern,
			  void *values, size_t count);

/* The device's or context's counters in the order of the kind's list. Returns how many there are, or -errno. */
ssize_t mimic_device_counters(struct mimic_device *device, uint64_t *values, size_t count);

/*
 * The device's own memory, such as a Virgo cluster's shared memory. It is mapped into the
 * program once: every call gives the same address, which is good until the device's last
 * close. It was zeroed when the process opened the device. A forked child has not got it.
 * -ENXIO: a device of this kind has none.
 */
int mimic_device_memory(struct mimic_device *device, void **address, size_t *size);

/*
 * An eventfd of the program that counts up by one whenever one or more of `events` (of
 * Virgo: VIRGO_EVENT_*) have happened since the last time; what happened is then cleared in
 * the device, events that are not asked for stay. What had happened before the call counts,
 * too. The descriptor is duplicated; it takes the place of the one before, a device has one.
 * fd -1 or events 0: none any more. -ENXIO: a device of this kind has no events. -EBADF;
 * -EINVAL: no eventfd, or no such event.
 */
int mimic_device_eventfd(struct mimic_device *device, int fd, uint64_t events);

/*
 * What the device wants a person to know, once: NULL, or a constant text, such
 * as that the emulated hardware hangs. On the daemon and kernel transports it
 * goes to the daemon's log instead. May be called from signal handlers.
 */
const char *mimic_device_report(struct mimic_device *device);

/*
 * Memory that the device reaches directly on every transport (shared with the
 * daemon). Zeroed, page aligned, below 2^40 so that every profile can address
 * it. NULL with errno. Free it with mimic_memory_free() of the same device; it is lost with
 * the device's last close. Its pages stay: madvise(MADV_REMOVE) fails with EPERM where
 * a daemon of another user has it, and elsewhere may end the session. The same holds
 * for memory that is registered.
 */
void *mimic_memory_alloc(struct mimic_device *device, size_t size);
int mimic_memory_free(struct mimic_device *device, void *address);

/*
 * Makes memory that the program already has directly reachable. The whole
 * pages of [address, address + size) are replaced in place by shared ones with
 * the same contents; no other thread may write to them during the call.
 * Private anonymous memory only: -EINVAL for anything else. On the embedded
 * transport there is nothing to do: the range is remembered, for the call that takes it back.
 * On the kernel transport there is nothing to do either, and the answers are the
 * daemon transport's. Taking back what is not registered: -EINVAL.
 */
int mimic_memory_register(struct mimic_device *device, void *address, size_t size);
int mimic_memory_unregister(struct mimic_device *device, void *address, size_t size);

/*
 * A hang explains itself: `tell` is called once for each wait of a thread for a device that has lasted so
 * long, with one line (without a newline) for people, such as maple0: thread 4711 has waited 10 s for a load
 * of MAPLE CONSUME [0]: queue 0 is empty, and nobody produces which is lost when it returns. It names the
 * device, the register and, as far as the device knows, the reason. The thread that waits makes the call, in
 * the middle of its call of this header; with mimic_device_access() in a signal handler that is inside of the
 * handler, so that only what a handler may do is allowed, and nothing of this header. The wait goes on
 * afterwards. 0 milliseconds, or NULL: no calls any more. To be set before the device is used; a wait that
 * has begun may call as it was set before.
 *
 * Without this call nothing is told, but where the environment has MIMIC_PATIENCE when the first device is
 * opened: a decimal number of seconds (0: never). Then such lines go to standard error. `mimic run` sets it
 * to 10 if it is not set. On the kernel transport a program's own loads and stores of the node's page wait in
 * the kernel, and tell nothing.
 */
void mimic_patience(unsigned int milliseconds, void (*tell)(void *context, const char *text), void *context);

/*
 * Prepares this thread for mimic_device_access() from a signal handler.
 * Cheap when it was done before.
 */
int mimic_thread_attach(void);

/*
 * The first step of a program's signal handler that uses a device, or leaves by siglongjmp():
 *
 *	static void handler(int number, siginfo_t *information, void *context)
 *	{
 *		if (mimic_signal_defer(number, information, context))
 *			return;
 *		...
 *
 * 1: the signal has come where the device's lock is held, or a ring half written, on this thread.
 * The handler has to return at once, and changes nothing. The same signal is sent again, with
 * what it tells, as soon as the thread has left that place, which is a matter of microseconds;
 * until then others wait. 0: the handler may go on, in a wait for the device too. A signal of a fault is
 * never deferred. The arguments are those of a handler with SA_SIGINFO: *information may then be that of
 * a queued signal that came before this one. A handler that is set with SA_RESETHAND has to be set again
 * before it returns. Async-signal-safe, keeps errno.
 *
 * Under `mimic run` this is done for all handlers that a program sets by the C library, and is not
 * needed. Where it is needed and not called, mimic_device_access() may be -EDEADLK in a handler on
 * the embedded transport; on the daemon's and the kernel's it never is.
 */
int mimic_signal_defer(int number, siginfo_t *information, void *context);

/*
 * For whoever owns the process's SIGSEGV and SIGBUS handlers: was the fault at
 * `instruction_pointer` a read by the device? Then returns where to go on, else 0.
 * libmimic installs handlers of its own that do this, unless
 * mimic_faults_are_handled() was called before the first mimic_device_open().
 * They pass other faults on to the handlers that were there before. A program
 * that installs its own later has to call this from them; and it must not
 * block the two signals (libmimic unblocks them at a thread's first call).
 */
uintptr_t mimic_fault_fixup(uintptr_t instruction_pointer);
void mimic_faults_are_handled(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
