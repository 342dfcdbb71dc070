/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libmimic: the program's end of the transports. The libraries of devices and the
 * preload library of `mimic run` are built on it; it knows no device in particular.
 * This header is its manual; there is a man page for each function.
 *
 * A device handle stands for one instance that this process holds, or for one
 * context of an instance.
 *
 * Errors. Functions return 0 or a count, or a negative errno value; nothing is printed,
 * nothing exits. Each function lists its own errors; beside these, every function of a handle may return
 *	-ENODEV		the handle is NULL or belongs to the parent of a fork, or the instance is gone: it was closed, an administrator has removed or reset the device in the daemon, or a daemon that went on for a dead one could not give it back (its log says why); after close it can be opened anew
 *	-ENOTCONN	the daemon is gone (transports daemon and kernel)
 *
 * Threads. Any thread may use a handle at any time; each is an owner of its
 * own (struct mimic_access, owner, is filled in by the library). Only the functions
 * that say so may be called by signal handlers.
 *
 * Fork. A child has no devices. Handles of the parent answer -ENODEV there.
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

/* A member that is NULL or 0 is taken from the environment, then the default. */
struct mimic_options {
	enum mimic_transport transport;
	const char *socket_path;	/* of mimicd */
	const char *config_path;	/* INI file, or the name of a kind's profile, such as "paper" */
	const char *devices;		/* "maple:2,dare:1,virgo:2": all that there are */
};

/**
 * mimic_device_open() - opens an instance of a device for this process
 * @device: where the handle goes; untouched if the call fails
 * @name: which instance, see below
 * @options: transport and settings; NULL is the same as all members NULL or 0
 *
 * The name is one of:
 *	maple     any free instance
 *	maple3    that instance; a process that holds it gets the same one again
 *	maple@5   a private instance for physical tile 5 (0 to 63), made on demand;
 *	          the same number gives the same instance. The kernel has none: with
 *	          transport kernel it is the daemon's or embedded
 *	dare      a free context of any instance, with registers of its own: each
 *	          call gives another one. Its page 0 is the context; it has no other
 *	          page: loads give 0, stores are dropped
 *	dare0     the same, of that instance
 *	virgo, virgo0
 *	          as with maple; there are no private ones
 *
 * The environment variables are MIMIC_TRANSPORT (auto, kernel, daemon or embedded),
 * MIMIC_SOCKET, MIMIC_CONFIG and MIMIC_DEVICES. The members config_path and devices are
 * of the embedded transport: given here, they make auto choose it. In the environment,
 * the other transports ignore them. socket_path is of the daemon transport; the kernel
 * knows the way to its daemon.
 *
 * The kernel transport opens /dev/maple or /dev/mapleN. auto takes it where such a
 * node answers; nodes that this process may not open are passed over.
 *
 * Every successful open needs one mimic_device_close(). The first call in a process installs
 * handlers for SIGSEGV and SIGBUS, unless mimic_faults_are_handled() was called before.
 * They pass on faults that are not the device's to the handlers that were there.
 *
 * Returns 0, or
 * -EBUSY: no instance is free, or another process holds the one that was named; all
 *         contexts are taken
 * -ENODEV: no instance of that number, or no such tile
 * -ENOENT: unknown kind of device
 * -ECONNREFUSED: no daemon answers (transport daemon); no node answers (transport kernel)
 * -EPROTO: the daemon or the kernel's driver speaks another version
 * -EACCES: the daemon is of another user; the node may not be opened (transport kernel)
 * -EINVAL: device or name is NULL; wrong options, environment or configuration, of which
 *          mimic_error_text() names the wrong value and its place; or config_path or devices with
 *          transport daemon or kernel
 * -EMFILE: this process holds 1024 devices
 * -ENOMEM: out of memory
 *
 * See also: mimic_device_access(), mimic.conf(5), mimicd(8).
 */
int mimic_device_open(struct mimic_device **device, const char *name,
		      const struct mimic_options *options);

