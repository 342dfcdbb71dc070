/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/attention_report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "examples/common/json.h"
#include "examples/common/virgo_report.h"

/* Of both products. */
static uint64_t macs(const struct attention_program *program)
{
	const struct attention *a = &program->attention;

	return 2ull * a->sequence * a->sequence * a->head;
}

static double rate(const struct attention_program *program, const struct attention_run *run)
{
	return run->seconds > 0 ? (double)macs(program) / run->seconds : 0;
}

/* --- tables ------------------------------------------------------------------------------ */

static void print_tables(const struct attention_program *program, const struct attention_run *runs,
			 unsigned int count)
{
	const struct attention_plan *plan = &program->plan;

	printf("flash_attention of random matrices: Q, K, V %zu x %zu\n"
	       "tiles of %zu queries and %zu keys, %zu KB of shared memory\n", program->attention.sequence, program->attention.head, plan->queries, plan->keys,
	       (plan->shared_bytes + 1023) >> 10);
	printf("%-8s %-4s %-5s %-9s %-8s %10s %9s %9s %9s\n", "exp", "type", "units", "transport", "verified", "ms",
	       "MACs/s", "error", "tolerance");
	for (unsigned int i = 0; i < count; i++)
		printf("%-8s %-4s %-5u %-9s %-8s %10.3f %9.4g %9.2g %9.2g\n", attention_exp_text(runs[i].exp), "fp32",
		       plan->unit, virgo_transport(plan->virgo), runs[i].verified ? "yes" : "NO", 1000 * runs[i].seconds,
		       rate(program, &runs[i]), runs[i].error, ATTENTION_TOLERANCE);
	printf("%-8s %8s %8s %12s %10s %10s %11s %11s %6s\n", "exp", "commands", "tiles", "MACs", "DMA read", "written",
	       "shared read", "written", "polls");
	for (unsigned int i = 0; i < count; i++) {
		const struct virgo_statistics *c = &runs[i].counters;

		printf("%-8s %8" PRIu64 " %8" PRIu64 " %12" PRIu64 " %10" PRIu64 " %10" PRIu64 " %11" PRIu64 " %11" PRIu64
		       " %6" PRIu64 "\n", attention_exp_text(runs[i].exp), c->commands, c->tiles, c->macs,
		       c->dma_bytes_read, c->dma_bytes_written, c->shared_bytes_read, c->shared_bytes_written, c->polls);
	}
}

/* --- JSON ---------------------------------------------------------------------------------- */

static struct json_object *run_object(const struct attention_program *program, const struct attention_run *run)
{
	struct json_object *object = json_object_new_object();
	const struct attention_plan *plan = &program->plan;

	add_text(object, "exp", attention_exp_text(run->exp));
	add_text(object, "type", "fp32");
	add_text(object, "transport", virgo_transport(plan->virgo));
	add_text(object, "device", virgo_device_name(plan->virgo));
	add_u64(object, "unit", plan->unit);
	json_object_object_add(object, "verified", json_object_new_boolean(run->verified));
	add_real(object, "error", run->error);
	add_u64(object, "macs", macs(program));
	add_real(object, "macs_per_second", rate(program, run));
	add_real(object, "seconds", run->seconds);
	json_object_object_add(object, "counters", virgo_report_counters(&run->counters));
	return object;
}

static void print_json(const struct attention_program *program, const struct attention_run *runs,
		       unsigned int count)
{
	struct json_object *report = json_object_new_object(), *list = json_object_new_array();
	const struct attention_plan *plan = &program->plan;
	char text[96];

	snprintf(text, sizeof(text), "Q, K, V %zu x %zu", program->attention.sequence, program->attention.head);
	add_text(report, "kernel", "flash_attention");
	add_text(report, "input", "random matrices");
	add_text(report, "description", text);
	add_u64(report, "sequence", program->attention.sequence);
	add_u64(report, "head", program->attention.head);
	add_u64(report, "queries", plan->queries);
	add_u64(report, "keys", plan->keys);
	add_u64(report, "shared_bytes", plan->shared_bytes);
	add_real(report, "tolerance", ATTENTION_TOLERANCE);
	add_u64(report, "threads", program->options->threads);
	for (unsigned int i = 0; i < count; i++)
		json_object_array_add(list, run_object(program, &runs[i]));
	json_object_object_add(report, "runs", list);
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_PRETTY));
	json_object_put(report);
}

int attention_report(const struct attention_program *program, const struct attention_run *runs, unsigned int count)
{
	if (program->options->common.json)
		print_json(program, runs, count);
	else
		print_tables(program, runs, count);
	return fflush(stdout) || ferror(stdout) ? -EIO : 0;
}
