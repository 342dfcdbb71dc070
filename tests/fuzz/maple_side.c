/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <string.h>

#include "tests/fuzz/maple_side.h"

#define IMAGE_SIZE (1u << 20)

static char image[IMAGE_SIZE];

/* --- memory -------------------------------------------------------------------- */

uint32_t *memory_readable(struct memory *memory, uint64_t address)
{
	if (address >= MEMORY_BASE && address < MEMORY_BASE + 4 * READ_WORDS)
		return &memory->read_words[(address - MEMORY_BASE) / 4];
	return NULL;
}

uint32_t *memory_writable(struct memory *memory, uint64_t address)
{
	if (address >= ATOMIC_BASE && address < ATOMIC_BASE + 4 * ATOMIC_WORDS)
		return &memory->atomic_words[(address - ATOMIC_BASE) / 4];
	return NULL;
}

bool memory_fetch(struct memory *memory, uint64_t address, uint32_t *value)
{
	uint32_t *word = memory_readable(memory, address);

	if (!word)
		word = memory_writable(memory, address);
	*value = word ? *word : 0;
	return word;
}

static bool fetch_value(struct memory *memory, uint64_t address, unsigned int size, uint64_t *value)
{
	uint32_t low, high = 0;
	bool there = memory_fetch(memory, address, &low);

	if (size == 8)
		there = memory_fetch(memory, address + 4, &high) && there;
	*value = there ? (uint64_t)high << 32 | low : 0;
	return there;
}

static unsigned int page_bit(uint64_t address)
{
	uint64_t page = (address - MEMORY_BASE) / 4096;

	return address >= MEMORY_BASE && page < 8 ? 1u << page : 0;
}

static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
		   uint64_t tag, uint64_t *values)
{
	struct side *side = context;

	for (size_t i = 0; i < count; i++) {
		struct late late = { .tag = tag + i, .address = addresses[i], .size = size };

		CHECK(size == 4 || (size == 8 && addresses[i] % 4096 <= 4088));
		CHECK(addresses[i] % 4 == 0);
		if (!side->defer && side->absent & page_bit(addresses[i]))
			return (long)i;
		late.there = fetch_value(&side->memory, late.address, size, &late.value);
		if (side->defer) {
			CHECK(side->late_count < ORACLE_PENDING);
			side->late[side->late_count++] = late;
		} else if (late.there) {
			values[i] = late.value;
		} else {
			return (long)i;
		}
	}
	return side->defer ? -EINPROGRESS : (long)count;
}

static int read_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	struct side *side = context;
	int error = 0;

	memset(buffer, 0, size);
	for (size_t i = 0; i < size; i++) {
		const uint32_t *word = memory_readable(&side->memory, address + i);

		if (word)
			((unsigned char *)buffer)[i] = (unsigned char)(*word >> 8 * ((address + i) % 4));
		else
			error = -EFAULT;
	}
	return error;
}

static int atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		  uint32_t expected, uint32_t *old)
{
	struct side *side = context;
	uint32_t *word = memory_writable(&side->memory, address);
	int32_t has;

	if (!word || side->absent & page_bit(address))
		return -EFAULT;
	*old = *word;
	has = (int32_t)*word;
	switch (operation) {
	case MIMIC_ATOMIC_ADD: *word += operand; break;
	case MIMIC_ATOMIC_AND: *word &= operand; break;
	case MIMIC_ATOMIC_OR: *word |= operand; break;
	case MIMIC_ATOMIC_XOR: *word ^= operand; break;
	case MIMIC_ATOMIC_MAX: *word = has > (int32_t)operand ? *word : operand; break;
	case MIMIC_ATOMIC_MAXU: *word = *word > operand ? *word : operand; break;
	case MIMIC_ATOMIC_MIN: *word = has < (int32_t)operand ? *word : operand; break;
	case MIMIC_ATOMIC_MINU: *word = *word < operand ? *word : operand; break;
	case MIMIC_ATOMIC_SWAP: *word = operand; break;
	case MIMIC_ATOMIC_CAS: *word = *word == expected ? operand : *word; break;
	}
	return 0;
}

