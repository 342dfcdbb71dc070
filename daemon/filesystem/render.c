/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/filesystem/render.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "libmimic/base/clock.h"

/* --- type and content --------------------------------------------------------------------- */

struct listing {
	FILE *list;		/* NULL: only its type */
	unsigned int depth;
	bool is_value;
	struct mimicd_entry entry;
};

static void list_name(struct listing *listing, enum mimicd_entry_kind kind, const char *name)
{
	if (listing->list && !listing->depth)
		fprintf(listing->list, "%c%s%c", kind, name, 0);
}

static void list_value(struct listing *listing, enum mimicd_entry_kind kind, const char *name, size_t size)
{
	list_name(listing, kind, name);
	listing->is_value = true;
	listing->entry = (struct mimicd_entry){ kind, size };
}

static void list_enter(void *context, const char *name)
{
	struct listing *listing = context;

	list_name(listing, MIMICD_ENTRY_FOLDER, name);
	listing->depth++;
}

static void list_leave(void *context, const char *name)
{
	(void)name;
	((struct listing *)context)->depth--;
}

static void list_number(void *context, const char *name, uint64_t value,
			enum mimic_state_format format, const char *meaning)
{
	(void)value, (void)format, (void)meaning;
	list_value(context, MIMICD_ENTRY_VALUE, name, 0);
}

static void list_text(void *context, const char *name, const char *value, const char *meaning)
{
	(void)value, (void)meaning;
	list_value(context, MIMICD_ENTRY_VALUE, name, 0);
}

static void list_bytes(void *context, const char *name, const void *bytes, size_t size,
		       const char *meaning)
{
	(void)bytes, (void)meaning;
	list_value(context, MIMICD_ENTRY_BYTES, name, size);
}

static bool walk_listing(const struct mimicd_tree_source *source, const char *rest,
			 struct listing *listing)
{
	const struct mimic_state_visitor visitor = {
		.context = listing, .enter = list_enter, .leave = list_leave,
		.number = list_number, .text = list_text, .bytes = list_bytes,
	};

	return mimicd_source_walk(source, rest, mimic_now(), &visitor);
}

int mimicd_render_entry(const struct mimicd_tree_source *source, const char *rest,
			struct mimicd_entry *entry)
{
	struct listing listing = { 0 };

	if (walk_listing(source, rest, &listing))
		*entry = (struct mimicd_entry){ .kind = MIMICD_ENTRY_FOLDER };
	else if (listing.is_value)
		*entry = listing.entry;
	else
		return -ENOENT;
	return 0;
}

bool mimicd_render_list(const struct mimicd_tree_source *source, const char *rest, FILE *list)
{
	struct listing listing = { .list = list };

	return walk_listing(source, rest, &listing);
}

/* --- values --------------------------------------------------------------------------------- */

struct writing {
	FILE *file;
	unsigned int depth;
	size_t length;			/* of the path */
	char path[MIMICD_PATH_MAX];	/* of the open folder, with a '/' behind each name */
	bool is_table;
	bool is_value;
};

static void write_number(FILE *file, uint64_t value, enum mimic_state_format format)
{
	switch (format) {
	case MIMIC_STATE_HEX:
		fprintf(file, "0x%" PRIx64, value);
		return;
	case MIMIC_STATE_SIGNED:
		fprintf(file, "%" PRId64, (int64_t)value);
		return;
	case MIMIC_STATE_DECIMAL:
	case MIMIC_STATE_BOOLEAN:
		fprintf(file, "%" PRIu64, value);
		return;
	}
}

/* A line of a table has no newline within. */
static void write_line(FILE *file, const char *text)
{
	for (; *text; text++)
		fputc(*text == '\n' ? ' ' : *text, file);
}

static void begin(struct writing *writing, const char *name)
{
	writing->is_value = true;
	if (writing->is_table)
		fprintf(writing->file, "%s%s\t", writing->path, name);
}

static void end(struct writing *writing, const char *meaning)
{
	if (writing->is_table)
		fprintf(writing->file, "\t%s", meaning ? meaning : "");
	fputc('\n', writing->file);
}

