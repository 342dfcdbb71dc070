/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Images of the DARE model: a restored one goes on as the first would have; a damaged one hurts nobody. */
#include <stdlib.h>
#include <string.h>

#include "devices/dare/dare_internal.h"
#include "examples/common/random.h"
#include "tests/lib/dare_host.h"

#define STEPS 3000
#define PAGE(n) (HOST_BASE + (n) * HOST_PAGE)

static struct random random_numbers;

static unsigned int below(unsigned int limit)
{
	return (unsigned int)random_below(&random_numbers, limit);
}

static const struct dare_config small = { .contexts = 3, .queue_entries = 4, .tlb_entries = 4 };

static struct dare_host *make_host(unsigned int options)
{
	struct dare_host *host = host_create_with(options, &small);

	assert_non_null(host);
	host_fill(host);
	host->fault_answer = MIMIC_FAULT_STALL;
	return host;
}

static void *save_image(struct dare_host *host, size_t *size)
{
	void *image;

	*size = host->model->ops->save(host->model, NULL, 0);
	image = malloc(*size);
	assert_non_null(image);
	assert_int_equal(host->model->ops->save(host->model, image, *size), *size);
	return image;
}

static void copy_model(struct dare_host *to, struct dare_host *from)
{
	size_t size;
	void *image = save_image(from, &size);

	assert_int_equal(to->model->ops->restore(to->model, image, size), 0);
	free(image);
}

/* Registers 0 to 3 hold addresses in random memory seldom, so gathers mostly fail; 4 to 7 hold anything. */
static uint32_t random_word(void)
{
	unsigned int a = below(8), b = below(8), c = below(8);

	switch (below(9)) {
	case 0:
	case 1:
		return W_MLD(a);
	case 2:
		return W_MST_B(a);
	case 3:
		return W_MMA_I8(a, b, c);
	case 4:
		return W_MMA(a, b, c);
	case 5:
		return W_MGATHER_B(a, b);
	case 6:
		return below(20) ? W_MST(a) : W_ILLEGAL;
	default:
		return W_MCFG;
	}
}

static struct mimic_access random_access(void)
{
	static const unsigned int loads[] = { 0x20, 0x28, 0x28, 0x30, 0x48, 0x50, 0x58, 0x68, 0x70, 0x78 };
	struct mimic_access access = {
		.owner = 1 + below(5), .page = (uint8_t)(1 + below(2)), .size = 8, .is_write = below(4) != 0,
	};

	if (below(40) == 0) {
		access.page = 0;
		access.is_write = 1;
		access.offset = below(2) ? 0x08 : 0x20;
		access.data = (uint64_t)below(3) << 8 | below(3);
		return access;
	}
	if (!access.is_write) {
		access.offset = loads[below(10)];
		return access;
	}
	switch (below(8)) {
	case 0:
		access.offset = 0x00;
		access.data = below(2) ? PAGE(below(15)) + 16 * below(200) : below(3);
		break;
	case 1:
		access.offset = 0x08;
		access.data = below(2) ? 64 : 1 + below(16);
		break;
	case 2:
		access.offset = below(30) ? 0x58 : 0x80;
		break;
	case 3:
	case 4:
		access.offset = 0x18;
		access.data = below(3) ? PAGE(below(15)) + 16 * below(200) : random_word();
		break;
	default:
		access.offset = 0x10;
		access.data = random_word();
	}
	return access;
}

static void resolve_one(struct dare_host *host, bool present)
{
	uint64_t status = host_control_load(host, 0x10);
	uint64_t page = (status >> 12) - HOST_BASE / HOST_PAGE;
	unsigned int context = status & 0xff;

	if (!status)
		return;
	if (present && page < HOST_PAGES)
		host->space[context].absent[page] = false;
	host_control_store(host, 0x18, (present ? 0x100 : 0) | context);
}

