// SPDX-License-Identifier: GPL-2.0
/*
 * Device pages of a program: no page table entry, so that each access faults.
 * The fault decodes the instruction, asks the daemon, and steps over it.
 *
 * The access waits without the mmap_lock: another thread can map, unmap, fork.
 * So nothing of the VMA is touched after release_fault_lock().
 */
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>

#include "emulate.h"
#include "internal.h"
#include "libmimic/base/operate.h"
#include "trace.h"

/* Returned after the lock was released: the fault is over, go back to the program. */
#define TRAP_DONE (VM_FAULT_NOPAGE | VM_FAULT_COMPLETED)

/* Data of the fault's VMA, which are needed when the VMA may be gone. */
struct trap {
	struct mimic_binding *binding;
	struct mimic_thread *thread;
	unsigned long start, end, first_page;
};

/*
 * How many accesses may be in slots at once. Of a shared device each page counts by
 * itself: it is one process's, which must not keep the others from theirs.
 */
static void mimic_trap_limit(struct mimic_request *request, const struct mimic_bus_device *device)
{
	request->limit = request->body.device * MIMIC_BUS_PAGES_MAX;
	request->slots_max = MIMIC_BUS_DEVICE_SLOTS;
	request->slots_wanted = READ_ONCE(device->waiters);
	if (!device->is_shared)
		return;
	request->limit += request->body.page;
	request->slots_max = MIMIC_BUS_PAGE_SLOTS;
	request->slots_wanted = 0;
}

/* One access of the bus. 0, -ERESTARTSYS (nothing was done), -EINTR, or -EIO and the like. */
static int mimic_trap_access(const struct trap *trap, u64 address, unsigned int size, bool is_write,
			     bool restartable, u64 *data)
{
	struct mimic_binding *binding = trap->binding;
	struct mimic_request request;
	int error;

	/* Of two mappings side by side each is its own. */
	if (address < trap->start || address + size > trap->end)
		return -EFAULT;
	mimic_request_init(&request, MIMIC_BUS_REQUEST_ACCESS, &binding->device->device);
	request.body.binding = binding->head.number;
	request.body.thread = trap->thread->number;
	request.body.pid = pid_nr_ns(task_pid(current), binding->connection->pid_namespace);
	request.body.page = trap->first_page + ((address - trap->start) >> PAGE_SHIFT);
	request.body.offset = offset_in_page(address);
	request.body.size = size;
	request.body.is_write = is_write;
	request.body.data = is_write ? *data : 0;
	mimic_trap_limit(&request, binding->device);
	trace_mimic_access(&request.body);
	if (binding->device->void_pages & BIT(request.body.page))
		error = 0;
	else if (READ_ONCE(binding->gone))
		error = -EIO;
	else
		error = mimic_request_run(binding->connection, &request, restartable,
					  MAX_SCHEDULE_TIMEOUT);
	trace_mimic_answer(&request.body, error, request.data);
	if (!error && !is_write)
		*data = request.data;
	return error;
}

/* All of an instruction's access, in naturally aligned pieces as a bus would do it. */
static int mimic_trap_access_all(const struct trap *trap, u64 address, unsigned int size,
				 bool is_write, bool restartable, u64 *value)
{
	unsigned int done = 0, piece;
	u64 data, result = 0;
	int error;

	for (; done < size; done += piece) {
		piece = mimic_operate_piece(address + done, size - done);
		data = is_write ? *value >> (8 * done) : 0;
		if (piece < sizeof(data))
			data &= (1ull << (8 * piece)) - 1;
		/* An access that has begun is finished: its first pieces cannot be taken back. */
		error = mimic_trap_access(trap, address + done, piece, is_write,
					  restartable && !done, &data);
		if (error)
			return error;
		result |= data << (8 * done);
	}
	if (!is_write)
		*value = result;
	return 0;
}

static int mimic_trap_emulate(const struct trap *trap, struct pt_regs *regs,
			      const struct mimic_instruction *instruction, u64 address)
{
	unsigned int size = instruction->memory_size;
	u64 value = 0, result;
	int error;

	if (instruction->is_write)
		value = mimic_emulate_store_value(instruction, regs);
	error = mimic_trap_access_all(trap, address, size, instruction->is_write, true, &value);
	if (!error && instruction->is_update) {
		result = mimic_emulate_update_value(instruction, regs, value);
		/* The load cannot be taken back. */
		error = mimic_trap_access_all(trap, address, size, true, false, &result);
	}
	if (error)
		return error;
	mimic_emulate_finish(instruction, regs, value);
	return 0;
}

/* Refuses faults that the device cannot answer, with the lock held. 0: go on. */
static vm_fault_t mimic_trap_check(struct vm_fault *vmf, const struct mimic_binding *binding)
{
	const unsigned int never = FAULT_FLAG_REMOTE | FAULT_FLAG_RETRY_NOWAIT;

	/* The kernel's own access, on behalf of a system call, is EFAULT. */
	if (!(vmf->flags & FAULT_FLAG_USER) || vmf->flags & never)
		return VM_FAULT_SIGBUS;
	/* Not executable, but the processor cannot tell without an entry. */
	if (vmf->flags & FAULT_FLAG_INSTRUCTION)
		return VM_FAULT_SIGSEGV;
	if (!(vmf->flags & FAULT_FLAG_ALLOW_RETRY))
		return VM_FAULT_SIGBUS;
	/* A page that a child has inherited: its parent's device. */
	if (vmf->vma->vm_mm != READ_ONCE(binding->mm) || READ_ONCE(binding->gone))
		return VM_FAULT_SIGBUS;
	return 0;
}

