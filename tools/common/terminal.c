/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/common/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tools/common/tools.h"

/* The second screen, no cursor; and back. */
#define TAKE "\033[?1049h\033[?25l\033[H\033[2J"
#define GIVE "\033[0m\033[?25h\033[?1049l"

static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2 };
static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct termios before;
static bool is_taken;
static sigset_t mask_before;
static sigset_t blocked_ends;
static volatile sig_atomic_t end_signal, stop_asked, size_changed, was_continued, is_busy;

static void put(const char *text, size_t length)
{
	while (length) {
		ssize_t written = write(STDOUT_FILENO, text, length);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return;
		text += written;
		length -= (size_t)written;
	}
}

static void take(void)
{
	struct termios raw = before;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	put(TAKE, sizeof(TAKE) - 1);
	is_taken = true;
}

/* For signal handlers, too. */
static void give(void)
{
	if (!is_taken)
		return;
	is_taken = false;
	put(GIVE, sizeof(GIVE) - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

/* --- signals --------------------------------------------------------------------------- */

static void die_by(int number)
{
	sigset_t one;

	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(number);
}

static void end_by(int number)
{
	give();
	die_by(number);
}

static void on_signal(int number)
{
	if (number == SIGWINCH)
		size_changed = 1;
	else if (number == SIGTSTP)
		stop_asked = 1;
	else if (number == SIGCONT)
		was_continued = 1;
	else if (is_busy)
		end_by(number);
	else
		end_signal = number;
}

/* They come in tool_terminal_wait() only, and those that end the process while it is busy. */
static void catch(int number, sigset_t *blocked)
{
	struct sigaction action = { .sa_handler = on_signal }, old;

	/* A signal that is ignored (nohup) stays so. */
	if (sigaction(number, NULL, &old) || old.sa_handler == SIG_IGN)
		return;
	sigaction(number, &action, NULL);
	sigaddset(blocked, number);
}

static void catch_all(void)
{
	struct sigaction crash = { .sa_handler = end_by };
	sigset_t blocked;

	sigemptyset(&blocked);
	for (size_t i = 0; i < COUNT(ends); i++)
		catch(ends[i], &blocked);
	blocked_ends = blocked;
	catch(SIGTSTP, &blocked);
	catch(SIGCONT, &blocked);
	catch(SIGWINCH, &blocked);
	for (size_t i = 0; i < COUNT(crashes); i++)
		sigaction(crashes[i], &crash, NULL);
	sigprocmask(SIG_BLOCK, &blocked, &mask_before);
	/* Signals that were blocked when we were started stay so. */
	for (size_t i = 0; i < COUNT(ends); i++) {
		if (sigismember(&mask_before, ends[i]))
			sigdelset(&blocked_ends, ends[i]);
	}
}

static void stop(void)
{
	give();
	raise(SIGSTOP);
	/* Another process may have changed it meanwhile. */
	tcgetattr(STDIN_FILENO, &before);
	take();
}

/* --- keys ---------------------------------------------------------------------------------- */

static enum terminal_event key_of(const char *bytes, size_t count)
{
	if (count >= 3 && bytes[0] == '\033' && (bytes[1] == '[' || bytes[1] == 'O')) {
		if (bytes[2] == 'A')
			return TERMINAL_KEY_UP;
		return bytes[2] == 'B' ? TERMINAL_KEY_DOWN : TERMINAL_OTHER;
	}
	switch (bytes[0]) {
	case 'q':
	case 'Q':
		return TERMINAL_KEY_QUIT;
	case 'p':
	case ' ':
		return TERMINAL_KEY_PAUSE;
	case 'k':
		return TERMINAL_KEY_UP;
	case 'j':
		return TERMINAL_KEY_DOWN;
	default:
		return TERMINAL_OTHER;
	}
}

static enum terminal_event read_key(void)
{
	char bytes[16];
	ssize_t count = read(STDIN_FILENO, bytes, sizeof(bytes));

	/* The terminal is gone. */
	if (count <= 0)
		return TERMINAL_KEY_QUIT;
	return key_of(bytes, (size_t)count);
}

enum terminal_event tool_terminal_wait(unsigned int milliseconds)
{
	struct pollfd entry = { .fd = STDIN_FILENO, .events = POLLIN };
	const struct timespec limit = { milliseconds / 1000, milliseconds % 1000 * 1000000L };
	int count = ppoll(&entry, 1, &limit, &mask_before);

	if (end_signal)
		end_by(end_signal);
	if (stop_asked) {
		stop_asked = 0;
		stop();
		return TERMINAL_REDRAW;
	}
	/* A shell, or another program that had the terminal after a SIGSTOP, has changed it. */
	if (was_continued) {
		was_continued = 0;
		take();
		return TERMINAL_REDRAW;
	}
	if (size_changed) {
		size_changed = 0;
		return TERMINAL_REDRAW;
	}
	if (count > 0)
		return read_key();
	return count ? TERMINAL_OTHER : TERMINAL_TIMEOUT;
}

void tool_terminal_busy_begin(void)
{
	is_busy = 1;
	sigprocmask(SIG_UNBLOCK, &blocked_ends, NULL);
}

void tool_terminal_busy_end(void)
{
	sigprocmask(SIG_BLOCK, &blocked_ends, NULL);
	is_busy = 0;
}

/* --- the screen ------------------------------------------------------------------------------ */

int tool_terminal_start(const char *command)
{
	const char *kind = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &before))
		return tool_error(EXIT_BAD_INPUT, "%s: this is no terminal; for a file or a pipe there is "
				  "mimic stat --watch", command);
	if (!kind || !*kind || !strcmp(kind, "dumb"))
		return tool_error(EXIT_BAD_INPUT, "%s: TERM names no terminal with a cursor", command);
	catch_all();
	atexit(give);
	take();
	return EXIT_SUCCESS;
}

void tool_terminal_end(void)
{
	give();
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void tool_terminal_size(unsigned int *rows, unsigned int *columns)
{
	struct winsize size;

	*rows = 24;
	*columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	*rows = size.ws_row;
	*columns = size.ws_col;
}

/* Copies one line, cut at `columns`; returns where the next begins. */
static const char *copy_line(FILE *out, const char *text, unsigned int columns)
{
	unsigned int used = 0;

	for (; *text && *text != '\n'; text++) {
		if (*text == '\033') {
			for (; *text && *text != 'm'; text++)
				putc(*text, out);
			putc('m', out);
			if (!*text)
				break;
		} else if (used < columns) {
			putc(*text, out);
			used++;
		}
	}
	fputs("\033[0m\033[K", out);
	return *text ? text + 1 : text;
}

void tool_terminal_draw(const char *text)
{
	unsigned int rows, columns;
	size_t length = 0;
	char *screen = NULL;
	FILE *out = open_memstream(&screen, &length);

	if (!out)
		return;
	tool_terminal_size(&rows, &columns);
	fputs("\033[H", out);
	for (unsigned int row = 0; row < rows && *text; row++) {
		if (row)
			fputs("\r\n", out);
		text = copy_line(out, text, columns);
	}
	fputs("\033[J", out);
	if (!fclose(out))
		put(screen, length);
	free(screen);
}