/**
 * mimic_device_close() - gives an instance or a context of a device back
 * @device: the handle, or NULL
 *
 * Each successful mimic_device_open() needs one call. The last one of an instance gives it
 * back, and it is then as after power-on; a context is given back by its one close.
 * After it the handle must not be used any more. Free memory of mimic_memory_alloc()
 * before, because freeing needs a handle. In a child of fork a handle of the parent is left alone.
 *
 * Threads. Any thread may call it; for the last time when no other thread uses the handle.
 */
void mimic_device_close(struct mimic_device *device);

/**
 * mimic_error_text() - says more about the last error
 *
 * mimic_device_open() writes the text, and begins by making it empty. The other
 * functions say all they know with their error number, and leave the text as it is.
 *
 * Returns a line for people about the last error of this thread, "" if there was none. It
 * gives the reason and the place. The string is the library's and changes with the
 * thread's next error.
 */
const char *mimic_error_text(void);

/**
 * mimic_device_name() - tells which instance this is
 * @device: the handle; not NULL
 *
 * It tells which instance mimic_device_open() chose for "maple".
 *
 * Returns the name that the daemon knows, such as "maple0" or "maple@5". The string is valid
 * until the handle is closed.
 *
 * See also: mimic_device_transport().
 */
const char *mimic_device_name(const struct mimic_device *device);

/**
 * mimic_device_transport() - tells how the device is reached
 * @device: the handle; not NULL
 *
 * It tells which transport mimic_device_open() chose for auto.
 *
 * Returns "embedded", "daemon" or "kernel".
 *
 * See also: mimic_device_name().
 */
const char *mimic_device_transport(const struct mimic_device *device);

/**
 * mimic_device_access() - does one load or store
 * @device: the handle
 * @access: the register, and the value of a store; for a load, data is the answer
 *
 * Waits as the hardware would: a store to a full queue waits for room, a load from an
 * empty one for data. Everything posted before by any thread takes effect first, unless
 * the device holds it up (a full queue); this thread's own posts always do.
 *
 * Returns 0, or
 * -EINVAL: size is none of 1, 2, 4 and 8, offset is 4096 or more, page is 16 or more, or
 *          is_write is neither 0 nor 1
 * -EDEADLK: called in a signal handler that interrupted another call of this header at a
 *           moment when it cannot be entered twice (embedded transport);
 *           mimic_signal_defer() keeps handlers from there
 * -ENOMEM: out of memory
 *
 * Threads. Any thread may call it at any time, and signal handlers once mimic_thread_attach()
 * was called on the thread. A wait is no moment of -EDEADLK, and a handler may leave a wait by
 * siglongjmp(): the access is withdrawn.
 *
 * See also: mimic_device_post(), mimic_device_load().
 */
int mimic_device_access(struct mimic_device *device, struct mimic_access *access);

/**
 * mimic_device_post() - does many stores to one register
 * @device: the handle
 * @pattern: the register: page, offset and size; the other members are not used
 * @values: the data of the stores, in order
 * @count: how many; may be more than a queue holds, and may be 0
 *
 * Waits until all are accepted: the device (a full queue) and the ring may hold them up. If
 * the call fails, some of the stores may have been accepted.
 *
 * Stores to a resource that this thread has alone (data, pointers and loops for a
 * queue of MAPLE; all of a context of DARE but ERROR and RESET; commands of Virgo) may
 * take effect later: in order, and before anything this thread does to the device, and
 * before any access, load or reading of counters by another thread; to a context, and to
 * Virgo, also before stores that another thread posts after this has returned. All other stores
 * have taken effect when this returns.
 *
 * Returns count, or
 * -EINVAL: size is none of 1, 2, 4 and 8, offset is 4096 or more, or page is 16 or more
 * -EDEADLK: called in a signal handler, see mimic_device_access()
 * -ENOMEM: out of memory
 *
 * Threads. Any thread may call it at any time. Not for signal handlers.
 *
 * See also: mimic_device_load().
 */
ssize_t mimic_device_post(struct mimic_device *device, const struct mimic_access *pattern,
			  const uint64_t *values, size_t count);

