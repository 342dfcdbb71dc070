/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The node of a daemon that can be recovered: kept by the supervisor, and taken over from the daemon before. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "daemon/bus/internal.h"
#include "daemon/bus/record.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/keep.h"
#include "daemon/engine/recover.h"
#include "daemon/journal/journal.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* A process that was killed keeps its memory for a while; ours is large. */
#define TAKE_OVER_TRIES 100000u
#define TAKE_OVER_PAUSE_NS 200000
#define SLOW_NS 1000000000ull	/* the log says so */

/* --- taken over --------------------------------------------------------------------------------- */

/* NULL: the daemon before was on no bus, or its record is damaged. */
static const struct mimicd_bus_record *find_record(const struct mimicd_predecessor *predecessor)
{
	const struct mimicd_journal_left *left = &predecessor->left;
	const struct mimicd_bus_record *record = predecessor->root ? predecessor->root->bus : NULL;

	if (!record)
		return NULL;
	if (mimicd_journal_left_has(left, record, sizeof(*record)) &&
	    mimicd_journal_left_has(left, record->answers, MIMIC_BUS_SLOTS * sizeof(record->answers[0])))
		return record;
	mimicd_log(MIMICD_LOG_ERROR, "recovery: the record of the kernel's bus is damaged");
	return NULL;
}

static int ask(struct mimicd_bus *bus, int fd, const uint8_t *token)
{
	const struct timespec pause = { .tv_nsec = TAKE_OVER_PAUSE_NS };
	struct mimic_bus_take_over wanted = { .size = sizeof(wanted) };
	uint64_t begun = mimic_now();
	unsigned int tries = 0;
	int error;

	memcpy(wanted.token, token, sizeof(wanted.token));
	for (;;) {
		error = bus->ops->ioctl(fd, MIMIC_BUS_TAKE_OVER, &wanted);
		if ((error != -EBUSY && error != -EINTR) || tries++ == TAKE_OVER_TRIES)
			break;
		nanosleep(&pause, NULL);
	}
	explicit_bzero(wanted.token, sizeof(wanted.token));
	if (mimic_now() - begun > SLOW_NS)
		mimicd_log(MIMICD_LOG_INFO, "recovery: the kernel took %llu ms to end the daemon before",
			   (unsigned long long)(mimic_now() - begun) / 1000000);
	return error;
}

/*
 * Nodes of daemons that were killed before their first step, or that cannot be taken over. At once: as long as
 * one is open the kernel keeps its devices, so that we cannot have them.
 */
static void end_others(const struct mimicd_bus *bus)
{
	uint64_t number = mimicd_keep_last(MIMICD_KEEP_BUS, UINT64_MAX);

	for (; number; number = mimicd_keep_last(MIMICD_KEEP_BUS, number)) {
		int fd = number == bus->kept ? -1 : mimicd_keep_find(MIMICD_KEEP_BUS, number, 0);

		if (fd < 0)
			continue;
		bus->ops->close(fd);
		mimicd_keep_end(MIMICD_KEEP_BUS, number, 0);
	}
}

static int take_over(struct mimicd_bus *bus, const struct mimicd_bus_record *record)
{
	int fd = mimicd_keep_find(MIMICD_KEEP_BUS, record->kept, 0);
	int error = fd < 0 ? -ENOENT : ask(bus, fd, record->token);

	if (!error) {
		bus->fd = fd;
		bus->kept = record->kept;
		bus->before = record;
		memcpy(bus->token, record->token, sizeof(bus->token));
		return 0;
	}
	if (fd >= 0) {
		bus->ops->close(fd);
		mimicd_keep_end(MIMICD_KEEP_BUS, record->kept, 0);
	}
	mimicd_log(MIMICD_LOG_ERROR, "recovery: programs lose the devices that they have through the kernel: %s",
		   error == -ENODEV ? "it has not waited for this daemon" : strerror(-error));
	return error;
}

bool mimicd_bus_take_over(struct mimicd_bus *bus)
{
	struct mimicd_predecessor *predecessor = bus->engine->predecessor;
	const struct mimicd_bus_record *record = predecessor ? find_record(predecessor) : NULL;
	int error = record ? take_over(bus, record) : -ENOENT;

	if (!predecessor)
		return false;
	if (error && predecessor->root && predecessor->root->bus)
		predecessor->has_lost_programs = true;
	end_others(bus);
	return !error;
}

/* --- kept --------------------------------------------------------------------------------------- */

static int ask_to_keep(struct mimicd_bus *bus, uint64_t milliseconds)
{
	struct mimic_bus_keep keep = { .size = sizeof(keep) };
	int error;

	keep.milliseconds = (uint32_t)(milliseconds < MIMIC_BUS_KEEP_MAX ? milliseconds : MIMIC_BUS_KEEP_MAX);
	memcpy(keep.token, bus->token, sizeof(keep.token));
	error = mimicd_bus_ioctl(bus, MIMIC_BUS_KEEP, &keep);
	explicit_bzero(keep.token, sizeof(keep.token));
	return error;
}

static int make_token(struct mimicd_bus *bus)
{
	return getrandom(bus->token, sizeof(bus->token), 0) == (ssize_t)sizeof(bus->token) ? 0 : -EIO;
}

static int make_record(struct mimicd_bus *bus)
{
	struct mimicd_bus_record *record = mimicd_journal_alloc(sizeof(*record));
	struct mimicd_answer_record *answers = mimicd_journal_alloc(MIMIC_BUS_SLOTS * sizeof(*answers));

	if (!record || !answers)
		return -ENOMEM;
	record->kept = bus->kept;
	record->answers = answers;
	memcpy(record->token, bus->token, sizeof(record->token));
	bus->record = record;
	return 0;
}

int mimicd_bus_keep(struct mimicd_bus *bus)
{
	int error;

	if (!mimicd_journal_is_on())
		return 0;
	error = bus->before ? 0 : make_token(bus);
	if (!error)
		error = ask_to_keep(bus, bus->options.recovery_seconds * 1000ull);
	if (!error && !bus->before)
		error = mimicd_keep(MIMICD_KEEP_BUS, &bus->kept, 0, bus->fd);
	if (!error)
		error = make_record(bus);
	if (error)
		mimicd_log(MIMICD_LOG_ERROR, "%s: devices cannot be kept for a successor: %s%s", bus->options.path,
			   strerror(-error), error == -ENOTTY ? " (mimic.ko is older than this daemon)" : "");
	return error;
}

void mimicd_bus_keep_end(struct mimicd_bus *bus)
{
	/* One that ends while it takes over leaves all to the next. */
	if (!bus->kept || bus->before)
		return;
	ask_to_keep(bus, 0);
	mimicd_keep_end(MIMICD_KEEP_BUS, bus->kept, 0);
	bus->kept = 0;
	bus->record = NULL;
	bus->engine->has_changed = true;
}
