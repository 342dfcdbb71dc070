/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/config.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "libmimic/base/error.h"
#include "libmimic/base/plugin.h"
#include "libmimic/base/wait.h"

#define KEYS_MAX (3 + MIMIC_KINDS_MAX * (1 + MIMIC_KIND_KEYS_MAX))	/* of all sections together */
/* Room for an error of a list of devices, which names all kinds. */
#define WRONG_MAX (64 + MIMIC_KINDS_MAX * (1 + MIMIC_KIND_NAME_MAX))

enum key_kind { KEY_DEVICES, KEY_SPIN, KEY_PLUGIN, KEY_PROFILE, KEY_PARAMETER };

struct key {
	const char *name;
	enum key_kind kind;
	const struct mimic_kind *of;		/* whose section it stands in; NULL: [mimic], [plugin] */
	const struct mimic_key *parameter;	/* KEY_PARAMETER */
	unsigned int line;			/* where it stands; 0: nowhere */
	unsigned int value;
};

struct parser {
	FILE *file;
	unsigned int line;	/* the one that was read last */
	unsigned int section_lines[MIMIC_KINDS_MAX];	/* of their headers; 0: none */
	unsigned int error_line;	/* 0: no error yet */
	char error[128 + WRONG_MAX];
	struct key keys[KEYS_MAX];
	size_t key_count;
	struct mimic_settings settings;
};

static void add_key(struct parser *parser, const struct key *key)
{
	if (parser->key_count < KEYS_MAX)
		parser->keys[parser->key_count++] = *key;
}

static void list_keys(struct parser *parser)
{
	add_key(parser, &(struct key){ .name = "devices", .kind = KEY_DEVICES });
	add_key(parser, &(struct key){ .name = "spin_microseconds", .kind = KEY_SPIN });
	add_key(parser, &(struct key){ .name = MIMIC_CONFIG_PLUGIN_FILE, .kind = KEY_PLUGIN });
	for (size_t i = 0; i < mimic_kind_count(); i++) {
		const struct mimic_kind *kind = mimic_kinds[i];

		if (kind->profile)
			add_key(parser, &(struct key){ .name = "profile", .kind = KEY_PROFILE, .of = kind });
		for (size_t j = 0; j < kind->key_count; j++)
			add_key(parser, &(struct key){ .name = kind->keys[j].name, .kind = KEY_PARAMETER,
						       .of = kind, .parameter = &kind->keys[j] });
	}
}

static const char *section_of(const struct key *key)
{
	if (key->of)
		return key->of->name;
	return key->kind == KEY_PLUGIN ? MIMIC_CONFIG_PLUGIN : "mimic";
}

static bool is_known_section(const char *section, size_t length)
{
	static const char *const ours[] = { "mimic", MIMIC_CONFIG_PLUGIN };
	bool is_known = mimic_kind_find(section, length) != NULL;

	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		is_known |= strlen(ours[i]) == length && !strncmp(ours[i], section, length);
	return is_known;
}

/* Only the first error of a file is reported. */
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
	for (size_t i = 0; i < mimic_kind_count(); i++) {
		mimic_kinds[i]->defaults(&settings->parameters.of[i]);
		settings->counts[i] = mimic_kinds[i]->default_count;
	}
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

/* Of one kind of the list; `length` bytes. */
static bool parse_device(const char *text, size_t length, unsigned int *counts, char *wrong, size_t size)
{
	size_t name = strcspn(text, ":,");
	const struct mimic_kind *kind = mimic_kind_find(text, name < length ? name : length);
	bool is_form = kind != NULL;
	char number[16];
	unsigned int count = 1;

	if (is_form && name < length) {
		snprintf(number, sizeof(number), "%.*s", (int)(length - name - 1), text + name + 1);
		is_form = length - name <= sizeof(number) && parse_number(number, &count);
	}
	/* Of a plugin that could not be loaded, as was reported then. */
	if (!kind && length && mimic_plugins_trouble())
		return true;
	if (!is_form)
		snprintf(wrong, size, "is not a list of KIND:COUNT with the kinds %s", mimic_kind_names());
	else if (counts[mimic_kind_index(kind)])
		snprintf(wrong, size, "names a kind twice");
	else if (count < 1 || count > MIMIC_KIND_DEVICES_MAX)
		snprintf(wrong, size, "is not 1 to %u devices", MIMIC_KIND_DEVICES_MAX);
	else
		counts[mimic_kind_index(kind)] = count;
	return !*wrong;
}