/**
 * mimic_device_load() - does many loads of one register
 * @device: the handle
 * @pattern: the register: page, offset and size; the other members are not used
 * @values: room for count answers, which are packed: size bytes each
 * @count: how many; may be more than a queue holds, and may be 0
 *
 * The same as that many loads by mimic_device_access(), and faster. Waits until all
 * answers have come. If the call fails, some of the loads may have been done, and
 * their answers are lost.
 *
 * Returns count, or
 * -EINVAL: size is none of 1, 2, 4 and 8, offset is 4096 or more, or page is 16 or more
 * -EDEADLK: called in a signal handler, see mimic_device_access()
 * -ENOMEM: out of memory
 *
 * Threads. Any thread may call it at any time. Not for signal handlers.
 *
 * See also: mimic_device_post().
 */
ssize_t mimic_device_load(struct mimic_device *device, const struct mimic_access *pattern,
			  void *values, size_t count);

/**
 * mimic_device_counters() - reads the counters of the device or context
 * @device: the handle
 * @values: room for count counters
 * @count: how many are wanted
 *
 * Writes the first count counters, or all if the device has fewer, in the order of its
 * kind's list. For MAPLE that is MAPLE_COUNTERS of mimic/maple_registers.h, for DARE
 * DARE_COUNTERS of mimic/dare_registers.h, those of the handle's context, and for Virgo
 * VIRGO_COUNTERS of mimic/virgo_registers.h, of all units together. Everything posted
 * before takes effect first, unless the device holds it up.
 *
 * Returns how many counters the device has, which may be more than count, or
 * -EDEADLK: called in a signal handler, see mimic_device_access()
 * -ENOMEM: out of memory
 *
 * Threads. Any thread may call it at any time. Not for signal handlers.
 *
 * See also: maple_counters().
 */
ssize_t mimic_device_counters(struct mimic_device *device, uint64_t *values, size_t count);

/**
 * mimic_device_memory() - maps the device's own memory
 * @device: the handle
 * @address: where the address of its first byte goes
 * @size: where its size goes, in bytes
 *
 * The memory of a Virgo cluster that its units share with the program. It is mapped
 * once: every call gives the same address, which is good until the device's last close.
 * All of it was 0 when the process opened the device. Device and program read and write
 * it at the same time; only the device's registers tell when the device is done. A
 * forked child does not have it.
 *
 * Returns 0, or
 * -ENXIO: a device of this kind has no memory of its own
 * -ENOMEM: out of memory
 *
 * Threads. Any thread may call it at any time. Not for signal handlers.
 *
 * See also: mimic_device_open(), mimic_device_eventfd(), virgo_shared().
 */
int mimic_device_memory(struct mimic_device *device, void **address, size_t *size);

/**
 * mimic_device_eventfd() - has events of the device counted by an eventfd
 * @device: the handle
 * @fd: an eventfd of the program; -1: none any more
 * @events: which events, by bit; for Virgo VIRGO_EVENT_* of mimic/virgo_registers.h. 0: none any more
 *
 * The eventfd counts up by one whenever one or more of the events have happened since
 * the last time. These events are then cleared in the device; others stay in its
 * register. Events before the call count, too. So a program can wait for
 * a unit with poll(2) beside other things.
 *
 * The descriptor is duplicated, and the program may close its own. A device has one: a
 * call takes the place of the one before.
 *
 * Returns 0, or
 * -ENXIO: a device of this kind has no events
 * -EBADF: fd is not open
 * -EINVAL: fd is no eventfd, or the device has no such event
 *
 * Threads. Any thread may call it at any time. Not for signal handlers.
 *
 * See also: mimic_device_memory(), virgo_event_fd(), eventfd(2).
 */
int mimic_device_eventfd(struct mimic_device *device, int fd, uint64_t events);

/**
 * mimic_device_report() - returns a message of the device for people
 * @device: the handle, or NULL
 *
 * Each message is returned once. An example: the emulated hardware hangs. On
 * the daemon and kernel transports reports go to the log of mimicd(8) instead, and this always
 * returns NULL.
 *
 * Returns a constant text, or NULL if there is nothing new.
 *
 * Threads. Any thread may call it at any time, and signal handlers.
 *
 * See also: mimic_device_access().
 */
