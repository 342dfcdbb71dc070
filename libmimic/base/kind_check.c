/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Whether a kind has all that is required of it, within the limits of devices/kind.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "libmimic/base/kinds.h"

#define PAGE_BYTES 4096u
#define WORD_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Where the first reason goes. */
struct check {
	char *reason;
	size_t size;
	bool is_bad;
};

__attribute__((format(printf, 3, 4)))
static void require(struct check *check, bool is_good, const char *format, ...)
{
	va_list arguments;

	if (is_good || check->is_bad)
		return;
	check->is_bad = true;
	va_start(arguments, format);
	vsnprintf(check->reason, check->size, format, arguments);
	va_end(arguments);
}

static void require_function(struct check *check, bool is_there, const char *name)
{
	require(check, is_there, "it has no function %s()", name);
}

/* Of a key, a counter: one word, as it stands in files and paths. */
static bool is_word(const char *text)
{
	return text && *text && strlen(text) < 48 && !text[strspn(text, WORD_CHARACTERS)];
}

/* Devices are /dev/NAMEn, a section of the configuration is [NAME]. */
static void check_name(struct check *check, const char *name)
{
	static const char *const taken[] = { "mimic", "plugin", "mem" };

	require(check, name != NULL, "it has no name");
	if (check->is_bad)
		return;
	require(check, *name && strlen(name) <= MIMIC_KIND_NAME_MAX &&
		!name[strspn(name, "abcdefghijklmnopqrstuvwxyz")],
		"the name '%.32s' is not 1 to %d small letters", name, MIMIC_KIND_NAME_MAX);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		require(check, strcmp(name, taken[i]) != 0, "the name '%s' means something else", name);
}

static void check_keys(struct check *check, const struct mimic_kind *kind)
{
	require(check, kind->parameters_size <= MIMIC_KIND_PARAMETERS_MAX,
		"its parameters are %zu bytes, of %d at most", kind->parameters_size, MIMIC_KIND_PARAMETERS_MAX);
	require(check, kind->key_count <= MIMIC_KIND_KEYS_MAX, "it has %zu keys, of %d at most",
		kind->key_count, MIMIC_KIND_KEYS_MAX);
	require(check, kind->keys || !kind->key_count, "its list of keys is not there");
	for (size_t i = 0; i < kind->key_count && !check->is_bad; i++) {
		const struct mimic_key *key = &kind->keys[i];

		require(check, is_word(key->name) && strcmp(key->name, "profile") != 0,
			"key %zu has no name that can be one", i);
		require(check, kind->parameters_size >= sizeof(unsigned int) &&
			key->offset <= kind->parameters_size - sizeof(unsigned int) &&
			key->offset % sizeof(unsigned int) == 0,
			"key %s lies outside of its parameters", key->name);
		for (size_t j = 0; j < i && !check->is_bad; j++)
			require(check, strcmp(key->name, kind->keys[j].name) != 0, "key %s is there twice",
				key->name);
	}
}

static void check_counters(struct check *check, const struct mimic_kind *kind)
{
	require(check, kind->counter_count <= MIMIC_KIND_COUNTERS_MAX, "it has %zu counters, of %d at most",
		kind->counter_count, MIMIC_KIND_COUNTERS_MAX);
	require(check, kind->counters || !kind->counter_count, "its list of counters is not there");
	for (size_t i = 0; i < kind->counter_count && !check->is_bad; i++)
		require(check, is_word(kind->counters[i]), "counter %zu has no name that can be one", i);
}

static void check_pages(struct check *check, const struct mimic_kind *kind)
{
	require(check, kind->pages >= 1 && kind->pages <= MIMIC_KIND_PAGES_MAX,
		"%u pages for programs are not 1 to %d", kind->pages, MIMIC_KIND_PAGES_MAX);
	require(check, kind->device_pages >= kind->pages && kind->device_pages <= MIMIC_KIND_PAGES_MAX,
		"%u pages of the device are not %u to %d", kind->device_pages, kind->pages, MIMIC_KIND_PAGES_MAX);
	require(check, kind->default_count <= MIMIC_KIND_DEVICES_MAX, "%u devices, of %d at most",
		kind->default_count, MIMIC_KIND_DEVICES_MAX);
	require(check, kind->private_count <= MIMIC_KIND_PRIVATE_MAX, "%u private devices, of %d at most",
		kind->private_count, MIMIC_KIND_PRIVATE_MAX);
	require(check, !kind->physical || (kind->private_count && kind->physical->address && kind->physical->page_of),
		"its physical addresses are of no devices");
	require(check, kind->batch >= 1, "its batch is 0 stores");
	require(check, !kind->memory_size || (kind->memory_offset % PAGE_BYTES == 0 &&
					     kind->memory_offset >= (uint64_t)kind->pages * PAGE_BYTES),
		"its memory is not behind its pages");
}

static void check_block(struct check *check, const struct mimic_kind *kind,
			const struct mimic_register_block *block)
{
	require(check, block != NULL, "a block of its registers is not there");
	if (check->is_bad)
		return;
	require(check, block->name && (block->rows || !block->count), "a block of registers has no name or no rows");
	require(check, block->page + block->pages <= kind->device_pages,
		"registers '%.32s' are on pages that it has not", block->name);
	require(check, block->size && block->units && (uint64_t)block->size * block->units <= PAGE_BYTES,
		"registers '%.32s' do not fit a page", block->name);
	require(check, block->shift < 32, "registers '%.32s' have a shift of %u", block->name, block->shift);
	for (size_t i = 0; i < block->count && !check->is_bad; i++) {
		const struct mimic_register *row = &block->rows[i];

		if (!row->name)
			continue;
		require(check, row->meaning && (row->count < 2 || row->stride),
			"register %.32s has no meaning or no stride", row->name);
		/* A row that the state does not show may be there for its name only. */
		require(check, !(row->access & MIMIC_REGISTER_R) || row->peek || row->shown == MIMIC_SHOWN_ELSEWHERE,
			"register %.32s cannot be read", row->name);
	}
}

