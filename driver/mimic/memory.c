// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a device: pages that the kernel allocates and that both the daemon and
 * the device's process map. They are ordinary, counted pages: a window shows them,
 * and each mapping keeps its pages.
 *
 * A device has memory from REGISTER to its end, and new memory for each process that takes
 * it: the last one may still hold its pages, in a pipe or a registered buffer. A mapping
 * keeps its pages: the daemon's for as long as it likes, a program's only while it has
 * the device. When a program loses it (the driver or the daemon is gone), other pages take
 * their place, which no other process sees: a program that does not know yet goes on, but finds
 * zeros.
 */
#include <linux/fs.h>
#include <linux/fs_context.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/pagemap.h>
#include <linux/pseudo_fs.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include "internal.h"

#define FILE_SYSTEM_MAGIC 0x6d696d63

struct mimic_device_memory {
	struct kref kref;
	struct mimic_bus_device *device;	/* valid while it can be found by it */
	struct inode *inode;	/* all mappings of programs are mappings of this */
	unsigned int count;
	struct page *pages[];
};

/* By the device's number. */
static DEFINE_XARRAY(memories);
static struct vfsmount *mount;
/* Held while a device is given other memory: by an open, or by a daemon that adopts it. */
static DEFINE_MUTEX(renew_lock);

static int mimic_memory_init_file_system(struct fs_context *context)
{
	return init_pseudo(context, FILE_SYSTEM_MAGIC) ? 0 : -ENOMEM;
}

/* No owner: the mount is there as long as the module, and would hold it for ever. */
static struct file_system_type file_system = {
	.name = "mimic",
	.init_fs_context = mimic_memory_init_file_system,
	.kill_sb = kill_anon_super,
};

int mimic_memories_init(void)
{
	mount = kern_mount(&file_system);
	return PTR_ERR_OR_ZERO(mount);
}

void mimic_memories_exit(void)
{
	kern_unmount(mount);
	xa_destroy(&memories);
}

/* --- coming and going ----------------------------------------------------- */

static void mimic_memory_free(struct kref *kref)
{
	struct mimic_device_memory *memory = container_of(kref, struct mimic_device_memory, kref);
	unsigned int i;

	for (i = 0; i < memory->count && memory->pages[i]; i++)
		put_page(memory->pages[i]);
	if (memory->inode)
		iput(memory->inode);
	kfree(memory);
}

static void mimic_memory_release(struct mimic_device_memory *memory)
{
	kref_put(&memory->kref, mimic_memory_free);
}

static struct mimic_device_memory *mimic_memory_allocate(unsigned int count)
{
	struct mimic_device_memory *memory;
	unsigned int i;

	memory = kzalloc(struct_size(memory, pages, count), GFP_KERNEL_ACCOUNT);
	if (!memory)
		return NULL;
	kref_init(&memory->kref);
	memory->count = count;
	for (i = 0; i < count; i++) {
		memory->pages[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!memory->pages[i]) {
			mimic_memory_release(memory);
			return NULL;
		}
	}
	return memory;
}

static struct mimic_device_memory *mimic_memory_create(struct mimic_bus_device *device, u32 size)
{
	struct mimic_device_memory *memory = mimic_memory_allocate(size >> PAGE_SHIFT);
	struct inode *inode;
	int error;

	if (!memory)
		return ERR_PTR(-ENOMEM);
	inode = alloc_anon_inode(mount->mnt_sb);
	error = PTR_ERR_OR_ZERO(inode);
	if (!error) {
		memory->inode = inode;
		memory->device = device;
		error = xa_err(xa_store(&memories, device->device.id, memory, GFP_KERNEL));
	}
	if (!error)
		return memory;
	mimic_memory_release(memory);
	return ERR_PTR(error);
}

/* renew_lock is held. */
static int mimic_memory_renew(struct mimic_bus_device *device, u32 size)
{
	struct mimic_device_memory *memory = NULL;

	if (size)
		memory = mimic_memory_create(device, size);
	else
		xa_erase(&memories, device->device.id);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	spin_lock(&device->connection_lock);
	swap(device->memory, memory);
	WRITE_ONCE(device->device.memory_size, size);
	spin_unlock(&device->connection_lock);
	if (memory)
		mimic_memory_release(memory);
	return 0;
}

int mimic_memory_resize(struct mimic_bus_device *device, u32 size)
{
	int error = 0;

	mutex_lock(&renew_lock);
	if (device->device.memory_size != size)
		error = mimic_memory_renew(device, size);
	mutex_unlock(&renew_lock);
	return error;
}

void mimic_memory_destroy(struct mimic_bus_device *device)
{
	if (!device->memory)
		return;
	xa_erase(&memories, device->device.id);
	mimic_memory_release(device->memory);
}

int mimic_memory_bind(struct mimic_binding *binding)
{
	struct mimic_bus_device *device = binding->device;
	int error = 0;

	mutex_lock(&renew_lock);
	if (device->memory && !device->is_shared)
		error = mimic_memory_renew(device, device->device.memory_size);
	if (!error && device->memory) {
		binding->memory = device->memory;
		kref_get(&binding->memory->kref);
		binding->mapping = binding->memory->inode;
		ihold(binding->mapping);
	}
	mutex_unlock(&renew_lock);
	return error;
}

void mimic_memory_unbind(struct mimic_binding *binding)
{
	if (binding->memory)
		mimic_memory_release(binding->memory);
	if (binding->substitute)
		mimic_memory_release(binding->substitute);
	binding->memory = NULL;
	binding->substitute = NULL;
}

void mimic_memory_forget(struct mimic_binding *binding)
{
	if (binding->mapping)
		iput(binding->mapping);
}

