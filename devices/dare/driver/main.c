// SPDX-License-Identifier: GPL-2.0
/*
 * dare.ko: the driver of DARE. Each open of /dev/dareN is a context of the
 * device, with a matrix register file of its own, in the opener's address space.
 * Nodes, files and the service of page faults are accelerator.ko's (accelerator.h);
 * here is the meaning of DARE's control page.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/module.h>

#include "accelerator.h"
#include "mimic/dare_ioctl.h"
#include "mimic/dare_registers.h"
#include "trace.h"
#include "version.h"

#define FAULT_PAGE (~0xfffull)
#define NUMBER_MASK 0xff

static unsigned int watch_ms = 250;
module_param(watch_ms, uint, 0644);
MODULE_PARM_DESC(watch_ms, "milliseconds between checks for faults whose interrupt got lost; 0: never. Turned on: from the next open");

static int dare_identify(struct accelerator *accelerator)
{
	struct device *dev = &accelerator->device->dev;
	unsigned int contexts;
	u64 value;
	int error;

	error = accelerator_read(accelerator, DARE_PAGE_CONTROL, DARE_CONTROL_IDENTIFY, &value);
	if (error)
		return error;
	if (value >> 32 != DARE_MAGIC) {
		dev_err(dev, "this is no DARE: IDENTIFY is %#llx\n", value);
		return -ENODEV;
	}
	if ((value >> 24 & 0xff) != DARE_VERSION) {
		dev_err(dev, "registers of version %llu, this driver knows version %u\n",
			value >> 24 & 0xff, DARE_VERSION);
		return -ENODEV;
	}
	contexts = value & NUMBER_MASK;
	if (!contexts || contexts > ACCELERATOR_CONTEXTS_MAX ||
	    DARE_PAGE_CONTEXT(contexts) > accelerator->device->pages) {
		dev_err(dev, "%u contexts on %u pages\n", contexts, accelerator->device->pages);
		return -ENODEV;
	}
	WRITE_ONCE(accelerator->context_count, contexts);
	WRITE_ONCE(accelerator->identify, value);
	return 0;
}

static int dare_attach(struct accelerator *accelerator, unsigned int context, u32 address_space)
{
	return accelerator_write(accelerator, DARE_PAGE_CONTROL, DARE_CONTROL_ATTACH,
				 (u64)address_space << 8 | context);
}

/* The register shows nothing but faults that wait, so it need not be told that one is fresh. */
static int dare_read_fault(struct accelerator *accelerator, bool is_fresh,
			   struct accelerator_fault *fault)
{
	u64 word;
	int error;

	error = accelerator_read(accelerator, DARE_PAGE_CONTROL, DARE_CONTROL_FAULT_STATUS, &word);
	if (error || !(word & DARE_FAULT_STALLED))
		return error;
	fault->word = word;
	fault->address = word & FAULT_PAGE;
	fault->context = word & NUMBER_MASK;
	fault->writes = word & DARE_FAULT_WRITES;
	trace_dare_page_fault(accelerator->device->index, fault->context, fault->address,
			      fault->writes);
	return 0;
}

static int dare_resolve(struct accelerator *accelerator, const struct accelerator_fault *fault,
			int result)
{
	u64 value = fault->context;

	if (!result)
		value |= DARE_RESOLVE_PRESENT;
	trace_dare_resolve(accelerator->device->index, fault->context, fault->address, result);
	return accelerator_write(accelerator, DARE_PAGE_CONTROL, DARE_CONTROL_RESOLVE, value);
}

static int dare_postpone(struct accelerator *accelerator, const struct accelerator_fault *fault)
{
	return accelerator_write(accelerator, DARE_PAGE_CONTROL, DARE_CONTROL_RESOLVE,
				 fault->context | DARE_RESOLVE_LATER);
}

/* Of all translations of the context: the device has no flush for less. */
static void dare_flush(struct accelerator *accelerator, unsigned int context, unsigned long start,
		       unsigned long end)
{
	trace_dare_shootdown(accelerator->device->index, context, start, end);
	mimic_device_post(accelerator->device, context, true, DARE_PAGE_CONTROL,
			  DARE_CONTROL_FLUSH, sizeof(u64), context);
}

/* --- attributes --------------------------------------------------------------- */

static void dare_opened(const struct accelerator_context *context)
{
	trace_dare_open(context->accelerator->device->index, context->number,
			pid_nr(context->process));
}

static void dare_released(const struct accelerator_context *context)
{
	trace_dare_release(context->accelerator->device->index, context->number,
			   pid_nr(context->process));
}

static void dare_announce(const struct accelerator *accelerator)
{
	dev_info(&accelerator->device->dev, "%u contexts\n", READ_ONCE(accelerator->context_count));
}

/* --- the driver --------------------------------------------------------------- */

static_assert(DARE_CONTEXTS_MAX <= ACCELERATOR_CONTEXTS_MAX);
static_assert(ACCELERATOR_CONTEXTS_MAX <= MIMIC_DEVICE_POSTS);

static struct accelerator_driver dare_driver = {
	.name = "dare",
	.pages = DARE_PAGE_CONTEXT(1),
	.ioctl_type = DARE_IOCTL,
	.abi_version = DARE_ABI_VERSION,
	.first_context_page = DARE_PAGE_CONTEXT(0),
	.watch_ms = &watch_ms,
	.harmless_register = DARE_PAGE_CONTROL * PAGE_SIZE + DARE_CONTROL_IDENTIFY,
	.size = sizeof(struct accelerator),
	.identify = dare_identify,
	.announce = dare_announce,
	.attach = dare_attach,
	.read_fault = dare_read_fault,
	.resolve = dare_resolve,
	.postpone = dare_postpone,
	.flush = dare_flush,
	.opened = dare_opened,
	.released = dare_released,
};

module_accelerator_driver(dare_driver);

MODULE_DESCRIPTION("DARE, a matrix processing unit");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
MODULE_ALIAS("mimic:dare");
