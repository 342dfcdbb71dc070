/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Products that a thread of the library runs, one thread for each unit. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "mimic/sim.h"

#define SWISH_INSTRUCTIONS 20	/* of the FPU, for an element, by the warps of a kernel: an assumption */

struct virgo_gemm_thread {
	struct virgo_unit *unit;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct virgo_product product;
	bool has_work, is_over, must_end;
	int result;
	char text[400];
};

/* 1: the modelled cluster has run its kernel for the product; 0: there is none; or why it has failed. */
static int run_kernel(struct virgo_unit *unit, const struct virgo_product *product)
{
	const uint64_t shape[] = {
		product->m, product->n, product->k, product->epilogue == VIRGO_EPILOGUE_SWISH ? SWISH_INSTRUCTIONS : 0,
	};
	int error;

	if (!mimic_sim_device_kernel || !product->m || !product->n || !product->k)
		return 0;
	error = mimic_sim_device_kernel(virgo_device_name(unit->virgo), unit->number, shape, sizeof(shape) / sizeof(shape[0]));
	if (error && error != -ENOSYS)
		return virgo_fail(error, "virgo_gemm: the kernel of the modelled cluster for %zu x %zu x %zu: %s", product->m,
				  product->n, product->k, strerror(-error));
	return !error;
}

/*
 * In virtual time the modelled cluster may have a kernel for the product, of the design that mimic sim was asked for. It
 * takes the kernel's time, and the product itself is computed as ever.
 */
static int run(struct virgo_unit *unit, const struct virgo_product *product)
{
	int kernel = run_kernel(unit, product), error;

	if (kernel < 0)
		return kernel;
	error = virgo_gemm_run(unit, product);
	if (kernel)
		mimic_sim_device_kernel_end(virgo_device_name(unit->virgo), unit->number);
	return error;
}

static void *work(void *argument)
{
	struct virgo_gemm_thread *t = argument;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		int result;

		while (!t->has_work && !t->must_end)
			pthread_cond_wait(&t->changed, &t->lock);
		if (!t->has_work)
			break;
		pthread_mutex_unlock(&t->lock);
		result = run(t->unit, &t->product);
		pthread_mutex_lock(&t->lock);
		t->result = result;
		/* The text is this thread's; the one that waits gets it. */
		strncpy(t->text, result ? virgo_error_text() : "", sizeof(t->text) - 1);
		t->has_work = false;
		t->is_over = true;
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

static int begin(struct virgo_gemm_thread *t)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	/* libmimic's accesses to memory that is not there must come back as errors. */
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&t->thread, NULL, work, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -error;
}

static int make_thread(struct virgo_unit *unit)
{
	struct virgo_gemm_thread *t;
	int error;

	if (unit->thread)
		return 0;
	t = calloc(1, sizeof(*t));
	if (!t)
		return virgo_fail(-ENOMEM, "virgo_gemm_start: out of memory");
	t->unit = unit;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
	error = begin(t);
	if (error) {
		free(t);
		return virgo_fail(-ENOMEM, "virgo_gemm_start: no thread: %s", strerror(-error));
	}
	unit->thread = t;
	return 0;
}

void virgo_gemm_thread_end(struct virgo_unit *unit)
{
	struct virgo_gemm_thread *t = unit->thread;

	pthread_mutex_lock(&t->lock);
	t->must_end = true;
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	pthread_join(t->thread, NULL);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
	free(t);
	unit->thread = NULL;
}

int virgo_gemm(struct virgo *virgo, unsigned int number, const struct virgo_product *product)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (!error)
		error = virgo_gemm_check(unit, product);
	return error ? error : run(unit, product);
}

int virgo_gemm_start(struct virgo *virgo, unsigned int number, const struct virgo_product *product)
{
	struct virgo_gemm_thread *t;
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (!error)
		error = virgo_check_owner(virgo);
	if (!error)
		error = virgo_gemm_check(unit, product);
	if (!error)
		error = make_thread(unit);
	/* Commands in the buffer go to the unit before those of the product. */
	if (!error)
		error = virgo_post_buffer(unit);
	if (error)
		return error;
	t = unit->thread;
	pthread_mutex_lock(&t->lock);
	t->product = *product;
	t->is_over = false;
	t->has_work = true;
	__atomic_store_n(&unit->is_taken, true, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&t->changed);
	pthread_mutex_unlock(&t->lock);
	return 0;
}

/* The thread of a product that was started, or NULL. */
static int find_started(struct virgo *virgo, unsigned int number, struct virgo_unit **unit)
{
	const struct virgo_unit *found;
	int error = virgo_find_any(virgo, number, &found);

	if (!error)
		error = virgo_check_owner(virgo);
	if (error)
		return error;
	*unit = &virgo->unit[number];
	if (!__atomic_load_n(&found->is_taken, __ATOMIC_ACQUIRE))
		return virgo_fail(-EINVAL, "unit %u: no product was started", number);
	return 0;
}

int virgo_gemm_done(struct virgo *virgo, unsigned int number)
{
	struct virgo_unit *unit;
	int is_over, error = find_started(virgo, number, &unit);

	if (error)
		return error;
	pthread_mutex_lock(&unit->thread->lock);
	is_over = unit->thread->is_over;
	pthread_mutex_unlock(&unit->thread->lock);
	return is_over;
}

int virgo_gemm_wait(struct virgo *virgo, unsigned int number)
{
	struct virgo_gemm_thread *t;
	struct virgo_unit *unit;
	int result, error = find_started(virgo, number, &unit);

	if (error)
		return error;
	t = unit->thread;
	pthread_mutex_lock(&t->lock);
	while (!t->is_over)
		pthread_cond_wait(&t->changed, &t->lock);
	result = t->result;
	if (result)
		virgo_fail(result, "%s", t->text);
	__atomic_store_n(&unit->is_taken, false, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&t->lock);
	return result;
}
