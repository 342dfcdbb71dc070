/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A timed cluster as the run-time of virtual time knows it (devices/time.h). */
#include <string.h>

#include "devices/virgo/time/virgo_time.h"

static const struct mimic_time_statistic statistics[] = {
#define _(name, is_most, meaning) { #name, 1, is_most },
	VIRGO_TIME_STATISTICS(_)
#undef _
#define _(name, is_most, meaning) { #name, VIRGO_TIME_BANKS_MAX, is_most },
	VIRGO_TIME_BANK_STATISTICS(_)
#undef _
};

_Static_assert(sizeof(struct virgo_time_statistics) <= MIMIC_TIME_VALUES_MAX * sizeof(uint64_t), "room for all");

static const char *const columns[] = { "commands", "loops", "macs", NULL };

static const char *const time_columns[] = {
#define _(name, is_most, meaning) #name,
	VIRGO_TIME_STATISTICS(_)
	VIRGO_TIME_BANK_STATISTICS(_)
#undef _
	NULL
};

static const char *const interval_columns[] = {
	"warp_instructions", "matrix_busy", "shared_reads", "l2_requests", "dma_read_bytes", NULL
};

static struct virgo_time *device_of(const struct mimic_timed *device)
{
	return (struct virgo_time *)device;
}

static bool is_there(const struct mimic_time_host *host)
{
	return host->parameter(host->context, "cluster", "enabled");
}

static const char *check(const struct mimic_time_host *host)
{
	struct virgo_time_parameters parameters;

	virgo_time_parameters(host, &parameters);
	return virgo_time_check(&parameters);
}

static uint64_t memory_size(const struct mimic_time_host *host)
{
	struct virgo_time_parameters parameters;
	struct virgo_config config;

	virgo_time_parameters(host, &parameters);
	virgo_timed_config(&parameters, &config);
	return (uint64_t)config.shared_kb << 10;
}

static struct mimic_timed *create(const struct mimic_time_host *host)
{
	struct virgo_time_parameters parameters;

	virgo_time_parameters(host, &parameters);
	return (struct mimic_timed *)virgo_timed_create(&parameters, NULL, host);
}

static void destroy(struct mimic_timed *device)
{
	virgo_timed_destroy(device_of(device));
}

static bool access_device(struct mimic_timed *device, struct mimic_access *access, uint64_t now, uint64_t *done)
{
	return virgo_timed_access(device_of(device), access, now, done);
}

static bool access_memory(struct mimic_timed *device, const struct mimic_time_memory_access *access, uint64_t now,
			  uint64_t *done)
{
	const struct virgo_time_shared_access shared = {
		.owner = access->owner, .address = (uint32_t)access->offset, .size = access->size, .is_store = access->is_store,
	};

	return virgo_timed_memory(device_of(device), &shared, now, done);
}

static int begin_kernel(struct mimic_timed *device, uint64_t owner, unsigned int part, const uint64_t *shape,
			size_t count, uint64_t now)
{
	return virgo_timed_begin_kernel(device_of(device), owner, part, shape, count, now);
}

static void end_kernel(struct mimic_timed *device, unsigned int part, uint64_t now)
{
	virgo_timed_end_kernel(device_of(device), part, now);
}

static void owner_gone(struct mimic_timed *device, uint64_t owner, uint64_t now)
{
	virgo_timed_owner_gone(device_of(device), owner, now);
}

static void power_on(struct mimic_timed *device, uint64_t now)
{
	virgo_timed_power_on(device_of(device), now);
}

static void advance(struct mimic_timed *device, uint64_t now)
{
	virgo_timed_advance(device_of(device), now);
}

static uint64_t advance_until(struct mimic_timed *device, uint64_t until)
{
	return virgo_timed_advance_until(device_of(device), until);
}

static uint64_t next(const struct mimic_timed *device)
{
	return virgo_timed_next(device_of(device));
}

static struct mimic_model *model(struct mimic_timed *device)
{
	return virgo_timed_model(device_of(device));
}

/* The structure is an array of numbers, in the order of statistics[]. */
static void count(struct mimic_timed *device, uint64_t now, uint64_t *values)
{
	struct virgo_time_statistics counted;

	virgo_timed_statistics(device_of(device), now, &counted);
	memcpy(values, &counted, sizeof(counted));
}

/* --- a phase in words ----------------------------------------------------------------------------------- */

typedef unsigned long long number;

static double percent(double part, double all)
{
	return all > 0 ? 100.0 * part / all : 0;
}

static uint64_t parameter(const struct mimic_time_host *soc, const char *section, const char *key)
{
	return soc->parameter(soc->context, section, key);
}

