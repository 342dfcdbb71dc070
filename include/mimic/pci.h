/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Devices as functions of a virtual machine's PCI bus (mimicd --vfio-user, docs/pci.md): the registers
 * that a driver in the guest uses beside the device's own.
 *
 * BAR 0 has the bus page, then the pages of the device in their order; BAR 2, where there is one, is
 * the device's memory. BAR 4 is the table of MSI-X. All numbers are little endian. Registers of the bus page are
 * 8 bytes wide and may be accessed in halves of 4; the lower half has the bits that start an action.
 * Memory and lanes may be BARs of a second function instead, so that QEMU posts stores of the first (PAIR).
 *
 * The whole machine stops while one of its processors waits for a device. So no access waits
 * for long here. A store of a device's register is posted: if the device cannot take it yet, it waits
 * there, and the processor goes on. One store of each page can wait so. A load that the device
 * does not answer in a millisecond has no effect, and is answered with all ones; a store that
 * finds another of its page waiting for a tenth of a second is dropped. NOT_READY counts both. An
 * access that may wait is given to a slot instead.
 */
#ifndef MIMIC_PCI_H
#define MIMIC_PCI_H

/* Not assigned by the PCI SIG when this was written. */
#define MIMIC_PCI_VENDOR 0x6d69
/*
 * The device's number is made of the name of its kind, so that a plugin's device has one, too: the FNV-1a
 * hash of 32 bits, its halves combined by exclusive or. Headers of registers have it
 * (NAME_PCI_DEVICE), and `mimicd --vfio-user` says it in the log.
 */
#define MIMIC_PCI_CLASS 0x120000	/* a processing accelerator */

/*
 * Of a second function that has a device's memory and lanes: no kind has its number. Its class, "other
 * memory", tells it from a kind with the same hash.
 */
#define MIMIC_PCI_MEMORY_DEVICE 0x6d65
#define MIMIC_PCI_MEMORY_CLASS 0x058000

#define MIMIC_PCI_BAR_REGISTERS 0
#define MIMIC_PCI_BAR_MEMORY 2
#define MIMIC_PCI_BAR_MSIX 4
#define MIMIC_PCI_BAR_RINGS 5	/* lanes, where there are some */

#define MIMIC_PCI_PAGE_SIZE 4096
/* In BAR 0. */
#define MIMIC_PCI_DEVICE_PAGE(page) (MIMIC_PCI_PAGE_SIZE * ((page) + 1))

/* --- the bus page ------------------------------------------------------------------ */

#define MIMIC_PCI_MAGIC 0x000		/* load: the letters "mimicpci" */
#define MIMIC_PCI_MAGIC_VALUE 0x69637063696d696dull
#define MIMIC_PCI_KIND 0x008		/* load: 16 bytes, the name of the kind, then zeros */
#define MIMIC_PCI_LAYOUT 0x018		/* load: version [7:0], device pages [15:8], slots [23:16], spaces [31:24], lanes [39:32] */
#define MIMIC_PCI_VERSION 1
#define MIMIC_PCI_MEMORY_SIZE 0x020	/* load: bytes of the device's memory */
#define MIMIC_PCI_STATUS 0x028		/* load: causes of interrupts; store: clears the bits that are 1 */
#define MIMIC_PCI_STATUS_DEVICE 1u	/* the device's own: a page fault, an event */
#define MIMIC_PCI_STATUS_SLOTS 2u	/* slots that waited are done */
#define MIMIC_PCI_STATUS_LANES 4u	/* lanes whose sleeping program is to be woken: see LANES_DONE */
#define MIMIC_PCI_NOT_READY 0x030	/* load: how many loads and stores had no effect, because they would have had to wait */
#define MIMIC_PCI_DONE 0x038		/* load: slots that waited and are done, by bit; store: as of STATUS */

/*
 * load: 0, or a number that one other function has, too: that function then has BAR 2 and BAR 5, for as long
 * as this machine has the device. The first page of its BAR 0 has MAGIC (another value), KIND, LAYOUT (the
 * version only), MEMORY_SIZE and PAIR where they are here; it has no other registers, and no interrupts.
 */
#define MIMIC_PCI_PAIR 0x060
#define MIMIC_PCI_MEMORY_MAGIC_VALUE 0x6d656d63696d696dull	/* the letters "mimicmem" */

/* Interrupt vectors; with one vector only, all causes raise it. Lanes raise that of the slots. */
#define MIMIC_PCI_VECTOR_DEVICE 0
#define MIMIC_PCI_VECTOR_SLOTS 1
#define MIMIC_PCI_VECTORS 2

