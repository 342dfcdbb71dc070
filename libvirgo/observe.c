/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Barriers, events and counters of a cluster. */
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "internal.h"

/* --- barriers -------------------------------------------------------------------------- */

static int check_barrier(const struct virgo *virgo, unsigned int barrier)
{
	if (!virgo)
		return virgo_fail(-EINVAL, "the handle is NULL");
	if (barrier >= VIRGO_BARRIERS)
		return virgo_fail(-EINVAL, "barrier %u: there are 0 to %u", barrier, VIRGO_BARRIERS - 1);
	return 0;
}

int virgo_barrier_participants(struct virgo *virgo, unsigned int barrier, unsigned int count)
{
	int error = check_barrier(virgo, barrier);

	if (error)
		return error;
	if (count > 255)
		return virgo_fail(-EINVAL, "barrier %u: %u participants; there can be 255", barrier, count);
	return mimic_library_store(virgo->device, VIRGO_PAGE_CONTROL, VIRGO_BARRIER_PARTICIPANTS(barrier),
				   count);
}

int virgo_barrier(struct virgo *virgo, unsigned int barrier)
{
	uint64_t opened;
	int error = check_barrier(virgo, barrier);

	return error ? error : mimic_library_load(virgo->device, VIRGO_PAGE_CONTROL,
						  VIRGO_BARRIER_WAIT(barrier), 8, &opened);
}

/* --- events ------------------------------------------------------------------------------ */

static int event_fd(struct virgo *virgo)
{
	int fd;

	pthread_mutex_lock(&virgo->lock);
	if (virgo->event_fd < 0)
		virgo->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	fd = virgo->event_fd < 0 ? -errno : virgo->event_fd;
	pthread_mutex_unlock(&virgo->lock);
	if (fd < 0)
		return virgo_fail(fd, "virgo_event_fd: eventfd: %s", strerror(-fd));
	return fd;
}

int virgo_event_fd(struct virgo *virgo, uint64_t events)
{
	int fd, error;

	if (!virgo)
		return virgo_fail(-EINVAL, "the handle is NULL");
	error = virgo_check_owner(virgo);
	if (error)
		return error;
	fd = event_fd(virgo);
	if (fd < 0)
		return fd;
	error = mimic_library_result(mimic_device_eventfd(virgo->device, events ? fd : -1, events));
	return error ? error : fd;
}

/* --- counters ---------------------------------------------------------------------------- */

static int read_all(struct virgo *virgo, uint64_t *values)
{
	int error = 0;

	for (unsigned int i = 0; i < VIRGO_COUNTER_COUNT && !error; i++)
		error = mimic_library_load(virgo->device, VIRGO_PAGE_CONTROL, VIRGO_COUNTER_OFFSET + 8 * i, 8,
					   &values[i]);
	return error;
}

static int read_unit(struct virgo *virgo, unsigned int number, uint64_t *values)
{
	struct virgo_unit *unit = &virgo->unit[number];
	int error = 0;

	pthread_mutex_lock(&virgo->counter_lock);
	for (unsigned int i = 0; i < VIRGO_COUNTER_COUNT && !error; i++) {
		error = virgo_store_register(unit, VIRGO_COUNTER_SELECT, i);
		if (!error)
			error = virgo_load_register(unit, VIRGO_COUNTER_VALUE, &values[i]);
	}
	pthread_mutex_unlock(&virgo->counter_lock);
	return error;
}

int virgo_counters(struct virgo *virgo, unsigned int number, struct virgo_statistics *statistics)
{
	const struct virgo_unit *unit;
	int error;

	if (!virgo || !statistics)
		return virgo_fail(-EINVAL, "virgo_counters: an argument is NULL");
	_Static_assert(sizeof(*statistics) == 8 * VIRGO_COUNTER_COUNT, "a field for each counter");
	if (number == VIRGO_ALL_UNITS)
		return read_all(virgo, (uint64_t *)statistics);
	error = virgo_find_any(virgo, number, &unit);
	if (!error)
		error = virgo_check_owner(virgo);
	return error ? error : read_unit(virgo, number, (uint64_t *)statistics);
}
