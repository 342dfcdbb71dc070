// SPDX-License-Identifier: GPL-2.0
/*
 * Interrupt lines of a device: an interrupt controller of our own for each. The
 * kernel's irq_sim would do, but Debian's kernels are built without it.
 *
 * A line is an edge: raised while its handler runs, it runs again; raised while
 * it is disabled, it is replayed when enabled; with no handler it is lost.
 */
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/irqdomain.h>

#include "internal.h"

static int mimic_interrupt_map(struct irq_domain *domain, unsigned int irq, irq_hw_number_t line)
{
	/* There is nothing to mask or acknowledge: raising is a call. */
	irq_set_chip_and_handler(irq, &dummy_irq_chip, handle_simple_irq);
	irq_modify_status(irq, IRQ_NOREQUEST | IRQ_NOAUTOEN, IRQ_NOPROBE);
	return 0;
}

static void mimic_interrupt_unmap(struct irq_domain *domain, unsigned int irq)
{
	irq_set_chip_and_handler(irq, NULL, NULL);
}

static const struct irq_domain_ops domain_ops = {
	.map = mimic_interrupt_map,
	.unmap = mimic_interrupt_unmap,
};

int mimic_interrupts_create(struct mimic_bus_device *device)
{
	if (!device->device.interrupts)
		return 0;
	device->domain_name = irq_domain_alloc_named_fwnode(dev_name(&device->device.dev));
	if (!device->domain_name)
		return -ENOMEM;
	device->domain = irq_domain_create_linear(device->domain_name, device->device.interrupts,
						  &domain_ops, device);
	if (device->domain)
		return 0;
	irq_domain_free_fwnode(device->domain_name);
	device->domain_name = NULL;
	return -ENOMEM;
}

void mimic_interrupts_destroy(struct mimic_bus_device *device)
{
	u32 line;

	if (!device->domain)
		return;
	for (line = 0; line < device->device.interrupts; line++)
		irq_dispose_mapping(irq_find_mapping(device->domain, line));
	irq_domain_remove(device->domain);
	irq_domain_free_fwnode(device->domain_name);
	device->domain = NULL;
}

int mimic_interrupts_raise(struct mimic_bus_device *device, u32 line)
{
	if (line >= device->device.interrupts)
		return -EINVAL;
	/* Nobody has asked for the line: as with silicon, nothing happens. */
	generic_handle_domain_irq_safe(device->domain, line);
	return 0;
}

int mimic_interrupts_number(struct mimic_device *public, unsigned int line)
{
	struct mimic_bus_device *device = to_bus_device(public);
	unsigned int irq;

	if (line >= public->interrupts)
		return -EINVAL;
	irq = irq_create_mapping(device->domain, line);
	return irq ? irq : -ENOMEM;
}
