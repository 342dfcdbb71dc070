/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Devices as functions of a virtual machine's PCI bus (mimicd --vfio-user, docs/pci.md): what a
 * driver in the guest has to know that is not the device's own.
 *
 * BAR 0 has the bus page, then the pages of the device in their order; BAR 2, where there is one, is
 * the device's memory. BAR 4 is the table of MSI-X. All numbers are little endian. Registers of the bus page are
 * 8 bytes wide and may be accessed in halves of 4; what begins something is in the lower half.
 *
 * A machine waits as a whole while one of its processors waits for a device. So nothing waits
 * for long here. A store of a device's register is posted: if the device cannot take it yet, it waits
 * there, and the processor goes on. One store of each page can wait so. A load that the device
 * does not answer in a millisecond has no effect, and is answered with all ones; a store that
 * finds another of its page waiting for a tenth of a second is dropped. NOT_READY counts both. What may
 * wait is given to a slot instead.
 */
#ifndef MIMIC_PCI_H
#define MIMIC_PCI_H

/* Assigned to nobody by the PCI SIG when this was written. */
#define MIMIC_PCI_VENDOR 0x6d69
/*
 * The device's number is made of the name of its kind, so that a plugin has one, too: the FNV-1a
 * hash of 32 bits, its halves combined by exclusive or. Headers of registers have it
 * (NAME_PCI_DEVICE), and `mimicd --vfio-user` says it in the log.
 */
#define MIMIC_PCI_CLASS 0x120000	/* a processing accelerator */

#define MIMIC_PCI_BAR_REGISTERS 0
#define MIMIC_PCI_BAR_MEMORY 2
#define MIMIC_PCI_BAR_MSIX 4

#define MIMIC_PCI_PAGE_SIZE 4096
/* In BAR 0. */
#define MIMIC_PCI_DEVICE_PAGE(page) (MIMIC_PCI_PAGE_SIZE * ((page) + 1))

/* --- the bus page ------------------------------------------------------------------ */

#define MIMIC_PCI_MAGIC 0x000		/* load: the letters "mimicpci" */
#define MIMIC_PCI_MAGIC_VALUE 0x69637063696d696dull
#define MIMIC_PCI_KIND 0x008		/* load: 16 bytes, the name of the kind, then zeros */
#define MIMIC_PCI_LAYOUT 0x018		/* load: version [7:0], device pages [15:8], slots [23:16], spaces [31:24] */
#define MIMIC_PCI_VERSION 1
#define MIMIC_PCI_MEMORY_SIZE 0x020	/* load: bytes of the device's memory */
#define MIMIC_PCI_STATUS 0x028		/* load: causes of interrupts; store: takes away those whose bits are 1 */
#define MIMIC_PCI_STATUS_DEVICE 1u	/* the device's own: a page fault, an event */
#define MIMIC_PCI_STATUS_SLOTS 2u	/* slots that waited are done */
#define MIMIC_PCI_NOT_READY 0x030	/* load: how many loads and stores had no effect, because they would have had to wait */
#define MIMIC_PCI_DONE 0x038		/* load: slots that waited and are done, by bit; store: as of STATUS */

/* Interrupts; with one vector only, both causes have it. */
#define MIMIC_PCI_VECTOR_DEVICE 0
#define MIMIC_PCI_VECTOR_SLOTS 1
#define MIMIC_PCI_VECTORS 2

/*
 * A slot has one access at a time, which may wait as long as it likes. A device that tells
 * threads apart (MAPLE's queues belong to those that opened them) takes each slot for a thread.
 */
#define MIMIC_PCI_SLOTS 64
#define MIMIC_PCI_SLOT(number) (0x100 + 32 * (number))
#define MIMIC_PCI_SLOT_DATA 0		/* the value to store; the answer of a load */
#define MIMIC_PCI_SLOT_ACCESS 8		/* store: begins an access, unless one waits in the slot */
#define MIMIC_PCI_SLOT_STATE 16		/* load: see below; store: an access that waits is taken back, the slot is idle */
#define MIMIC_PCI_SLOT_IDLE 0
#define MIMIC_PCI_SLOT_WAITS 1
#define MIMIC_PCI_SLOT_DONE 2
#define MIMIC_PCI_SLOT_REFUSED 3	/* no such page, offset or size */
#define MIMIC_PCI_ACCESS(offset, page, size, is_store) \
	((unsigned int)(offset) | (unsigned int)(page) << 12 | (unsigned int)(size) << 24 | ((is_store) ? 1u << 31 : 0))

/*
 * Address spaces, by number from 1 on. A device without contexts has the memory of space
 * 1; one with contexts that of the number that its ATTACH register was given. MODE is
 * stored after ROOT, and takes both: from then on the device walks these page tables.
 */
#define MIMIC_PCI_SPACES 64
#define MIMIC_PCI_SPACE(number) (0x900 + 16 * ((number) - 1))
#define MIMIC_PCI_SPACE_ROOT 0		/* the physical address of the topmost table */
#define MIMIC_PCI_SPACE_MODE 8
#define MIMIC_PCI_MODE_NONE 0		/* there is no such space: the device reaches nothing */
#define MIMIC_PCI_MODE_PHYSICAL 1	/* addresses are those of the bus, as dma_alloc_coherent() gives them */
#define MIMIC_PCI_MODE_X86_4 4		/* x86-64, 4 levels */
#define MIMIC_PCI_MODE_X86_5 5
#define MIMIC_PCI_MODE_SV39 39		/* RISC-V */
#define MIMIC_PCI_MODE_SV48 48
#define MIMIC_PCI_MODE_SV57 57

#endif
