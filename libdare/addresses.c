/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "addresses.h"

#include <signal.h>
#include <string.h>

#include "kernel.h"

static void hand_over(struct dare_addresses *addresses)
{
	pthread_mutex_lock(&addresses->lock);
	addresses->filled++;
	pthread_cond_broadcast(&addresses->changed);
	pthread_mutex_unlock(&addresses->lock);
}

bool dare_addresses_turn(struct dare_addresses *addresses)
{
	bool is_stopped;

	if (addresses->put > 0)
		hand_over(addresses);
	pthread_mutex_lock(&addresses->lock);
	while (!addresses->is_stopped && addresses->filled - addresses->emptied == DARE_ADDRESS_SEGMENTS)
		pthread_cond_wait(&addresses->changed, &addresses->lock);
	is_stopped = addresses->is_stopped;
	pthread_mutex_unlock(&addresses->lock);
	return !is_stopped;
}

int dare_addresses_next(struct dare_addresses *addresses)
{
	if (addresses->taken > 0) {
		int error = dare_fence(addresses->dare);

		if (error)
			return error;
	}
	pthread_mutex_lock(&addresses->lock);
	if (addresses->taken > 0) {
		addresses->emptied++;
		pthread_cond_broadcast(&addresses->changed);
	}
	while (addresses->filled == addresses->emptied)
		pthread_cond_wait(&addresses->changed, &addresses->lock);
	pthread_mutex_unlock(&addresses->lock);
	return 0;
}

static void *address_thread(void *argument)
{
	struct dare_addresses *addresses = argument;

	addresses->fill(addresses, addresses->context);
	/* The last segment, which may not be full. An empty one does no harm. */
	hand_over(addresses);
	return NULL;
}

/* The program's signal handlers must not run on a thread that it does not know. */
static int start_thread(struct dare_addresses *addresses)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&addresses->thread, NULL, address_thread, addresses);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

int dare_addresses_start(struct dare_addresses *addresses, struct dare *dare,
			 void (*fill)(struct dare_addresses *addresses, const void *context), const void *context)
{
	int error;

	memset(addresses, 0, sizeof(*addresses));
	addresses->dare = dare;
	addresses->fill = fill;
	addresses->context = context;
	addresses->tiles = dare_kernel_alloc(dare, DARE_ADDRESS_SEGMENTS * DARE_ADDRESS_TILES,
					     sizeof(*addresses->tiles), "address tiles");
	if (!addresses->tiles)
		return -ENOMEM;
	pthread_mutex_init(&addresses->lock, NULL);
	pthread_cond_init(&addresses->changed, NULL);
	error = start_thread(addresses);
	if (!error)
		return 0;
	pthread_cond_destroy(&addresses->changed);
	pthread_mutex_destroy(&addresses->lock);
	dare_free(dare, addresses->tiles);
	return dare_fail(-EAGAIN, "no thread for the addresses: %s", strerror(error));
}

void dare_addresses_stop(struct dare_addresses *addresses)
{
	pthread_mutex_lock(&addresses->lock);
	addresses->is_stopped = true;
	pthread_cond_broadcast(&addresses->changed);
	pthread_mutex_unlock(&addresses->lock);
	pthread_join(addresses->thread, NULL);
	pthread_cond_destroy(&addresses->changed);
	pthread_mutex_destroy(&addresses->lock);
	dare_free(addresses->dare, addresses->tiles);
}
