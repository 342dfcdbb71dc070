/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Declarations of mimic_pci.ko: devices of mimic as functions of PCI, as a virtual machine
 * has them (docs/pci.md), on the bus that their drivers know.
 *
 * Locks, outermost first:
 *
 *   binding->calls_lock  mutex: calls of the driver against their end, when a device is taken away
 *   device->lock      mutex: which processes have the device, its address spaces
 *   binding->mm_lock  spinlock: the process's memory
 *   binding->change_lock  spinlock: the state that the device knows of that memory
 *   device->readers   SRCU: the device stays while a task accesses a register, or enters a
 *                     page of it
 *
 * A process's mmap_lock is held over the last three only.
 */
#ifndef MIMIC_PCI_DRIVER_H
#define MIMIC_PCI_DRIVER_H

#include <linux/bitmap.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "mimic_bus.h"
#include "mimic/pci.h"

enum mimic_pci_lane_state {
	MIMIC_PCI_LANE_FREE,
	MIMIC_PCI_LANE_USED,	/* its program may have it mapped */
	MIMIC_PCI_LANE_HIDDEN,	/* its mapping is being taken away */
	MIMIC_PCI_LANE_KEPT,	/* open for the device only, so that the thread keeps its roles */
	MIMIC_PCI_LANE_CLOSES,	/* something that was posted waits in the device */
};

/* A lane of BAR 5: see lanes.c. */
struct mimic_pci_lane {
	struct mimic_binding *binding;	/* whose it is; not of FREE ones */
	enum mimic_pci_lane_state state;	/* these two are read without the lock, too */
	/* Whose process may have it mapped: in one word, as mapping.c looks without the lock. */
	const struct mimic_binding *shown;
	u32 number;	/* that programs know */
	u32 thread;
	wait_queue_head_t wait;
};

struct mimic_pci_device {
	struct mimic_device device;
	struct pci_dev *pci;	/* counted, as the parent of the device */
	struct pci_dev *memory_pci;	/* that has BAR 2 and BAR 5; until the device is gone */
	void __iomem *registers;	/* BAR 0; until it is gone */
	void __iomem *memory;	/* BAR 2, where there is one */
	unsigned long memory_frame;	/* where it begins */
	unsigned int vectors;
	bool listens;	/* to that of lanes */

	char *rings;	/* BAR 5, where there are lanes; as memory */
	unsigned long rings_frame;
	unsigned int lane_count;
	unsigned int lane_pages;	/* of each */
	u32 command_words;
	u32 response_words;
	bool is_lost;	/* the function did not answer when it was asked last */
	unsigned long seen;	/* jiffies, when it was found that the function answers */

	struct srcu_struct readers;	/* see above */
	bool is_gone;

	struct mutex lock;	/* of the fields below */
	bool has_driver;
	bool is_shared;
	struct list_head bindings;
	DECLARE_BITMAP(spaces, MIMIC_PCI_SPACES);	/* from number 1 on */
	struct mimic_pci_lane lanes[MIMIC_PCI_LANES];
};

#define to_pci_device(d) container_of(d, struct mimic_pci_device, device)

struct mimic_binding {
	struct mimic_binding_head head;	/* first */
	struct mimic_pci_device *device;	/* counted */
	spinlock_t mm_lock;
	struct mm_struct *mm;	/* grabbed; NULL: has retired. Under mm_lock; compared without */
	struct mmu_notifier notifier;
	struct list_head link;	/* device->bindings */
	kuid_t user;
	struct list_head counted;	/* among all bindings */
	unsigned int users;	/* files; under device->lock */
	bool gone;		/* under device->lock; read without */
	struct inode *inode;	/* counted: all files are mappings of it; under device->lock */
	unsigned long memory_first;	/* page of its files where the device's memory begins */
	struct page *lost_page;	/* that its process sees in place of a lane that has ended */

	spinlock_t change_lock;	/* the next two, and the space */
	unsigned int changes;	/* of the memory, that are under way */
	u64 not_ready;		/* the register's value when the space was shown last */

	struct mutex calls_lock;	/* calls of the driver against their end */
	bool calls_over;
	bool retires;
	struct work_struct retire;
	struct work_struct free;
};

/* --- memory.c ------------------------------------------------------------------ */

/*
 * The function that shows this number: it stays until the driver of `registers`, which is being
 * probed, has let go of that. -EPROBE_DEFER: it is not there yet.
 */