const char *mimic_device_report(struct mimic_device *device);

/**
 * mimic_memory_alloc() - allocates memory that the device reaches directly
 * @device: the handle
 * @size: bytes, at least 1
 *
 * The memory is zeroed, page aligned, and below 2^40, so that every profile can
 * address it. The device reaches it directly on every transport; the daemon shares
 * it. It is the caller's until mimic_memory_free() of the same device, and is lost with the
 * device's last close. Its pages stay: madvise(MADV_REMOVE) fails with EPERM where a daemon
 * of another user has it, and elsewhere may end the session. The same holds for memory
 * that is registered.
 *
 * Returns the memory, or NULL with errno:
 * EINVAL: size is 0
 * ENOMEM: out of memory, or of addresses below 2^40
 * ENODEV, ENOTCONN: the handle is NULL or belongs to the parent of a fork, or the daemon is gone
 *
 * Threads. Any thread may call it at any time. Not for signal handlers.
 *
 * See also: mimic_memory_register().
 */
void *mimic_memory_alloc(struct mimic_device *device, size_t size);

/**
 * mimic_memory_free() - frees memory of mimic_memory_alloc()
 * @device: the handle
 * @address: memory of mimic_memory_alloc()
 *
 * The memory is gone when this returns. No queue or loop of the device may still read it.
 *
 * Returns 0, or
 * -EINVAL: the address is not one that mimic_memory_alloc() returned, or was freed
 *
 * Threads. Any thread may call it at any time. Not for signal handlers.
 */
int mimic_memory_free(struct mimic_device *device, void *address);

/**
 * mimic_memory_register() - makes memory that the program has directly reachable
 * @device: the handle
 * @address: the first byte
 * @size: bytes, at least 1
 *
 * The whole pages of the range are replaced in place by shared ones with the same
 * contents. A range without a whole page is left as it is, and that is no error.
 * Only private anonymous memory of one protection can be registered, so no file, and not
 * the main thread's stack.
 *
 * On the embedded transport there is nothing to do: the range is remembered, for the call that
 * takes it back, and any range that is not empty will do. On the kernel transport there is nothing to do
 * either, and the answers are the daemon transport's.
 *
 * Returns 0, or
 * -EINVAL: address is NULL, size is 0 or too large, or the memory cannot be registered
 * -ENOMEM: out of memory
 *
 * Threads. Any thread may call it, while no other writes to the memory. Not for signal handlers.
 *
 * See also: mimic_memory_unregister(), mimic_memory_alloc().
 */
int mimic_memory_register(struct mimic_device *device, void *address, size_t size);

/**
 * mimic_memory_unregister() - takes mimic_memory_register() back
 * @device: the handle
 * @address: as it was registered
 * @size: as it was registered
 *
 * The pages are the program's alone again, with the same contents. On the embedded
 * transport the range is forgotten, and that is all.
 *
 * Returns 0, or
 * -EINVAL: address is NULL, size is 0 or too large, or this range is not registered
 * -ENOMEM: out of memory
 *
 * Threads. Any thread may call it, while no other writes to the memory. Not for signal handlers.
 */
int mimic_memory_unregister(struct mimic_device *device, void *address, size_t size);

/**
 * mimic_patience() - tells the program that a wait for a device lasts
 * @milliseconds: that a wait has lasted when it is told; 0: never
 * @tell: is called then; NULL: nothing is
 * @context: the first argument of tell
 *
 * A hang explains itself: tell is called once for each wait of a thread for a device that
 * has lasted so long, with one line for people, without a newline, such as
 *	maple0: thread 4711 has waited 10 s for a load of MAPLE CONSUME [0]: queue 0 is empty, and nobody produces
 *
 * It names the device, the register and, as far as the device knows, the reason: a queue
 * that is full or empty and the state of the thread at its other end, a page that is not there
 * yet, commands that are not over, a barrier that others have not reached, a mimicd(8) that
 * does not answer. The text is lost when tell returns. The wait goes on afterwards.
 *
 * The thread that waits makes the call, in the middle of its call of this library; where
 * that was made by a signal handler, inside of the handler. So tell may call the functions that
 * a signal handler may, such as write(2), and must not use a device.
 *
 * Without this call nothing is told, but where the environment has MIMIC_PATIENCE when the
 * first device is opened: a decimal number of seconds (0: never). Then such lines go to
 * standard error. mimic-run(1) sets it to 10 if it is not set. On the kernel transport a
 * program's own loads and stores of the node's page wait in the kernel, and tell nothing.
 *
 * Threads. To be set before the device is used: a wait that has begun may call as it was set before.
 *
 * Example:
 *	static void tell(void *context, const char *text)
 *	{
 *		(void)context;
 *		write(2, text, strlen(text));
 *		write(2, "\n", 1);
 *	}
 *	...
 *	mimic_patience(10000, tell, NULL);
 *
 * See also: mimic_device_access().
 */
