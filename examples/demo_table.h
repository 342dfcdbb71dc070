/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The demo's three tables, from the JSON reports of the example programs. */
#ifndef EXAMPLES_DEMO_TABLE_H
#define EXAMPLES_DEMO_TABLE_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct demo_table {
	const char *kind;		/* of the device */
	const char *runs;		/* key of the report's array of runs */
	void (*header)(void);
	void (*title)(struct json_object *report);	/* before its runs; may be NULL */
	bool (*line)(struct json_object *report, struct json_object *run);	/* false: not verified */
	bool has_header;
};

extern struct demo_table demo_maple_table;
extern struct demo_table demo_dare_table;
extern struct demo_table demo_virgo_table;

/* Prints a line for each run. Returns how many there were; adds to *wrong those that are not verified. */
size_t demo_table_print(struct demo_table *table, struct json_object *report, unsigned int *wrong);

/* The effect of the densified form at each block size, as the paper measures it. */
void demo_dare_compare(struct json_object *report);

uint64_t demo_number(struct json_object *object, const char *key);
const char *demo_text(struct json_object *object, const char *key);

#endif
