/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Functions of <string.h> in virtual time: `strings` checks their results, `strings cycles` has a
 * phase for each with accesses that one can count by hand.
 */
#ifndef __STRICT_ANSI__
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <mimic/sim.h>

#define SIZE 1024

/* --- their results: beside plain loops over bytes ----------------------------------------------- */

#define ROOM 64

static char made[ROOM], expected[ROOM];
static int wrong;

__attribute__((noinline)) static void fill(void)
{
	for (int i = 0; i < ROOM; i++)
		made[i] = expected[i] = (char)(i * 7 + 1);
}

__attribute__((noinline)) static void check(const char *name, int is_right, size_t at, size_t size)
{
	for (int i = 0; i < ROOM; i++)
		is_right &= made[i] == expected[i];
	if (!is_right)
		printf("%s at %zu, %zu bytes: wrong\n", name, at, size);
	wrong |= !is_right;
}

static int sign(int number)
{
	return (number > 0) - (number < 0);
}

/* Both ways of an overlap, and none. */
static void check_copies(size_t at, size_t size)
{
	char before[ROOM];

	for (size_t to = 0; to < 24; to += 3) {
		fill();
		for (int i = 0; i < ROOM; i++)
			before[i] = made[i];
		for (size_t i = 0; i < size; i++)
			expected[to + i] = before[at + i];
		check("memmove", memmove(made + to, made + at, size) == made + to, at, size);
	}
	fill();
	for (size_t i = 0; i < size; i++)
		expected[at + i] = before[31 + i];
	check("memcpy", memcpy(made + at, before + 31, size) == made + at, at, size);
	for (size_t i = 0; i < size; i++)
		expected[at + i] = (char)0xa5;
	check("memset", memset(made + at, 0x1a5, size) == made + at, at, size);
}

static void check_texts(size_t at, size_t size)
{
	char text[ROOM], other[ROOM];

	fill();
	for (size_t i = 0; i < ROOM; i++)
		text[i] = other[i] = (char)('a' + i % 5);
	text[size] = '\0';
	check("strlen", strlen(text) == size, at, size);
	check("strcmp", sign(strcmp(text, other)) == -1 && sign(strcmp(other, text)) == 1 && !strcmp(text, text), at, size);
	check("strncmp", !strncmp(text, other, size) && sign(strncmp(text, other, size + 1)) == -1, at, size);
	check("memcmp", !memcmp(text, other, size) && sign(memcmp(other, text, size + 1)) == 1, at, size);
	check("memchr", memchr(text, 0, ROOM) == text + size && !memchr(text, 0, size), at, size);
	check("strchr", strchr(text, 'b') == (size > 1 ? text + 1 : NULL) && strchr(text, 0) == text + size, at, size);
	check("strrchr", strrchr(text, 'a') == (size ? text + (size - 1) / 5 * 5 : NULL), at, size);
	for (size_t i = 0; i <= size; i++)
		expected[at + i] = text[i];
	check("strcpy", strcpy(made + at, text) == made + at, at, size);
	for (size_t i = 0; i < 30; i++)
		expected[at + i] = i < size ? text[i] : '\0';
	check("strncpy", strncpy(made + at, text, 30) == made + at, at, size);
	made[at + 3] = expected[at + 3] = '\0';
	for (size_t i = 0; i <= size; i++)
		expected[at + (size < 3 ? size : 3) + i] = text[i];
	check("strcat", strcat(made + at, text) == made + at, at, size);
	made[at + 2] = expected[at + 2] = '\0';
	for (size_t i = 0; i < size && i < 9; i++)
		expected[at + (size < 2 ? 2 * size : 2) + i] = text[i];
	expected[at + (size < 2 ? 2 * size : 2) + (size < 9 ? size : 9)] = '\0';
	check("strncat", strncat(made + at, text, 9) == made + at, at, size);
}

#ifndef __STRICT_ANSI__
static void check_copies_of_others(size_t at, size_t size)
{
	const char before[ROOM] = "0123456789abcdefghijklmnopqrstuvwxyz";

	fill();
	for (size_t i = 0; i < size; i++)
		expected[at + i] = before[i];
	check("mempcpy", mempcpy(made + at, before, size) == made + at + size, at, size);
	for (size_t i = 0; i < size; i++)
		expected[at + i] = before[i + 3];
	bcopy(before + 3, made + at, size);
	check("bcopy", !bcmp(made + at, before + 3, size), at, size);
	check("bcmp", size == 0 || bcmp(made + at, before + 4, size), at, size);
	for (size_t i = 0; i < size; i++)
		expected[at + i] = '\0';
	bzero(made + at, size);
	check("bzero", 1, at, size);
	for (size_t i = 0; i < size && i <= 10; i++)
		expected[at + i] = before[i];
	check("memccpy", memccpy(made + at, before, 'a', size) == (size > 10 ? made + at + 11 : NULL), at, size);
}

