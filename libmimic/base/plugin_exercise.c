/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The calls that any device gets, on a device of a plugin, before a program uses one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/base/kinds.h"
#include "libmimic/base/plugin.h"

#define PAGE_BYTES 4096u
#define OWNER 1u
#define IMAGE_MAX (64u << 20)		/* as of a recording */
#define UNTOUCHED 0xa5

/* --- a program that has no memory ------------------------------------------------------------------ */

static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context;
	(void)owner;
	(void)data;
}

static long gather(void *context, const uint64_t *addresses, size_t count, unsigned int size, uint64_t tag,
		   uint64_t *values)
{
	(void)context;
	(void)addresses;
	(void)count;
	(void)size;
	(void)tag;
	(void)values;
	return 0;
}

static int read_memory(void *context, uint64_t address, void *buffer, size_t size)
{
	(void)context;
	(void)address;
	memset(buffer, 0, size);
	return -EFAULT;
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	(void)context;
	(void)addresses;
	(void)count;
	(void)size;
	(void)rows;
	return 0;
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context;
	(void)addresses;
	(void)count;
	(void)size;
	(void)rows;
	return 0;
}

static int do_atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		     uint32_t expected, uint32_t *old)
{
	(void)context;
	(void)address;
	(void)operation;
	(void)operand;
	(void)expected;
	*old = 0;
	return -EFAULT;
}

static const struct mimic_memory no_memory = {
	.gather = gather, .read = read_memory, .read_rows = read_rows, .write_rows = write_rows,
	.atomic = do_atomic,
};

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	(void)context;
	(void)address_space;
	return &no_memory;
}

/* --- the state: balanced folders, not too much, and an end ------------------------------------------- */

struct tree {
	struct mimic_plugin_trial *trial;
	int depth;
	bool is_wrong;
	uint32_t values;
	size_t text;		/* bytes */
};

/* A visitor cannot stop the visit. The plugin could go on until the trial's time is over: end it now. */
static void add_text(struct tree *tree, const char *text)
{
	tree->text += text ? strnlen(text, MIMIC_KIND_STATE_TEXT_MAX + 1) : 0;
	if (tree->text <= MIMIC_KIND_STATE_TEXT_MAX)
		return;
	mimic_plugin_wrong(tree->trial, "its state has more than %u bytes of text", MIMIC_KIND_STATE_TEXT_MAX);
	mimic_plugin_end(tree->trial);
}

static void add_value(struct tree *tree, const char *name)
{
	tree->is_wrong |= !name || !*name || strchr(name, '/');
	add_text(tree, name);
	if (++tree->values <= MIMIC_KIND_STATE_VALUES_MAX)
		return;
	mimic_plugin_wrong(tree->trial, "its state has more than %u values", MIMIC_KIND_STATE_VALUES_MAX);
	mimic_plugin_end(tree->trial);
}

static void enter(void *context, const char *name)
{
	struct tree *tree = context;

	tree->depth++;
	add_value(tree, name);
}

static void leave(void *context, const char *name)
{
	struct tree *tree = context;

	tree->is_wrong |= !name || --tree->depth < 0;
}

static void leaf(struct tree *tree, const char *name, const char *meaning)
{
	tree->is_wrong |= !meaning;
	add_value(tree, name);
	add_text(tree, meaning);
}

static void number(void *context, const char *name, uint64_t value, enum mimic_state_format format,
		   const char *meaning)
{
	(void)value;
	(void)format;
	leaf(context, name, meaning);
}

static void text(void *context, const char *name, const char *value, const char *meaning)
{
	struct tree *tree = context;

	tree->is_wrong |= !value;
	leaf(tree, name, meaning);
	add_text(tree, value);
}

static void bytes(void *context, const char *name, const void *first, size_t size, const char *meaning)
{
	(void)first;
	(void)size;
	leaf(context, name, meaning);
}

static void show_state(struct mimic_plugin_trial *trial, const struct mimic_kind *kind,
		       const struct mimic_model *model)
{
	struct tree tree = { .trial = trial };
	const struct mimic_state_visitor visitor = { &tree, enter, leave, number, text, bytes };

	mimic_plugin_stage(trial, "showing its state");
	kind->state(model, 5, &visitor);
	if (tree.depth || tree.is_wrong)
		mimic_plugin_wrong(trial, "its state is no tree of values with names and meanings");
}

/* --- the calls ------------------------------------------------------------------------------------------ */

static bool make_parameters(struct mimic_plugin_trial *trial, const struct mimic_kind *kind,
			    struct mimic_own_parameters *parameters)
{
	char reason[MIMIC_KIND_REASON_MAX];

	mimic_plugin_stage(trial, "its defaults");
	memset(parameters, 0, sizeof(*parameters));
	memset(parameters->bytes + kind->parameters_size, UNTOUCHED,
	       sizeof(parameters->bytes) - kind->parameters_size);
	kind->defaults(parameters);
	for (size_t i = kind->parameters_size; i < sizeof(parameters->bytes); i++) {
		if (parameters->bytes[i] == UNTOUCHED)
			continue;
		mimic_plugin_wrong(trial, "its defaults are larger than its parameters");
		return false;
	}
	mimic_plugin_stage(trial, "checking its parameters");
	if (mimic_kind_takes(kind, parameters, reason, sizeof(reason)))
		return true;
	mimic_plugin_wrong(trial, "its defaults are wrong: %s", reason);
	return false;
}

