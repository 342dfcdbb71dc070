/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "libmimic/transport.h"
#include "libmimic/wait.h"

#define DEFAULT_MAPLES 2

enum key_kind { KEY_DEVICES, KEY_SPIN, KEY_PROFILE, KEY_FIELD, KEY_QUIRK };

struct key {
	const char *section;
	const char *name;
	enum key_kind kind;
	size_t detail;		/* offset of the field, or bit of the quirk */
};

static const struct key keys[] = {
	{ "mimic", "devices", KEY_DEVICES, 0 },
	{ "mimic", "spin_microseconds", KEY_SPIN, 0 },
	{ "maple", "profile", KEY_PROFILE, 0 },
#define _(name) { "maple", #name, KEY_FIELD, offsetof(struct maple_config, name) },
	_(queues)
	_(scratchpad_words)
	_(tlb_entries)
	_(address_bits)
	_(lima_loops)
	_(lima_chunks)
	_(custom_commands)
	_(custom_responses)
#undef _
#define _(bit, name, meaning) { "maple", #name, KEY_QUIRK, 1u << (bit) },
	MAPLE_QUIRKS(_)
#undef _
};

#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

struct parser {
	const char *path;
	FILE *file;
	unsigned int line;	/* the one that was read last */
	unsigned int maple_line;	/* of the [maple] header */
	unsigned int error_line;	/* 0: no error yet */
	char error[160];
	unsigned int lines[KEY_COUNT];	/* where each key stands; 0: nowhere */
	unsigned int values[KEY_COUNT];
	char profile[16];
	struct mimic_settings settings;
};

/* The first error of a file is the one that is told. */
__attribute__((format(printf, 3, 4)))
static int fail(struct parser *parser, unsigned int line, const char *format, ...)
{
	va_list arguments;

	if (parser->error_line)
		return -EINVAL;
	va_start(arguments, format);
	vsnprintf(parser->error, sizeof(parser->error), format, arguments);
	va_end(arguments);
	parser->error_line = line ? line : 1;
	return -EINVAL;
}

void mimic_config_default(struct mimic_settings *settings)
{
	memset(settings, 0, sizeof(*settings));
	maple_config_profile(&settings->maple, "paper");
	settings->maple_count = DEFAULT_MAPLES;
	settings->spin_microseconds = MIMIC_SPIN_MICROSECONDS;
}

/* Digits only; more than an unsigned int holds becomes UINT_MAX, which no range allows. */
static bool parse_number(const char *text, unsigned int *number)
{
	unsigned long value;

	if (!*text || strspn(text, "0123456789") != strlen(text))
		return false;
	errno = 0;
	value = strtoul(text, NULL, 10);
	*number = errno || value > UINT_MAX ? UINT_MAX : (unsigned int)value;
	return true;
}

/* NULL, or what is wrong. */
static const char *parse_devices(const char *text, unsigned int *count)
{
	static const char kind[] = "maple";
	size_t length = strcspn(text, ":");

	if (length != strlen(kind) || strncmp(text, kind, length))
		return "is not of the form maple:COUNT";
	*count = 1;
	if (!text[length])
		return NULL;
	if (!parse_number(text + length + 1, count))
		return "is not of the form maple:COUNT";
	if (*count < 1 || *count > MIMIC_MAPLE_COUNT_MAX)
		return "is not 1 to 64 devices";
	return NULL;
}

int mimic_config_devices(const char *devices, struct mimic_settings *settings)
{
	const char *wrong;
	unsigned int count;

	if (!devices || !*devices)
		return 0;
	wrong = parse_devices(devices, &count);
	if (wrong)
		return mimic_error(-EINVAL, "devices '%.64s' %s", devices, wrong);
	settings->maple_count = count;
	return 0;
}

static int take_value(struct parser *parser, size_t index, const char *value)
{
	const struct key *key = &keys[index];
	unsigned int *number = &parser->values[index];
	const char *wrong;

	switch (key->kind) {
	case KEY_DEVICES:
		wrong = parse_devices(value, &parser->settings.maple_count);
		return wrong ? fail(parser, parser->line, "devices '%.64s' %s", value, wrong) : 0;
	case KEY_SPIN:
		if (!parse_number(value, number) || *number > MIMIC_SPIN_MICROSECONDS_MAX)
			return fail(parser, parser->line, "spin_microseconds must be 0 to %d",
				    MIMIC_SPIN_MICROSECONDS_MAX);
		parser->settings.spin_microseconds = *number;
		return 0;
	case KEY_PROFILE:
		snprintf(parser->profile, sizeof(parser->profile), "%s", value);
		if (strlen(value) < sizeof(parser->profile) &&
		    maple_config_profile(&parser->settings.maple, parser->profile) == 0)
			return 0;
		return fail(parser, parser->line, "profile must be paper or artifact, not '%.64s'",
			    value);
	case KEY_FIELD:
		if (parse_number(value, number))
			return 0;
		return fail(parser, parser->line, "%s must be a whole number, not '%.64s'",
			    key->name, value);
	case KEY_QUIRK:
		*number = !strcmp(value, "yes");
		if (*number || !strcmp(value, "no"))
			return 0;
		return fail(parser, parser->line, "%s must be yes or no, not '%.64s'", key->name,
			    value);
	}
	return -EINVAL;
}