static void print_kernels(FILE *file, const struct mimic_time_host *soc, const struct virgo_time_statistics *t)
{
	if (!t->kernels)
		return;
	fprintf(file, "        kernels of %s: %llu, %llu cycles; %.2f %% of the MACs used\n",
		virgo_time_design_name((unsigned int)parameter(soc, "cluster", "design")), (number)t->kernels,
		(number)t->kernel_time, percent((double)t->kernel_macs, (double)t->kernel_macs_offered));
	fprintf(file, "        instructions of warps: %llu: %llu ALU, %llu FPU, %llu loads, %llu stores, %llu MMIO, %llu wmma, "
		"%llu control; %llu polls, %llu barriers\n",
		(number)t->warp_instructions, (number)t->alu, (number)t->fpu, (number)t->loads, (number)t->stores,
		(number)t->mmio, (number)t->wmma, (number)t->control, (number)t->polls, (number)t->barriers);
	fprintf(file, "        warps waited for: registers %llu, units %llu, instructions %llu, barriers %llu; LSUs %llu cycles, "
		"%llu of them for fences\n",
		(number)t->stall_operands, (number)t->stall_dispatch, (number)t->stall_fetch, (number)t->stall_barrier,
		(number)t->lsu_waits, (number)t->fence_waits);
}

static void print_memories(FILE *file, const struct virgo_time_statistics *t)
{
	fprintf(file, "        shared memory: %llu words read, %llu written, %llu of them unaligned; %llu refused by a bank\n",
		(number)t->shared_reads, (number)t->shared_writes, (number)t->shared_unaligned, (number)t->bank_conflicts);
	fprintf(file, "        L1: %llu accesses, %llu misses; L2: %llu requests; DMA: %llu bytes read, %llu written, at most "
		"%llu on their way\n",
		(number)t->l1_accesses, (number)t->l1_misses, (number)t->l2_requests, (number)t->dma_read_bytes,
		(number)t->dma_written_bytes, (number)t->dma_outstanding_most);
}

static void print_banks(FILE *file, const struct mimic_time_host *soc, const struct virgo_time_statistics *t)
{
	unsigned int banks = (unsigned int)parameter(soc, "shared", "banks");

	fprintf(file, "        banks, granted reads, writes, refused:");
	for (unsigned int i = 0; i < banks; i++)
		fprintf(file, "%s %u: %llu, %llu, %llu", i ? ";" : "", i, (number)t->bank_reads[i], (number)t->bank_writes[i],
			(number)t->bank_refused[i]);
	fputc('\n', file);
}

static void print_threads(FILE *file, const struct virgo_time_statistics *t)
{
	if (!t->thread_mmio && !t->thread_loads && !t->thread_stores)
		return;
	fprintf(file, "        threads: %llu instructions; shared memory: %llu loads, %llu stores; registers: %llu, %llu of them polls; "
		"barriers: %llu\n",
		(number)t->thread_instructions, (number)t->thread_loads, (number)t->thread_stores, (number)t->thread_mmio,
		(number)t->thread_polls, (number)t->thread_barriers);
	if (!t->thread_stall_bank && !t->thread_stall_barrier && !t->thread_stall_queue && !t->thread_stall_unit)
		return;
	fprintf(file, "        threads waited for: banks %llu cycles, barriers %llu, queues %llu, units %llu\n",
		(number)t->thread_stall_bank, (number)t->thread_stall_barrier, (number)t->thread_stall_queue,
		(number)t->thread_stall_unit);
}

/* fJ to uJ. */
static double microjoules(uint64_t energy)
{
	return (double)energy / 1e9;
}

static void print_energy(FILE *file, const struct virgo_time_statistics *t)
{
	uint64_t all = t->energy_core + t->energy_mac + t->energy_unit + t->energy_shared + t->energy_memory;

	fprintf(file, "        energy: %.3f uJ: %.3f cores, %.3f MACs, %.3f units, %.3f shared memory, %.3f L1 and L2; the program's threads "
		"beside it %.3f\n",
		microjoules(all), microjoules(t->energy_core), microjoules(t->energy_mac), microjoules(t->energy_unit),
		microjoules(t->energy_shared), microjoules(t->energy_memory), microjoules(t->energy_threads));
}

static void print(FILE *file, const struct mimic_time_host *soc, const uint64_t *counters, const uint64_t *values)
{
	struct virgo_time_parameters parameters;
	struct virgo_time_statistics t;

	virgo_time_parameters(soc, &parameters);
	memcpy(&t, values, sizeof(t));
	if (!counters[VIRGO_COUNTER_commands] && !t.thread_loads && !t.thread_stores)
		return;
	fprintf(file, "  VIRGO %llu commands, %llu loops; arrays %llu cycles busy, %llu refused by a bank; %.2f %% of all MACs at work\n",
		(number)counters[VIRGO_COUNTER_commands], (number)counters[VIRGO_COUNTER_loops], (number)t.matrix_busy,
		(number)t.matrix_stalls, percent((double)(t.matrix_macs + t.tensor_macs), (double)t.cycles * (double)virgo_time_macs(&parameters)));
	print_kernels(file, soc, &t);
	print_threads(file, &t);
	print_memories(file, &t);
	print_banks(file, soc, &t);
	print_energy(file, &t);
}

const struct mimic_time virgo_kind_time = {
	.is_there = is_there,
	.check = check,
	.memory_size = memory_size,
	.create = create,
	.destroy = destroy,
	.access = access_device,
	.memory = access_memory,
	.begin_kernel = begin_kernel,
	.end_kernel = end_kernel,
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
