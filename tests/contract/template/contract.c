/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The template device for the contract's harness. */
#include "devices/template/template_model.h"
#include "tests/contract/template/contract.h"

static int node_profiles(int node)
{
	(void)node;
	return ANY;
}

static struct mimic_model *create_model(const char *configuration, const struct mimic_host *host)
{
	struct template_config config;

	(void)configuration;
	template_config_default(&config);
	return template_model_create(&config, host);
}

const struct contract_device contract_device = {
	.name = "template0",
	.title = "Template",
	.pages = 1,
	.handles = 1,
	.profiles = { { "default", "paper" } },
	.node_profiles = node_profiles,
	.create_model = create_model,
	.destroy_model = template_model_destroy,
	.works_by_ticks = true,
};