/* false: `wrong` names the mistake, and `counts` is as it was. */
static bool parse_devices(const char *text, unsigned int *counts, char *wrong, size_t size)
{
	unsigned int parsed[MIMIC_KINDS_MAX] = { 0 };

	for (*wrong = '\0';;) {
		size_t length = strcspn(text, ","), used = length;

		while (used && text[used - 1] == ' ')
			used--;
		if (!parse_device(text, used, parsed, wrong, size))
			return false;
		if (!text[length])
			break;
		text += length + 1;
		text += strspn(text, " ");
	}
	memcpy(counts, parsed, sizeof(parsed));
	return true;
}

int mimic_config_devices(const char *devices, struct mimic_settings *settings)
{
	char wrong[WRONG_MAX];

	if (!devices || !*devices || parse_devices(devices, settings->counts, wrong, sizeof(wrong)))
		return 0;
	return mimic_error(-EINVAL, "devices '%.64s' %s", devices, wrong);
}

static int take_parameter(struct parser *parser, struct key *key, const char *value)
{
	if (!key->parameter->bit) {
		if (parse_number(value, &key->value))
			return 0;
		return fail(parser, parser->line, "%s must be a whole number, not '%.64s'", key->name, value);
	}
	key->value = !strcmp(value, "yes");
	if (key->value || !strcmp(value, "no"))
		return 0;
	return fail(parser, parser->line, "%s must be yes or no, not '%.64s'", key->name, value);
}

static int take_value(struct parser *parser, struct key *key, const char *value)
{
	struct mimic_settings *settings = &parser->settings;
	char wrong[WRONG_MAX];

	switch (key->kind) {
	case KEY_DEVICES:
		if (parse_devices(value, settings->counts, wrong, sizeof(wrong)))
			return 0;
		return fail(parser, parser->line, "devices '%.64s' %s", value, wrong);
	case KEY_SPIN:
		if (!parse_number(value, &key->value) || key->value > MIMIC_SPIN_MICROSECONDS_MAX)
			return fail(parser, parser->line, "spin_microseconds must be 0 to %d",
				    MIMIC_SPIN_MICROSECONDS_MAX);
		settings->spin_microseconds = key->value;
		return 0;
	case KEY_PLUGIN:
		/* mimic_config_plugins() has read it. */
		if (*value)
			return 0;
		return fail(parser, parser->line, "file names no plugin");
	case KEY_PROFILE:
		if (!key->of->profile(mimic_parameters_of(&settings->parameters, key->of), value))
			return 0;
		return fail(parser, parser->line, "profile must be %s, not '%.64s'", key->of->profiles, value);
	case KEY_PARAMETER:
		return take_parameter(parser, key, value);
	}
	return -EINVAL;
}

/* For libinih: 0 is an error. */
static int on_key(void *user, const char *section, const char *name, const char *value)
{
	struct parser *parser = user;
	struct key *key = NULL;

	if (parser->error_line)
		return 0;
	for (size_t i = 0; !key && i < parser->key_count; i++) {
		if (!strcmp(section_of(&parser->keys[i]), section) && !strcmp(parser->keys[i].name, name))
			key = &parser->keys[i];
	}
	if (!key && !*section)
		return !fail(parser, parser->line, "key '%.64s' stands before any section", name);
	/* Of a plugin that could not be loaded, as was reported then. */
	if (!key && mimic_plugins_trouble() && !is_known_section(section, strlen(section)))
		return 1;
	if (!key)
		return !fail(parser, parser->line, "unknown key '%.64s' in section [%.32s]", name,
			     section);
	if (key->line && key->kind != KEY_PLUGIN)
		return !fail(parser, parser->line, "duplicate key '%s', first in line %u", key->name,
			     key->line);
	key->line = parser->line;
	return take_value(parser, key, value) == 0;
}

