/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A timed MAPLE as the run-time of virtual time knows it (devices/time.h). */
#include <string.h>

#include "devices/maple/time/maple_time.h"

static const struct mimic_time_statistic statistics[] = {
#define _(name, is_most, meaning) { #name, 1, is_most },
	MAPLE_TIME_STATISTICS(_)
#undef _
#define _(name, meaning) { #name, MAPLE_MAX_QUEUES, false },
	MAPLE_TIME_QUEUE_STATISTICS(_)
#undef _
};

_Static_assert(sizeof(struct maple_time_statistics) <= MIMIC_TIME_VALUES_MAX * sizeof(uint64_t), "room for all");

static const char *const time_columns[] = {
	"cycles", "pipe", "issue", "walks", "outstanding", "outstanding_most", "occupancy", "full", "empty", NULL
};

static const char *const columns[] = { "produced", "consumed", "fetched", "prefetched", "tlb_misses", NULL };

static struct maple_time *device_of(const struct mimic_timed *device)
{
	return (struct maple_time *)device;
}

static bool is_there(const struct mimic_time_host *host)
{
	return !host->parameter(host->context, "mpu", "enabled") &&
	       !host->parameter(host->context, "cluster", "enabled");
}

static struct mimic_timed *create(const struct mimic_time_host *host)
{
	struct maple_time_parameters parameters;

	maple_time_parameters(host, &parameters);
	return (struct mimic_timed *)maple_time_create(&parameters, NULL, host);
}

static void destroy(struct mimic_timed *device)
{
	maple_time_destroy(device_of(device));
}

static bool access_device(struct mimic_timed *device, struct mimic_access *access, uint64_t now, uint64_t *done)
{
	return maple_time_access(device_of(device), access, now, done);
}

static void expect(const struct mimic_timed *device, const struct mimic_access *access)
{
	const struct maple_time *maple = (const struct maple_time *)device;
	uint64_t address = maple_model_pointer(maple_time_model((struct maple_time *)maple), access);

	if (address)
		__builtin_prefetch((const void *)(uintptr_t)address);
}

static void owner_gone(struct mimic_timed *device, uint64_t owner, uint64_t now)
{
	maple_time_owner_gone(device_of(device), owner, now);
}

static void power_on(struct mimic_timed *device, uint64_t now)
{
	maple_time_power_on(device_of(device), now);
}

static void advance(struct mimic_timed *device, uint64_t now)
{
	maple_time_advance(device_of(device), now);
}

static uint64_t next(const struct mimic_timed *device)
{
	return maple_time_next(device_of(device));
}

static struct mimic_model *model(struct mimic_timed *device)
{
	return maple_time_model(device_of(device));
}

/* The structure is an array of numbers, in the order of statistics[]. */
static void count(struct mimic_timed *device, uint64_t now, uint64_t *values)
{
	struct maple_time_statistics now_counted;

	maple_time_statistics(device_of(device), now, &now_counted);
	memcpy(values, &now_counted, sizeof(now_counted));
}

/* --- a phase in words ------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static double ratio(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static void print_queues(FILE *file, const struct maple_time_statistics *time)
{
	for (unsigned int i = 0; i < MAPLE_MAX_QUEUES; i++) {
		if (!time->occupancy[i] && !time->full[i] && !time->empty[i])
			continue;
		fprintf(file, "        queue %u: %.2f words, full %llu, empty %llu cycles\n", i,
			ratio(time->occupancy[i], time->cycles), (unsigned long long)time->full[i],
			(unsigned long long)time->empty[i]);
	}
}

/* The functional model counts hits of a TLB without translation, too, where the hardware modelled has none. */
static void print_tlb(FILE *file, const struct mimic_time_host *soc, const uint64_t *counters)
{
	uint64_t hits = counters[MAPLE_COUNTER_tlb_hits];

	if (soc->parameter(soc->context, "maple", "translation"))
		fprintf(file, "TLB %.2f %% hit; ", percent(hits, hits + counters[MAPLE_COUNTER_tlb_misses]));
	else
		fputs("no translation; ", file);
}

static void print(FILE *file, const struct mimic_time_host *soc, const uint64_t *counters, const uint64_t *values)
{
	struct maple_time_statistics time;

	memcpy(&time, values, sizeof(time));
	if (!counters[MAPLE_COUNTER_produced])
		return;
	fprintf(file, "  MAPLE %llu words produced, %llu consumed, %llu fetched, %llu prefetched; ",
		(unsigned long long)counters[MAPLE_COUNTER_produced],
		(unsigned long long)counters[MAPLE_COUNTER_consumed],
		(unsigned long long)counters[MAPLE_COUNTER_fetched],
		(unsigned long long)counters[MAPLE_COUNTER_prefetched]);
	print_tlb(file, soc, counters);
	fprintf(file, "loads on their way %.2f, at most %llu\n", ratio(time.outstanding, time.cycles),
		(unsigned long long)time.outstanding_most);
	fprintf(file, "        waited for: pipe %llu, issue %llu, walks %llu cycles\n", (unsigned long long)time.pipe,
		(unsigned long long)time.issue, (unsigned long long)time.walks);
	print_queues(file, &time);
}

const struct mimic_time maple_kind_time = {
	.is_there = is_there,
	.create = create,
	.destroy = destroy,
	.access = access_device,
	.expect = expect,
	.owner_gone = owner_gone,
	.power_on = power_on,
	.advance = advance,
	.next = next,
	.model = model,
	.statistics = statistics,
	.statistic_count = sizeof(statistics) / sizeof(statistics[0]),
	.count = count,
	.print = print,
	.columns = columns,
	.time_columns = time_columns,
};
