/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* What a program is told once: hardware that it asks for, or that the parameters ask for, and that is not there. */
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
