/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A whole device, as a plugin: it adds up bytes of the program's memory. docs/your-device.md
 * goes through it. A model does no system call and takes no lock; the program that drives it
 * serialises the calls (devices/model.h).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "checksum_registers.h"
#include "devices/image.h"
#include "devices/plugin.h"

#define CHUNK 4096u

/* The section [checksum] of a configuration file. */
struct checksum_config {
	unsigned int longest;	/* bytes of one LENGTH: no call may take long */
};

/* The state of a device, but for its configuration: as it is saved. */
struct checksum_state {
	uint64_t address, sum, status;
	uint64_t sums, bytes, faults, illegal;	/* counters */
};

struct checksum {
	struct mimic_model model;
	struct checksum_config config;
	struct mimic_host host;
	struct checksum_state state;
};

static struct checksum *checksum_of(const struct mimic_model *model)
{
	return (struct checksum *)model;
}

/* --- registers: answers of loads, effects of stores --------------------------------------------- */

#define PEEK(NAME, value_) \
	static enum mimic_peek page_peek_##NAME(const struct mimic_model *model, struct mimic_register_place place, \
						uint64_t now, uint64_t *value) \
	{ \
		const struct checksum *c = checksum_of(model); \
		(void)c, (void)place, (void)now; \
		*value = value_; \
		return MIMIC_PEEK_VALUE; \
	}

PEEK(IDENTIFY, CHECKSUM_MAGIC)
PEEK(ADDRESS, c->state.address)
PEEK(SUM, c->state.sum)
PEEK(STATUS, c->state.status)

static enum mimic_outcome page_store_ADDRESS(struct mimic_model *model, struct mimic_register_place place,
					     struct mimic_access *access)
{
	(void)place;
	checksum_of(model)->state.address = access->data;
	return MIMIC_DONE;
}

static enum mimic_outcome page_store_LENGTH(struct mimic_model *model, struct mimic_register_place place,
					    struct mimic_access *access)
{
	struct checksum *c = checksum_of(model);
	const struct mimic_memory *memory = &c->host.memory;
	unsigned char bytes[CHUNK];

	(void)place;
	c->state.sum = 0;
	c->state.status = access->data > c->config.longest ? 2 : 0;
	for (uint64_t done = 0; !c->state.status && done < access->data;) {
		size_t size = access->data - done < CHUNK ? (size_t)(access->data - done) : CHUNK;

		/* A program may name memory that is not there: that is an answer, never a crash. */
		if (memory->read(memory->context, c->state.address + done, bytes, size)) {
			c->state.status = 1;
			c->state.faults++;
			break;
		}
		for (size_t i = 0; i < size; i++)
			c->state.sum += bytes[i];
		done += size;
		c->state.bytes += size;
	}
	c->state.sums += !c->state.status;
	return MIMIC_DONE;
}

static enum mimic_outcome page_store_RESET(struct mimic_model *model, struct mimic_register_place place,
					   struct mimic_access *access)
{
	(void)place;
	(void)access;
	model->ops->power_on(model, 0);
	return MIMIC_DONE;
}

/* The table: dumps, names in traces and a driver's knowledge of registers come from it. */
static const struct mimic_register rows[] = {
#define _(offset, name, access, reset, role, format, meaning) \
	[(offset) / 8] = { MIMIC_REGISTER_ROW(page, offset, name, access, reset, role, format, meaning) },
	CHECKSUM_REGISTERS(_)
#undef _
};

static const struct mimic_register_block page = {
	.name = "checksum", .access = MIMIC_REGISTER_RW, .pages = 1, .units = 1, .size = MIMIC_PAGE_SIZE,
	.shift = 3, .rows = rows, .count = sizeof(rows) / sizeof(rows[0]),
};

static const struct mimic_register_block *const blocks[] = { &page };

/* --- the model ------------------------------------------------------------------------------------ */

static enum mimic_outcome access_one(struct mimic_model *model, struct mimic_access *access, uint64_t now)
{
	struct mimic_register_place place;
	const struct mimic_register *row = mimic_register_at(&page, 0, access->offset, &place);
	unsigned int direction = access->is_write ? MIMIC_REGISTER_W : MIMIC_REGISTER_R;
	uint64_t begin = mimic_trace_now(&model->trace);

	if (access->page || access->size != 8 || !row || !(row->access & direction)) {
		checksum_of(model)->state.illegal++;
		access->data = 0;
	} else if (access->is_write) {
		row->store(model, place, access);
	} else {
		row->peek(model, place, now, &access->data);
	}
	mimic_trace_accesses(&model->trace, begin, access, 1);
	return MIMIC_DONE;
}

static size_t store_many(struct mimic_model *model, const struct mimic_access *pattern, const uint64_t *values,
			 size_t count, uint64_t now)
{
	for (size_t i = 0; i < count; i++) {
		struct mimic_access one = *pattern;

		one.data = values[i];
		access_one(model, &one, now);
	}
	return count;
}

static size_t load_many(struct mimic_model *model, const struct mimic_access *pattern, void *values, size_t count,
			uint64_t now)
{
	for (size_t i = 0; i < count; i++) {
		struct mimic_access one = *pattern;

		access_one(model, &one, now);
		memcpy((char *)values + i * pattern->size, &one.data, pattern->size);
	}
	return count;
}

