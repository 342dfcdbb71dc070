/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The parts of the shared memory and their owners: parts that the program took, from the
 * end, and shares of products. A share is a power of two of parts, and begins at a
 * multiple of its size, so that halves of it can be given up and taken back.
 */
#include <string.h>

#include "internal.h"

static uint64_t mask_of(unsigned int first, unsigned int count)
{
	return (count == VIRGO_PARTS ? ~0ull : (1ull << count) - 1) << first;
}

void *virgo_shared(const struct virgo *virgo, size_t *size)
{
	if (!virgo) {
		virgo_fail(-EINVAL, "the handle is NULL");
		return NULL;
	}
	if (size)
		*size = virgo->shared_size;
	return virgo->shared;
}

/* --- the program's parts --------------------------------------------------------------- */

static void *allocate(struct virgo *virgo, unsigned int count)
{
	for (unsigned int first = VIRGO_PARTS - count; first < VIRGO_PARTS; first--) {
		if (virgo->used & mask_of(first, count))
			continue;
		virgo->used |= mask_of(first, count);
		virgo->allocated[first] = (unsigned char)count;
		return virgo->shared + first * virgo_part_bytes(virgo);
	}
	return NULL;
}

void *virgo_shared_alloc(struct virgo *virgo, size_t size)
{
	void *memory = NULL;

	if (!virgo || !size) {
		errno = EINVAL;
		virgo_fail(-EINVAL, "virgo_shared_alloc: %s", virgo ? "0 bytes" : "the handle is NULL");
		return NULL;
	}
	if (virgo_check_owner(virgo)) {
		errno = ENODEV;
		return NULL;
	}
	pthread_mutex_lock(&virgo->lock);
	if (size <= virgo->shared_size)
		memory = allocate(virgo, (unsigned int)((size + virgo_part_bytes(virgo) - 1) /
							virgo_part_bytes(virgo)));
	pthread_mutex_unlock(&virgo->lock);
	if (memory)
		return memory;
	errno = ENOSPC;
	virgo_fail(-ENOSPC, "virgo_shared_alloc: %zu bytes are not free in the %zu of %s", size,
		   virgo->shared_size, virgo_device_name(virgo));
	return NULL;
}

/* Under the lock. */
static void parts_are_free(struct virgo *virgo, unsigned int first, unsigned int count)
{
	virgo->used &= ~mask_of(first, count);
	__atomic_store_n(&virgo->changes, virgo->changes + 1, __ATOMIC_RELEASE);
	pthread_cond_broadcast(&virgo->given_back);
}

static bool deallocate(struct virgo *virgo, const unsigned char *memory)
{
	size_t offset = (uintptr_t)memory - (uintptr_t)virgo->shared;
	size_t first = offset / virgo_part_bytes(virgo);
	unsigned int count;

	if (first >= VIRGO_PARTS || offset % virgo_part_bytes(virgo) || !virgo->allocated[first])
		return false;
	count = virgo->allocated[first];
	virgo->allocated[first] = 0;
	parts_are_free(virgo, (unsigned int)first, count);
	return true;
}

int virgo_shared_free(struct virgo *virgo, void *memory)
{
	bool was_allocated;

	if (!virgo)
		return virgo_fail(-EINVAL, "the handle is NULL");
	if (!memory)
		return 0;
	if (virgo_check_owner(virgo))
		return -ENODEV;
	pthread_mutex_lock(&virgo->lock);
	was_allocated = deallocate(virgo, memory);
	pthread_mutex_unlock(&virgo->lock);
	if (!was_allocated)
		return virgo_fail(-EINVAL, "virgo_shared_free: %p is not of virgo_shared_alloc()", memory);
	return 0;
}

/* --- shares ------------------------------------------------------------------------------ */

static unsigned int share_of(unsigned int products)
{
	unsigned int count = VIRGO_PARTS;

	while (count * products > VIRGO_PARTS)
		count /= 2;
	return count;
}

/* Under the lock. */
static void set_products(struct virgo *virgo, unsigned int products)
{
	virgo->products = products;
	__atomic_store_n(&virgo->largest, share_of(products ? products : 1), __ATOMIC_RELEASE);
}

static bool find_run(const struct virgo *virgo, unsigned int count, struct virgo_share *share)
{
	for (unsigned int first = 0; first < VIRGO_PARTS; first += count) {
		if (virgo->used & mask_of(first, count))
			continue;
		share->first = first;
		share->count = count;
		return true;
	}
	return false;
}

