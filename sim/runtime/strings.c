/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * memcpy() and other functions of <string.h>, as code that is compiled with `mimic cflags`
 * calls them (mimic/sim_string.h): their effects, and their loads and stores in virtual time.
 *
 * All go through memory in words of 8 bytes from the first byte on, the last one shorter, and
 * touch the bytes that the C standard names: a string up to its zero byte, two that differ up to
 * the first difference. Instructions are those of loops over words on a core that has neither
 * vectors nor instructions for strings, an assumption that docs/timing.md lists.
 *
 * A word is written when the time of its store has come. The run-time is not busy then: a
 * page that cannot be touched is the program's own fault, and a handler of its signal may leave by
 * siglongjmp().
 */
#include <string.h>

#include "sim/runtime/internal.h"

#define WORD 8u
#define CALL 2u		/* instructions of a call: there and back */

SIM_EXPORT void *mimic_sim_memcpy(void *to, const void *from, size_t size);
SIM_EXPORT void *mimic_sim_memmove(void *to, const void *from, size_t size);
SIM_EXPORT void *mimic_sim_memset(void *to, int value, size_t size);
SIM_EXPORT int mimic_sim_memcmp(const void *one, const void *other, size_t size);
SIM_EXPORT void *mimic_sim_memchr(const void *bytes, int value, size_t size);
SIM_EXPORT size_t mimic_sim_strlen(const char *text);
SIM_EXPORT int mimic_sim_strcmp(const char *one, const char *other);
SIM_EXPORT int mimic_sim_strncmp(const char *one, const char *other, size_t size);
SIM_EXPORT char *mimic_sim_strchr(const char *text, int value);
SIM_EXPORT char *mimic_sim_strrchr(const char *text, int value);
SIM_EXPORT char *mimic_sim_strcpy(char *to, const char *from);
SIM_EXPORT char *mimic_sim_strncpy(char *to, const char *from, size_t size);
SIM_EXPORT char *mimic_sim_strcat(char *to, const char *from);
SIM_EXPORT char *mimic_sim_strncat(char *to, const char *from, size_t size);

/* Instructions of a word, beside its accesses. */
struct word_cost {
	unsigned int behind_first;	/* access */
	unsigned int behind_last;	/* of two; then the next word begins */
};

/* A zero byte in a word is found by sub, not, and, and. */
static const struct word_cost copying = { 1, 2 };	/* ld addi sd addi bne */
static const struct word_cost setting = { 0, 2 };	/* sd addi bne */
static const struct word_cost comparing = { 1, 3 };	/* ld addi ld addi bne bne */
static const struct word_cost searching = { 0, 8 };	/* ld xor (zero byte) bne addi bne */
static const struct word_cost measuring = { 0, 6 };	/* ld (zero byte) bne addi */
static const struct word_cost comparing_text = { 0, 8 };	/* ld ld (zero byte) bne bne addi addi */
static const struct word_cost comparing_some = { 0, 9 };	/* and the end, bne */
static const struct word_cost searching_text = { 0, 11 };	/* ld (zero byte) xor (zero byte) or bne addi */
static const struct word_cost copying_text = { 5, 2 };	/* ld (zero byte) bne sd addi addi */
static const struct word_cost copying_some = { 5, 3 };	/* and the end, bne */

static size_t smaller(size_t one, size_t other)
{
	return one < other ? one : other;
}

static void execute(uint64_t instructions)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	soc_execute(sim.soc, self->core, instructions);
	sim_leave();
}

static void timed_load(const void *address, size_t size, unsigned int instructions_behind)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	self->accesses++;
	sim_make_any_load(self, (uintptr_t)address, (unsigned int)size);
	soc_execute(sim.soc, self->core, instructions_behind);
	sim_leave();
}

static void timed_store(const void *address, size_t size, unsigned int instructions_behind)
{
	struct sim_thread *self = sim_enter();

	if (!self)
		return;
	self->accesses++;
	sim_make_any_store(self, (uintptr_t)address, (unsigned int)size);
	soc_execute(sim.soc, self->core, instructions_behind);
	sim_leave();
}

static void read_words(const char *bytes, size_t size, const struct word_cost *cost)
{
	for (size_t i = 0; i < size; i += WORD)
		timed_load(bytes + i, smaller(size - i, WORD), cost->behind_last);
}

static void read_two(const char *one, const char *other, size_t size, const struct word_cost *cost)
{
	for (size_t i = 0; i < size; i += WORD) {
		timed_load(one + i, smaller(size - i, WORD), cost->behind_first);
		timed_load(other + i, smaller(size - i, WORD), cost->behind_last);
	}
}

static void set_words(char *to, int value, size_t size)
{
	for (size_t i = 0; i < size; i += WORD) {
		timed_store(to + i, smaller(size - i, WORD), setting.behind_last);
		memset(to + i, value, smaller(size - i, WORD));
	}
}

