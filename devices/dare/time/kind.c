/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A timed DARE as the run-time of virtual time knows it (devices/time.h). */
#include <string.h>

#include "devices/dare/time/dare_time.h"

static const struct mimic_time_statistic statistics[] = {
#define _(name, is_state, meaning) { #name, 1, is_state },
	DARE_TIME_STATISTICS(_)
#undef _
};

_Static_assert(sizeof(struct dare_time_statistics) <= MIMIC_TIME_VALUES_MAX * sizeof(uint64_t), "room for all");

static const char *const columns[] = {
	"mcfg", "mld", "mgather", "mma", "mst", "mscatter", "macs_used", "macs_offered", NULL
};

static const char *const time_columns[] = {
#define _(name, is_state, meaning) #name,
	DARE_TIME_STATISTICS(_)
#undef _
	NULL
};

static const char *const interval_columns[] = {
	"rows_demanded", "rows_prefetched", "demand_misses", "port_waits", "array_busy", "riq", "lq", "threshold", NULL
};

static struct dare_time *device_of(const struct mimic_timed *device)
{
	return (struct dare_time *)device;
}

static bool is_there(const struct mimic_time_host *host)
{
	return host->parameter(host->context, "mpu", "enabled");
}

static struct mimic_timed *create(const struct mimic_time_host *host)
{
	struct dare_time_parameters parameters;

	dare_time_parameters(host, &parameters);
	return (struct mimic_timed *)dare_time_create(&parameters, host);
}

static void destroy(struct mimic_timed *device)
{
	dare_time_destroy(device_of(device));
}

static bool access_device(struct mimic_timed *device, struct mimic_access *access, uint64_t now, uint64_t *done)
{
	return dare_time_access(device_of(device), access, now, done);
}

static size_t post(struct mimic_timed *device, const struct mimic_access *pattern, const uint64_t *values,
		   size_t count, uint64_t *now, uint64_t until, bool *waits)
{
	return dare_time_post(device_of(device), pattern, values, count, now, until, waits);
}

static void owner_gone(struct mimic_timed *device, uint64_t owner, uint64_t now)
{
	dare_time_owner_gone(device_of(device), owner, now);
}

static void power_on(struct mimic_timed *device, uint64_t now)
{
	dare_time_power_on(device_of(device), now);
}

static void advance(struct mimic_timed *device, uint64_t now)
{
	dare_time_advance(device_of(device), now);
}

static uint64_t advance_until(struct mimic_timed *device, uint64_t until)
{
	return dare_time_advance_until(device_of(device), until);
}

static uint64_t next(const struct mimic_timed *device)
{
	return dare_time_next(device_of(device));
}

static struct mimic_model *model(struct mimic_timed *device)
{
	return dare_time_model(device_of(device));
}

/* The structure is an array of numbers, in the order of statistics[]. */
static void count(struct mimic_timed *device, uint64_t now, uint64_t *values)
{
	struct dare_time_statistics counted;

	dare_time_statistics(device_of(device), now, &counted);
	memcpy(values, &counted, sizeof(counted));
}

/* --- a phase in words ------------------------------------------------------------------------- */

typedef unsigned long long number;

static double percent(uint64_t part, uint64_t all)
{
	return all ? 100.0 * (double)part / (double)all : 0;
}

