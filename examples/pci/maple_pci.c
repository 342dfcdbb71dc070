// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * A driver for MAPLE as a PCI function, as one would write it for silicon: registers by
 * pci_iomap(), an interrupt by MSI-X or MSI, page faults of the device, TLB shootdowns. A
 * program opens /dev/maple_pciN, maps the device's page, and uses it by plain loads and stores;
 * the device reaches the program's memory by the program's own page tables.
 *
 * docs/your-driver.md makes it in five steps. mimic/pci.h and mimic/maple_registers.h
 * are all that it knows of the device.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/srcu.h>
#include <linux/version.h>

#include "mimic/maple_registers.h"
#include "mimic/pci.h"

struct maple_pci {
	struct kref users;		/* the PCI function, and each open file */
	struct pci_dev *pci;
	void __iomem *base;		/* BAR 0 */
	struct miscdevice node;
	char name[24];
	int number;
	/* A reader finds the device there until it has read: remove() waits for all of them. */
	struct srcu_struct readers;
	bool is_gone;
	struct mutex lock;		/* of all below; never taken with the mmap lock */
	struct mm_struct *mm;		/* whose memory the device reaches; NULL: nobody has it */
	struct address_space *mapping;	/* of the file that has it mapped */
	struct mmu_notifier notifier;
};

static DEFINE_IDA(numbers);

/* --- registers: step 1 --------------------------------------------------------------- */

static u64 bus_read(struct maple_pci *maple, unsigned int offset)
{
	return readq(maple->base + offset);
}

static void bus_write(struct maple_pci *maple, unsigned int offset, u64 value)
{
	writeq(value, maple->base + offset);
}

static void __iomem *mmu_register(struct maple_pci *maple, unsigned int operation, unsigned int field)
{
	return maple->base + MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MMU) + MAPLE_OFFSET(operation, field);
}

static void reset(struct maple_pci *maple)
{
	readl(maple->base + MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MAPLE) + MAPLE_OFFSET(MAPLE_LOAD_RESET, 0));
}

static int identify(struct maple_pci *maple)
{
	void __iomem *word = maple->base + MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MAPLE) +
			     MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0);
	u64 identity = readq(word);

	if (bus_read(maple, MIMIC_PCI_MAGIC) != MIMIC_PCI_MAGIC_VALUE || identity >> 32 != MAPLE_IDENTIFY_MAGIC) {
		dev_err(&maple->pci->dev, "this is no MAPLE: %#llx\n", identity);
		return -ENODEV;
	}
	dev_info(&maple->pci->dev, "MAPLE with %llu queues and %llu words of scratchpad\n",
		 identity >> 16 & 0xff, identity & 0xffff);
	return 0;
}

/* --- address spaces, flushes: step 5 ---------------------------------------------------- */

/* Which format the page tables of this machine have. */
static u64 page_table_mode(void)
{
#if defined(CONFIG_X86_64)
	return pgtable_l5_enabled() ? MIMIC_PCI_MODE_X86_5 : MIMIC_PCI_MODE_X86_4;
#elif defined(CONFIG_RISCV)
	return pgtable_l5_enabled ? MIMIC_PCI_MODE_SV57 : pgtable_l4_enabled ? MIMIC_PCI_MODE_SV48 : MIMIC_PCI_MODE_SV39;
#else
#error "the device walks page tables of x86-64 and RISC-V"
#endif
}

/* The load is answered when the device has forgotten all translations, and no access uses one any more. */
static void flush(struct maple_pci *maple)
{
	int index = srcu_read_lock(&maple->readers);

	if (!READ_ONCE(maple->is_gone))
		readl(mmu_register(maple, MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH));
	srcu_read_unlock(&maple->readers, index);
}

static void use_space(struct maple_pci *maple, struct mm_struct *mm)
{
	bus_write(maple, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_ROOT, virt_to_phys(mm->pgd));
	bus_write(maple, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_MODE, page_table_mode());
}

/* MODE is a store, which may be posted: the flush after it is answered when both are done. */
static void leave_space(struct maple_pci *maple)
{
	int index = srcu_read_lock(&maple->readers);

	if (!READ_ONCE(maple->is_gone))
		bus_write(maple, MIMIC_PCI_SPACE(1) + MIMIC_PCI_SPACE_MODE, MIMIC_PCI_MODE_NONE);
	srcu_read_unlock(&maple->readers, index);
	flush(maple);
}

/*
 * The device walks the processor's own tables, so it has to forget an entry after it has changed and
 * before the page it led to is freed. This hook does it; it may be called with spin locks held.
 */