static void check_texts_of_others(size_t at, size_t size)
{
	char text[ROOM] = { 0 }, *copy;

	fill();
	for (size_t i = 0; i < size; i++)
		text[i] = expected[at + i] = (char)('a' + i % 5);
	expected[at + size] = '\0';
	check("stpcpy", stpcpy(made + at, text) == made + at + size, at, size);
	check("strnlen", strnlen(text, 9) == (size < 9 ? size : 9), at, size);
	for (size_t i = size; i < 30; i++)
		expected[at + i] = '\0';
	check("stpncpy", stpncpy(made + at, text, 30) == made + at + size, at, size);
	copy = strdup(text);
	check("strdup", copy && !strcmp(copy, text), at, size);
	free(copy);
	copy = strndup(text, 9);
	check("strndup", copy && strlen(copy) == (size < 9 ? size : 9) && !strncmp(copy, text, 9), at, size);
	free(copy);
}
#endif

/* --- their time ----------------------------------------------------------------------------------- */

static _Alignas(4096) char source[4096], target[4096];
static _Alignas(4096) char cold[4096] = { [0 ... 4094] = 'x' };
static _Alignas(4096) struct big { char bytes[SIZE]; } structures[2];
static volatile uintptr_t sink;

/* Read and written before, so that later accesses hit. */
__attribute__((noinline)) static void warm(void)
{
	for (int i = 0; i < SIZE; i++) {
		source[i] = 'x';
		target[i] = 'x';
	}
}

#define PHASE(name, code) \
	__attribute__((noinline)) static uintptr_t do_##name(size_t size) \
	{ \
		(void)size; \
		return (uintptr_t)(code); \
	}

PHASE(memcpy, memcpy(target, source, size))
PHASE(memmove, memmove(target, source, size))
PHASE(memset, memset(target, 'x', size))
PHASE(memcmp, memcmp(target, source, size))
PHASE(memchr, memchr(source, 'y', size))
PHASE(strlen, strlen(source))
PHASE(strcmp, strcmp(source, target))
PHASE(strncmp, strncmp(source, target, size))
PHASE(strchr, strchr(source, 'y'))
PHASE(strrchr, strrchr(source, 'y'))
PHASE(strcpy, strcpy(target, source))
PHASE(strncpy, strncpy(target, source, size))
PHASE(strcat, (target[0] = '\0', strcat(target, source)))
PHASE(strncat, (target[0] = '\0', strncat(target, source, size)))
#ifndef __STRICT_ANSI__
PHASE(mempcpy, mempcpy(target, source, size))
PHASE(bzero, (bzero(target, size), 0))
PHASE(bcopy, (bcopy(source, target, size), 0))
PHASE(bcmp, bcmp(target, source, size))
PHASE(memccpy, memccpy(target, source, 'y', size))
PHASE(strnlen, strnlen(source, size))
PHASE(stpcpy, stpcpy(target, source))
PHASE(stpncpy, stpncpy(target, source, size))
PHASE(strdup, strdup(source))
PHASE(strndup, strndup(source, size))
#endif
PHASE(constant, memcpy(target, source, 64))
PHASE(odd, memcpy(target, source, 21))
PHASE(builtin, __builtin_memcpy(target, source, size))
PHASE(set_word, memset(target, 0, 8))
PHASE(structure, (structures[1] = structures[0], 0))
PHASE(cold, strlen(cold))

static void measure_cycles(size_t size)
{
	static const struct {
		const char *name;
		uintptr_t (*function)(size_t size);
	} phases[] = {
#define _(name) { #name, do_##name },
		_(memcpy) _(memmove) _(memset) _(memcmp) _(memchr) _(constant) _(odd) _(builtin) _(set_word) _(structure) _(cold)
		_(strlen) _(strcmp) _(strncmp) _(strchr) _(strrchr) _(strcpy) _(strncpy) _(strcat) _(strncat)
#ifndef __STRICT_ANSI__
		_(mempcpy) _(bzero) _(bcopy) _(bcmp) _(memccpy) _(strnlen) _(stpcpy) _(stpncpy) _(strdup) _(strndup)
#endif
#undef _
	};

	for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
		uintptr_t result;

		warm();
		source[SIZE - 1] = target[SIZE - 1] = strncmp(phases[i].name, "st", 2) ? 'x' : '\0';
		mimic_sim_phase_begin(phases[i].name);
		result = phases[i].function(size);
		mimic_sim_phase_end();
		sink = result;
	}
}

/* --- a large one: by the function or by a loop ------------------------------------------------------ */

#define WORDS 65536

static uint64_t from[WORDS], to[WORDS];

__attribute__((noinline)) static void copy_words(void)
{
	for (int i = 0; i < WORDS; i++)
		to[i] = from[i];
}

__attribute__((noinline)) static void copy_all(void)
{
	memcpy(to, from, sizeof(to));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	if (way[0] == 'c')
		measure_cycles(SIZE);
	mimic_sim_phase_begin("large");
	if (way[0] == 'l')
		copy_words();
	else if (way[0] == 'f')
		copy_all();
	mimic_sim_phase_end();
	if (way[0])
		return 0;
	for (size_t size = 0; size < 24; size++) {
		for (size_t at = 0; at < 8; at++) {
			check_copies(at, size);
			check_texts(at, size);
#ifndef __STRICT_ANSI__
			check_copies_of_others(at, size);
			check_texts_of_others(at, size);
#endif
		}
	}
	puts(wrong ? "wrong" : "right");
	return wrong;
}
