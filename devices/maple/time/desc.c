/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/maple/time/desc.h"

#define VALUE_WORDS 2		/* of a value, at most */
#define LARGEST_CODE 7		/* 128 words */
#define LARGEST_WORDS 128	/* room for 64 values, which is the maximum of desc.queue_entries */

struct maple_time_pipes maple_desc_pipes(const struct maple_time_parameters *parameters)
{
	return (struct maple_time_pipes){
		.store_interval = 1, .pointer_interval = 1, .through_l2 = true,
		.values = (unsigned int)parameters->desc_queue_entries,
		.loads = (unsigned int)parameters->desc_terminal_loads,
	};
}

void maple_desc_config(const struct maple_time_parameters *parameters, struct maple_config *config,
		       int *size_code)
{
	maple_config_profile(config, "paper");
	config->queues = (unsigned int)parameters->maple_queues;
	config->scratchpad_words = config->queues * LARGEST_WORDS;
	config->tlb_entries = (unsigned int)parameters->maple_tlb_entries;
	config->lima_chunks = (unsigned int)parameters->maple_lima_chunks;
	*size_code = LARGEST_CODE;
}

/* Words of one value that the store pushes. */
static unsigned int value_words(const struct mimic_access *access)
{
	switch (operation_of(access)) {
	case MAPLE_STORE_PRODUCE:
		return words_of(access);
	case MAPLE_STORE_POINTER64:
	case MAPLE_STORE_LLC_POINTER64:
	case MAPLE_STORE_FULL_POINTER64:
	case MAPLE_STORE_FULL_LLC_POINTER64:
		return VALUE_WORDS;
	default:
		return 1;
	}
}

static bool is_pointer(unsigned int operation)
{
	return operation == MAPLE_STORE_POINTER32 || operation == MAPLE_STORE_POINTER64 ||
	       operation == MAPLE_STORE_LLC_POINTER32 || operation == MAPLE_STORE_LLC_POINTER64;
}

/* The upper half of an index's payload is another index. */
static unsigned int value_count(const struct mimic_access *access)
{
	return is_pointer(operation_of(access)) && access->size == 8 && access->data >> 32 ? 2 : 1;
}

static unsigned int loads_of(const struct maple_time *device, uint64_t producer)
{
	unsigned int loads = 0;

	for (unsigned int i = 0; i < device->queue_count; i++) {
		struct maple_queue_view view;

		if (!device->queue[i].loads)
			continue;
		maple_model_queue(device->model, i, &view);
		if (view.producer == producer)
			loads += device->queue[i].loads;
	}
	return loads;
}

bool maple_desc_has_room(const struct maple_time *device, unsigned int queue,
			 const struct mimic_access *access)
{
	unsigned int count = value_count(access), loads;

	/* An empty queue takes any store, or one of two values would wait for ever before a queue of one. */
	if (device->queue[queue].values.count && device->queue[queue].values.count + count > device->pipes.values)
		return false;
	if (operation_of(access) == MAPLE_STORE_PRODUCE)
		return true;
	loads = loads_of(device, access->owner);
	return !loads || loads + count <= device->pipes.loads;
}

void maple_desc_pushed(struct maple_time *device, unsigned int queue, uint64_t first_word,
		       const struct mimic_access *access)
{
	struct value_ends *values = &device->queue[queue].values;
	uint64_t end = next_word(device, queue);

	for (uint64_t word = first_word; word < end && values->count < MAPLE_MAX_WORDS; word += value_words(access))
		values->end[(values->first + values->count++) % MAPLE_MAX_WORDS] = word + value_words(access);
}

void maple_desc_popped(struct maple_time *device, unsigned int queue)
{
	struct value_ends *values = &device->queue[queue].values;
	uint64_t popped = first_word(device, queue);

	while (values->count && values->end[values->first] <= popped) {
		values->first = (values->first + 1) % MAPLE_MAX_WORDS;
		values->count--;
	}
}
