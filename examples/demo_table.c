/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/demo_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t demo_number(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_uint64(value) : 0;
}

static double real(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_double(value) : 0;
}

const char *demo_text(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? json_object_get_string(value) : "";
}

static bool is_verified(struct json_object *run)
{
	struct json_object *verified;

	return json_object_object_get_ex(run, "verified", &verified) && json_object_get_boolean(verified);
}

static struct json_object *counters_of(struct json_object *run)
{
	struct json_object *counters = NULL;

	json_object_object_get_ex(run, "counters", &counters);
	return counters;
}

static void maple_header(void)
{
	printf("%-6s %-13s %-9s %-9s %-3s %9s %9s %9s %9s %9s %5s\n", "kernel", "input", "form", "transport", "ok",
	       "rate", "produced", "consumed", "fetched", "TLB miss", "fault");
}

static bool maple_line(struct json_object *report, struct json_object *form)
{
	struct json_object *counters = counters_of(form);
	bool right = is_verified(form);

	printf("%-6s %-13.13s %-9s %-9s %-3s %9.4g %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %5" PRIu64 "\n",
	       demo_text(report, "kernel"), demo_text(report, "input"), demo_text(form, "form"),
	       demo_text(form, "transport"), right ? "yes" : "NO", real(form, "elements_per_second"),
	       demo_number(counters, "produced"), demo_number(counters, "consumed"),
	       demo_number(counters, "fetched"), demo_number(counters, "tlb_misses"),
	       demo_number(counters, "faults"));
	return right;
}

/* At most five characters each. */
struct column {
	const char *title;
	const char *key;
	bool of_counters;
};

static const struct column dare_columns[] = {
	{ "MAC/s", "macs_per_second", false }, { "instr", "instructions", true }, { "mld", "mld", true },
	{ "mst", "mst", true }, { "mma", "mma", true }, { "mgath", "mgather", true },
	{ "mscat", "mscatter", true }, { "bytes", "bytes_loaded", true }, { "used", "macs_used", true },
};

