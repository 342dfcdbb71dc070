// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that have the memory of a device whose registers are another function (docs/pci.md).
 * Both show the same number, PAIR. Registers that are probed first are probed again when the
 * memory has come. A link in the driver core says that they need it: where the memory's function
 * goes, the device goes before.
 */
#include <linux/io.h>
#include <linux/list.h>

#include "internal.h"

struct mimic_pci_memory {
	struct pci_dev *pci;
	u64 pair;
	struct list_head link;	/* memories */
};

static LIST_HEAD(memories);
static DEFINE_MUTEX(memories_lock);

struct pci_dev *mimic_pci_memory_of(struct pci_dev *registers, u64 pair)
{
	struct pci_dev *found = ERR_PTR(-EPROBE_DEFER);
	struct mimic_pci_memory *memory;
	struct device_link *needs;

	mutex_lock(&memories_lock);
	list_for_each_entry(memory, &memories, link) {
		if (memory->pair != pair)
			continue;
		needs = device_link_add(&registers->dev, &memory->pci->dev,
					DL_FLAG_AUTOREMOVE_CONSUMER);
		/* It may be about to go, and wait for the lock. */
		if (needs && READ_ONCE(needs->status) != DL_STATE_SUPPLIER_UNBIND)
			found = memory->pci;
		break;
	}
	mutex_unlock(&memories_lock);
	return found;
}

/* 0: it is no memory of a device. */
static u64 mimic_pci_memory_pair(struct pci_dev *pci, const void __iomem *page)
{
	u64 layout = readq(page + MIMIC_PCI_LAYOUT);

	if (readq(page + MIMIC_PCI_MAGIC) == MIMIC_PCI_MEMORY_MAGIC_VALUE &&
	    (layout & 0xff) == MIMIC_PCI_VERSION)
		return readq(page + MIMIC_PCI_PAIR);
	dev_err(&pci->dev, "this is no memory of a device of mimic: LAYOUT is %#llx\n", layout);
	return 0;
}

static int mimic_pci_memory_probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct mimic_pci_memory *memory = devm_kzalloc(&pci->dev, sizeof(*memory), GFP_KERNEL);
	const void __iomem *page;
	int error;

	if (!memory)
		return -ENOMEM;
	error = pcim_enable_device(pci);
	if (error)
		return error;
	page = pcim_iomap(pci, MIMIC_PCI_BAR_REGISTERS, 0);
	if (!page)
		return -ENOMEM;
	memory->pci = pci;
	memory->pair = mimic_pci_memory_pair(pci, page);
	if (!memory->pair)
		return -ENODEV;
	pci_set_drvdata(pci, memory);
	mutex_lock(&memories_lock);
	list_add(&memory->link, &memories);
	mutex_unlock(&memories_lock);
	return 0;
}

/* It is not needed any more. */
static void mimic_pci_memory_remove(struct pci_dev *pci)
{
	struct mimic_pci_memory *memory = pci_get_drvdata(pci);

	mutex_lock(&memories_lock);
	list_del(&memory->link);
	mutex_unlock(&memories_lock);
}

static const struct pci_device_id memory_identifiers[] = {
	{ PCI_DEVICE(MIMIC_PCI_VENDOR, MIMIC_PCI_MEMORY_DEVICE),
	  .class = MIMIC_PCI_MEMORY_CLASS, .class_mask = ~0 },
	{ }
};
MODULE_DEVICE_TABLE(pci, memory_identifiers);

static struct pci_driver memory_driver = {
	.name = KBUILD_MODNAME "_memory",
	.id_table = memory_identifiers,
	.probe = mimic_pci_memory_probe,
	.remove = mimic_pci_memory_remove,
};

int mimic_pci_memory_init(void)
{
	return pci_register_driver(&memory_driver);
}

void mimic_pci_memory_exit(void)
{
	pci_unregister_driver(&memory_driver);
}