/* Nothing of this device waits: there is nothing to withdraw, to free, or to go on with. */
static void nothing_of_owner(struct mimic_model *model, uint64_t owner, uint64_t now)
{
	(void)model, (void)owner, (void)now;
}

static void tick(struct mimic_model *model, uint64_t now)
{
	(void)model, (void)now;
}

static bool busy(const struct mimic_model *model)
{
	(void)model;
	return false;
}

/* It keeps no translations. */
static void invalidate(struct mimic_model *model, uint64_t start, uint64_t end)
{
	(void)model, (void)start, (void)end;
}

static void power_on(struct mimic_model *model, uint64_t now)
{
	struct checksum_state *state = &checksum_of(model)->state;

	(void)now;
	state->address = state->sum = state->status = 0;
}

static const char *const counter_names[] = { "sums", "bytes", "faults", "illegal" };
#define COUNTERS (sizeof(counter_names) / sizeof(counter_names[0]))

static size_t counters(const struct mimic_model *model, uint64_t *values, size_t count)
{
	const struct checksum_state *state = &checksum_of(model)->state;
	const uint64_t all[COUNTERS] = { state->sums, state->bytes, state->faults, state->illegal };

	memcpy(values, all, (count < COUNTERS ? count : COUNTERS) * sizeof(*values));
	return COUNTERS;
}

static void clear_counters(struct mimic_model *model)
{
	struct checksum_state *state = &checksum_of(model)->state;

	state->sums = state->bytes = state->faults = state->illegal = 0;
}

static size_t describe(const struct mimic_model *model, char *text, size_t size)
{
	(void)model;
	if (size)
		*text = '\0';
	return 0;
}

static const struct mimic_image_kind image_kind = {
	.magic = 0x4547414d494b4348ull, .version = 1, .config_size = sizeof(struct checksum_config),
};

static size_t save(const struct mimic_model *model, void *image, size_t size)
{
	const struct checksum *c = checksum_of(model);
	size_t total = mimic_image_size(&image_kind, sizeof(c->state));

	if (image && size >= total)
		mimic_image_put(mimic_image_begin(&image_kind, &c->config, image, sizeof(c->state)), &c->state,
				sizeof(c->state));
	return total;
}

static int restore(struct mimic_model *model, const void *image, size_t size)
{
	struct checksum *c = checksum_of(model);
	const char *from = mimic_image_state(&image_kind, &c->config, image, size, sizeof(c->state));

	if (!from)
		return -EINVAL;
	mimic_image_get(from, &c->state, sizeof(c->state));
	return 0;
}

static const struct mimic_model_ops ops = {
	.kind = "checksum", .access = access_one, .store_many = store_many, .load_many = load_many,
	.cancel = nothing_of_owner, .owner_gone = nothing_of_owner, .tick = tick, .busy = busy,
	.invalidate = invalidate, .power_on = power_on, .counters = counters, .clear_counters = clear_counters,
	.describe = describe, .save = save, .restore = restore,
};

/* --- the kind --------------------------------------------------------------------------------------- */

static void defaults(void *parameters)
{
	*(struct checksum_config *)parameters = (struct checksum_config){ .longest = 65536 };
}

static const char *check(const void *parameters)
{
	unsigned int longest = ((const struct checksum_config *)parameters)->longest;

	return longest >= 1 && longest <= 1u << 20 ? NULL : "longest must be 1 to 1048576";
}

static struct mimic_model *create(const void *parameters, const struct mimic_host *host, void *memory)
{
	struct checksum *c = calloc(1, sizeof(*c));

	(void)memory;
	if (!c)
		return NULL;
	c->model.ops = &ops;
	c->config = *(const struct checksum_config *)parameters;
	c->host = *host;
	return &c->model;
}

static void destroy(struct mimic_model *model)
{
	free(model);
}

/* A program that has stored LENGTH may look at SUM, and at its own memory, at once. */
static bool may_wait(const struct mimic_access *store)
{
	(void)store;
	return false;
}

static void show(const struct mimic_model *model, uint64_t now, const struct mimic_state_visitor *visitor)
{
	const struct checksum *c = checksum_of(model);
	uint64_t values[COUNTERS];

	counters(model, values, COUNTERS);
	mimic_state_registers(visitor, &page, model, 0, now);
	mimic_state_enter(visitor, "config");
	mimic_state_decimal(visitor, "longest", c->config.longest, "bytes of one LENGTH");
	mimic_state_leave(visitor, "config");
	mimic_state_enter(visitor, "counters");
	for (size_t i = 0; i < COUNTERS; i++)
		mimic_state_decimal(visitor, counter_names[i], values[i], "since power-on");
	mimic_state_leave(visitor, "counters");
}

static const struct mimic_key keys[] = {
	{ "longest", offsetof(struct checksum_config, longest), 0 },
};

static const struct mimic_kind mimic_kind_checksum = {
	.name = "checksum",
	.default_count = 1,
	.pages = 1,
	.device_pages = 1,
	.batch = 1,
	.keys = keys,
	.key_count = sizeof(keys) / sizeof(keys[0]),
	.parameters_size = MIMIC_PARAMETERS_SIZE(struct checksum_config),
	.defaults = defaults,
	.check = check,
	.create = create,
	.destroy = destroy,
	.counters = counter_names,
	.counter_count = COUNTERS,
	.may_wait = may_wait,
	.state = show,
	.blocks = blocks,
	.block_count = 1,
};

MIMIC_PLUGIN(mimic_kind_checksum);
