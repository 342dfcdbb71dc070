/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* All of this may run in a signal handler, but for the reading of the environment. */
#include "libmimic/base/patience.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "libmimic/base/clock.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/base/vectors.h"
#include "libmimic/mimic.h"

#define NEVER UINT64_MAX
#define NS_PER_SECOND 1000000000ull
/* More than any wait: a hundred years. */
#define SECONDS_MAX 3153600000ull

static _Atomic uint64_t patience_ns = NEVER;
/* Of the clock: `mimic run --timeout` ends the program soon after it. */
static _Atomic uint64_t deadline = NEVER;
static void (*_Atomic teller)(void *context, const char *text);
static void *_Atomic teller_context;
static atomic_bool is_set;

static void write_line(const char *first, const char *second)
{
	char bytes[512];
	struct mimic_text line;
	size_t length;

	mimic_text_begin(&line, bytes, sizeof(bytes) - 1);
	mimic_text_add(&line, "mimic: ");
	mimic_text_add(&line, program_invocation_short_name ? program_invocation_short_name : "?");
	mimic_text_add(&line, "[");
	mimic_text_add_decimal(&line, (uint64_t)mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0));
	mimic_text_add(&line, "]: ");
	mimic_text_add(&line, first);
	mimic_text_add(&line, second);
	length = strlen(bytes);
	bytes[length++] = '\n';
	mimic_raw_syscall(SYS_write, 2, (long)bytes, (long)length, 0, 0, 0);
}

static void tell_on_stderr(void *context, const char *text)
{
	(void)context;
	write_line(text, "");
}

void mimic_patience(unsigned int milliseconds, void (*tell)(void *context, const char *text), void *context)
{
	atomic_store(&is_set, true);
	atomic_store(&patience_ns, NEVER);
	atomic_store(&teller_context, context);
	atomic_store(&teller, tell);
	if (milliseconds && tell)
		atomic_store(&patience_ns, milliseconds * 1000000ull);
}

static const char *take_seconds(const char *text, uint64_t *seconds)
{
	for (*seconds = 0; *text >= '0' && *text <= '9'; text++) {
		if (*seconds <= SECONDS_MAX)
			*seconds = *seconds * 10 + (unsigned int)(*text - '0');
	}
	return text;
}

/* Digits below a nanosecond change nothing. */
static const char *take_fraction(const char *text, uint64_t *nanoseconds)
{
	uint64_t digit = NS_PER_SECOND / 10;

	for (*nanoseconds = 0; *text >= '0' && *text <= '9'; text++, digit /= 10)
		*nanoseconds += digit * (unsigned int)(*text - '0');
	return text;
}

/* Not strtod(), whose decimal point is the locale's, and which computes with floating-point numbers. */
static bool take_time(const char *text, uint64_t *nanoseconds)
{
	const char *first = text, *point;
	uint64_t seconds, fraction = 0;

	point = text = take_seconds(text, &seconds);
	if (*text == '.')
		text = take_fraction(text + 1, &fraction);
	*nanoseconds = seconds * NS_PER_SECOND + fraction;
	return !*text && text > first + (*point == '.') && seconds <= SECONDS_MAX;
}

static void patience_from(const char *text)
{
	uint64_t nanoseconds;

	if (!take_time(text, &nanoseconds))
		write_line("MIMIC_PATIENCE: no number of seconds, such as 10 or 0.5 (0: never): ", text);
	else if (nanoseconds)
		atomic_store(&patience_ns, nanoseconds);
}

void mimic_patience_from_environment(void)
{
	static atomic_bool is_read;
	const char *patience = secure_getenv("MIMIC_PATIENCE");
	const char *timeout = secure_getenv("MIMIC_TIMEOUT_AT");

	if (atomic_exchange(&is_read, true))
		return;
	if (timeout)
		atomic_store(&deadline, strtoull(timeout, NULL, 10));
	/* The program's own wins. */
	if (patience && *patience && !atomic_load(&is_set))
		patience_from(patience);
}

static uint64_t later(uint64_t time, uint64_t duration)
{
	return duration > NEVER - time ? NEVER : time + duration;
}

/* Of the two times that are told, the next one after `told`, or the one that is over already. */
static uint64_t next_due(uint64_t told, uint64_t since)
{
	uint64_t patient = later(since, atomic_load_explicit(&patience_ns, memory_order_relaxed));
	uint64_t end = atomic_load_explicit(&deadline, memory_order_relaxed);

	if (patient <= told)
		patient = NEVER;
	if (end <= told)
		end = NEVER;
	return patient < end ? patient : end;
}

bool mimic_wait_looks(struct mimic_wait *wait, uint64_t now)
{
	if (!wait->due) {
		wait->since = now;
		wait->due = next_due(0, now);
	}
	return now >= wait->due;
}

uint64_t mimic_wait_limit(struct mimic_wait *wait)
{
	uint64_t now;

	if (wait->due == NEVER)
		return 0;
	now = mimic_now();
	if (mimic_wait_looks(wait, now))
		return 1;
	return wait->due == NEVER ? 0 : wait->due - now;
}

bool mimic_wait_has_to_tell(struct mimic_wait *wait)
{
	return wait->due != NEVER && mimic_wait_is_due(wait, mimic_now());
}

void mimic_wait_begin_line(struct mimic_wait *wait, const char *device, struct mimic_wait_line *line)
{
	uint64_t now = mimic_now(), tenths = (now - wait->since + 50000000u) / 100000000u;
	struct mimic_text *text = &line->text;

	wait->due = next_due(now, wait->since);
	mimic_text_begin(text, line->bytes, sizeof(line->bytes));
	mimic_text_add(text, device);
	mimic_text_add(text, ": thread ");
	mimic_text_add_decimal(text, (uint64_t)mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0));
	mimic_text_add(text, " has waited ");
	mimic_text_add_decimal(text, tenths / 10);
	if (tenths % 10) {
		mimic_text_add(text, ".");
		mimic_text_add_decimal(text, tenths % 10);
	}
	mimic_text_add(text, " s for ");
}

void mimic_wait_tell(const struct mimic_wait_line *line)
{
	void (*tell)(void *context, const char *text) = atomic_load(&teller);

	if (!tell)
		tell = tell_on_stderr;
	mimic_vectors_keep();
	tell(atomic_load(&teller_context), line->bytes);
}
