/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The commands that are DARE's own. */
#include "tools/common/tools.h"
#include "tools/dare/words.h"

static struct tool_command commands[] = {
	{ .name = "asm", .main = tool_asm, .meaning = "turn assembly text of DARE into instruction words" },
	{ .name = "dis", .main = tool_dis, .meaning = "turn the words into text again" },
};

__attribute__((constructor)) static void add_commands(void)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		tool_add_command(&commands[i]);
}