struct pci_dev *mimic_pci_memory_of(struct pci_dev *registers, u64 pair);
int mimic_pci_memory_init(void);
void mimic_pci_memory_exit(void);

/* --- registers.c -------------------------------------------------------------- */

int mimic_pci_read(struct mimic_device *device, unsigned int page, unsigned int offset,
		   unsigned int size, u64 *value);
int mimic_pci_write(struct mimic_device *device, unsigned int page, unsigned int offset,
		    unsigned int size, u64 value);
void mimic_pci_post(struct mimic_device *device, unsigned int number, bool is_write,
		    unsigned int page, unsigned int offset, unsigned int size, u64 value);
bool mimic_pci_is_served(struct mimic_device *device);
/* A register of the bus page. 0; -ENODEV: the function does not answer. */
int mimic_pci_load_bus_page(struct mimic_pci_device *device, unsigned int offset, u64 *value);
void mimic_pci_store_bus_page(struct mimic_pci_device *device, unsigned int offset, u64 value);
/*
 * Until all that has been posted is done: how many accesses had no effect so far, programs' own
 * included. false: there is no function to do them. Does not sleep.
 */
bool mimic_pci_settle(struct mimic_pci_device *device, u64 *not_ready);
/* The device walks these tables from now on, and has forgotten all that it knew of the space. */
void mimic_pci_set_space(struct mimic_pci_device *device, u32 number, u64 root, u64 mode);
/* The format of this machine's page tables. */
u64 mimic_pci_page_table_mode(void);

/* --- binding.c ------------------------------------------------------------------ */

struct mimic_binding *mimic_pci_bind(struct mimic_device *device,
				     const struct mimic_binding_ops *ops, void *context);
void mimic_pci_put(struct mimic_binding *binding);
void mimic_pci_free(struct mimic_binding *binding);
int mimic_pci_check(struct mimic_binding *binding);
struct mm_struct *mimic_pci_get_mm(struct mimic_binding *binding);
void mimic_pci_end(struct mimic_binding *binding);
int mimic_pci_sync(struct mimic_binding *binding, unsigned long start, unsigned long end);
/* The space's lanes end, with all commands in them; the space goes on. */
void mimic_pci_refresh_space(struct mimic_binding *binding);
/* Those that have the device lose it. */
void mimic_pci_detach_bindings(struct mimic_pci_device *device);
/* All are freed. */
void mimic_pci_bindings_exit(void);

/* --- mapping.c ------------------------------------------------------------------ */

int mimic_pci_mmap(struct mimic_binding *binding, struct vm_area_struct *vma, unsigned int first,
		   unsigned int count);
int mimic_pci_mmap_memory(struct mimic_binding *binding, struct vm_area_struct *vma,
			  unsigned long first);
bool mimic_pci_is_memory(const struct vm_area_struct *vma);
void mimic_pci_share_mapping(struct mimic_binding *binding, struct file *file);
int mimic_pci_mmap_lane(struct mimic_binding *binding, struct vm_area_struct *vma);
/* The binding is gone: its process sees registers and memory no more. Sleeps. */
void mimic_pci_take_mappings(struct mimic_binding *binding);
/* The process sees these lanes no more, by bit: they are not USED. Sleeps. */
void mimic_pci_hide_lanes(struct mimic_binding *binding, u64 lanes);

/* --- lanes.c ---------------------------------------------------------------------- */

/* Reads the function's description of its lanes. 0 or -errno. */
int mimic_pci_lanes_start(struct mimic_pci_device *device);
/* The interrupt of programs that sleep; after the vectors are there, and before they go. */
int mimic_pci_lanes_listen(struct mimic_pci_device *device);
void mimic_pci_lanes_stop(struct mimic_pci_device *device);

int mimic_pci_lane(struct mimic_binding *binding, struct accelerator_lane *lane);
int mimic_pci_lane_call(struct mimic_binding *binding, const struct accelerator_lane_call *call);
void mimic_pci_end_lanes(struct mimic_binding *binding);
/* May the process see it? For mapping.c, under device->readers. */
bool mimic_pci_has_lane(const struct mimic_binding *binding, unsigned int index);
/* The space is closed, its process does not see them: they are free. device->lock is held. */
void mimic_pci_lanes_gone(struct mimic_binding *binding);

#endif