static void change_pages(struct dare_host *first, struct dare_host *second)
{
	unsigned int context = below(2), page = below(HOST_PAGES);
	bool present = below(3) != 0;

	switch (below(8)) {
	case 0:
		first->space[context].absent[page] = second->space[context].absent[page] = true;
		dare_model_invalidate(first->model, context, PAGE(page), PAGE(page + 1));
		dare_model_invalidate(second->model, context, PAGE(page), PAGE(page + 1));
		break;
	case 1:
	case 2:
	case 3:
		resolve_one(first, present);
		resolve_one(second, present);
		break;
	case 4:
		first->model->ops->tick(first->model, first->now);
		second->model->ops->tick(second->model, second->now);
		break;
	default:
		break;
	}
}

static void expect_same_hosts(struct dare_host *a, struct dare_host *b)
{
	struct dare_context_view view[2];
	uint64_t counters[2][DARE_COUNTER_COUNT];

	assert_memory_equal(a->parked, b->parked, sizeof(a->parked));
	assert_memory_equal(a->answer, b->answer, sizeof(a->answer));
	for (unsigned int i = 0; i < HOST_SPACES; i++)
		assert_memory_equal(a->space[i].bytes, b->space[i].bytes, sizeof(a->space[i].bytes));
	for (unsigned int i = 0; i < small.contexts; i++) {
		dare_model_context(a->model, i, &view[0]);
		dare_model_context(b->model, i, &view[1]);
		for (unsigned int m = 0; m < DARE_REGISTERS; m++)
			assert_memory_equal(view[0].registers[m], view[1].registers[m], DARE_REGISTER_BYTES);
		assert_int_equal(view[0].queue_level, view[1].queue_level);
	}
	a->model->ops->counters(a->model, counters[0], DARE_COUNTER_COUNT);
	b->model->ops->counters(b->model, counters[1], DARE_COUNTER_COUNT);
	assert_memory_equal(counters[0], counters[1], sizeof(counters[0]));
}

/* `second` is made anew from the first one's image before every step. */
static void check_goes_on(unsigned int options)
{
	struct dare_host *first = make_host(options), *second = make_host(options);
	unsigned int stalls = 0;

	random_numbers.state = 0x2545f4914f6cdd1d;
	for (unsigned int step = 0; step < STEPS; step++) {
		struct mimic_access access = random_access(), got[2] = { access, access };

		copy_model(second, first);
		if (!first->parked[access.owner]) {
			assert_int_equal(host_access(first, &got[0]), host_access(second, &got[1]));
			assert_int_equal(got[0].data, got[1].data);
		}
		change_pages(first, second);
		expect_same_hosts(first, second);
		stalls += host_control_load(first, 0x10) != 0;
		host_control_load(second, 0x10);
	}
	assert_true(stalls > STEPS / 20);
	host_destroy(first);
	host_destroy(second);
}

static void a_restored_model_goes_on_as_the_saved_one_would_have(void **state)
{
	(void)state;
	check_goes_on(HOST_WALKS | HOST_FAULTS);
	check_goes_on(HOST_IDENTITY | HOST_FAULTS);
}

static void a_load_in_the_middle_of_its_rows_survives_save_and_restore(void **state)
{
	struct dare_host *first = make_host(HOST_WALKS | HOST_FAULTS);
	struct dare_host *second = make_host(HOST_WALKS | HOST_FAULTS);
	uint64_t address = PAGE(1) - 300;

	(void)state;
	first->space[0].absent[1] = true;
	host_run(first, W_MLD_B(3), address, 64);
	assert_int_equal(host_load_as(first, 2, 0, 0x28), HOST_PARKED);
	copy_model(second, first);
	second->parked[2] = true;
	/* rows that were read before are not read again */
	memset(host_bytes(second, 1, address), 0, 256);
	host_control_store(second, 0x18, 0x100);
	assert_true(second->completed[2]);
	assert_memory_equal(host_matrix_row(second, 3, 0), host_bytes(first, 1, address), 1024);
	host_destroy(first);
	host_destroy(second);
}