/* For libinih: 0 is an error. */
static int on_key(void *user, const char *section, const char *name, const char *value)
{
	struct parser *parser = user;
	size_t i;

	if (parser->error_line)
		return 0;
	for (i = 0; i < KEY_COUNT; i++) {
		if (!strcmp(keys[i].section, section) && !strcmp(keys[i].name, name))
			break;
	}
	if (i == KEY_COUNT && !*section)
		return !fail(parser, parser->line, "key '%.64s' stands before any section", name);
	if (i == KEY_COUNT)
		return !fail(parser, parser->line, "unknown key '%.64s' in section [%.32s]", name,
			     section);
	if (parser->lines[i])
		return !fail(parser, parser->line, "duplicate key '%s', first in line %u",
			     keys[i].name, parser->lines[i]);
	parser->lines[i] = parser->line;
	return take_value(parser, i, value) == 0;
}

/* libinih says nothing of a section without keys. */
static void look_at_section(struct parser *parser, const char *line)
{
	size_t length = strcspn(line + 1, "]");

	if (line[length + 1] != ']')
		return;
	if (length == 5 && !strncmp(line + 1, "maple", 5))
		parser->maple_line = parser->line;
	else if (length != 5 || strncmp(line + 1, "mimic", 5))
		fail(parser, parser->line, "unknown section [%.*s]", (int)(length < 64 ? length : 64),
		     line + 1);
}

/* Counts the lines, which libinih does not tell its handler. */
static char *read_line(char *line, int size, void *user)
{
	struct parser *parser = user;
	size_t indent;

	if (parser->error_line || !fgets(line, size, parser->file))
		return NULL;
	parser->line++;
	if (!strchr(line, '\n') && !feof(parser->file)) {
		fail(parser, parser->line, "longer than %d bytes, or holds a zero byte", size - 2);
		return NULL;
	}
	/* An indented line is a line, not the continuation of the one before. */
	indent = strspn(line, " \t\r\v\f");
	memmove(line, line + indent, strlen(line + indent) + 1);
	if (line[0] == '[')
		look_at_section(parser, line);
	return parser->error_line ? NULL : line;
}

static void apply(struct parser *parser)
{
	struct maple_config *maple = &parser->settings.maple;

	for (size_t i = 0; i < KEY_COUNT; i++) {
		if (!parser->lines[i])
			continue;
		if (keys[i].kind == KEY_FIELD)
			memcpy((char *)maple + keys[i].detail, &parser->values[i],
			       sizeof(parser->values[i]));
		if (keys[i].kind == KEY_QUIRK && parser->values[i])
			maple->quirks |= (unsigned int)keys[i].detail;
		if (keys[i].kind == KEY_QUIRK && !parser->values[i])
			maple->quirks &= ~(unsigned int)keys[i].detail;
	}
}

/* maple_config_check() begins its text with the name of the field: say where that stands. */
static void check(struct parser *parser)
{
	const char *wrong = maple_config_check(&parser->settings.maple);
	unsigned int line = parser->maple_line;

	for (size_t i = 0; wrong && i < KEY_COUNT; i++) {
		if (strlen(keys[i].name) == strcspn(wrong, " ") && parser->lines[i] &&
		    !strncmp(keys[i].name, wrong, strlen(keys[i].name)))
			line = parser->lines[i];
	}
	if (wrong)
		fail(parser, line, "%s", wrong);
}

static void parse(struct parser *parser)
{
	int broken_line = ini_parse_stream(read_line, parser, on_key, parser);

	if (ferror(parser->file)) {
		parser->error_line = 0;
		fail(parser, parser->line + 1, "%s", strerror(errno));
		return;
	}
	if (parser->error_line)
		return;
	if (broken_line < 0)
		fail(parser, parser->line, "out of memory");
	else if (broken_line > 0)
		fail(parser, (unsigned int)broken_line,
		     "is neither [section] nor key = value nor a comment");
	else if (!parser->profile[0])
		fail(parser, parser->maple_line ? parser->maple_line : parser->line,
		     "section [maple] has no profile = paper or artifact");
	if (parser->error_line)
		return;
	apply(parser);
	check(parser);
}

static int load_file(const char *path, struct mimic_settings *settings)
{
	struct parser parser = { .path = path };

	parser.file = fopen(path, "re");
	if (!parser.file)
		return mimic_error(-errno, "%s: %s", path, strerror(errno));
	mimic_config_default(&parser.settings);
	parse(&parser);
	fclose(parser.file);
	if (parser.error_line)
		return mimic_error(-EINVAL, "%s:%u: %s", path, parser.error_line, parser.error);
	*settings = parser.settings;
	return 0;
}

int mimic_config_load(const char *path, struct mimic_settings *settings)
{
	struct maple_config profile;

	if (path && *path && maple_config_profile(&profile, path))
		return load_file(path, settings);
	mimic_config_default(settings);
	if (path && *path)
		settings->maple = profile;
	return 0;
}
