/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Threads of the program: one on each core, for as long as it lives. */
#include <errno.h>
#include <sys/mman.h>
#include <stdlib.h>

#include "sim/runtime/locks.h"
#include "sim/runtime/real.h"
#include "sim/runtime/threads.h"

static size_t thread_size(void)
{
	return sizeof(struct sim_thread) + 2 * sim.setup->loop_count * sizeof(uint32_t);
}

struct sim_thread *sim_thread_make(void)
{
	/* Not malloc(): the program's own must not move. */
	struct sim_thread *thread = mmap(NULL, thread_size(), PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (thread == MAP_FAILED)
		return NULL;
	thread->carry = (uint32_t *)(thread + 1);
	thread->longer_carry = thread->carry + sim.setup->loop_count;
	thread->number = sim.thread_count;
	thread->call = thread->calls;
	thread->call->function = SIM_NO_FUNCTION;
	return thread;
}

static void destroy(struct sim_thread *thread)
{
	munmap(thread, thread_size());
}

static void forget(struct sim_thread *thread)
{
	struct sim_thread **link = &sim.threads;

	while (*link && *link != thread)
		link = &(*link)->next;
	if (*link)
		*link = thread->next;
}

static struct sim_thread *find(pthread_t native)
{
	struct sim_thread *thread = sim.threads;

	while (thread && (thread->is_first || !pthread_equal(thread->native, native)))
		thread = thread->next;
	return thread;
}

/* Detached threads: their real threads have ended. */
static void sweep(void)
{
	struct sim_thread *thread = sim.threads, *next;

	for (; thread; thread = next) {
		next = thread->next;
		if (!thread->has_ended || !thread->is_detached || thread == sim.ended)
			continue;
		REAL(pthread_join)(thread->native, NULL);
		forget(thread);
		destroy(thread);
	}
}

static void end(struct sim_thread *self, void *result)
{
	/* Others may go on meanwhile, and must not take it for over. */
	sim_device_thread_gone(self);
	self->result = result;
	self->has_ended = true;
	sim_wake_waiters(self, SIM_WAIT_JOIN, self, 1);
	sim_wake_waiters(self, SIM_WAIT_OTHERS, NULL, SIM_CORES);
	sim_leave_core(self);
}

void *sim_thread_main(struct sim_thread *self)
{
	void *result;

	sim_arrived();
	sim_leave();
	result = self->start(self->argument);
	sim.is_busy = true;
	end(self, result);
	return result;
}

int sim_thread_start(struct sim_thread *self, struct sim_thread **started, const pthread_attr_t *attributes,
		     void *(*start)(void *), void *argument)
{
	struct sim_thread *thread;
	int error;

	sweep();
	thread = sim_thread_make();
	if (!thread)
		return EAGAIN;
	thread->start = start;
	thread->argument = argument;
	if (!sim_take_core(thread, soc_now(sim.soc, self->core))) {
		sim_say("the program starts a thread, and the %u core%s of the SoC %s taken: --cores N gives it N, at most %u",
			sim.cores, sim.cores == 1 ? "" : "s", sim.cores == 1 ? "is" : "are", SIM_CORES);
		sim_end_with(SIM_REFUSED);
	}
	error = sim_coroutine_create(thread, attributes);
	if (error) {
		sim_give_up_core(thread);
		destroy(thread);
		return error;
	}
	thread->next = sim.threads;
	sim.threads = thread;
	sim.thread_count++;
	*started = thread;
	return 0;
}

SIM_EXPORT int pthread_create(pthread_t *native, const pthread_attr_t *attributes, void *(*start)(void *),
			      void *argument)
{
	struct sim_thread *self = sim_enter(), *started;
	int error;

	if (!self)
		return REAL(pthread_create)(native, attributes, start, argument);
	sim_settle(self);
	error = sim_thread_start(self, &started, attributes, start, argument);
	if (!error)
		*native = started->native;
	sim_leave();
	return error;
}

static int join(struct sim_thread *self, struct sim_thread *thread, void **result, uint64_t deadline)
{
	if (thread == self)
		return EDEADLK;
	if (thread->is_detached)
		return EINVAL;
	sim_settle(self);
	if (!thread->has_ended) {
		self->wait_number = thread->number;
		if (!sim_block(self, SIM_WAIT_JOIN, thread, deadline))
			return ETIMEDOUT;
	}
	REAL(pthread_join)(thread->native, NULL);
	if (result)
		*result = thread->result;
	forget(thread);
	destroy(thread);
	return 0;
}

SIM_EXPORT int pthread_join(pthread_t native, void **result)
{
	struct sim_thread *self = sim_enter();
	struct sim_thread *thread = self ? find(native) : NULL;
	int error;

	if (thread)
		error = join(self, thread, result, SIM_NEVER);
	else
		error = REAL(pthread_join)(native, result);
	if (self)
		sim_leave();
	return error;
}

SIM_EXPORT int pthread_tryjoin_np(pthread_t native, void **result)
{
	struct sim_thread *self = sim_enter();
	struct sim_thread *thread = self ? find(native) : NULL;
	int error;

	if (thread) {
		sim_settle(self);
		error = thread->has_ended ? join(self, thread, result, SIM_NEVER) : EBUSY;
	} else {
		error = REAL(pthread_tryjoin_np)(native, result);
	}
	if (self)
		sim_leave();
	return error;
}

SIM_EXPORT int pthread_clockjoin_np(pthread_t native, void **result, clockid_t clock, const struct timespec *time)
{
	struct sim_thread *self = sim_enter();
	struct sim_thread *thread = self ? find(native) : NULL;
	int error;

	if (thread)
		error = join(self, thread, result, time ? sim_deadline(clock, time) : SIM_NEVER);
	else
		error = REAL(pthread_clockjoin_np)(native, result, clock, time);
	if (self)
		sim_leave();
	return error;
}

SIM_EXPORT int pthread_timedjoin_np(pthread_t native, void **result, const struct timespec *time)
{
	return sim_self ? pthread_clockjoin_np(native, result, CLOCK_REALTIME, time) :
			  REAL(pthread_timedjoin_np)(native, result, time);
}

SIM_EXPORT int pthread_detach(pthread_t native)
{
	struct sim_thread *self = sim_enter();
	struct sim_thread *thread = self ? find(native) : NULL;
	int error = 0;

	if (!thread)
		error = REAL(pthread_detach)(native);
	else if (thread->is_detached)
		error = EINVAL;
	else
		thread->is_detached = true;
	if (self)
		sim_leave();
	return error;
}

static bool is_alone(void)
{
	unsigned int others = 0;

	for (unsigned int core = 0; core < sim.cores; core++)
		others += sim.on_core[core] && !sim.on_core[core]->openmp.is_worker;
	return others <= 1;
}

/* The first thread: the process ends when all others have. */
static void exit_main(struct sim_thread *self)
{
	while (!is_alone())
		sim_block(self, SIM_WAIT_OTHERS, NULL, SIM_NEVER);
	sim_leave();
	exit(0);
}

SIM_EXPORT void pthread_exit(void *result)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		REAL(pthread_exit)(result);
	if (self->is_first)
		exit_main(self);
	end(self, result);
	/* On the real thread, which has its stack and its storage back. */
	sim_self = NULL;
	REAL(pthread_exit)(result);
	__builtin_unreachable();
}