/* --- the daemon's mapping --------------------------------------------------- */

static vm_fault_t mimic_memory_daemon_fault(struct vm_fault *vmf)
{
	const struct mimic_device_memory *memory = vmf->vma->vm_private_data;
	unsigned long first = MIMIC_BUS_MEMORY(0) >> PAGE_SHIFT;

	vmf->page = memory->pages[(vmf->pgoff - first) % (MIMIC_BUS_MEMORY_MAX >> PAGE_SHIFT)];
	get_page(vmf->page);
	return 0;
}

static void mimic_memory_daemon_opened(struct vm_area_struct *vma)
{
	struct mimic_device_memory *memory = vma->vm_private_data;

	kref_get(&memory->kref);
}

static void mimic_memory_daemon_closed(struct vm_area_struct *vma)
{
	mimic_memory_release(vma->vm_private_data);
}

static const struct vm_operations_struct daemon_ops = {
	.open = mimic_memory_daemon_opened,
	.close = mimic_memory_daemon_closed,
	.fault = mimic_memory_daemon_fault,
};

/* Counted; NULL: no device of this daemon, or one without memory. */
static struct mimic_device_memory *mimic_memory_find(struct mimic_connection *connection, u32 id)
{
	struct mimic_device_memory *memory;

	xa_lock(&memories);
	memory = xa_load(&memories, id);
	if (memory && READ_ONCE(memory->device->connection) != connection)
		memory = NULL;
	if (memory)
		kref_get(&memory->kref);
	xa_unlock(&memories);
	return memory;
}

int mimic_memory_mmap(struct mimic_connection *connection, struct vm_area_struct *vma)
{
	unsigned long pages = MIMIC_BUS_MEMORY_MAX >> PAGE_SHIFT;
	unsigned long page = vma->vm_pgoff - (MIMIC_BUS_MEMORY(0) >> PAGE_SHIFT);
	struct mimic_device_memory *memory;

	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	if (vma->vm_pgoff < MIMIC_BUS_MEMORY(0) >> PAGE_SHIFT)
		return -ENOENT;
	memory = mimic_memory_find(connection, page / pages);
	if (!memory)
		return -ENOENT;
	page %= pages;
	if (page >= memory->count || vma_pages(vma) > memory->count - page) {
		mimic_memory_release(memory);
		return -EINVAL;
	}
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = memory;
	vma->vm_ops = &daemon_ops;
	return 0;
}

/* --- a program's mapping ------------------------------------------------------ */

/* Memory in place of the device's, once that is taken from the program. NULL: no memory. */
static struct mimic_device_memory *mimic_memory_substitute(struct mimic_binding *binding)
{
	struct mimic_device_memory *fresh, *other;

	other = READ_ONCE(binding->substitute);
	if (other)
		return other;
	fresh = mimic_memory_allocate(binding->memory->count);
	if (!fresh)
		return NULL;
	other = cmpxchg(&binding->substitute, NULL, fresh);
	if (!other)
		return fresh;
	mimic_memory_release(fresh);
	return other;
}

static vm_fault_t mimic_memory_program_fault(struct vm_fault *vmf)
{
	struct mimic_binding *binding = vmf->vma->vm_private_data;
	unsigned long number = vmf->pgoff - READ_ONCE(binding->memory_first);
	struct mimic_device_memory *other;
	struct page *page;

	/* A child has inherited the mapping: as with the registers, the device is its parent's. */
	if (vmf->vma->vm_mm != READ_ONCE(binding->mm))
		return VM_FAULT_SIGBUS;
	/*
	 * Until the entry is made the page stays locked, and mimic_memory_take_away() waits
	 * for that: so it finds each entry that was made while the device was the program's.
	 */
	page = binding->memory->pages[number];
	lock_page(page);
	if (READ_ONCE(binding->gone)) {
		unlock_page(page);
		other = mimic_memory_substitute(binding);
		if (!other)
			return VM_FAULT_OOM;
		page = other->pages[number];
		lock_page(page);
	}
	get_page(page);
	vmf->page = page;
	return VM_FAULT_LOCKED;
}

static const struct vm_operations_struct program_ops = {
	.fault = mimic_memory_program_fault,
};

void mimic_memory_take_away(struct mimic_binding *binding)
{
	struct mimic_device_memory *memory = binding->memory;
	unsigned int i;

	if (!memory)
		return;
	for (i = 0; i < memory->count; i++) {
		lock_page(memory->pages[i]);
		unlock_page(memory->pages[i]);
	}
	/* Of all its processes; one that has it still faults its pages in again. */
	unmap_mapping_range(memory->inode->i_mapping, 0, 0, 1);
}

void mimic_memory_share_mapping(struct mimic_binding *binding, struct file *file)
{
	if (binding->mapping)
		file->f_mapping = binding->mapping->i_mapping;
}

int mimic_memory_program_mmap(struct mimic_binding *binding, struct vm_area_struct *vma,
			      unsigned long first)
{
	const struct mimic_device_memory *memory;
	int error = mimic_binding_is_current(binding);

	if (error)
		return error;
	/* The process's memory is there, and the file open: the binding does not retire now. */
	memory = binding->memory;
	if (!memory || vma->vm_file->f_mapping != memory->inode->i_mapping)
		return -ENODEV;
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	if (vma->vm_pgoff < first || vma->vm_pgoff - first >= memory->count ||
	    vma_pages(vma) > memory->count - (vma->vm_pgoff - first))
		return -EINVAL;
	WRITE_ONCE(binding->memory_first, first);
	vm_flags_set(vma, VM_DONTEXPAND);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = binding;
	vma->vm_ops = &program_ops;
	return 0;
}