#if !defined(CONFIG_RISCV) || LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
static void invalidate(struct mmu_notifier *notifier, struct mm_struct *mm, unsigned long start, unsigned long end)
{
	flush(container_of(notifier, struct maple_pci, notifier));
}
#else
/*
 * Before, this architecture's kernels did not call the hook. Then a flush follows each change, and
 * comes a moment later than it should: the pages are freed already when it does.
 */
static void invalidate_end(struct mmu_notifier *notifier, const struct mmu_notifier_range *range)
{
	flush(container_of(notifier, struct maple_pci, notifier));
}
#endif

/* The process ends, or execs: its tables go away with this. */
static void release_space(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	leave_space(container_of(notifier, struct maple_pci, notifier));
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = release_space,
#if defined(CONFIG_RISCV) && LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
	.invalidate_range_end = invalidate_end,
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
	.arch_invalidate_secondary_tlbs = invalidate,
#else
	.invalidate_range = invalidate,
#endif
};

/* --- page faults: steps 2 and 4 ----------------------------------------------------------- */

static int bring_in(struct mm_struct *mm, unsigned long address, bool is_write)
{
	bool unlocked = false;
	int error;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	error = fixup_user_fault(mm, address, is_write ? FAULT_FLAG_WRITE : 0, &unlocked);
	mmap_read_unlock(mm);
	return error;
}

static void serve_fault(struct maple_pci *maple)
{
	u64 word = readq(mmu_register(maple, MAPLE_LOAD_FAULT_STATUS, 0));
	u64 answer = word & (MAPLE_FAULT_PIPES | MAPLE_FAULT_LIMA);
	struct mm_struct *mm = NULL;

	if (!(word & MAPLE_FAULT_STALLED))
		return;
	mutex_lock(&maple->lock);
	if (maple->mm && mmget_not_zero(maple->mm))
		mm = maple->mm;
	mutex_unlock(&maple->lock);
	/* Without this bit the address is bad, and the device reads 0. */
	if (mm && !bring_in(mm, word & PAGE_MASK, word & MAPLE_FAULT_WRITES))
		answer |= MAPLE_RESOLVE_PRESENT;
	if (mm)
		mmput(mm);
	writeq(answer, mmu_register(maple, MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE));
}

static irqreturn_t serve_interrupt(int irq, void *data)
{
	struct maple_pci *maple = data;
	u64 status = bus_read(maple, MIMIC_PCI_STATUS);

	/* All ones: the device is gone. */
	if (!(status & MIMIC_PCI_STATUS_DEVICE) || status == ~0ull)
		return IRQ_NONE;
	bus_write(maple, MIMIC_PCI_STATUS, MIMIC_PCI_STATUS_DEVICE);
	/* Two parts of the device may wait, and the second has no interrupt of its own after the first. */
	serve_fault(maple);
	serve_fault(maple);
	return IRQ_HANDLED;
}

/* --- the node ---------------------------------------------------------------------------- */

static struct maple_pci *maple_of(struct file *file)
{
	return container_of(file->private_data, struct maple_pci, node);
}

static void free_maple(struct kref *users)
{
	struct maple_pci *maple = container_of(users, struct maple_pci, users);

	cleanup_srcu_struct(&maple->readers);
	kfree(maple);
}

static int take_device(struct maple_pci *maple, struct file *file)
{
	int error;

	if (maple->is_gone)
		return -ENODEV;
	if (maple->mm)
		return -EBUSY;
	maple->notifier.ops = &notifier_ops;
	error = mmu_notifier_register(&maple->notifier, current->mm);
	if (error)
		return error;
	maple->mm = current->mm;
	mmgrab(maple->mm);
	maple->mapping = file->f_mapping;
	reset(maple);
	use_space(maple, maple->mm);
	return 0;
}

static int open_node(struct inode *inode, struct file *file)
{
	struct maple_pci *maple = maple_of(file);
	int error;

	mutex_lock(&maple->lock);
	error = take_device(maple, file);
	if (!error)
		kref_get(&maple->users);
	mutex_unlock(&maple->lock);
	return error;
}

static int release_node(struct inode *inode, struct file *file)
{
	struct maple_pci *maple = maple_of(file);
	struct mm_struct *mm = maple->mm;

	mmu_notifier_unregister(&maple->notifier, mm);
	mutex_lock(&maple->lock);
	if (!maple->is_gone) {
		leave_space(maple);
		reset(maple);
	}
	maple->mm = NULL;
	maple->mapping = NULL;
	mutex_unlock(&maple->lock);
	mmdrop(mm);
	kref_put(&maple->users, free_maple);
	return 0;
}

