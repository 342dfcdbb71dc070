// SPDX-License-Identifier: GPL-2.0
/*
 * mimic_pci.ko: functions of PCI that are devices of mimic (mimicd --vfio-user, docs/pci.md). Each
 * is a device of the same bus as those that a daemon of this machine serves, and the same
 * drivers have it.
 */
#include <linux/ctype.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "internal.h"
#include "mimic/bus.h"
#include "version.h"

static int mimic_pci_interrupt(struct mimic_device *public, unsigned int line)
{
	struct mimic_pci_device *device = to_pci_device(public);

	if (line >= public->interrupts)
		return -EINVAL;
	return pci_irq_vector(device->pci, MIMIC_PCI_VECTOR_DEVICE);
}

static void mimic_pci_driven_by(struct mimic_device *public, const struct mimic_driver *driver)
{
	struct mimic_pci_device *device = to_pci_device(public);

	mutex_lock(&device->lock);
	device->has_driver = driver;
	if (driver)
		device->is_shared = driver->is_shared;
	mutex_unlock(&device->lock);
	if (!driver)
		mimic_pci_detach_bindings(device);
}

/* There is no session with the daemon: it is another machine's. */
static int mimic_pci_connect(struct mimic_binding *binding, struct file **file)
{
	*file = NULL;
	return -EOPNOTSUPP;
}

static const struct mimic_device_ops device_ops = {
	.owner = THIS_MODULE,
	.read = mimic_pci_read,
	.write = mimic_pci_write,
	.post = mimic_pci_post,
	.interrupt = mimic_pci_interrupt,
	.driven_by = mimic_pci_driven_by,
	.is_served = mimic_pci_is_served,
	.bind = mimic_pci_bind,
	.put = mimic_pci_put,
	.free = mimic_pci_free,
	.check = mimic_pci_check,
	.mmap = mimic_pci_mmap,
	.mmap_memory = mimic_pci_mmap_memory,
	.is_memory = mimic_pci_is_memory,
	.share_mapping = mimic_pci_share_mapping,
	.get_mm = mimic_pci_get_mm,
	.end = mimic_pci_end,
	.sync = mimic_pci_sync,
	.connect = mimic_pci_connect,
	.lane = mimic_pci_lane,
	.lane_call = mimic_pci_lane_call,
	.mmap_lane = mimic_pci_mmap_lane,
	.end_lanes = mimic_pci_end_lanes,
};

/* --- the function ---------------------------------------------------------------- */

static int mimic_pci_read_kind(struct mimic_pci_device *device)
{
	char *kind = device->device.kind;
	size_t i, length;
	u64 word;

	for (i = 0; i < sizeof(device->device.kind); i += sizeof(word)) {
		word = readq(device->registers + MIMIC_PCI_KIND + i);
		memcpy(kind + i, &word, sizeof(word));
	}
	length = strnlen(kind, sizeof(device->device.kind));
	if (!length || length == sizeof(device->device.kind) || isdigit(kind[length - 1]))
		return -ENODEV;
	for (i = 0; i < length; i++) {
		if (!isascii(kind[i]) || (!isalnum(kind[i]) && kind[i] != '-'))
			return -ENODEV;
	}
	return 0;
}

/* Its own BARs, or another function's. */
static int mimic_pci_find_memory(struct mimic_pci_device *device)
{
	u64 pair = readq(device->registers + MIMIC_PCI_PAIR);

	device->memory_pci = device->pci;
	if (!pair)
		return 0;
	device->memory_pci = mimic_pci_memory_of(device->pci, pair);
	if (!IS_ERR(device->memory_pci))
		return 0;
	return dev_err_probe(&device->pci->dev, PTR_ERR(device->memory_pci),
			     "the function with its memory, PAIR %#llx, is not there\n", pair);
}

static int mimic_pci_identify(struct mimic_pci_device *device)
{
	u64 layout = readq(device->registers + MIMIC_PCI_LAYOUT);
	u64 size = readq(device->registers + MIMIC_PCI_MEMORY_SIZE);
	struct mimic_device *public = &device->device;
	int error;

	if (readq(device->registers + MIMIC_PCI_MAGIC) != MIMIC_PCI_MAGIC_VALUE ||
	    (layout & 0xff) != MIMIC_PCI_VERSION) {
		dev_err(&device->pci->dev, "this is no device of mimic: LAYOUT is %#llx\n", layout);
		return -ENODEV;
	}
	public->pages = layout >> 8 & 0xff;
	error = mimic_pci_find_memory(device);
	if (error)
		return error;
	if (pci_resource_len(device->pci, MIMIC_PCI_BAR_REGISTERS) <
	    MIMIC_PCI_DEVICE_PAGE(public->pages) || size > MIMIC_BUS_MEMORY_MAX ||
	    pci_resource_len(device->memory_pci, MIMIC_PCI_BAR_MEMORY) < size ||
	    !PAGE_ALIGNED(size))
		return -ENODEV;
	public->memory_size = size;
	public->interrupts = 1;
	public->capabilities = MIMIC_BUS_TRAPS;
	return mimic_pci_read_kind(device);
}

