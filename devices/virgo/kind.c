/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Virgo as the transports know it (devices/kind.h). */
#include "devices/kind.h"
#include "devices/virgo/time/virgo_time.h"
#include "devices/virgo/virgo_model.h"
#include "devices/virgo/virgo_state.h"
#include "mimic/virgo_ioctl.h"

/* Reads and writes the event registers: the operating system's number, which no thread has. */
#define OWNER_SYSTEM UINT64_MAX

static const struct mimic_key keys[] = {
#define _(name) { #name, offsetof(struct virgo_config, name), 0 },
	_(units)
	_(cores)
	_(shared_kb)
	_(queue_entries)
	_(overflow_is_error)
	_(synchronous)
	_(cisc_generation)
#undef _
#define _(number) \
	{ "unit" #number "_type", offsetof(struct virgo_config, unit[number].type), 0 }, \
	{ "unit" #number "_dim", offsetof(struct virgo_config, unit[number].dim), 0 }, \
	{ "unit" #number "_accumulator_kb", offsetof(struct virgo_config, unit[number].accumulator_kb), 0 },
	_(0) _(1) _(2) _(3) _(4) _(5) _(6) _(7)
#undef _
};

static const char *const counters[VIRGO_COUNTER_COUNT] = {
#define _(name, meaning) #name,
	VIRGO_COUNTERS(_)
#undef _
};

static void defaults(void *parameters)
{
	virgo_config_profile(parameters, "mixed");
}

static int profile(void *parameters, const char *name)
{
	return virgo_config_profile(parameters, name);
}

static const char *check(const void *parameters)
{
	return virgo_config_check(parameters);
}

static size_t memory_size(const void *parameters)
{
	return (size_t)((const struct virgo_config *)parameters)->shared_kb << 10;
}

static struct mimic_model *create(const void *parameters, const struct mimic_host *host, void *memory)
{
	return virgo_model_create(parameters, host, memory);
}

/*
 * Stores of a command or of its operands may wait in a ring: the posts of different threads keep
 * their order (ordered_posts). The effect of other stores may be read by a program at once.
 */
static bool may_wait(const struct mimic_access *store)
{
	if (store->page != VIRGO_PAGE_UNITS)
		return false;
	switch (store->offset % VIRGO_BLOCK_SIZE) {
	case VIRGO_INSTRUCTION:
	case VIRGO_RS1:
	case VIRGO_RS1_HIGH:
	case VIRGO_RS2:
	case VIRGO_RS2_HIGH:
	case VIRGO_CISC:
	case VIRGO_STREAM:
		return true;
	default:
		return false;
	}
}

/* A word of the CISC port says itself which unit does it. Barriers have an effect before they answer. */
static uint32_t order(const struct mimic_access *access)
{
	if (access->page != VIRGO_PAGE_UNITS)
		return 0;
	if (access->is_write && access->offset % VIRGO_BLOCK_SIZE == VIRGO_CISC)
		return (1u << VIRGO_UNITS_MAX) - 1;
	return 1u << access->offset / VIRGO_BLOCK_SIZE % VIRGO_UNITS_MAX;
}

_Static_assert(VIRGO_UNITS_MAX <= MIMIC_KIND_ORDERS, "a bit for each unit");

static bool is_flush(const struct mimic_access *access)
{
	return access->is_write && access->page == VIRGO_PAGE_CONTROL && access->offset == VIRGO_CONTROL_FLUSH;
}

static bool clears(const struct mimic_access *store)
{
	return store->is_write && store->page == VIRGO_PAGE_UNITS &&
	       store->offset % VIRGO_BLOCK_SIZE == VIRGO_RESET;
}

/* In the synchronous mode the answer to a store says that the command is over. */
static bool posts_stores(const void *parameters)
{
	const struct virgo_config *config = parameters;

	return !config->synchronous;
}

/* Not STREAM: each third value of it queues a command, and they are not counted here. */
static bool is_operand(const struct mimic_access *store)
{
	if (store->page != VIRGO_PAGE_UNITS)
		return false;
	switch (store->offset % VIRGO_BLOCK_SIZE) {
	case VIRGO_RS1:
	case VIRGO_RS1_HIGH:
	case VIRGO_RS2:
	case VIRGO_RS2_HIGH:
		return true;
	default:
		return false;
	}
}

static const char *command_name(uint32_t word)
{
	if ((word & 0x7f) != VIRGO_OPCODE)
		return NULL;
	switch (word >> 25) {
#define _(funct, name, text, counter, meaning) case funct: return text;
	VIRGO_COMMANDS(_)
#undef _
	default:
		return NULL;
	}
}

/* --- jobs ------------------------------------------------------------------------- */

static unsigned int job_count(const void *parameters)
{
	return ((const struct virgo_config *)parameters)->units;
}

static void enable_jobs(void *parameters)
{
	((struct virgo_config *)parameters)->inline_jobs = 0;
}

static void *take_job(struct mimic_model *model)
{
	return virgo_model_take_job(model);
}

static void run_job(void *job)
{
	virgo_job_run(job);
}

static void job_done(struct mimic_model *model, void *job, uint64_t now)
{
	virgo_model_job_done(model, job, now);
}

static unsigned int job_steps(const void *job)
{
	return virgo_job_steps(job);
}

static void job_limit(void *job, unsigned int steps)
{
	virgo_job_limit(job, steps);
}

static const struct mimic_jobs jobs = {
	.count = job_count,
	.enable = enable_jobs,
	.has = virgo_model_has_job,
	.take = take_job,
	.run = run_job,
	.done = job_done,
	.steps = job_steps,
	.limit = job_limit,
};

/* --- events ----------------------------------------------------------------------- */

static uint64_t control_access(struct mimic_model *model, uint32_t offset, bool is_write, uint64_t data,
			       uint64_t now)
{
	struct mimic_access access = {
		.owner = OWNER_SYSTEM,
		.data = data,
		.offset = offset,
		.page = VIRGO_PAGE_CONTROL,
		.size = sizeof(uint64_t),
		.is_write = is_write,
	};

	model->ops->access(model, &access, now);
	return access.data;
}

static void enable_events(struct mimic_model *model, uint64_t events, uint64_t now)
{
	control_access(model, VIRGO_CONTROL_EVENT_ENABLE, true, events, now);
}

static uint64_t enabled_events(struct mimic_model *model, uint64_t now)
{
	return control_access(model, VIRGO_CONTROL_EVENT_ENABLE, false, 0, now);
}

static uint64_t take_events(struct mimic_model *model, uint64_t now)
{
	uint64_t events = enabled_events(model, now);

	events &= control_access(model, VIRGO_CONTROL_EVENT_STATUS, false, 0, now);
	if (events)
		control_access(model, VIRGO_CONTROL_EVENT_STATUS, true, events, now);
	return events;
}

/* The oldest first; one that stalls again is the youngest. */
static void retry(struct mimic_model *model, uint64_t now)
{
	for (unsigned int i = 0; i < VIRGO_UNITS_MAX; i++) {
		uint64_t fault = control_access(model, VIRGO_CONTROL_FAULT_STATUS, false, 0, now);

		if (!(fault & VIRGO_FAULT_STALLED))
			return;
		control_access(model, VIRGO_CONTROL_RESOLVE, true, (fault & 0xff) | VIRGO_RESOLVE_PRESENT, now);
	}
}

static const struct mimic_register_block *const blocks[] = {
	&virgo_control_block,
	&virgo_barrier_block,
	&virgo_unit_block,
};

/* The work of all units together. */
static const struct mimic_summary summary = {
	.title = "CLUSTER",
	.columns = {
		{ "commands", "COMMANDS" },
		{ "loops", "LOOPS" },
		{ "tiles", "TILES" },
		{ "macs", "MACS" },
		{ "dma_bytes_read", "DMA READ" },
		{ "dma_bytes_written", "DMA WRITTEN" },
		{ "errors", "ERRORS" },
	},
};

const struct mimic_kind mimic_kind_virgo = {
	.name = "virgo",
	.title = "Virgo",
	.default_count = 2,
	.pages = VIRGO_PAGE_COUNT,
	.device_pages = VIRGO_PAGE_COUNT,
	.ioctl_type = VIRGO_IOCTL,
	.ioctl_version = VIRGO_ABI_VERSION,
	.has_emulated_ioctls = true,
	.batch = 1024,	/* they are only queued */
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_size = MIMIC_PARAMETERS_SIZE(struct virgo_config),
	.defaults = defaults,
	.profile = profile,
	.profiles = "mixed, paper, heterogeneous, gemmini or later",
	.check = check,
	.memory_size = memory_size,
	.memory_offset = VIRGO_SHARED_OFFSET,
	.create = create,
	.destroy = virgo_model_destroy,
	.counters = counters,
	.counter_count = VIRGO_COUNTER_COUNT,
	.summary = &summary,
	.keeps_vectors = MIMIC_KEEPS_VECTORS_IN_KIND,
	.may_wait = may_wait,
	.ordered_posts = true,
	.order = order,
	.posts_stores = posts_stores,
	.is_operand = is_operand,
	.is_flush = is_flush,
	.clears = clears,
	.jobs = &jobs,
	.time = &virgo_kind_time,
	.events = (VIRGO_EVENT_BARRIER << 1) - 1,
	.enable_events = enable_events,
	.take_events = take_events,
	.enabled_events = enabled_events,
	.retry = retry,
	.resume = virgo_model_resume,
	.state = virgo_state,
	.explain = virgo_explain,
	.command_name = command_name,
	.blocks = blocks,
	.block_count = sizeof(blocks) / sizeof(blocks[0]),
};
