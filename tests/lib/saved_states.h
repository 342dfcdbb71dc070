/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* States of devices of a daemon of the test's own, saved, restored and compared. For cmocka programs. */
#ifndef TESTS_SAVED_STATES_H
#define TESTS_SAVED_STATES_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/lib/daemon_fixture.h"

struct json_object;

/* The state that a device shows, with the bytes of its memories. */
struct json_object *saved_dump(const struct served *served, const char *name);
/* The number at "queues/0/level"; fails the test if there is none. */
uint64_t saved_number(const struct served *served, const char *name, const char *path);

/* A state that was saved, and what the device showed right before and after. */
struct saved_state {
	void *record;
	size_t size;
	struct json_object *before, *after;
};

void saved_take(const struct served *served, const char *name, struct saved_state *saved);
void saved_free(struct saved_state *saved);
/* 0 or -errno, with mimic_error_text(). */
int saved_restore(const struct served *served, const char *name, const struct saved_state *saved);
/*
 * The device shows the same now, but for values that changed by themselves while the state was saved, such as times,
 * and for numbers of address spaces.
 */
void saved_expect_same(const struct served *served, const char *name, const struct saved_state *saved);

#endif
