/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "bench/figures/common/common.h"

int gates_tell(const struct gate *gates, size_t count)
{
	int closed = 0;

	puts("\nOrderings and shapes that must come out:");
	for (size_t i = 0; i < count; i++) {
		printf("%-4s %s (%s)\n", gates[i].is_open ? "yes" : "NO", gates[i].text, gates[i].seen);
		closed += !gates[i].is_open;
	}
	return closed;
}

void nulls_tell(const struct gate *own, size_t count)
{
	puts("\nNull models, each without one part of the model, must not pass all of these:");
	for (size_t i = 0; i < count; i++) {
		if (!own[i].is_open)
			printf("not counted: %s (%s): the model itself does not pass it on their data sets\n", own[i].text,
			       own[i].seen);
	}
}

bool null_tell(const char *name, const struct gate *own, const struct gate *gates, size_t count)
{
	bool is_one_closed = false;

	for (size_t i = 0; i < count; i++) {
		if (!own[i].is_open || gates[i].is_open)
			continue;
		if (!is_one_closed)
			printf("yes  %s: a gate is closed to it:\n", name);
		printf("       %s (%s)\n", gates[i].text, gates[i].seen);
		is_one_closed = true;
	}
	if (!is_one_closed)
		printf("NO   %s: it passes all that the model passes\n", name);
	return is_one_closed;
}