static const struct column virgo_columns[] = {
	{ "MAC/s", "macs_per_second", false }, { "cmds", "commands", true }, { "tiles", "tiles", true },
	{ "MACs", "macs", true }, { "DMA r", "dma_bytes_read", true }, { "DMA w", "dma_bytes_written", true },
	{ "sh. r", "shared_bytes_read", true }, { "sh. w", "shared_bytes_written", true }, { "polls", "polls", true },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void dare_header(void)
{
	printf("\nDARE: B is the side of the blocks, or a type; instructions by kind; bytes that were loaded;\n"
	       "MACs that were used, and how much of the processing elements' work that is (PE %%)\n"
	       "%-5s %-8s %4s %-9s %-3s", "prod.", "form", "B", "transport", "ok");
	for (size_t i = 0; i < COUNT(dare_columns); i++)
		printf(" %5s", dare_columns[i].title);
	printf(" %5s %5s\n", "PE %", "fault");
}

/* Three digits and a unit: the lines of two forms are compared, not added up. */
static void print_short(double value)
{
	static const char units[] = " kMGTPE";
	unsigned int unit = 0;

	for (; value >= 999.5; value /= 1000)
		unit++;
	if (unit == 0)
		printf(" %5.0f", value);
	else
		printf(" %4.*f%c", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

/* The common part of the lines below. */
static void title(struct json_object *report)
{
	printf("%s of %s: %s\n", demo_text(report, "kernel"), demo_text(report, "input"),
	       demo_text(report, "description"));
}

static bool dare_line(struct json_object *report, struct json_object *run)
{
	struct json_object *counters = counters_of(run);
	bool right = is_verified(run);
	const char *variant = demo_text(run, "type");
	char block[16] = "-";

	if (demo_number(run, "block"))
		snprintf(block, sizeof(block), "%" PRIu64, demo_number(run, "block"));
	printf("%-5s %-8s %4.4s %-9s %-3s", demo_text(report, "kernel"), demo_text(run, "form"),
	       *variant ? variant : block, demo_text(run, "transport"), right ? "yes" : "NO");
	for (size_t i = 0; i < COUNT(dare_columns); i++)
		print_short(real(dare_columns[i].of_counters ? counters : run, dare_columns[i].key));
	printf(" %5.3g %5" PRIu64 "\n", 100 * real(run, "utilisation"), demo_number(counters, "faults"));
	return right;
}

static struct json_object *find_run(struct json_object *runs, const char *form, uint64_t block)
{
	for (size_t i = 0; i < json_object_array_length(runs); i++) {
		struct json_object *run = json_object_array_get_idx(runs, i);

		if (strcmp(demo_text(run, "form"), form) == 0 && demo_number(run, "block") == block)
			return run;
	}
	return NULL;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : 0;
}

void demo_dare_compare(struct json_object *report)
{
	struct json_object *runs = NULL;

	if (!json_object_object_get_ex(report, "runs", &runs))
		return;
	for (uint64_t block = 1; block <= 16; block *= 2) {
		struct json_object *baseline = find_run(runs, "baseline", block), *gsa = find_run(runs, "gsa", block);

		if (!baseline || !gsa)
			continue;
		printf("%-5s B=%-2" PRIu64 " GSA / baseline: instructions %.2f, bytes %.2f, PE utilisation %.2f\n",
		       demo_text(report, "kernel"), block,
		       ratio((double)demo_number(counters_of(gsa), "instructions"),
			     (double)demo_number(counters_of(baseline), "instructions")),
		       ratio((double)demo_number(counters_of(gsa), "bytes_loaded"),
			     (double)demo_number(counters_of(baseline), "bytes_loaded")),
		       ratio(real(gsa, "utilisation"), real(baseline, "utilisation")));
	}
}

static void virgo_header(void)
{
	printf("\nVirgo: commands, passes of the array (tiles), MACs, bytes that the DMA read and wrote (DMA r, w),\n"
	       "bytes of shared memory that units read and wrote (sh. r, w), loads that asked for an end (polls)\n"
	       "%-14s %-8s %-4s %-9s %-3s", "product", "form", "type", "transport", "ok");
	for (size_t i = 0; i < COUNT(virgo_columns); i++)
		printf(" %5s", virgo_columns[i].title);
	putchar('\n');
}

static bool virgo_line(struct json_object *report, struct json_object *run)
{
	struct json_object *counters = counters_of(run);
	bool right = is_verified(run);

	printf("%-14s %-8s %-4s %-9s %-3s", demo_text(report, "kernel"), demo_text(run, "form"),
	       demo_text(run, "type"), demo_text(run, "transport"), right ? "yes" : "NO");
	for (size_t i = 0; i < COUNT(virgo_columns); i++)
		print_short(real(virgo_columns[i].of_counters ? counters : run, virgo_columns[i].key));
	putchar('\n');
	return right;
}

struct demo_table demo_maple_table = { .kind = "maple", .runs = "forms", .header = maple_header, .line = maple_line };
struct demo_table demo_dare_table = { .kind = "dare", .runs = "runs", .header = dare_header,
	.title = title, .line = dare_line };
struct demo_table demo_virgo_table = { .kind = "virgo", .runs = "runs", .header = virgo_header,
	.title = title, .line = virgo_line };

size_t demo_table_print(struct demo_table *table, struct json_object *report, unsigned int *wrong)
{
	struct json_object *runs = NULL;
	size_t count = 0;

	if (json_object_object_get_ex(report, table->runs, &runs) && json_object_is_type(runs, json_type_array))
		count = json_object_array_length(runs);
	if (count && !table->has_header)
		table->header();
	table->has_header |= count > 0;
	if (count && table->title)
		table->title(report);
	for (size_t i = 0; i < count; i++)
		*wrong += !table->line(report, json_object_array_get_idx(runs, i));
	fflush(stdout);
	return count;
}