/* The device's first page: its operations. A child must not have it: it has another address space. */
static int map_node(struct file *file, struct vm_area_struct *area)
{
	struct maple_pci *maple = maple_of(file);
	phys_addr_t page = pci_resource_start(maple->pci, MIMIC_PCI_BAR_REGISTERS) +
			   MIMIC_PCI_DEVICE_PAGE(MAPLE_PAGE_MAPLE);
	int index, error = -ENODEV;

	if (area->vm_end - area->vm_start != PAGE_SIZE || area->vm_pgoff || area->vm_mm != maple->mm)
		return -EINVAL;
	area->vm_page_prot = pgprot_noncached(area->vm_page_prot);
	vm_flags_set(area, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	/* remove() takes mappings away after it has waited for this. */
	index = srcu_read_lock(&maple->readers);
	if (!READ_ONCE(maple->is_gone))
		error = io_remap_pfn_range(area, area->vm_start, page >> PAGE_SHIFT, PAGE_SIZE,
					   area->vm_page_prot);
	srcu_read_unlock(&maple->readers, index);
	return error;
}

static const struct file_operations node_operations = {
	.owner = THIS_MODULE,
	.open = open_node,
	.release = release_node,
	.mmap = map_node,
};

/* --- probe --------------------------------------------------------------------------------- */

static int take_interrupt(struct maple_pci *maple)
{
	int vectors = pci_alloc_irq_vectors(maple->pci, 1, MIMIC_PCI_VECTORS, PCI_IRQ_MSI | PCI_IRQ_MSIX);

	if (vectors < 0)
		return vectors;
	return request_threaded_irq(pci_irq_vector(maple->pci, MIMIC_PCI_VECTOR_DEVICE), NULL, serve_interrupt,
				    IRQF_ONESHOT, maple->name, maple);
}

static int make_node(struct maple_pci *maple)
{
	maple->node.minor = MISC_DYNAMIC_MINOR;
	maple->node.name = maple->name;
	maple->node.fops = &node_operations;
	return misc_register(&maple->node);
}

static int start(struct maple_pci *maple)
{
	int error = pcim_enable_device(maple->pci);

	if (error)
		return error;
	pci_set_master(maple->pci);
	maple->base = pcim_iomap(maple->pci, MIMIC_PCI_BAR_REGISTERS, 0);
	if (!maple->base)
		return -ENOMEM;
	error = identify(maple);
	if (error)
		return error;
	error = take_interrupt(maple);
	if (error)
		return error;
	error = make_node(maple);
	if (error)
		free_irq(pci_irq_vector(maple->pci, MIMIC_PCI_VECTOR_DEVICE), maple);
	return error;
}

static struct maple_pci *make_maple(struct pci_dev *pci)
{
	struct maple_pci *maple = kzalloc(sizeof(*maple), GFP_KERNEL);

	if (!maple)
		return NULL;
	if (init_srcu_struct(&maple->readers)) {
		kfree(maple);
		return NULL;
	}
	kref_init(&maple->users);
	mutex_init(&maple->lock);
	maple->pci = pci;
	pci_set_drvdata(pci, maple);
	return maple;
}

static int probe(struct pci_dev *pci, const struct pci_device_id *id)
{
	struct maple_pci *maple = make_maple(pci);
	int error;

	if (!maple)
		return -ENOMEM;
	maple->number = ida_alloc(&numbers, GFP_KERNEL);
	error = maple->number;
	if (error >= 0) {
		snprintf(maple->name, sizeof(maple->name), "maple_pci%d", maple->number);
		error = start(maple);
		if (!error)
			return 0;
		pci_free_irq_vectors(pci);
		ida_free(&numbers, maple->number);
	}
	kref_put(&maple->users, free_maple);
	return error;
}

/* Files may stay open: they find the device gone, and their mapping without pages. */
static void remove(struct pci_dev *pci)
{
	struct maple_pci *maple = pci_get_drvdata(pci);

	misc_deregister(&maple->node);
	free_irq(pci_irq_vector(pci, MIMIC_PCI_VECTOR_DEVICE), maple);
	pci_free_irq_vectors(pci);
	mutex_lock(&maple->lock);
	WRITE_ONCE(maple->is_gone, true);
	synchronize_srcu(&maple->readers);
	if (maple->mapping)
		unmap_mapping_range(maple->mapping, 0, 0, 1);
	mutex_unlock(&maple->lock);
	ida_free(&numbers, maple->number);
	kref_put(&maple->users, free_maple);
}

static const struct pci_device_id identifiers[] = {
	{ PCI_DEVICE(MIMIC_PCI_VENDOR, MAPLE_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, identifiers);

static struct pci_driver maple_pci_driver = {
	.name = KBUILD_MODNAME,
	.id_table = identifiers,
	.probe = probe,
	.remove = remove,
};
module_pci_driver(maple_pci_driver);

MODULE_DESCRIPTION("MAPLE as a PCI function");
MODULE_LICENSE("Dual MIT/GPL");
