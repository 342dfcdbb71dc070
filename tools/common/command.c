/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Parts of every command: its place in the list of commands, if a device brings it, and its errors. */
#include <stdarg.h>
#include <stdio.h>

#include "tools/common/tools.h"

static struct tool_command *commands;

void tool_add_command(struct tool_command *command)
{
	struct tool_command **last = &commands;

	while (*last)
		last = &(*last)->next;
	*last = command;
}

const struct tool_command *tool_first_command(void)
{
	return commands;
}

int tool_error(int status, const char *format, ...)
{
	va_list list;

	fputs("mimic: ", stderr);
	va_start(list, format);
	vfprintf(stderr, format, list);
	va_end(list);
	fputc('\n', stderr);
	return status;
}