static void copy_word(char *to, const char *from, size_t size, const struct word_cost *cost)
{
	char word[WORD];

	timed_load(from, size, cost->behind_first);
	memcpy(word, from, size);
	timed_store(to, size, cost->behind_last);
	memcpy(to, word, size);
}

static void copy_words(char *to, const char *from, size_t size, const struct word_cost *cost)
{
	for (size_t i = 0; i < size; i += WORD)
		copy_word(to + i, from + i, smaller(size - i, WORD), cost);
}

static void copy_words_backwards(char *to, const char *from, size_t size)
{
	while (size) {
		size_t part = smaller(size, WORD);

		size -= part;
		copy_word(to + size, from + size, part, &copying);
	}
}

/* How much of two has to be read: up to the first difference, or the end, which is_text puts behind a zero byte. */
static size_t read_until(const char *one, const char *other, size_t size, bool is_text)
{
	for (size_t i = 0; i < size; i++)
		if (one[i] != other[i] || (is_text && !one[i]))
			return i + 1;
	return size;
}

void *mimic_sim_memcpy(void *to, const void *from, size_t size)
{
	if (!sim_self)
		return memcpy(to, from, size);
	execute(CALL);
	copy_words(to, from, size, &copying);
	return to;
}

void *mimic_sim_memmove(void *to, const void *from, size_t size)
{
	if (!sim_self)
		return memmove(to, from, size);
	execute(CALL);
	/* From the end, if the begin would overwrite bytes that are not read yet. */
	if ((uintptr_t)to - (uintptr_t)from < size)
		copy_words_backwards(to, from, size);
	else
		copy_words(to, from, size, &copying);
	return to;
}

void *mimic_sim_memset(void *to, int value, size_t size)
{
	if (!sim_self)
		return memset(to, value, size);
	execute(CALL);
	set_words(to, value, size);
	return to;
}

int mimic_sim_memcmp(const void *one, const void *other, size_t size)
{
	if (!sim_self)
		return memcmp(one, other, size);
	size = read_until(one, other, size, false);
	execute(CALL);
	read_two(one, other, size, &comparing);
	return memcmp(one, other, size);
}

void *mimic_sim_memchr(const void *bytes, int value, size_t size)
{
	char *found = memchr(bytes, value, size);

	execute(CALL);
	read_words(bytes, found ? (size_t)(found - (const char *)bytes) + 1 : size, &searching);
	return found;
}

size_t mimic_sim_strlen(const char *text)
{
	size_t length = strlen(text);

	execute(CALL);
	read_words(text, length + 1, &measuring);
	return length;
}

int mimic_sim_strcmp(const char *one, const char *other)
{
	if (!sim_self)
		return strcmp(one, other);
	execute(CALL);
	read_two(one, other, read_until(one, other, SIZE_MAX, true), &comparing_text);
	return strcmp(one, other);
}

int mimic_sim_strncmp(const char *one, const char *other, size_t size)
{
	if (!sim_self)
		return strncmp(one, other, size);
	execute(CALL);
	read_two(one, other, read_until(one, other, size, true), &comparing_some);
	return strncmp(one, other, size);
}

char *mimic_sim_strchr(const char *text, int value)
{
	char *found = strchr(text, value);

	execute(CALL);
	read_words(text, found ? (size_t)(found - text) + 1 : strlen(text) + 1, &searching_text);
	return found;
}

char *mimic_sim_strrchr(const char *text, int value)
{
	execute(CALL);
	read_words(text, strlen(text) + 1, &searching_text);
	return strrchr(text, value);
}

char *mimic_sim_strcpy(char *to, const char *from)
{
	if (!sim_self)
		return strcpy(to, from);
	execute(CALL);
	copy_words(to, from, strlen(from) + 1, &copying_text);
	return to;
}

char *mimic_sim_strncpy(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size), copied = length < size ? length + 1 : size;

	execute(CALL);
	copy_words(to, from, copied, &copying_some);
	set_words(to + copied, '\0', size - copied);
	return to;
}

char *mimic_sim_strcat(char *to, const char *from)
{
	size_t length = strlen(to);

	execute(CALL);
	read_words(to, length + 1, &measuring);
	copy_words(to + length, from, strlen(from) + 1, &copying_text);
	return to;
}

char *mimic_sim_strncat(char *to, const char *from, size_t size)
{
	size_t length = strlen(to), added = strnlen(from, size), copied = added < size ? added + 1 : size;

	execute(CALL);
	read_words(to, length + 1, &measuring);
	copy_words(to + length, from, copied, &copying_some);
	/* The zero byte, where `from` has given none. */
	if (added == size)
		set_words(to + length + size, '\0', 1);
	return to;
}