static void an_image_of_another_size_or_configuration_is_refused(void **state)
{
	struct dare_host *host = make_host(HOST_WALKS), *other = host_create(HOST_WALKS);
	size_t size;
	char *image = save_image(host, &size);

	(void)state;
	for (size_t shorter = 0; shorter < size; shorter += 1 + shorter / 16)
		assert_true(host->model->ops->restore(host->model, image, shorter) < 0);
	assert_true(other->model->ops->restore(other->model, image, size) < 0);
	for (size_t byte = 0; byte < 36; byte++) {
		image[byte] ^= 1;
		assert_true(host->model->ops->restore(host->model, image, size) < 0);
		image[byte] ^= 1;
	}
	assert_int_equal(host->model->ops->restore(host->model, image, size), 0);
	free(image);
	host_destroy(host);
	host_destroy(other);
}

static void an_image_with_an_address_space_that_is_not_there_is_refused(void **state)
{
	struct dare_host *host = make_host(HOST_WALKS);
	size_t size;
	void *image = save_image(host, &size);

	(void)state;
	host->space[1].port.read_rows = NULL;
	assert_true(host->model->ops->restore(host->model, image, size) < 0);
	free(image);
	host_destroy(host);
}

static void a_refused_image_changes_nothing(void **state)
{
	struct dare_host *host = make_host(HOST_WALKS);
	size_t size;
	char *image = save_image(host, &size);

	(void)state;
	host_run(host, W_MCFG, 0, 5);
	host_run(host, W_MLD(0), PAGE(2), 64);
	image[0] ^= 1;
	assert_true(host->model->ops->restore(host->model, image, size) < 0);
	assert_int_equal(host_load(host, 0, 0x30), 5);
	assert_memory_equal(host_matrix_row(host, 0, 0), host_bytes(host, 1, PAGE(2)), 5 * 64);
	free(image);
	host_destroy(host);
}

struct damage {
	size_t offset;
	size_t size;
	uint64_t value;
};

#define IN_STATE(field, value) \
	{ offsetof(struct dare_state, field), sizeof(((struct dare_state *)0)->field), value }
#define IN_CONTEXT(field, value) \
	{ sizeof(struct dare_state) + offsetof(struct dare_context, field), \
	  sizeof(((struct dare_context *)0)->field), value }

/* One field out of its range: context 0 waits for a page, two instructions and a fence wait for it. */
static void every_index_in_an_image_is_checked(void **state)
{
	static const struct damage damages[] = {
		IN_STATE(parked_count, 513), IN_STATE(parked_count, 0), IN_STATE(parked[0].context, 3),
		IN_STATE(parked[0].context, 1), IN_STATE(parked[0].kind, 3), IN_STATE(parked[0].kind, 0),
		IN_STATE(parked[0].over, 1),
		IN_CONTEXT(queue_first, 4), IN_CONTEXT(queue_level, 5), IN_CONTEXT(queue_level, 0),
		IN_CONTEXT(error, 1), IN_CONTEXT(error, 8), IN_CONTEXT(stalled, 0), IN_CONTEXT(stream_missing, 3),
		IN_CONTEXT(address_space, 0), IN_CONTEXT(address_space, 9), IN_CONTEXT(tlb.entries, 8),
		IN_CONTEXT(csr[0], 0), IN_CONTEXT(csr[0], 17), IN_CONTEXT(csr[1], 65), IN_CONTEXT(csr[2], 17),
		IN_CONTEXT(parked_stores, 1), IN_CONTEXT(parked_fences, 0),
		IN_CONTEXT(queue[0].started, 0), IN_CONTEXT(queue[1].started, 1),
		IN_CONTEXT(queue[0].operation, DARE_MMA), IN_CONTEXT(queue[1].operation, DARE_OPERATION_COUNT + 1),
		IN_CONTEXT(queue[1].md, 8), IN_CONTEXT(queue[1].ms1, 8), IN_CONTEXT(queue[1].ms2, 8),
		IN_CONTEXT(queue[0].rows, 17),
		IN_CONTEXT(request_count, 33), IN_CONTEXT(request_count, 5), IN_CONTEXT(request_next, 18),
		IN_CONTEXT(request[6].row, 16), IN_CONTEXT(request[6].bytes, 0), IN_CONTEXT(request[6].bytes, 65),
		IN_CONTEXT(request[6].offset, 64),
	};
	struct dare_host *host = make_host(HOST_WALKS | HOST_FAULTS);
	char *image, *start;
	size_t size;

	(void)state;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD_B(3), PAGE(1) - 300, 64);
	host_run(host, W_MMA(0, 1, 2), 0, 0);
	host_load_as(host, 20, 0, 0x28);
	image = save_image(host, &size);
	start = image + size - small.contexts * sizeof(struct dare_context) - sizeof(struct dare_state);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		uint64_t kept = 0;

		memcpy(&kept, start + damages[i].offset, damages[i].size);
		assert_int_not_equal(kept, damages[i].value);
		memcpy(start + damages[i].offset, &damages[i].value, damages[i].size);
		if (host->model->ops->restore(host->model, image, size) == 0)
			fail_msg("damage %zu: restored", i);
		memcpy(start + damages[i].offset, &kept, damages[i].size);
	}
	assert_int_equal(host->model->ops->restore(host->model, image, size), 0);
	free(image);
	host_destroy(host);
}

