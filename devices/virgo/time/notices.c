/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Tells a program once of hardware that it, or the parameters, ask for and that is not there. */
#include <stdio.h>

#include "devices/kind.h"
#include "devices/virgo/time/notices.h"

static void say(const struct mimic_time_host *host, const char *text)
{
	if (host->report)
		host->report(host->context, text);
}

void virgo_notice_access(struct virgo_notices *notices, const struct mimic_time_host *host,
			 const struct virgo_config *config, const struct mimic_access *access)
{
	char name[64], text[160];

	if (notices->of_unit || access->page != VIRGO_PAGE_UNITS || access->offset / VIRGO_BLOCK_SIZE < config->units)
		return;
	notices->of_unit = true;
	mimic_register_name(&mimic_kind_virgo, access, name, sizeof(name));
	snprintf(text, sizeof(text), "virgo0: %s %s, and there %s %u unit%s", access->is_write ? "store to" : "load of", name,
		 config->units == 1 ? "is" : "are", config->units, config->units == 1 ? "" : "s");
	say(host, text);
}

/* --- commands -------------------------------------------------------------------------------------------- */

static size_t add_size(char *text, size_t size, size_t length, const char *key, uint64_t wanted, uint64_t has)
{
	if (wanted == has)
		return length;
	return length + (size_t)snprintf(text + length, size - length, "%s%s is %llu, and the program's own commands have %llu bytes",
					 length ? "; " : "", key, (unsigned long long)wanted, (unsigned long long)has);
}

static void say_sizes(const struct mimic_time_host *host, const struct virgo_time_parameters *parameters,
		      const struct virgo_config *config)
{
	char text[256];
	size_t length;

	length = add_size(text, sizeof(text), 0, "shared.size", parameters->shared_size, (uint64_t)config->shared_kb << 10);
	length = add_size(text, sizeof(text), length, "matrix.accumulator", parameters->matrix_accumulator,
			  (uint64_t)config->unit[0].accumulator_kb << 10);
	if (length)
		say(host, text);
}

static bool has_dma(const struct virgo_time_command *command)
{
	for (unsigned int i = 0; i < command->count; i++)
		if (command->operation[i].requests)
			return true;
	return false;
}

static void say_design(const struct mimic_time_host *host, unsigned int design, const char *rest)
{
	char text[128];

	snprintf(text, sizeof(text), "--design %s %s", virgo_time_design_name(design), rest);
	say(host, text);
}

void virgo_notice_command(struct virgo_notices *notices, const struct mimic_time_host *host,
			  const struct virgo_time_parameters *parameters, const struct virgo_config *config,
			  const struct virgo_time_command *command)
{
	unsigned int design = (unsigned int)parameters->cluster_design;

	if (!command->count)
		return;
	if (!notices->of_sizes)
		say_sizes(host, parameters, config);
	notices->of_sizes = true;
	if (design == VIRGO_DESIGN_VIRGO && has_dma(command) && !notices->of_dma_of_design) {
		notices->of_dma_of_design = true;
		say_design(host, design, "has no DMA; the program's own commands have that of virgo-dma");
	}
	if (design == VIRGO_DESIGN_VIRGO || design == VIRGO_DESIGN_VIRGO_DMA || notices->of_unit_of_design)
		return;
	notices->of_unit_of_design = true;
	say_design(host, design, "has no matrix unit; the program's own commands go to that of virgo-dma");
}