static int mimic_pci_map_memory(struct mimic_pci_device *device)
{
	resource_size_t start = pci_resource_start(device->memory_pci, MIMIC_PCI_BAR_MEMORY);
	u32 size = device->device.memory_size;

	if (!size)
		return 0;
	device->memory_frame = start >> PAGE_SHIFT;
	device->memory = devm_ioremap_wc(&device->pci->dev, start, size);
	return device->memory ? 0 : -ENOMEM;
}

static int mimic_pci_start(struct mimic_pci_device *device)
{
	struct pci_dev *pci = device->pci;
	int error = pcim_enable_device(pci);

	if (error)
		return error;
	pci_set_master(pci);
	device->registers = pcim_iomap(pci, MIMIC_PCI_BAR_REGISTERS, 0);
	if (!device->registers)
		return -ENOMEM;
	error = mimic_pci_identify(device);
	if (error)
		return error;
	error = mimic_pci_map_memory(device);
	if (error)
		return error;
	error = mimic_pci_lanes_start(device);
	if (error)
		return error;
	error = pci_alloc_irq_vectors(pci, 1, MIMIC_PCI_VECTORS, PCI_IRQ_MSI | PCI_IRQ_MSIX);
	if (error < 0)
		return error;
	device->vectors = error;
	return mimic_pci_lanes_listen(device);
}

/* The first number that no device of the kind has, of any module. */
static int mimic_pci_add(struct mimic_pci_device *device)
{
	struct mimic_device *public = &device->device;
	struct device *other;
	int error;

	for (;;) {
		error = dev_set_name(&public->dev, "%s%d", public->kind, public->index);
		if (error)
			return error;
		other = bus_find_device_by_name(&mimic_bus, NULL, dev_name(&public->dev));
		if (!other)
			return device_add(&public->dev);
		put_device(other);
		public->index++;
	}
}

/* --- coming and going ------------------------------------------------------------- */

static void mimic_pci_release(struct device *dev)
{
	struct mimic_pci_device *device = to_pci_device(to_mimic_device(dev));

	cleanup_srcu_struct(&device->readers);
	kfree(device);
}

static struct mimic_pci_device *mimic_pci_create_device(struct pci_dev *pci)
{
	struct mimic_pci_device *device = kzalloc(sizeof(*device), GFP_KERNEL);

	if (!device)
		return NULL;
	if (init_srcu_struct(&device->readers)) {
		kfree(device);
		return NULL;
	}
	mutex_init(&device->lock);
	INIT_LIST_HEAD(&device->bindings);
	device->pci = pci;
	device->device.ops = &device_ops;
	device->device.dev.bus = &mimic_bus;
	device->device.dev.parent = &pci->dev;
	device->device.dev.release = mimic_pci_release;
	device_initialize(&device->device.dev);
	pci_set_drvdata(pci, device);
	return device;
}

/* No register is accessed any more. */
static void mimic_pci_stop(struct mimic_pci_device *device)
{
	WRITE_ONCE(device->is_gone, true);
	synchronize_srcu(&device->readers);
	mimic_pci_lanes_stop(device);
	pci_free_irq_vectors(device->pci);
	put_device(&device->device.dev);
}

static DEFINE_MUTEX(numbers_lock);

static int mimic_pci_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct mimic_pci_device *device = mimic_pci_create_device(pci);
	int result;

	if (!device)
		return -ENOMEM;
	result = mimic_pci_start(device);
	if (!result) {
		mutex_lock(&numbers_lock);
		result = mimic_pci_add(device);
		mutex_unlock(&numbers_lock);
	}
	if (result)
		mimic_pci_stop(device);
	return result;
}

/* Files may stay open: they find the device gone, and a SIGBUS where they had it mapped. */
static void mimic_pci_remove(struct pci_dev *pci)
{
	struct mimic_pci_device *device = pci_get_drvdata(pci);

	mimic_pci_driven_by(&device->device, NULL);
	device_del(&device->device.dev);
	mimic_pci_stop(device);
}

static const struct pci_device_id identifiers[] = {
	{ PCI_DEVICE(MIMIC_PCI_VENDOR, PCI_ANY_ID), .class = MIMIC_PCI_CLASS, .class_mask = ~0 },
	{ }
};
MODULE_DEVICE_TABLE(pci, identifiers);

static struct pci_driver driver = {
	.name = KBUILD_MODNAME,
	.id_table = identifiers,
	.probe = mimic_pci_probe,
	.remove = mimic_pci_remove,
};

static int __init mimic_pci_init(void)
{
	int error = mimic_pci_memory_init();

	if (error)
		return error;
	error = pci_register_driver(&driver);
	if (error)
		mimic_pci_memory_exit();
	return error;
}

static void __exit mimic_pci_exit(void)
{
	pci_unregister_driver(&driver);
	mimic_pci_memory_exit();
	mimic_pci_bindings_exit();
}

module_init(mimic_pci_init);
module_exit(mimic_pci_exit);

MODULE_DESCRIPTION("Accelerators of mimic as functions of PCI");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
