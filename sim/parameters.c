/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "sim/parameters.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <ini.h>

#include "devices/soc/cache.h"

const struct sim_parameter_description sim_parameter_descriptions[] = {
#define _(section, key, fpga, sim, minimum, maximum, meaning, source) \
	{ #section, #key, fpga, sim, minimum, maximum, meaning, source, \
	  offsetof(struct sim_parameters, section##_##key) },
	SIM_PARAMETERS(_)
#undef _
	{ NULL, NULL, 0, 0, 0, 0, NULL, NULL, 0 }
};

#define KEYS (sizeof(sim_parameter_descriptions) / sizeof(sim_parameter_descriptions[0]) - 1)

struct error {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3)))
static int fail(const struct error *error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(error->text, error->size, format, arguments);
	va_end(arguments);
	return -EINVAL;
}

static uint64_t *value_of(struct sim_parameters *parameters, const struct sim_parameter_description *description)
{
	return (uint64_t *)((char *)parameters + description->offset);
}

static void load_mpu(struct sim_parameters *parameters)
{
#define _(section, key, value) parameters->section##_##key = value;
	SIM_MPU_PRESET(_)
#undef _
}

static void load_cluster(struct sim_parameters *parameters)
{
#define _(section, key, value) parameters->section##_##key = value;
	SIM_CLUSTER_PRESET(_)
#undef _
}

static bool load_preset(struct sim_parameters *parameters, const char *name)
{
	bool is_sim = !strcmp(name, SIM_PRESET_OTHER), is_mpu = !strcmp(name, SIM_PRESET_MPU);
	bool is_cluster = !strcmp(name, SIM_PRESET_CLUSTER);
	const struct sim_parameter_description *description;

	if (!is_sim && !is_mpu && !is_cluster && strcmp(name, SIM_PRESET_DEFAULT))
		return false;
	for (description = sim_parameter_descriptions; description->section; description++)
		*value_of(parameters, description) = is_sim ? description->sim : description->fpga;
	if (is_mpu)
		load_mpu(parameters);
	if (is_cluster)
		load_cluster(parameters);
	return true;
}

static const struct sim_parameter_description *find(const char *section, size_t length, const char *key)
{
	const struct sim_parameter_description *description;

	for (description = sim_parameter_descriptions; description->section; description++)
		if (strlen(description->section) == length && !memcmp(description->section, section, length) &&
		    !strcmp(description->key, key))
			return description;
	return NULL;
}

uint64_t sim_parameters_get(const struct sim_parameters *parameters, const char *section, const char *key)
{
	const struct sim_parameter_description *description = find(section, strlen(section), key);

	return description ? *(const uint64_t *)((const char *)parameters + description->offset) : 0;
}

/* The configurations of DARE's paper, V-A1 and V-E. Infinite: 256, which is no slower than more. */
int sim_parameters_mode(struct sim_parameters *parameters, const char *name, char *why, size_t size)
{
	static const struct {
		const char *name;
		bool runahead, infinite, filter, dynamic, oracle;
	} modes[] = {
		{ "base", .runahead = false },
		{ "nvr", .runahead = true, .infinite = true },
		{ "fre", .runahead = true, .filter = true, .dynamic = true },
		{ "static", .runahead = true, .filter = true },
		{ "oracle", .oracle = true },
	};
	struct error error = { why, size };

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(name, modes[i].name))
			continue;
		if (!parameters->mpu_enabled)
			return fail(&error, "mode %s is one of DARE's MPU, and this SoC has none (mpu.enabled)", name);
		parameters->mpu_runahead = modes[i].runahead;
		parameters->rfu_enabled = modes[i].filter;
		parameters->rfu_dynamic = modes[i].dynamic;
		parameters->llc_oracle = modes[i].oracle;
		if (modes[i].infinite)
			parameters->mpu_riq = parameters->mpu_vmr = 256;
		return 0;
	}
	return fail(&error, "mode must be base, nvr, fre, static or oracle, not '%.64s'", name);
}

/* The numbers of cluster.design. */
int sim_parameters_design(struct sim_parameters *parameters, const char *name, char *why, size_t size)
{
	static const char *const designs[] = { "tc", "tc-dma", "virgo", "virgo-dma", "hopper" };
	struct error error = { why, size };

	for (size_t i = 0; i < sizeof(designs) / sizeof(designs[0]); i++) {
		if (strcmp(name, designs[i]))
			continue;
		if (!parameters->cluster_enabled)
			return fail(&error, "design %s is one of Virgo's cluster, and this SoC has none (cluster.enabled)", name);
		parameters->cluster_design = i;
		return 0;
	}
	return fail(&error, "design must be " SIM_DESIGNS ", not '%.64s'", name);
}