/*
 * A slot has one access at a time, which may wait without limit. A device that distinguishes
 * threads (the thread that opened a MAPLE queue owns it) takes each slot for a thread.
 */
#define MIMIC_PCI_SLOTS 64
#define MIMIC_PCI_SLOT(number) (0x100 + 32 * (number))
#define MIMIC_PCI_SLOT_DATA 0		/* the value to store; the answer of a load */
#define MIMIC_PCI_SLOT_ACCESS 8		/* store: begins an access, unless one waits in the slot */
#define MIMIC_PCI_SLOT_STATE 16		/* load: see below; store: cancels an access that waits */
#define MIMIC_PCI_SLOT_IDLE 0
#define MIMIC_PCI_SLOT_WAITS 1
#define MIMIC_PCI_SLOT_DONE 2
#define MIMIC_PCI_SLOT_REFUSED 3	/* no such page, offset or size */
#define MIMIC_PCI_ACCESS(offset, page, size, is_store) \
	((unsigned int)(offset) | (unsigned int)(page) << 12 | (unsigned int)(size) << 24 | ((is_store) ? 1u << 31 : 0))

/*
 * Address spaces, by number from 1 on. A device without contexts has the memory of space
 * 1; a context has that of the number in its ATTACH register. MODE is
 * stored after ROOT, and sets both: from then on the device walks these page tables.
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

/* --- lanes: rings in BAR 5, by which a program gives commands ------------------------- */

/*
 * Lane N is at N times its size in BAR 5, whole pages, and is laid out as mimic/lane.h says. One thread of
 * one program writes its commands there (mimic/command.h) and reads the answers; nothing traps. A driver
 * opens a lane for a thread of the program whose page tables are those of a space, and
 * maps its pages, and no others, into that program: as ordinary memory, cached.
 *
 * Devices in commands are numbers: of a device with contexts the context, else 0. The program has
 * those that are its space's, with the pages that programs have.
 */
#define MIMIC_PCI_LANES 64
#define MIMIC_PCI_LANE_LAYOUT 0x040	/* load: pages of a lane [15:0], words of its command ring [31:16], of its answers [47:32] */
#define MIMIC_PCI_LANES_DONE 0x048	/* load: lanes whose program is to be woken, by bit; store: as of STATUS */
#define MIMIC_PCI_LANE_KICK 0x050	/* store, any value: wakes the daemon, which reads the lanes */
#define MIMIC_PCI_LANE_CANCEL 0x058	/* store: number of a lane whose command with answers is cancelled */
/* In a lane: 1 or 2 while its program sleeps or is about to; 0 when it is to be woken. */
#define MIMIC_PCI_LANE_SLEEPING 128
/* In a lane: which devices the program has lost, by bit. */
#define MIMIC_PCI_LANE_LOST 8
#define MIMIC_PCI_LANE_LOST_SIZE 32

/*
 * A store to a lane's register opens it (MIMIC_PCI_LANE_OPEN()) or, with 0, closes it: earlier posts are done
 * as far as the device takes them now; a second 0 drops the rest. An open lane has all bytes 0 but for those
 * that are the daemon's. A load gives the stored value, a state, and the number by which order words
 * (mimic/lane.h) name an open lane. Lanes of a space with the same
 * thread's number are one thread, and have different levels (signal handlers); its roles
 * are free when the last is closed. A store of MIMIC_PCI_MODE_NONE to a space closes all of its lanes at once.
 */
#define MIMIC_PCI_LANE(number) (0xd00 + 8 * (number))
#define MIMIC_PCI_LANE_OPEN(space, thread, level) \
	((unsigned int)(thread) | (unsigned int)(level) << 8 | (unsigned int)(space) << 16)
#define MIMIC_PCI_LANE_THREADS 255	/* their numbers in a space are 1 to this */
#define MIMIC_PCI_LANE_LEVELS 8
#define MIMIC_PCI_LANE_STATE(value) ((unsigned int)((value) >> 60))
#define MIMIC_PCI_LANE_NUMBER(value) ((unsigned int)((value) >> 32 & 0xffff))
#define MIMIC_PCI_LANE_IS_CLOSED 0
#define MIMIC_PCI_LANE_IS_OPEN 1
#define MIMIC_PCI_LANE_IS_CLOSING 2	/* a post of the lane still waits in the device */
#define MIMIC_PCI_LANE_IS_REFUSED 3	/* no such space, thread or level, or no room for it */
#define MIMIC_PCI_LANE_IS_BROKEN 4	/* the program has written an invalid word: all of its lanes have ended */

#endif