/* libinih does not report a section without keys. */
static void look_at_section(struct parser *parser, const char *line)
{
	size_t length = strcspn(line + 1, "]");
	const struct mimic_kind *kind = mimic_kind_find(line + 1, length);

	if (line[length + 1] != ']')
		return;
	if (kind)
		parser->section_lines[mimic_kind_index(kind)] = parser->line;
	else if (!is_known_section(line + 1, length) && !mimic_plugins_trouble())
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
	for (size_t i = 0; i < parser->key_count; i++) {
		const struct key *key = &parser->keys[i];
		unsigned int field;
		unsigned char *place;

		if (!key->line || key->kind != KEY_PARAMETER)
			continue;
		place = mimic_parameters_of(&parser->settings.parameters, key->of)->bytes + key->parameter->offset;
		memcpy(&field, place, sizeof(field));
		if (!key->parameter->bit)
			field = key->value;
		else if (key->value)
			field |= key->parameter->bit;
		else
			field &= ~key->parameter->bit;
		memcpy(place, &field, sizeof(field));
	}
}

/* A kind's check() begins its text with the name of the field: say where that stands. */
static void check(struct parser *parser, const struct mimic_kind *kind)
{
	unsigned int line = parser->section_lines[mimic_kind_index(kind)];
	char wrong[MIMIC_KIND_REASON_MAX];

	if (mimic_kind_takes(kind, mimic_parameters_of(&parser->settings.parameters, kind), wrong, sizeof(wrong)))
		return;
	for (size_t i = 0; i < parser->key_count; i++) {
		const struct key *key = &parser->keys[i];

		if (key->of == kind && key->line && strlen(key->name) == strcspn(wrong, " ") &&
		    !strncmp(key->name, wrong, strlen(key->name)))
			line = key->line;
	}
	fail(parser, line, "%s", wrong);
}

static void require_profiles(struct parser *parser)
{
	for (size_t i = 0; i < parser->key_count; i++) {
		const struct key *key = &parser->keys[i];
		unsigned int line;

		if (key->kind != KEY_PROFILE || key->line)
			continue;
		/* A file that does not speak of this kind leaves it at its default. */
		line = parser->section_lines[mimic_kind_index(key->of)];
		if (line)
			fail(parser, line, "section [%s] has no profile = %s", key->of->name,
			     key->of->profiles);
	}
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
	else
		require_profiles(parser);
	if (parser->error_line)
		return;
	apply(parser);
	for (size_t i = 0; i < mimic_kind_count(); i++)
		check(parser, mimic_kinds[i]);
}

static int load_open_file(struct parser *parser, const char *path, struct mimic_settings *settings)
{
	mimic_config_default(&parser->settings);
	list_keys(parser);
	parse(parser);
	if (parser->error_line)
		return mimic_error(-EINVAL, "%s:%u: %s", path, parser->error_line, parser->error);
	*settings = parser->settings;
	return 0;
}

static int load_file(const char *path, struct mimic_settings *settings)
{
	struct parser *parser;
	FILE *file = fopen(path, "re");
	int error = -ENOMEM;

	if (!file)
		return mimic_error(-errno, "%s: %s", path, strerror(errno));
	/* Too large for a thread's stack. */
	parser = calloc(1, sizeof(*parser));
	if (parser) {
		parser->file = file;
		error = load_open_file(parser, path, settings);
	}
	free(parser);
	fclose(file);
	return error;
}

/* Is it the name of a kind's profile, rather than of a file? Then takes it. */
static bool take_profile(const char *name, struct mimic_settings *settings)
{
	bool is_profile = false;

	for (size_t i = 0; i < mimic_kind_count(); i++)
		is_profile |= mimic_kinds[i]->profile &&
			      !mimic_kinds[i]->profile(&settings->parameters.of[i], name);
	return is_profile;
}

bool mimic_config_is_profile(const char *name)
{
	struct mimic_settings ignored;

	mimic_config_default(&ignored);
	return name && take_profile(name, &ignored);
}

const char *mimic_config_profile_name(const struct mimic_settings *settings)
{
	for (unsigned int i = 0; i < mimic_kind_count(); i++) {
		if (mimic_kinds[i]->profile_name)
			return mimic_kinds[i]->profile_name(&settings->parameters.of[i]);
	}
	return "";
}

int mimic_config_load(const char *path, struct mimic_settings *settings)
{
	struct mimic_settings loaded;
	int error = 0;

	mimic_config_default(&loaded);
	if (path && *path && !take_profile(path, &loaded))
		error = load_file(path, &loaded);
	if (!error)
		error = mimic_config_synchronous(&loaded);
	if (!error)
		*settings = loaded;
	return error;
}