static struct mimic_model *create(struct mimic_plugin_trial *trial, const struct mimic_kind *kind,
				  const struct mimic_own_parameters *parameters)
{
	const struct mimic_host host = {
		.complete = complete, .memory = no_memory, .memory_of = memory_of,
	};
	size_t size = kind->memory_size ? kind->memory_size(parameters) : 0;
	void *memory = size ? aligned_alloc(PAGE_BYTES, size) : NULL;
	char reason[MIMIC_KIND_REASON_MAX];
	struct mimic_model *model;

	if (memory)
		memset(memory, 0, size);
	mimic_plugin_stage(trial, "creation");
	errno = 0;
	model = kind->create(parameters, &host, memory);
	if (!model) {
		mimic_plugin_wrong(trial, "it creates no device: %s", strerror(errno));
		return NULL;
	}
	if (mimic_kind_model_is_valid(model, reason, sizeof(reason)))
		return model;
	mimic_plugin_wrong(trial, "%s", reason);
	return NULL;
}

/* Whether it waits or not: another thread may have ended the wait when the reason is asked for. */
static void explain_it(const struct mimic_kind *kind, const struct mimic_model *model, struct mimic_access access)
{
	char bytes[160];
	struct mimic_text text;

	if (!kind->explain)
		return;
	for (access.is_write = 0; access.is_write <= 1; access.is_write++) {
		mimic_text_begin(&text, bytes, sizeof(bytes));
		kind->explain(model, &access, &text);
	}
}

static void access_it(struct mimic_plugin_trial *trial, const struct mimic_kind *kind, struct mimic_model *model)
{
	struct mimic_access load = { .owner = OWNER, .size = 8 };

	if (kind->contexts) {
		mimic_plugin_stage(trial, "attaching a context");
		kind->contexts->attach(model, 0, 1, 2);
		load.page = (uint8_t)kind->contexts->first_page(0);
	}
	mimic_plugin_stage(trial, "a load");
	if (model->ops->access(model, &load, 3) != MIMIC_DONE)
		model->ops->cancel(model, OWNER, 3);
	mimic_plugin_stage(trial, "saying why an access waits");
	explain_it(kind, model, load);
	mimic_plugin_stage(trial, "a tick");
	for (int i = 0; i < 1000 && model->ops->busy(model); i++)
		model->ops->tick(model, 4);
	model->ops->tick(model, 4);
}

static void count(struct mimic_plugin_trial *trial, const struct mimic_kind *kind, struct mimic_model *model)
{
	uint64_t values[MIMIC_KIND_COUNTERS_MAX];
	size_t found;

	mimic_plugin_stage(trial, "its counters");
	found = model->ops->counters(model, values, MIMIC_KIND_COUNTERS_MAX);
	if (found != kind->counter_count)
		mimic_plugin_wrong(trial, "its model has %zu counters, and %zu names for them", found,
				   kind->counter_count);
	model->ops->clear_counters(model);
}

static void describe(struct mimic_plugin_trial *trial, const struct mimic_kind *kind, struct mimic_model *model)
{
	char line[256];

	mimic_plugin_stage(trial, "describing itself");
	model->ops->describe(model, line, sizeof(line));
	if (kind->contexts)
		kind->contexts->describe(model, 0, line, sizeof(line));
}

static void save(struct mimic_plugin_trial *trial, struct mimic_model *model)
{
	size_t size;
	void *image;

	mimic_plugin_stage(trial, "saving its state");
	size = model->ops->save(model, NULL, 0);
	if (size > IMAGE_MAX) {
		mimic_plugin_wrong(trial, "an image of its state has %zu bytes, of %u at most", size, IMAGE_MAX);
		return;
	}
	image = malloc(size ? size : 1);
	if (!image || model->ops->save(model, image, size) != size) {
		mimic_plugin_wrong(trial, "images of its state differ in size");
		return;
	}
	mimic_plugin_stage(trial, "restoring its state");
	if (model->ops->restore(model, image, size))
		mimic_plugin_wrong(trial, "it does not restore the state that it has saved");
	free(image);
}

void mimic_plugin_exercise(struct mimic_plugin_trial *trial, const struct mimic_kind *kind)
{
	struct mimic_own_parameters parameters;
	struct mimic_model *model;

	if (!make_parameters(trial, kind, &parameters))
		return;
	model = create(trial, kind, &parameters);
	if (!model)
		return;
	mimic_plugin_stage(trial, "power-on");
	model->ops->power_on(model, 1);
	access_it(trial, kind, model);
	count(trial, kind, model);
	show_state(trial, kind, model);
	describe(trial, kind, model);
	save(trial, model);
	mimic_plugin_stage(trial, "destruction");
	kind->destroy(model);
}
