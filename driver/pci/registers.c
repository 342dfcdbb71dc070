// SPDX-License-Identifier: GPL-2.0
/*
 * Registers of a function. Nothing waits here (docs/pci.md): a store is posted, and a load that the
 * device cannot answer at once has no effect and gives all ones, as does a device that is gone.
 */
#include <linux/io.h>

#include "internal.h"

static u64 mimic_pci_bus_load(struct mimic_pci_device *device, unsigned int offset)
{
	return readq(device->registers + offset);
}

static void mimic_pci_bus_store(struct mimic_pci_device *device, unsigned int offset, u64 value)
{
	writeq(value, device->registers + offset);
}

static u64 mimic_pci_load(const void __iomem *place, unsigned int size)
{
	switch (size) {
	case 1:
		return readb(place);
	case 2:
		return readw(place);
	case 4:
		return readl(place);
	default:
		return readq(place);
	}
}

static void mimic_pci_store(void __iomem *place, unsigned int size, u64 value)
{
	switch (size) {
	case 1:
		writeb(value, place);
		break;
	case 2:
		writew(value, place);
		break;
	case 4:
		writel(value, place);
		break;
	default:
		writeq(value, place);
		break;
	}
}

static bool mimic_pci_is_no_answer(u64 value, unsigned int size)
{
	return size >= sizeof(u32) && value == GENMASK_ULL(8 * size - 1, 0);
}

/* One message when the daemon is found to have ended, or the device to be taken from it. */
static bool mimic_pci_is_there(struct mimic_pci_device *device)
{
	bool is_there = mimic_pci_bus_load(device, MIMIC_PCI_MAGIC) == MIMIC_PCI_MAGIC_VALUE;
	struct device *dev = &device->device.dev;

	if (READ_ONCE(device->is_lost) != is_there || xchg(&device->is_lost, !is_there) != is_there)
		return is_there;
	if (is_there)
		dev_info_ratelimited(dev, "is served again\n");
	else
		dev_warn_ratelimited(dev, "nobody serves it: registers give all ones\n");
	return is_there;
}

static void __iomem *mimic_pci_place(const struct mimic_pci_device *device, unsigned int page,
				     unsigned int offset)
{
	return device->registers + MIMIC_PCI_DEVICE_PAGE(page) + offset;
}

static bool mimic_pci_is_register(const struct mimic_pci_device *device, unsigned int page,
				  unsigned int offset, unsigned int size)
{
	return page < device->device.pages && offset < MIMIC_PCI_PAGE_SIZE && !(offset % size);
}

int mimic_pci_read(struct mimic_device *public, unsigned int page, unsigned int offset,
		   unsigned int size, u64 *value)
{
	struct mimic_pci_device *device = to_pci_device(public);
	int index, error = 0;

	if (!mimic_pci_is_register(device, page, offset, size))
		return -EINVAL;
	index = srcu_read_lock(&device->readers);
	if (READ_ONCE(device->is_gone)) {
		error = -EIO;
	} else {
		*value = mimic_pci_load(mimic_pci_place(device, page, offset), size);
		/* No register that a driver reads has only ones. */
		if (mimic_pci_is_no_answer(*value, size))
			error = mimic_pci_is_there(device) ? -ETIMEDOUT : -EIO;
	}
	srcu_read_unlock(&device->readers, index);
	return error;
}

int mimic_pci_write(struct mimic_device *public, unsigned int page, unsigned int offset,
		    unsigned int size, u64 value)
{
	struct mimic_pci_device *device = to_pci_device(public);
	int index, error = 0;

	if (!mimic_pci_is_register(device, page, offset, size))
		return -EINVAL;
	index = srcu_read_lock(&device->readers);
	if (READ_ONCE(device->is_gone))
		error = -EIO;
	else
		mimic_pci_store(mimic_pci_place(device, page, offset), size, value);
	srcu_read_unlock(&device->readers, index);
	return error;
}

void mimic_pci_post(struct mimic_device *public, unsigned int number, bool is_write,
		    unsigned int page, unsigned int offset, unsigned int size, u64 value)
{
	struct mimic_pci_device *device = to_pci_device(public);
	int index = srcu_read_lock(&device->readers);

	/* A load that was not ready is counted by the device: mimic_pci_sync() finds it. */
	if (READ_ONCE(device->is_gone))
		goto out;
	if (is_write)
		mimic_pci_store(mimic_pci_place(device, page, offset), size, value);
	else
		mimic_pci_load(mimic_pci_place(device, page, offset), size);
out:
	srcu_read_unlock(&device->readers, index);
}

bool mimic_pci_is_served(struct mimic_device *public)
{
	struct mimic_pci_device *device = to_pci_device(public);
	int index = srcu_read_lock(&device->readers);
	bool is_served = !READ_ONCE(device->is_gone) && mimic_pci_is_there(device);

	srcu_read_unlock(&device->readers, index);
	return is_served;
}

int mimic_pci_load_bus_page(struct mimic_pci_device *device, unsigned int offset, u64 *value)
{
	int index = srcu_read_lock(&device->readers);
	bool is_there = !READ_ONCE(device->is_gone);

	if (is_there) {
		*value = mimic_pci_bus_load(device, offset);
		is_there = *value != U64_MAX || mimic_pci_is_there(device);
	}
	srcu_read_unlock(&device->readers, index);
	return is_there ? 0 : -ENODEV;
}

void mimic_pci_store_bus_page(struct mimic_pci_device *device, unsigned int offset, u64 value)
{
	int index = srcu_read_lock(&device->readers);

	if (!READ_ONCE(device->is_gone))
		mimic_pci_bus_store(device, offset, value);
	srcu_read_unlock(&device->readers, index);
}

/* The load is answered when the stores before it have had their effect, or have been dropped. */
bool mimic_pci_settle(struct mimic_pci_device *device, u64 *not_ready)
{
	int index = srcu_read_lock(&device->readers);
	bool is_there = !READ_ONCE(device->is_gone);

	if (is_there)
		*not_ready = mimic_pci_bus_load(device, MIMIC_PCI_NOT_READY);
	srcu_read_unlock(&device->readers, index);
	return is_there && *not_ready != U64_MAX;
}

void mimic_pci_set_space(struct mimic_pci_device *device, u32 number, u64 root, u64 mode)
{
	unsigned int space = MIMIC_PCI_SPACE(number);
	int index = srcu_read_lock(&device->readers);

	if (!READ_ONCE(device->is_gone)) {
		mimic_pci_bus_store(device, space + MIMIC_PCI_SPACE_ROOT, root);
		mimic_pci_bus_store(device, space + MIMIC_PCI_SPACE_MODE, mode);
		/* Both are posted: when this is answered they have had their effect. */
		mimic_pci_bus_load(device, space + MIMIC_PCI_SPACE_MODE);
	}
	srcu_read_unlock(&device->readers, index);
}

u64 mimic_pci_page_table_mode(void)
{
#if defined(CONFIG_X86_64)
	return pgtable_l5_enabled() ? MIMIC_PCI_MODE_X86_5 : MIMIC_PCI_MODE_X86_4;
#elif defined(CONFIG_RISCV)
	if (pgtable_l5_enabled)
		return MIMIC_PCI_MODE_SV57;
	return pgtable_l4_enabled ? MIMIC_PCI_MODE_SV48 : MIMIC_PCI_MODE_SV39;
#else
#error "the device walks page tables of x86-64 and RISC-V"
#endif
}