/* The largest run that is free, and not too large. */
static bool find_largest(const struct virgo *virgo, unsigned int largest, size_t least,
			 struct virgo_share *share)
{
	for (unsigned int count = largest; count && count * virgo_part_bytes(virgo) >= least; count /= 2) {
		if (find_run(virgo, count, share))
			return true;
	}
	return false;
}

static bool any_larger(const struct virgo *virgo, unsigned int largest)
{
	for (unsigned int i = 0; i < virgo->unit_count; i++) {
		if (virgo->sharing[i] > largest)
			return true;
	}
	return false;
}

static int no_space(const struct virgo *virgo, size_t least)
{
	return virgo_fail(-ENOSPC, "%s: a product needs %zu bytes of shared memory, the program has the rest",
			  virgo_device_name(virgo), least);
}

/* Under the lock. */
static bool take(struct virgo_unit *unit, size_t least, struct virgo_share *share)
{
	struct virgo *virgo = unit->virgo;

	for (;;) {
		if (find_run(virgo, virgo->largest, share))
			return true;
		if (!any_larger(virgo, virgo->largest)) {
			if (find_largest(virgo, virgo->largest, least, share))
				return true;
			/* Others that wait have nothing to give back. */
			if (!any_larger(virgo, 0))
				return false;
		}
		pthread_cond_wait(&virgo->given_back, &virgo->lock);
	}
}

int virgo_share_take(struct virgo_unit *unit, size_t least, struct virgo_share *share)
{
	struct virgo *virgo = unit->virgo;
	bool taken;

	pthread_mutex_lock(&virgo->lock);
	set_products(virgo, virgo->products + 1);
	taken = take(unit, least, share);
	if (taken) {
		virgo->used |= mask_of(share->first, share->count);
		virgo->sharing[unit->number] = share->count;
		share->changes = virgo->changes;
	} else {
		set_products(virgo, virgo->products - 1);
	}
	pthread_mutex_unlock(&virgo->lock);
	return taken ? 0 : no_space(virgo, least);
}

void virgo_share_give_back(struct virgo_unit *unit, const struct virgo_share *share)
{
	struct virgo *virgo = unit->virgo;

	pthread_mutex_lock(&virgo->lock);
	virgo->sharing[unit->number] = 0;
	set_products(virgo, virgo->products - 1);
	parts_are_free(virgo, share->first, share->count);
	pthread_mutex_unlock(&virgo->lock);
}

int virgo_share_guess(struct virgo *virgo, size_t least, struct virgo_share *share)
{
	unsigned int largest;
	bool found = true;

	pthread_mutex_lock(&virgo->lock);
	largest = share_of(virgo->products + 1);
	*share = (struct virgo_share){ .count = largest };
	/* Other units will have given up their surplus. */
	if (!any_larger(virgo, largest))
		found = find_largest(virgo, largest, least, share);
	pthread_mutex_unlock(&virgo->lock);
	return found ? 0 : no_space(virgo, least);
}

unsigned int virgo_share_limit(const struct virgo *virgo)
{
	return __atomic_load_n(&virgo->largest, __ATOMIC_ACQUIRE);
}

void virgo_share_shrink(struct virgo_unit *unit, struct virgo_share *share, unsigned int count)
{
	struct virgo *virgo = unit->virgo;

	pthread_mutex_lock(&virgo->lock);
	if (count < share->count) {
		parts_are_free(virgo, share->first + count, share->count - count);
		share->count = count;
		virgo->sharing[unit->number] = count;
	}
	pthread_mutex_unlock(&virgo->lock);
}

bool virgo_share_grow(struct virgo_unit *unit, struct virgo_share *share)
{
	struct virgo *virgo = unit->virgo;
	unsigned int before = share->count;

	if (__atomic_load_n(&virgo->changes, __ATOMIC_ACQUIRE) == share->changes)
		return false;
	pthread_mutex_lock(&virgo->lock);
	while (share->count < virgo->largest) {
		unsigned int count = 2 * share->count, first = share->first & ~(count - 1);
		uint64_t own = mask_of(share->first, share->count);

		if (virgo->used & mask_of(first, count) & ~own)
			break;
		virgo->used |= mask_of(first, count);
		share->first = first;
		share->count = count;
	}
	virgo->sharing[unit->number] = share->count;
	share->changes = virgo->changes;
	pthread_mutex_unlock(&virgo->lock);
	return share->count != before;
}
