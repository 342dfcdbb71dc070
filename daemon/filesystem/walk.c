/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <string.h>

#include "daemon/filesystem/source.h"

struct walk {
	const char *rest;	/* of the path, not found yet; "": inside of the named folder */
	unsigned int inside;	/* folders entered below that */
	unsigned int beside;	/* folders entered that the path does not go through */
	bool is_folder;		/* it was found, and is one */
	bool is_over;		/* nothing of it comes any more: no folder has a name twice */
	const struct mimic_state_visitor *visitor;
};

/* Is it the next name of the path? *after: the rest of the path. */
static bool is_next(const struct walk *walk, const char *name, const char **after)
{
	size_t length = strcspn(walk->rest, "/");

	*after = walk->rest + length + (walk->rest[length] == '/');
	return strlen(name) == length && !strncmp(walk->rest, name, length);
}

static void enter(void *context, const char *name)
{
	struct walk *walk = context;
	const char *after;

	if (walk->is_over)
		return;
	if (walk->is_folder) {
		walk->inside++;
		walk->visitor->enter(walk->visitor->context, name);
	} else if (!walk->beside && is_next(walk, name, &after)) {
		walk->rest = after;
		walk->is_folder = !*after;
	} else {
		walk->beside++;
	}
}

static void leave(void *context, const char *name)
{
	struct walk *walk = context;

	if (walk->is_over)
		return;
	if (walk->beside) {
		walk->beside--;
	} else if (walk->inside) {
		walk->inside--;
		walk->visitor->leave(walk->visitor->context, name);
	} else {
		walk->is_over = true;
	}
}

static bool lets_through(const struct walk *walk, const char *name)
{
	const char *after;

	if (walk->is_over || walk->beside)
		return false;
	return walk->is_folder || (is_next(walk, name, &after) && !*after);
}

static void number(void *context, const char *name, uint64_t value, enum mimic_state_format format,
		   const char *meaning)
{
	const struct walk *walk = context;

	if (lets_through(walk, name))
		walk->visitor->number(walk->visitor->context, name, value, format, meaning);
}

static void text(void *context, const char *name, const char *value, const char *meaning)
{
	const struct walk *walk = context;

	if (lets_through(walk, name))
		walk->visitor->text(walk->visitor->context, name, value, meaning);
}

static void bytes(void *context, const char *name, const void *from, size_t size, const char *meaning)
{
	const struct walk *walk = context;

	if (lets_through(walk, name))
		walk->visitor->bytes(walk->visitor->context, name, from, size, meaning);
}

bool mimicd_source_walk(const struct mimicd_tree_source *source, const char *rest, uint64_t now,
			const struct mimic_state_visitor *visitor)
{
	struct walk walk = { .rest = rest, .is_folder = !*rest, .visitor = visitor };
	const struct mimic_state_visitor filter = {
		.context = &walk, .enter = enter, .leave = leave,
		.number = number, .text = text, .bytes = bytes,
	};

	mimicd_source_visit(source, now, &filter);
	return walk.is_folder;
}