static void check_functions(struct check *check, const struct mimic_kind *kind)
{
	require(check, !kind->summary || (kind->summary->title && !kind->summary->columns[7].counter),
		"its summary has no title or no end");
	require_function(check, kind->defaults != NULL, "defaults");
	require_function(check, kind->check != NULL, "check");
	require_function(check, kind->create != NULL, "create");
	require_function(check, kind->destroy != NULL, "destroy");
	require_function(check, kind->may_wait != NULL, "may_wait");
	require_function(check, kind->state != NULL, "state");
	require(check, !kind->profile || kind->profiles, "its profiles have no names");
	require(check, !kind->posts_stores || (kind->ordered_posts && kind->order),
		"it has posts_stores(), and not ordered_posts and order()");
	require(check, !kind->is_operand || kind->posts_stores, "it has is_operand(), and not posts_stores()");
	require(check, !kind->credits || (kind->credits->cost && kind->credits->left && kind->is_for_stores),
		"it has credits, and not cost(), left() and is_for_stores()");
	require(check, !kind->take_events == !kind->enable_events && !kind->take_events == !kind->enabled_events,
		"it has some of enable_events(), take_events() and enabled_events(), and not all");
}

static void check_contexts(struct check *check, const struct mimic_contexts *contexts)
{
	if (!contexts)
		return;
	require_function(check, contexts->count != NULL, "contexts.count");
	require_function(check, contexts->first_page != NULL, "contexts.first_page");
	require_function(check, contexts->attach != NULL, "contexts.attach");
	require_function(check, contexts->counters != NULL, "contexts.counters");
	require_function(check, contexts->describe != NULL, "contexts.describe");
}

static void check_jobs(struct check *check, const struct mimic_jobs *jobs)
{
	if (!jobs)
		return;
	require_function(check, jobs->count != NULL, "jobs.count");
	require_function(check, jobs->enable != NULL, "jobs.enable");
	require_function(check, jobs->has != NULL, "jobs.has");
	require_function(check, jobs->take != NULL, "jobs.take");
	require_function(check, jobs->run != NULL, "jobs.run");
	require_function(check, jobs->done != NULL, "jobs.done");
	require_function(check, jobs->steps != NULL, "jobs.steps");
	require_function(check, jobs->limit != NULL, "jobs.limit");
}

bool mimic_kind_is_valid(const struct mimic_kind *kind, char *reason, size_t size)
{
	struct check check = { reason, size, false };

	check_name(&check, kind->name);
	check_pages(&check, kind);
	check_keys(&check, kind);
	check_counters(&check, kind);
	check_functions(&check, kind);
	check_contexts(&check, kind->contexts);
	check_jobs(&check, kind->jobs);
	require(&check, kind->blocks || !kind->block_count, "its list of registers is not there");
	for (size_t i = 0; i < kind->block_count && !check.is_bad; i++)
		check_block(&check, kind, kind->blocks[i]);
	return !check.is_bad;
}

/* --- parameters ------------------------------------------------------------------------------ */

static void check_contexts_of(struct check *check, const struct mimic_kind *kind, const void *parameters)
{
	unsigned int count = kind->contexts->count(parameters);

	require(check, count >= 1 && count <= MIMIC_KIND_CONTEXTS_MAX, "contexts: %u are not 1 to %d", count,
		MIMIC_KIND_CONTEXTS_MAX);
	for (unsigned int i = 0; i < count && !check->is_bad; i++)
		require(check, kind->contexts->first_page(i) + kind->pages <= kind->device_pages,
			"contexts: the pages of context %u are not the device's", i);
}

bool mimic_kind_takes(const struct mimic_kind *kind, const void *parameters, char *reason, size_t size)
{
	struct check check = { reason, size, false };
	const char *wrong = kind->check(parameters);

	require(&check, !wrong, "%s", wrong);
	if (!check.is_bad && kind->memory_size) {
		size_t bytes = kind->memory_size(parameters);

		require(&check, bytes <= MIMIC_KIND_MEMORY_MAX && bytes % PAGE_BYTES == 0,
			"memory of %zu bytes is not whole pages up to %u bytes", bytes, MIMIC_KIND_MEMORY_MAX);
	}
	if (!check.is_bad && kind->contexts)
		check_contexts_of(&check, kind, parameters);
	if (!check.is_bad && kind->jobs) {
		unsigned int jobs = kind->jobs->count(parameters);

		require(&check, jobs >= 1 && jobs <= MIMIC_KIND_JOBS_MAX, "jobs: %u are not 1 to %d", jobs,
			MIMIC_KIND_JOBS_MAX);
	}
	return !check.is_bad;
}

/* --- a model ---------------------------------------------------------------------------------- */

bool mimic_kind_model_is_valid(const struct mimic_model *model, char *reason, size_t size)
{
	const struct mimic_model_ops *ops = model->ops;
	struct check check = { reason, size, false };

	require(&check, ops != NULL, "its model has no functions");
	if (check.is_bad)
		return false;
#define _(name) require(&check, ops->name != NULL, "its model has no function %s()", #name);
	_(access)
	_(store_many)
	_(load_many)
	_(cancel)
	_(owner_gone)
	_(tick)
	_(busy)
	_(invalidate)
	_(power_on)
	_(counters)
	_(clear_counters)
	_(describe)
	_(save)
	_(restore)
#undef _
	return !check.is_bad;
}
