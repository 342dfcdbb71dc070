/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shows the device's state beside its registers: counters, a line of text, views. */
#include <errno.h>
#include <stdio.h>

#include "devices/dare/dare_internal.h"

size_t dare_mpu_counters_read(const struct mimic_model *model, uint64_t *values, size_t n)
{
	const struct dare *d = (const struct dare *)model;

	for (size_t i = 0; i < DARE_COUNTER_COUNT && i < n; i++) {
		values[i] = d->state.retired[i] + (i == DARE_COUNTER_illegal ? d->state.illegal : 0);
		for (unsigned int number = 0; number < d->config.contexts; number++)
			values[i] += d->context[number].counters[i];
	}
	return DARE_COUNTER_COUNT;
}

void dare_mpu_counters_clear(struct mimic_model *model)
{
	struct dare *d = dare_of(model);

	memset(d->state.retired, 0, sizeof(d->state.retired));
	d->state.illegal = 0;
	for (unsigned int i = 0; i < d->config.contexts; i++)
		memset(d->context[i].counters, 0, sizeof(d->context[i].counters));
}

size_t dare_model_counters(const struct mimic_model *model, unsigned int context, uint64_t *values,
			   size_t n)
{
	const struct dare *d = (const struct dare *)model;

	if (context >= d->config.contexts)
		return 0;
	if (n > DARE_COUNTER_COUNT)
		n = DARE_COUNTER_COUNT;
	if (n)
		memcpy(values, d->context[context].counters, n * sizeof(*values));
	return DARE_COUNTER_COUNT;
}

static const char *error_name(uint32_t error)
{
	static const char *const names[] = {
#define _(number, name, meaning) [number] = #name,
		DARE_ERRORS(_)
#undef _
	};

	return error < sizeof(names) / sizeof(names[0]) ? names[error] : "?";
}

static size_t describe_context(const struct dare_context *c, unsigned int number, char *text,
			       size_t size)
{
	int n = 0;

	if (c->stalled)
		n = snprintf(text, size, ", context %u waits for page 0x%llx", number,
			     (unsigned long long)c->stall_page << 12);
	else if (c->error)
		n = snprintf(text, size, ", context %u error %s at 0x%llx", number,
			     error_name(c->error), (unsigned long long)c->error_address);
	return n > 0 ? (size_t)n : 0;
}

size_t dare_mpu_describe(const struct mimic_model *model, char *text, size_t size)
{
	const struct dare *d = (const struct dare *)model;
	unsigned int attached = 0;
	size_t length;
	int n;

	for (unsigned int i = 0; i < d->config.contexts; i++)
		attached += d->context[i].address_space != 0;
	n = snprintf(text, size, "%u contexts, %u attached", d->config.contexts, attached);
	length = n > 0 ? (size_t)n : 0;
	for (unsigned int i = 0; i < d->config.contexts && length < size; i++)
		length += describe_context(&d->context[i], i, text + length, size - length);
	return length;
}

int dare_model_context(const struct mimic_model *model, unsigned int context,
		       struct dare_context_view *view)
{
	const struct dare *d = (const struct dare *)model;
	struct dare_context *c;

	if (context >= d->config.contexts)
		return -EINVAL;
	c = &d->context[context];
	*view = (struct dare_context_view){
		.attached = c->address_space != 0, .address_space = c->address_space,
		.matrix_m = c->csr[DARE_CSR_MATRIX_M], .matrix_k = c->csr[DARE_CSR_MATRIX_K],
		.matrix_n = c->csr[DARE_CSR_MATRIX_N], .queue_level = c->queue_level,
		.stalled = c->stalled,
	};
	for (unsigned int i = 0; i < DARE_REGISTERS; i++)
		view->registers[i] = matrix_of(d, c, i);
	return 0;
}