static double ratio(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

static void print_rows(FILE *file, const struct dare_time_statistics *t)
{
	fprintf(file, "        rows: %llu demanded, %llu stored, %llu prefetched (%.2f %% redundant); "
		"latency %.2f, of which %.2f wait for the port\n",
		(number)t->rows_demanded, (number)t->rows_stored, (number)t->rows_prefetched,
		percent(t->prefetch_redundant, t->rows_prefetched), ratio(t->demand_latency, t->rows_demanded),
		ratio(t->port_waits, t->rows_demanded));
	fprintf(file, "        LLC: %llu hits, %llu merged, %llu misses (%.2f %% miss) of demand; memory: %llu lines read, "
		"%llu written\n",
		(number)t->demand_hits, (number)t->demand_merged, (number)t->demand_misses,
		percent(t->demand_misses + t->demand_merged, t->rows_demanded), (number)t->dram_reads,
		(number)t->dram_writes);
}

/* The threshold and its counts are of a filter only. */
static void print_runahead(FILE *file, bool has_filter, const struct dare_time_statistics *t)
{
	fprintf(file, "        ");
	if (has_filter)
		fprintf(file, "RFU: threshold %llu, %llu granted, %llu suppressed; ", (number)t->threshold,
			(number)t->granted, (number)t->suppressed);
	fprintf(file, "DMU: %llu chains, %llu dropped, %llu waited for the VMR\n", (number)t->chains,
		(number)t->chains_dropped, (number)t->vmr_waits);
}

static void print_queues(FILE *file, const struct dare_time_statistics *t)
{
	fprintf(file, "        entries: queue %.2f (most %llu), VMR %.2f (%llu), LQ %.2f (%llu), SQ %.2f (%llu); "
		"queue full %llu cycles\n",
		ratio(t->riq, t->busy), (number)t->riq_most, ratio(t->vmr, t->busy), (number)t->vmr_most,
		ratio(t->lq, t->busy), (number)t->lq_most, ratio(t->sq, t->busy), (number)t->sq_most,
		(number)t->queue_full);
}

/* fJ to nJ. */
static double nanojoules(uint64_t energy)
{
	return (double)energy / 1e6;
}

static void print_energy(FILE *file, const struct dare_time_statistics *t)
{
	uint64_t all = t->energy_reads + t->energy_prefetches + t->energy_writes + t->energy_mma + t->energy_macs +
		       t->energy_leakage;

	fprintf(file, "        energy: %.1f nJ: LLC %.1f reads, %.1f prefetches, %.1f writes; array %.1f mma, %.1f MACs; "
		"leakage %.1f\n", nanojoules(all), nanojoules(t->energy_reads), nanojoules(t->energy_prefetches),
		nanojoules(t->energy_writes), nanojoules(t->energy_mma), nanojoules(t->energy_macs),
		nanojoules(t->energy_leakage));
}

static void print(FILE *file, const struct mimic_time_host *soc, const uint64_t *counters, const uint64_t *values)
{
	struct dare_time_statistics t;

	memcpy(&t, values, sizeof(t));
	if (!counters[DARE_COUNTER_instructions])
		return;
	fprintf(file, "  DARE  %llu cycles busy: %llu mld, %llu mgather, %llu mma, %llu mst, %llu mscatter, %llu mcfg; "
		"array %.2f %% busy, %.2f %% of its MACs used\n",
		(number)t.busy, (number)counters[DARE_COUNTER_mld], (number)counters[DARE_COUNTER_mgather],
		(number)counters[DARE_COUNTER_mma], (number)counters[DARE_COUNTER_mst],
		(number)counters[DARE_COUNTER_mscatter], (number)counters[DARE_COUNTER_mcfg],
		percent(t.array_busy, t.busy),
		percent(counters[DARE_COUNTER_macs_used], counters[DARE_COUNTER_macs_offered]));
	print_rows(file, &t);
	print_queues(file, &t);
	if (t.rows_prefetched)
		print_runahead(file, soc->parameter(soc->context, "rfu", "enabled"), &t);
	print_energy(file, &t);
}

const struct mimic_time dare_kind_time = {
	.is_there = is_there,
	.create = create,
	.destroy = destroy,
	.access = access_device,
	.post = post,
	.owner_gone = owner_gone,
	.power_on = power_on,
	.advance = advance,
	.advance_until = advance_until,
	.next = next,
	.model = model,
	.statistics = statistics,
	.statistic_count = sizeof(statistics) / sizeof(statistics[0]),
	.count = count,
	.print = print,
	.columns = columns,
	.time_columns = time_columns,
	.interval_columns = interval_columns,
};
