/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Images of the whole state: a header with the configuration, the device, its
 * contexts. An image is restored only into a device of the same configuration,
 * if every index in it is one that the model could have written, and if the host
 * has the address spaces that it names.
 */
#include <errno.h>

#include "devices/dare/dare_internal.h"
#include "devices/image.h"

static const struct mimic_image_kind image_kind = {
	.magic = 0x4547414d49455244ull,	/* "DREIMAGE" */
	.version = 1,
	.config_size = sizeof(struct dare_config),
};

static size_t contexts_size(const struct dare *d)
{
	return d->config.contexts * sizeof(*d->context);
}

static size_t state_size(const struct dare *d)
{
	return sizeof(d->state) + contexts_size(d);
}

/* Registers in the order of their numbers, then the rest as it is. */
static char *put_context(const struct dare *d, struct dare_context *c, char *to)
{
	for (unsigned int i = 0; i <= PLACE_FREE; i++)
		to = mimic_image_put(to, matrix_of(d, c, i), sizeof(c->tile[i]));
	return mimic_image_put(to, (const char *)c + sizeof(c->tile), sizeof(*c) - sizeof(c->tile));
}

size_t dare_mpu_save(const struct mimic_model *model, void *image, size_t size)
{
	const struct dare *d = (const struct dare *)model;
	size_t total = mimic_image_size(&image_kind, state_size(d));
	char *to;

	if (!image || size < total)
		return total;
	to = mimic_image_begin(&image_kind, &d->config, image, state_size(d));
	to = mimic_image_put(to, &d->state, sizeof(d->state));
	for (unsigned int i = 0; i < d->config.contexts; i++)
		to = put_context(d, &d->context[i], to);
	return total;
}

static bool is_memory_operation(const struct queue_entry *entry)
{
	enum dare_format format;

	if (entry->operation == DARE_OPERATION_COUNT)
		return false;
	format = dare_instructions[entry->operation].format;
	return format != DARE_FORMAT_CONFIGURE && format != DARE_FORMAT_MULTIPLY;
}

/* Only a head that waits for a page has been started. */
static bool entry_is_sound(const struct queue_entry *entry, bool waits)
{
	return entry->operation <= DARE_OPERATION_COUNT && entry->md < DARE_REGISTERS &&
	       entry->ms1 < DARE_REGISTERS && entry->ms2 < DARE_REGISTERS &&
	       entry->rows <= DARE_ROWS && entry->started == waits &&
	       (!waits || is_memory_operation(entry));
}

static bool queue_is_sound(const struct dare *d, const struct dare_context *c)
{
	unsigned int entries = d->config.queue_entries;

	if (c->queue_first >= entries || c->queue_level > entries || (c->error && c->queue_level) ||
	    (c->stalled && !c->queue_level))
		return false;
	for (unsigned int i = 0; i < c->queue_level; i++) {
		if (!entry_is_sound(&c->queue[(c->queue_first + i) % entries], c->stalled && i == 0))
			return false;
	}
	return true;
}

static bool requests_are_sound(const struct dare_context *c)
{
	if (c->request_count > REQUESTS_MAX || c->request_next > c->request_count ||
	    (c->stalled && c->request_next == c->request_count))
		return false;
	for (unsigned int i = 0; i < c->request_count; i++) {
		const struct memory_request *request = &c->request[i];

		if (request->row >= DARE_ROWS || !request->bytes ||
		    request->offset + request->bytes > DARE_ROW_BYTES)
			return false;
	}
	return true;
}

static bool csrs_are_sound(const struct dare_context *c)
{
	static const uint32_t largest[DARE_CSR_COUNT] = {
#define _(number, name, value, meaning) [number] = value,
		DARE_CSRS(_)
#undef _
	};

	for (unsigned int i = 0; i < DARE_CSR_COUNT; i++) {
		if (!c->csr[i] || c->csr[i] > largest[i])
			return false;
	}
	return true;
}

/* The accesses that wait, by the context's own numbers and by the device's list. */
static bool parked_are_sound(const struct dare *d, const struct dare_state *state,
			     const struct dare_context *c, unsigned int number)
{
	uint32_t stores = 0, fences = 0;

	for (unsigned int i = 0; i < state->parked_count; i++) {
		if (state->parked[i].context != number)
			continue;
		stores += state->parked[i].kind != PARKED_FENCE;
		fences += state->parked[i].kind == PARKED_FENCE;
	}
	if (c->parked_stores != stores || c->parked_fences != fences)
		return false;
	return (!stores || c->queue_level == d->config.queue_entries) && (!fences || c->queue_level);
}

static bool context_is_sound(const struct dare *d, const struct dare_state *state,
			     const struct dare_context *c, unsigned int number)
{
	return queue_is_sound(d, c) && requests_are_sound(c) && csrs_are_sound(c) &&
	       parked_are_sound(d, state, c, number) && c->stream_missing <= 2 &&
	       c->error <= DARE_ERROR_DETACHED && c->tlb.entries == d->config.tlb_entries &&
	       (c->address_space ? dare_mpu_control_memory_of(d, c->address_space) != NULL : !c->stalled);
}

static bool state_is_sound(const struct dare *d, const struct dare_state *state)
{
	if (state->parked_count > PARKED_MAX)
		return false;
	for (unsigned int i = 0; i < state->parked_count; i++) {
		const struct parked *parked = &state->parked[i];

		if (parked->context >= d->config.contexts || parked->kind > PARKED_FENCE || parked->over)
			return false;
	}
	return true;
}

/* The image may lie at any address; a copy of one context at a time is small enough for a stack. */
static bool image_is_sound(const struct dare *d, const char *from)
{
	struct dare_context context;
	struct dare_state state;

	memcpy(&state, from, sizeof(state));
	if (!state_is_sound(d, &state))
		return false;
	from += sizeof(state);
	for (unsigned int i = 0; i < d->config.contexts; i++, from += sizeof(context)) {
		memcpy(&context, from, sizeof(context));
		if (!context_is_sound(d, &state, &context, i))
			return false;
	}
	return true;
}

int dare_mpu_restore(struct mimic_model *model, const void *image, size_t size)
{
	struct dare *d = dare_of(model);
	const char *from;

	from = mimic_image_state(&image_kind, &d->config, image, size, state_size(d));
	if (!from || !image_is_sound(d, from))
		return -EINVAL;
	from = mimic_image_get(from, &d->state, sizeof(d->state));
	mimic_image_get(from, d->context, contexts_size(d));
	dare_mpu_compute_forget_all(d);
	d->unfinished = 0;
	for (unsigned int i = 0; i < d->config.contexts; i++) {
		const struct dare_context *c = &d->context[i];

		dare_mpu_context_place(d, c);
		d->memory[i] = dare_mpu_control_memory_of(d, c->address_space);
		if (c->queue_level && !c->stalled)
			d->unfinished |= 1u << i;
	}
	return 0;
}

bool dare_model_adopt(struct mimic_model *model, unsigned int context, uint64_t address_space)
{
	struct dare *d = dare_of(model);
	struct dare_context *c = &d->context[context];

	if (!c->address_space)
		return false;
	c->address_space = address_space;
	d->memory[context] = dare_mpu_control_memory_of(d, address_space);
	return true;
}

void dare_model_resume(struct mimic_model *model, uint64_t now)
{
	dare_of(model)->state.now = now;
}