unsigned int sim_parameters_devices(const struct sim_parameters *parameters)
{
	return parameters->mpu_enabled || parameters->cluster_enabled ? 1 : (unsigned int)parameters->maple_count;
}

/* The round trip of MAPLE's paper holds MAPLE's pipe: 3 cycles of a load, 4 of a store. */
struct sim_way sim_parameters_way(const struct sim_parameters *parameters)
{
	if (parameters->mpu_enabled)
		return (struct sim_way){ .is_none = true };
	if (parameters->cluster_enabled)
		return (struct sim_way){ .cycles = parameters->lsu_latency + parameters->lsu_mmio };
	if (parameters->desc_enabled)
		return (struct sim_way){ .cycles = parameters->desc_latency };
	return (struct sim_way){ .cycles = parameters->maple_round_trip, .load_pipe = 3, .store_pipe = 4,
				 .has_hops = true };
}

uint64_t sim_parameters_pipeline(const struct sim_parameters *parameters, uint64_t taken, uint64_t missed,
				 uint64_t multiplies)
{
	return taken * parameters->core_branch_taken + missed * parameters->core_branch_missed +
	       multiplies * parameters->core_multiply;
}

uint64_t sim_parameters_walk_cache(const struct sim_parameters *parameters)
{
	return parameters->maple_walk_cache;
}

static bool has_section(const char *section, size_t length)
{
	const struct sim_parameter_description *description;

	for (description = sim_parameter_descriptions; description->section; description++)
		if (strlen(description->section) == length && !memcmp(description->section, section, length))
			return true;
	return false;
}

/* A value that is too large for a number becomes the largest, which no range allows. */
static bool parse_number(const char *text, uint64_t *number)
{
	char *end;
	unsigned int shift = 0;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'M')
		shift = *end++ == 'K' ? 10 : 20;
	if (*end)
		return false;
	if (errno || *number > UINT64_MAX >> shift)
		*number = UINT64_MAX;
	else
		*number <<= shift;
	return true;
}

static int set_key(struct sim_parameters *parameters, const char *section, size_t length, const char *key,
		   const char *value, const struct error *error)
{
	const struct sim_parameter_description *description = find(section, length, key);
	uint64_t number;

	if (!description && has_section(section, length))
		return fail(error, "section %.*s has no key '%.64s'", (int)length, section, key);
	if (!description)
		return fail(error, "there is no section '%.*s'", length < 64 ? (int)length : 64, section);
	if (!parse_number(value, &number))
		return fail(error, "%s.%s must be a whole number, K or M behind it or not, not '%.64s'",
			    description->section, key, value);
	if (number < description->minimum || number > description->maximum)
		return fail(error, "%s.%s must be %llu to %llu, not %.64s", description->section, key,
			    (unsigned long long)description->minimum, (unsigned long long)description->maximum, value);
	*value_of(parameters, description) = number;
	return 0;
}

int sim_parameters_set(struct sim_parameters *parameters, const char *assignment, char *why, size_t size)
{
	struct error error = { why, size };
	const char *equals = strchr(assignment, '='), *dot = strchr(assignment, '.');
	char key[64];

	if (!equals || !dot || dot > equals || dot == assignment || dot + 1 == equals)
		return fail(&error, "'%.64s' is not section.key=value", assignment);
	if ((size_t)(equals - dot - 1) >= sizeof(key))
		return fail(&error, "'%.64s...' has no such key", assignment);
	snprintf(key, sizeof(key), "%.*s", (int)(equals - dot - 1), dot + 1);
	return set_key(parameters, assignment, (size_t)(dot - assignment), key, equals + 1, &error);
}

struct file {
	struct sim_parameters *parameters;
	const char *path;
	FILE *stream;
	int line;		/* the one that was read last */
	int error_line;		/* 0: none so far */
	int preset_line;	/* where it stands; 0: nowhere */
	int key_lines[KEYS];	/* the same of each key */
	int status;		/* of reading */
	bool has_keys;
	char error[200];
};

static int take_preset(struct file *file, const char *value, const struct error *error)
{
	if (file->preset_line)
		return fail(error, "duplicate key 'preset', first in line %d", file->preset_line);
	if (file->has_keys)
		return fail(error, "preset must stand above everything else");
	file->preset_line = file->line;
	file->has_keys = true;
	if (!load_preset(file->parameters, value))
		return fail(error, "preset must be one of " SIM_PRESETS ", not '%.64s'", value);
	return 0;
}

