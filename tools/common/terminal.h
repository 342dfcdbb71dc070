/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A terminal taken over for a live screen: keys come one by one, signals as events, and it
 * is restored when the process ends in any way.
 */
#ifndef TOOLS_TERMINAL_H
#define TOOLS_TERMINAL_H

#include <stddef.h>

enum terminal_event {
	TERMINAL_TIMEOUT,
	TERMINAL_KEY_QUIT,
	TERMINAL_KEY_PAUSE,
	TERMINAL_KEY_UP,
	TERMINAL_KEY_DOWN,
	TERMINAL_REDRAW,	/* another size, or back after a stop */
	TERMINAL_OTHER,
};

/* 0, or the exit status after a message: no terminal. `command` is for messages. */
int tool_terminal_start(const char *command);
void tool_terminal_end(void);
void tool_terminal_size(unsigned int *rows, unsigned int *columns);
/* Waits so long at most. A signal that ends the process does so here, */
enum terminal_event tool_terminal_wait(unsigned int milliseconds);
/* and at once between these: for slow work that draws nothing. */
void tool_terminal_busy_begin(void);
void tool_terminal_busy_end(void);
/* The whole screen; lines are cut at its sides, "\033[" sequences of style have no width. */
void tool_terminal_draw(const char *text);

#endif