static void poke(struct dare_host *host)
{
	for (unsigned int i = 0; i < 30; i++) {
		struct mimic_access access = random_access();

		host->model->ops->cancel(host->model, access.owner, host->now);
		host_access(host, &access);
		resolve_one(host, below(2));
		host->model->ops->tick(host->model, host->now);
	}
}

/* Mostly in the fields of context 0, which follow its registers and its TLB; else anywhere. */
static size_t byte_to_damage(size_t size)
{
	const size_t first = size - small.contexts * sizeof(struct dare_context);
	const size_t fields = offsetof(struct dare_context, counters);

	if (below(4))
		return first + fields + below((unsigned int)(sizeof(struct dare_context) - fields));
	return below((unsigned int)size);
}

/* Under the address sanitizer this is the test of restore()'s checks. */
static void a_damaged_image_is_refused_or_restores_to_a_device_that_works(void **state)
{
	struct dare_host *host = make_host(HOST_WALKS | HOST_FAULTS);
	unsigned int restored = 0;
	size_t size;
	char *image;

	(void)state;
	random_numbers.state = 0xabcdef12345;
	host->space[0].absent[1] = true;
	host_run(host, W_MLD_B(3), PAGE(1) - 300, 64);
	for (unsigned int i = 0; i < 5; i++)
		host_store_as(host, 10 + i, 0, 0x10, W_MMA(0, 1, 2));
	host_load_as(host, 20, 0, 0x28);
	image = save_image(host, &size);
	for (unsigned int round = 0; round < 6000; round++) {
		size_t at = byte_to_damage(size);
		char kept = image[at];

		image[at] = (char)random_next(&random_numbers);
		if (host->model->ops->restore(host->model, image, size) == 0) {
			restored++;
			poke(host);
		}
		image[at] = kept;
	}
	assert_true(restored);
	host->unexpected = 0;
	free(image);
	host_destroy(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_restored_model_goes_on_as_the_saved_one_would_have),
		cmocka_unit_test(a_load_in_the_middle_of_its_rows_survives_save_and_restore),
		cmocka_unit_test(an_image_of_another_size_or_configuration_is_refused),
		cmocka_unit_test(an_image_with_an_address_space_that_is_not_there_is_refused),
		cmocka_unit_test(a_refused_image_changes_nothing),
		cmocka_unit_test(every_index_in_an_image_is_checked),
		cmocka_unit_test(a_damaged_image_is_refused_or_restores_to_a_device_that_works),
	};

	return cmocka_run_group_tests_name("DARE images", tests, NULL, NULL);
}