static void value_enter(void *context, const char *name)
{
	struct writing *writing = context;
	size_t room = sizeof(writing->path) - writing->length;
	int length = snprintf(writing->path + writing->length, room, "%s/", name);

	writing->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void value_leave(void *context, const char *name)
{
	struct writing *writing = context;
	size_t length = strlen(name) + 1;

	writing->length -= length < writing->length ? length : writing->length;
	writing->path[writing->length] = 0;
}

static void value_number(void *context, const char *name, uint64_t value,
			 enum mimic_state_format format, const char *meaning)
{
	struct writing *writing = context;

	begin(writing, name);
	write_number(writing->file, value, format);
	end(writing, meaning);
}

static void value_text(void *context, const char *name, const char *value, const char *meaning)
{
	struct writing *writing = context;

	begin(writing, name);
	if (writing->is_table)
		write_line(writing->file, value);
	else
		fputs(value, writing->file);
	end(writing, meaning);
}

/*
 * Programs and units write a device's shared memory whenever they want. Word by word,
 * and not for a thread sanitizer to judge: no more is promised of it.
 */
__attribute__((no_sanitize("thread")))
static void write_bytes(FILE *file, const void *bytes, size_t size)
{
	typedef uint64_t __attribute__((aligned(1), may_alias)) word;
	const volatile word *words = bytes;
	uint64_t piece[512];
	size_t done = 0;

	while (size - done >= sizeof(uint64_t)) {
		size_t count = 0;

		while (count < 512 && size - done >= sizeof(uint64_t)) {
			piece[count++] = words[done / sizeof(uint64_t)];
			done += sizeof(uint64_t);
		}
		fwrite(piece, sizeof(uint64_t), count, file);
	}
	fwrite((const char *)bytes + done, 1, size - done, file);
}

static void value_bytes(void *context, const char *name, const void *bytes, size_t size,
			const char *meaning)
{
	struct writing *writing = context;

	if (writing->is_table) {
		begin(writing, name);
		fprintf(writing->file, "%zu bytes", size);
		end(writing, meaning);
		return;
	}
	writing->is_value = true;
	write_bytes(writing->file, bytes, size);
}

static bool walk_writing(const struct mimicd_tree_source *source, const char *rest,
			 struct writing *writing)
{
	const struct mimic_state_visitor visitor = {
		.context = writing, .enter = value_enter, .leave = value_leave,
		.number = value_number, .text = value_text, .bytes = value_bytes,
	};

	return mimicd_source_walk(source, rest, mimic_now(), &visitor);
}

bool mimicd_render_value(const struct mimicd_tree_source *source, const char *rest, FILE *content)
{
	struct writing writing = { .file = content };

	return !walk_writing(source, rest, &writing) && writing.is_value;
}

bool mimicd_render_table(const struct mimicd_tree_source *source, const char *rest, FILE *table)
{
	struct writing writing = { .file = table, .is_table = true };

	return walk_writing(source, rest, &writing);
}

/* --- has it changed? ------------------------------------------------------------------------ */

static void mix(uint64_t *digest, uint64_t value)
{
	/* splitmix64 */
	value += *digest + 0x9e3779b97f4a7c15ull;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9ull;
	value = (value ^ value >> 27) * 0x94d049bb133111ebull;
	*digest = value ^ value >> 31;
}

static void mix_text(uint64_t *digest, const char *text)
{
	uint64_t value = 0xcbf29ce484222325ull;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 0x100000001b3ull;
	mix(digest, value);
}

static void digest_folder(void *context, const char *name)
{
	mix_text(context, name);
}

static void digest_number(void *context, const char *name, uint64_t value,
			  enum mimic_state_format format, const char *meaning)
{
	(void)name, (void)format, (void)meaning;
	mix(context, value);
}

static void digest_text(void *context, const char *name, const char *value, const char *meaning)
{
	(void)name, (void)meaning;
	mix_text(context, value);
}

static void digest_bytes(void *context, const char *name, const void *bytes, size_t size,
			 const char *meaning)
{
	(void)name, (void)bytes, (void)meaning;
	mix(context, size);
}

uint64_t mimicd_render_digest(const struct mimicd_tree_source *source)
{
	uint64_t digest = 1;
	const struct mimic_state_visitor visitor = {
		.context = &digest, .enter = digest_folder, .leave = digest_folder,
		.number = digest_number, .text = digest_text, .bytes = digest_bytes,
	};

	/* At the time of its last access: values that grow by themselves stand still. */
	mimicd_source_visit(source, 0, &visitor);
	return digest;
}
