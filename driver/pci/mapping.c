// SPDX-License-Identifier: GPL-2.0
/*
 * A program's mappings of a function's BARs: registers, memory of the device, lanes. Each page is
 * entered when it is touched, so that it can be taken away: then there is a SIGBUS. In place of a
 * lane the program finds a page of its own then, in which it has lost its devices: a thread that
 * waits there for an answer gets an error of its library.
 */
#include <linux/fs.h>
#include <linux/mm.h>

#include "internal.h"

static vm_fault_t mimic_pci_fault(struct vm_fault *vmf, unsigned long frame)
{
	struct mimic_binding *binding = vmf->vma->vm_private_data;
	struct mimic_pci_device *device = binding->device;
	vm_fault_t result = VM_FAULT_SIGBUS;
	int index;

	/* mimic_pci_take_mappings() waits for this, and takes away the entries that it has made. */
	index = srcu_read_lock(&device->readers);
	if (vmf->vma->vm_mm == READ_ONCE(binding->mm) && !READ_ONCE(binding->gone))
		result = vmf_insert_pfn(vmf->vma, vmf->address, frame);
	srcu_read_unlock(&device->readers, index);
	return result;
}

static vm_fault_t mimic_pci_fault_registers(struct vm_fault *vmf)
{
	const struct mimic_binding *binding = vmf->vma->vm_private_data;
	resource_size_t start = pci_resource_start(binding->device->pci, MIMIC_PCI_BAR_REGISTERS);

	return mimic_pci_fault(vmf, (start + MIMIC_PCI_DEVICE_PAGE(vmf->pgoff)) >> PAGE_SHIFT);
}

static vm_fault_t mimic_pci_fault_memory(struct vm_fault *vmf)
{
	const struct mimic_binding *binding = vmf->vma->vm_private_data;
	unsigned long page = vmf->pgoff - READ_ONCE(binding->memory_first);

	return mimic_pci_fault(vmf, binding->device->memory_frame + page);
}

static vm_fault_t mimic_pci_fault_lane(struct vm_fault *vmf)
{
	struct mimic_binding *binding = vmf->vma->vm_private_data;
	struct mimic_pci_device *device = binding->device;
	unsigned long page = vmf->pgoff - MIMIC_LANES_PAGE, frame = page_to_pfn(binding->lost_page);
	vm_fault_t result = VM_FAULT_SIGBUS;
	int index;

	/* mimic_pci_hide_lanes() waits for this, and takes away the entries that it has made. */
	index = srcu_read_lock(&device->readers);
	if (mimic_pci_has_lane(binding, page / device->lane_pages))
		frame = device->rings_frame + page;
	if (vmf->vma->vm_mm == READ_ONCE(binding->mm))
		result = vmf_insert_pfn(vmf->vma, vmf->address, frame);
	srcu_read_unlock(&device->readers, index);
	return result;
}

static int mimic_pci_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct register_ops = {
	.fault = mimic_pci_fault_registers,
	.mremap = mimic_pci_mremap,
};

static const struct vm_operations_struct memory_ops = {
	.fault = mimic_pci_fault_memory,
};

static const struct vm_operations_struct lane_ops = {
	.fault = mimic_pci_fault_lane,
	.mremap = mimic_pci_mremap,
};

/* A child of the process has no such mapping: its address space is another one. */
static int mimic_pci_prepare(struct mimic_binding *binding, struct vm_area_struct *vma,
			     unsigned long first, unsigned long count)
{
	int error = mimic_pci_check(binding);

	if (error)
		return error;
	/* MAP_SHARED of a read-only descriptor has no VM_SHARED. */
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	if (vma->vm_pgoff < first || vma->vm_pgoff - first >= count ||
	    vma_pages(vma) > count - (vma->vm_pgoff - first))
		return -EINVAL;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = binding;
	return 0;
}

int mimic_pci_mmap(struct mimic_binding *binding, struct vm_area_struct *vma, unsigned int first,
		   unsigned int count)
{
	u32 pages = binding->device->device.pages;
	int error;

	if (first >= pages || count > pages - first)
		return -EINVAL;
	error = mimic_pci_prepare(binding, vma, 0, count);
	if (error)
		return error;
	/* From here on it is the page of the device. */
	vma->vm_pgoff += first;
	vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);
	vma->vm_ops = &register_ops;
	return 0;
}

int mimic_pci_mmap_memory(struct mimic_binding *binding, struct vm_area_struct *vma,
			  unsigned long first)
{
	u32 size = binding->device->device.memory_size;
	int error;

	if (!size)
		return -ENODEV;
	error = mimic_pci_prepare(binding, vma, first, size >> PAGE_SHIFT);
	if (error)
		return error;
	WRITE_ONCE(binding->memory_first, first);
	vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	vma->vm_ops = &memory_ops;
	return 0;
}

/* Cached: the processor gets the type that the kernel's own mapping of the BAR has. */
int mimic_pci_mmap_lane(struct mimic_binding *binding, struct vm_area_struct *vma)
{
	struct mimic_pci_device *device = binding->device;
	unsigned long first, page;
	int error;

	if (!device->lane_count)
		return -EINVAL;
	error = mimic_pci_prepare(binding, vma, MIMIC_LANES_PAGE,
				  device->lane_count * device->lane_pages);
	if (error)
		return error;
	first = vma->vm_pgoff - MIMIC_LANES_PAGE;
	page = first % device->lane_pages;
	/* One that the process has; and then it has the page for afterwards, too. */
	if (vma_pages(vma) > device->lane_pages - page ||
	    !mimic_pci_has_lane(binding, first / device->lane_pages))
		return -EINVAL;
	vma->vm_ops = &lane_ops;
	return 0;
}

bool mimic_pci_is_memory(const struct vm_area_struct *vma)
{
	return vma->vm_ops == &memory_ops;
}

/* The first file's inode has the mappings of all, so that they are found. */
void mimic_pci_share_mapping(struct mimic_binding *binding, struct file *file)
{
	mutex_lock(&binding->device->lock);
	if (!binding->inode) {
		binding->inode = file_inode(file);
		ihold(binding->inode);
	}
	file->f_mapping = binding->inode->i_mapping;
	mutex_unlock(&binding->device->lock);
}

static struct inode *mimic_pci_inode(struct mimic_binding *binding)
{
	struct inode *inode;

	mutex_lock(&binding->device->lock);
	inode = binding->inode;
	mutex_unlock(&binding->device->lock);
	return inode;
}

void mimic_pci_hide_lanes(struct mimic_binding *binding, u64 lanes)
{
	struct mimic_pci_device *device = binding->device;
	struct inode *inode = mimic_pci_inode(binding);
	unsigned long size = (unsigned long)device->lane_pages << PAGE_SHIFT;
	unsigned int i;

	if (!inode)
		return;
	synchronize_srcu_expedited(&device->readers);
	for (i = 0; i < device->lane_count; i++) {
		if (lanes & BIT_ULL(i))
			unmap_mapping_range(inode->i_mapping,
					    ((loff_t)MIMIC_LANES_PAGE << PAGE_SHIFT) + i * size,
					    size, 1);
	}
}

void mimic_pci_take_mappings(struct mimic_binding *binding)
{
	struct inode *inode = mimic_pci_inode(binding);

	if (!inode)
		return;
	synchronize_srcu(&binding->device->readers);
	/* Of all that have the node mapped; others fault their pages in again. */
	unmap_mapping_range(inode->i_mapping, 0, 0, 1);
}