static bool one_hangs(const struct side *side)
{
	struct maple_queue_view view;

	for (unsigned int i = 0; i < ORACLE_QUEUES; i++) {
		if (!maple_model_queue(side->current, i, &view) && view.hung)
			return true;
	}
	return false;
}

/* A loop's page is there at once, a thread's after a while. A queue that hangs would drop the store. */
static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	struct side *side = context;
	unsigned int bit = side->absent & page_bit(address);

	if (!bit)
		return MIMIC_FAULT_BAD;
	side->absent &= ~bit;
	if (source == MAPLE_FAULT_LIMA || one_hangs(side))
		return MIMIC_FAULT_RETRY;
	side->stalled = true;
	return MIMIC_FAULT_STALL;
}

/* --- the two models --------------------------------------------------------------- */

static void complete(void *context, uint64_t owner, uint64_t data)
{
	struct side *side = context;

	CHECK(owner < ORACLE_OWNERS && side->parked[owner]);
	side->parked[owner] = false;
	side->answer[owner] = data;
}

void side_create(struct side *side)
{
	static const char *const profiles[] = { "paper", "artifact" };
	struct mimic_host host = {
		.context = side, .complete = complete, .page_fault = page_fault,
		.memory = { .context = side, .gather = gather, .read = read_bytes, .atomic = atomic },
	};
	struct maple_config config;

	for (unsigned int i = 0; i < 2; i++) {
		CHECK(!maple_config_profile(&config, profiles[i]));
		side->model[i] = maple_model_create(&config, &host);
		CHECK(side->model[i]);
	}
}

void memory_fill(struct memory *memory)
{
	for (unsigned int i = 0; i < READ_WORDS; i++)
		memory->read_words[i] = i % 5 ? i * 7 % 1000 : 0x80000000 + i;
	for (unsigned int i = 0; i < ATOMIC_WORDS; i++)
		memory->atomic_words[i] = i;
}

void side_start(struct side *side, bool artifact, bool defer)
{
	side->defer = defer;
	side->current = side->model[artifact];
	memset(side->parked, 0, sizeof(side->parked));
	memset(side->answer, 0, sizeof(side->answer));
	side->late_count = 0;
	side->absent = 0;
	side->stalled = false;
	side->taken_back = 0;
	memory_fill(&side->memory);
}

void side_stop(struct side *side)
{
	side->current->ops->power_on(side->current, side->now);
	for (unsigned int owner = 0; owner < ORACLE_OWNERS; owner++)
		CHECK(!side->parked[owner]);
}

bool side_settle(struct side *side)
{
	bool was_busy = false;

	while (side->stalled || side->current->ops->busy(side->current)) {
		was_busy = true;
		if (side->stalled) {
			side->stalled = false;
			maple_model_retry(side->current, side->now);
		} else {
			side->current->ops->tick(side->current, side->now);
		}
	}
	return was_busy;
}

enum mimic_outcome side_access(struct side *side, struct mimic_access *access)
{
	uint64_t owner = access->owner;
	enum mimic_outcome outcome;

	side->parked[owner] = true;
	outcome = side->current->ops->access(side->current, access, side->now);
	while (outcome == MIMIC_PARKED && access->is_write && side->stalled) {
		side->current->ops->cancel(side->current, owner, side->now);
		side->taken_back++;
		side_settle(side);
		outcome = side->current->ops->access(side->current, access, side->now);
	}
	if (outcome == MIMIC_DONE)
		side->parked[owner] = false;
	side_settle(side);
	return outcome;
}

void side_save_and_restore(struct side *side)
{
	size_t size = side->current->ops->save(side->current, NULL, 0);

	CHECK(size <= IMAGE_SIZE);
	CHECK(side->current->ops->save(side->current, image, size) == size);
	CHECK(side->current->ops->restore(side->current, image, size) == 0);
}
