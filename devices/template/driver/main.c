// SPDX-License-Identifier: GPL-2.0
/*
 * template.ko: a driver to copy, for a small adder. docs/writing-a-driver.md goes
 * through it.
 *
 * /dev/templateN belongs to one process at a time. It maps the device's user
 * page, stores two numbers, stores START, and loads their sum; or waits for the
 * addition in poll() and read(). The control page is the driver's. Nodes, files and the
 * interrupt are accelerator.ko's (accelerator.h); this file knows the control page.
 */
#include <linux/module.h>

#include "accelerator.h"
#include "devices/template/template_registers.h"
#include "version.h"

static int template_identify(struct accelerator *accelerator)
{
	u64 value;
	int error;

	error = accelerator_read(accelerator, TEMPLATE_PAGE_CONTROL, TEMPLATE_IDENTIFY, &value);
	if (error)
		return error;
	if (value != TEMPLATE_IDENTITY) {
		dev_err(&accelerator->device->dev, "IDENTIFY is %#llx: no template\n", value);
		return -ENODEV;
	}
	WRITE_ONCE(accelerator->identify, value);
	return 0;
}

/*
 * Acknowledged before programs are told: an event that comes in between raises the
 * interrupt again.
 */
static int template_take_events(struct accelerator *accelerator, u64 events, u64 *happened)
{
	u64 value;
	int error;

	error = accelerator_read(accelerator, TEMPLATE_PAGE_CONTROL, TEMPLATE_EVENTS, &value);
	*happened = error ? 0 : value & events;
	if (error || !*happened)
		return error;
	return accelerator_write(accelerator, TEMPLATE_PAGE_CONTROL, TEMPLATE_ACKNOWLEDGE,
				 *happened);
}

static struct accelerator_driver template_driver = {
	.name = "template",
	.pages = TEMPLATE_PAGE_COUNT,
	.ioctl_type = TEMPLATE_IOCTL,
	.abi_version = TEMPLATE_ABI_VERSION,
	.program_pages = TEMPLATE_PAGE_CONTROL,
	.events = TEMPLATE_EVENT_DONE,
	.reads_events = true,
	.harmless_register = TEMPLATE_PAGE_CONTROL * PAGE_SIZE + TEMPLATE_IDENTIFY,
	.size = sizeof(struct accelerator),
	.identify = template_identify,
	.take_events = template_take_events,
};

module_accelerator_driver(template_driver);

MODULE_DESCRIPTION("A small device and driver to copy");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
MODULE_ALIAS("mimic:template");