/*
 * Else it is not the instruction that has faulted. An update faults as a write; on some
 * emulated processors as a load.
 */
static bool mimic_trap_is_access_of(const struct vm_fault *vmf,
				    const struct mimic_instruction *instruction)
{
	return instruction->is_update ||
	       !!instruction->is_write == !!(vmf->flags & FAULT_FLAG_WRITE);
}

/*
 * The instruction is not there, and may take as long as another program likes. rmmod finds the
 * module in use meanwhile, and does not wait; for the few instructions behind that it waits by the
 * binding's end (mimic_bindings_exit()).
 */
static vm_fault_t mimic_trap_fault_in(struct vm_fault *vmf, struct mimic_binding *binding,
				      struct pt_regs *regs)
{
	/* The mapping's file has one. */
	__module_get(THIS_MODULE);
	mimic_binding_get(binding);
	release_fault_lock(vmf);
	mimic_emulate_fault_in(regs);
	mimic_binding_release(binding);
	module_put(THIS_MODULE);
	return VM_FAULT_RETRY;
}

static vm_fault_t mimic_trap_fault(struct vm_fault *vmf)
{
	struct mimic_binding *binding = vmf->vma->vm_private_data;
	struct pt_regs *regs = task_pt_regs(current);
	struct mimic_instruction instruction;
	struct trap trap = { .binding = binding };
	vm_fault_t refused = mimic_trap_check(vmf, binding);
	u64 address;
	int error;

	if (refused)
		return refused;
	trap.thread = mimic_thread_current(binding);
	if (!trap.thread)
		return VM_FAULT_OOM;
	error = trap.thread->error;
	trap.thread->error = 0;
	if (error && vmf->flags & FAULT_FLAG_TRIED)
		return VM_FAULT_SIGBUS;
	error = mimic_emulate_decode(regs, &instruction, &address);
	if (error == -EFAULT && !(vmf->flags & FAULT_FLAG_TRIED))
		return mimic_trap_fault_in(vmf, binding, regs);
	if (error || !mimic_trap_is_access_of(vmf, &instruction))
		return VM_FAULT_SIGBUS;
	/* It may have faulted as a load, and would store. */
	if (instruction.is_update && !(vmf->vma->vm_flags & VM_WRITE))
		return VM_FAULT_SIGSEGV;
	/* All of it or nothing: one that leaves the mapping must not be half done. */
	if (address < vmf->vma->vm_start || address >= vmf->vma->vm_end ||
	    instruction.memory_size > vmf->vma->vm_end - address)
		return VM_FAULT_SIGBUS;
	trap.start = vmf->vma->vm_start;
	trap.end = vmf->vma->vm_end;
	trap.first_page = vmf->vma->vm_pgoff;
	mimic_binding_get(binding);
	release_fault_lock(vmf);

	error = mimic_threads_settle(binding);
	if (!error)
		error = mimic_trap_emulate(&trap, regs, &instruction, address);
	/*
	 * Only a fault that holds the lock can ask for a SIGBUS: this one comes
	 * again, finds the error, and does. Before the release: it may free the thread.
	 */
	if (error && error != -ERESTARTSYS && error != -EINTR)
		trap.thread->error = error;
	if (error)
		mimic_binding_test_delay();
	/* Until here it keeps the module: the file may have been closed. mimic_bindings_exit() */
	mimic_binding_release(binding);
	if (!error)
		return TRAP_DONE;
	if (error == -ERESTARTSYS || error == -EINTR)
		return VM_FAULT_RETRY;
	/* A fault under the VMA's lock is marked as tried only if it was a major one. */
	return VM_FAULT_RETRY | VM_FAULT_MAJOR;
}

#ifdef MIMIC_FAULT_UNDER_VMA_LOCK
/* Without it the kernel takes the mmap_lock for every fault of such a VMA. */
static vm_fault_t mimic_trap_map_pages(struct vm_fault *vmf, pgoff_t first, pgoff_t last)
{
	return 0;
}
#endif

static int mimic_trap_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static const struct vm_operations_struct trap_ops = {
	.fault = mimic_trap_fault,
	.mremap = mimic_trap_mremap,
#ifdef MIMIC_FAULT_UNDER_VMA_LOCK
	.map_pages = mimic_trap_map_pages,
#endif
};

int mimic_trap_mmap(struct mimic_binding *binding, struct vm_area_struct *vma, unsigned int first,
		    unsigned int count)
{
	const struct mimic_device *device = &binding->device->device;
	int error = mimic_binding_is_current(binding);

	if (error)
		return error;
	if (!(device->capabilities & MIMIC_BUS_TRAPS))
		return -ENODEV;
	/* MAP_SHARED of a read-only descriptor has no VM_SHARED. */
	if (!(vma->vm_flags & VM_MAYSHARE) || vma->vm_flags & VM_EXEC)
		return -EINVAL;
	if (first >= device->pages || count > device->pages - first)
		return -EINVAL;
	if (vma->vm_pgoff >= count || vma_pages(vma) > count - vma->vm_pgoff)
		return -EINVAL;
	/* From here on it is the page of the device. No VMA of these is merged or moved. */
	vma->vm_pgoff += first;
	vm_flags_set(vma, VM_PFNMAP | VM_IO | VM_DONTEXPAND | VM_DONTDUMP);
	vm_flags_clear(vma, VM_MAYEXEC);
	vma->vm_private_data = binding;
	vma->vm_ops = &trap_ops;
	return 0;
}