static int take_key(struct file *file, const char *section, const char *key, const char *value,
		    const struct error *error)
{
	const struct sim_parameter_description *description = find(section, strlen(section), key);
	int *line = description ? &file->key_lines[description - sim_parameter_descriptions] : NULL;

	if (line && *line)
		return fail(error, "duplicate key '%s.%s', first in line %d", section, key, *line);
	if (line)
		*line = file->line;
	return set_key(file->parameters, section, strlen(section), key, value, error);
}

/* For libinih: 0 is an error. Only the first one of a file is reported. */
static int take_line(void *context, const char *section, const char *key, const char *value)
{
	struct file *file = context;
	struct error error = { file->error, sizeof(file->error) };
	int status;

	if (file->error_line)
		return 0;
	if (!*section && !strcmp(key, "preset"))
		status = take_preset(file, value, &error);
	else if (!*section)
		status = fail(&error, "'%.64s' stands in no section", key);
	else
		status = take_key(file, section, key, value, &error);
	file->has_keys = true;
	if (status)
		file->error_line = file->line;
	return !status;
}

static char *read_line(char *buffer, int size, void *context)
{
	struct file *file = context;
	char *text = file->error_line ? NULL : fgets(buffer, size, file->stream);
	size_t indent;

	if (!text) {
		if (ferror(file->stream))
			file->status = -errno;
		return NULL;
	}
	file->line++;
	if (!strchr(text, '\n') && !feof(file->stream)) {
		snprintf(file->error, sizeof(file->error), "longer than %d bytes, or holds a zero byte", size - 2);
		file->error_line = file->line;
		return NULL;
	}
	/* An indented line is a key of its own, not the continuation of the one before. */
	indent = strspn(text, " \t\r\v\f");
	memmove(text, text + indent, strlen(text + indent) + 1);
	return text;
}

static int load_file(struct sim_parameters *parameters, const char *path, const struct error *error)
{
	struct file file = { .parameters = parameters, .path = path };
	struct stat what;
	int line;

	file.stream = fopen(path, "re");
	if (file.stream && (fstat(fileno(file.stream), &what) || S_ISCHR(what.st_mode))) {
		fclose(file.stream);
		return fail(error, "%.100s is a device, and no INI file", path);
	}
	if (!file.stream) {
		file.status = -errno;
		fail(error, "%.100s is no preset (" SIM_PRESETS "), and as a file: %s", path,
		     strerror(-file.status));
		return file.status;
	}
	line = ini_parse_stream(read_line, &file, take_line, &file);
	fclose(file.stream);
	if (file.error_line)
		return fail(error, "%.100s:%d: %s", path, file.error_line, file.error);
	if (line > 0)
		return fail(error, "%.100s:%d: neither [section] nor key = value", path, line);
	if (line < 0 || file.status) {
		fail(error, "%.100s: %s", path, line < 0 ? "no memory to read it" : strerror(-file.status));
		return file.status ? file.status : -ENOMEM;
	}
	return 0;
}

int sim_parameters_load(struct sim_parameters *parameters, const char *name, char *why, size_t size)
{
	struct error error = { why, size };
	struct sim_parameters loaded;
	int status;

	if (load_preset(parameters, name))
		return 0;
	load_preset(&loaded, SIM_PRESET_DEFAULT);
	status = load_file(&loaded, name, &error);
	if (!status)
		*parameters = loaded;
	return status;
}

static int check_ranges(const struct sim_parameters *parameters, const struct error *error)
{
	const struct sim_parameter_description *description;

	for (description = sim_parameter_descriptions; description->section; description++) {
		uint64_t value = *(const uint64_t *)((const char *)parameters + description->offset);

		if (value < description->minimum || value > description->maximum)
			return fail(error, "%s.%s must be %llu to %llu, not %llu", description->section, description->key,
				    (unsigned long long)description->minimum,
				    (unsigned long long)description->maximum, (unsigned long long)value);
	}
	return 0;
}

static int check_cache(const char *name, uint64_t size, uint64_t ways, uint64_t line, const struct error *error)
{
	const char *wrong = mimic_cache_geometry(size, ways, line);

	if (!wrong)
		return 0;
	return fail(error, "%s.%s (%s.size %llu, %s.ways %llu, %s.line %llu)", name, wrong, name,
		    (unsigned long long)size, name, (unsigned long long)ways, name, (unsigned long long)line);
}

