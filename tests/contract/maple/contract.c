/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* MAPLE for the contract's harness, and how most of its cases begin. */
#include <errno.h>
#include <sys/ioctl.h>

#include "devices/maple/maple_model.h"
#include "mimic/maple_ioctl.h"
#include "tests/contract/maple/contract.h"

static int node_profiles(int node)
{
	struct maple_info info = { .size = sizeof(info) };

	if (ioctl(node, MAPLE_IOCTL_INFO, &info))
		return -errno;
	return info.identify ? PAPER : ARTIFACT;
}

static struct mimic_model *create_model(const char *configuration, const struct mimic_host *host)
{
	struct maple_config config;
	int error = maple_config_profile(&config, configuration);

	if (!error)
		return maple_model_create(&config, host);
	errno = -error;
	return NULL;
}

const struct contract_device contract_device = {
	.name = "maple0",
	.ways = maple_ways,
	.pages = PAGES,
	.handles = 1,
	.profiles = { { "paper", "paper" }, { "artifact", "artifact" } },
	.node_profiles = node_profiles,
	.create_model = create_model,
	.destroy_model = maple_model_destroy,
};

uint64_t command(enum bus_thread who, unsigned int operation, unsigned int queue)
{
	return load(who, PAGE_MAPLE, AT(operation, queue), 4);
}

void request(enum bus_thread who, unsigned int operation, unsigned int queue, uint64_t value)
{
	store(who, PAGE_MAPLE, AT(operation, queue), 8, value);
}

void init(unsigned int size_code)
{
	EXPECT(command(A, INIT, size_code), 2);
}

void open_queue(unsigned int queue)
{
	EXPECT(command(A, OPEN_PRODUCER, queue), 2);
	EXPECT(command(B, OPEN_CONSUMER, queue), 1);
}

void init_and_open(unsigned int size_code, unsigned int queue)
{
	init(size_code);
	open_queue(queue);
}

void produce32(unsigned int queue, uint32_t value)
{
	store(A, PAGE_MAPLE, AT(PRODUCE, queue), 4, value);
}

void produce64(unsigned int queue, uint64_t value)
{
	store(A, PAGE_MAPLE, AT(PRODUCE, queue), 8, value);
}

uint64_t consume32(unsigned int queue)
{
	return load(B, PAGE_MAPLE, AT(CONSUME, queue), 4);
}

uint64_t consume64(unsigned int queue)
{
	return load(B, PAGE_MAPLE, AT(CONSUME, queue), 8);
}

void consume_begin(unsigned int queue)
{
	load_begin(B, PAGE_MAPLE, AT(CONSUME, queue), 4);
}

void expect_empty(unsigned int queue)
{
	produce32(queue, 0x5e75e75e);
	EXPECT(consume32(queue), 0x5e75e75e);
}