void mimic_patience(unsigned int milliseconds, void (*tell)(void *context, const char *text), void *context);

/**
 * mimic_thread_attach() - prepares the calling thread for mimic_device_access() in a signal handler
 *
 * Cheap when it was done before.
 *
 * Returns 0, or
 * -ENOMEM: out of memory
 *
 * Threads. It is for the thread that calls it. Call it outside of signal handlers.
 *
 * See also: mimic_signal_defer().
 */
int mimic_thread_attach(void);

/**
 * mimic_signal_defer() - keeps a signal from where a device cannot be used
 * @number: the handler's first argument; it was set with SA_SIGINFO
 * @information: its second argument
 * @context: its third argument
 *
 * The first step of a program's signal handler that uses a device, or leaves by siglongjmp().
 *
 * If the signal has come where the calling thread holds a device's lock, or has half written
 * a ring, the handler has to return at once and must change nothing in its context. The same
 * signal is sent again, with the same siginfo_t, as soon as the thread has left that place, which
 * is a matter of microseconds; until then other signals wait. A thread that waits for a device
 * is in no such place.
 *
 * Signals with values keep their order: *information may become that of a queued signal of
 * the same number that came before this one. A signal of a fault is never deferred. A
 * handler that is set with SA_RESETHAND has to be set again before it returns.
 *
 * Under mimic-run(1) this is done for all handlers that a program sets by the C library, and
 * is not needed. Where it is needed and not called, mimic_device_access() may be -EDEADLK in
 * a handler on the embedded transport. Only that transport has such places: on the others
 * the answer is 0.
 *
 * Returns 1 if the handler has to return, 0 if it may go on, in a wait for the device too.
 *
 * Threads. It is for signal handlers, and keeps errno.
 *
 * Example:
 *	static void handler(int number, siginfo_t *information, void *context)
 *	{
 *		if (mimic_signal_defer(number, information, context))
 *			return;
 *		... the handler's own work
 *	}
 *
 * See also: mimic_thread_attach().
 */
int mimic_signal_defer(int number, siginfo_t *information, void *context);

/**
 * mimic_fault_fixup() - asks whether a fault was a read by the device
 * @instruction_pointer: where the fault happened, from the signal's context
 *
 * For a program that has its own handlers of SIGSEGV and SIGBUS. The device reads memory of
 * the program, and an address may be wrong; such a read faults.
 *
 * libmimic installs handlers of its own that call this, unless mimic_faults_are_handled()
 * was called before the first mimic_device_open(). They pass other faults on to the handlers
 * that were there before. A program that installs its own later has to call this from them,
 * and set the instruction pointer of the context to the result. It must not block the two
 * signals. libmimic unblocks them at a thread's first call.
 *
 * Returns the address to go on at if the fault was a read by the device, else 0.
 *
 * Threads. Any thread may call it at any time. It is meant for signal handlers.
 */
uintptr_t mimic_fault_fixup(uintptr_t instruction_pointer);

/**
 * mimic_faults_are_handled() - says that the program's own handlers call mimic_fault_fixup()
 *
 * The handlers of SIGSEGV and SIGBUS. Call it before the first mimic_device_open(); later it
 * has no effect.
 *
 * Threads. Call it before any thread opens a device.
 */
void mimic_faults_are_handled(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
#endif