static int check_l15(const struct sim_parameters *parameters, const struct error *error)
{
	int status;

	if (!parameters->l15_size)
		return 0;
	status = check_cache("l15", parameters->l15_size, parameters->l15_ways, parameters->l1_line, error);
	if (status)
		return status;
	if (parameters->l15_size < parameters->l1_size)
		return fail(error, "l15.size %llu is less than l1.size %llu, and the L1.5 holds all lines of the L1",
			    (unsigned long long)parameters->l15_size, (unsigned long long)parameters->l1_size);
	if (parameters->l15_size > parameters->l2_size)
		return fail(error, "l15.size %llu is more than l2.size %llu, and the L2 holds all lines of the L1.5s",
			    (unsigned long long)parameters->l15_size, (unsigned long long)parameters->l2_size);
	return 0;
}

static int check_caches(const struct sim_parameters *parameters, const struct error *error)
{
	int status = check_cache("l1", parameters->l1_size, parameters->l1_ways, parameters->l1_line, error);

	if (!status)
		status = check_cache("l2", parameters->l2_size, parameters->l2_ways, parameters->l2_line, error);
	if (status)
		return status;
	if (parameters->l1_line > parameters->l2_line)
		return fail(error, "l1.line %llu is more than l2.line %llu",
			    (unsigned long long)parameters->l1_line, (unsigned long long)parameters->l2_line);
	if (parameters->l1_size > parameters->l2_size)
		return fail(error, "l1.size %llu is more than l2.size %llu, and the L2 holds all lines of the L1s",
			    (unsigned long long)parameters->l1_size, (unsigned long long)parameters->l2_size);
	return check_l15(parameters, error);
}

/* The queue sizes of INIT, in words. */
static bool is_queue_size(uint64_t words)
{
	static const uint64_t sizes[] = { 8, 16, 32, 48, 64, 80, 96, 128 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] == words)
			return true;
	return false;
}

static int check_tlb(const char *section, uint64_t entries, const struct error *error)
{
	if (!(entries & (entries - 1)))
		return 0;
	return fail(error, "%s.tlb_entries must be a power of two, not %llu", section, (unsigned long long)entries);
}

static int check_mpu(const struct sim_parameters *parameters, const struct error *error)
{
	const char *wrong = mimic_cache_geometry(parameters->llc_size, parameters->llc_ways, 64);

	if (wrong)
		return fail(error, "llc.%s (llc.size %llu, llc.ways %llu, lines of 64)", wrong,
			    (unsigned long long)parameters->llc_size, (unsigned long long)parameters->llc_ways);
	if (parameters->llc_reads > parameters->llc_banks || parameters->llc_writes > parameters->llc_banks)
		return fail(error, "llc.reads %llu and llc.writes %llu must not be more than llc.banks %llu",
			    (unsigned long long)parameters->llc_reads, (unsigned long long)parameters->llc_writes,
			    (unsigned long long)parameters->llc_banks);
	if (parameters->mpu_runahead && parameters->mpu_window > parameters->mpu_riq)
		return fail(error, "mpu.window %llu is more than mpu.riq %llu: instructions issue from the RIQ",
			    (unsigned long long)parameters->mpu_window, (unsigned long long)parameters->mpu_riq);
	if (parameters->mpu_store_order && !parameters->mpu_oldest_first)
		return fail(error, "mpu.store_order %llu needs mpu.oldest_first 1: a store would wait for a load behind one "
			    "that waits for the store", (unsigned long long)parameters->mpu_store_order);
	return 0;
}

int sim_parameters_check(const struct sim_parameters *parameters, char *why, size_t size)
{
	struct error error = { why, size };
	int status = check_ranges(parameters, &error);

	if (!status)
		status = check_caches(parameters, &error);
	if (!status)
		status = check_mpu(parameters, &error);
	if (status)
		return status;
	if (parameters->core_store_misses > parameters->core_store_buffer)
		return fail(&error, "core.store_misses %llu is more than core.store_buffer %llu",
			    (unsigned long long)parameters->core_store_misses,
			    (unsigned long long)parameters->core_store_buffer);
	if (!is_queue_size(parameters->maple_queue_entries))
		return fail(&error, "maple.queue_entries must be 8, 16, 32, 48, 64, 80, 96 or 128, not %llu",
			    (unsigned long long)parameters->maple_queue_entries);
	status = check_tlb("core", parameters->core_tlb_entries, &error);
	if (!status)
		status = check_tlb("maple", parameters->maple_tlb_entries, &error);
	if (status)
		return status;
	if (parameters->maple_lima_chunks < parameters->maple_queues)
		return fail(&error, "maple.lima_chunks %llu is less than maple.queues %llu: each queue has a share",
			    (unsigned long long)parameters->maple_lima_chunks,
			    (unsigned long long)parameters->maple_queues);
	return 0;
}
