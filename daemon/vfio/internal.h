/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Declarations that the files of this front end share. */
#ifndef MIMICD_VFIO_INTERNAL_H
#define MIMICD_VFIO_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/engine/front_end.h"
#include "daemon/engine/function.h"
#include "daemon/engine/trap.h"
#include "daemon/loop/signaller.h"
#include "daemon/loop/timer.h"
#include "daemon/vfio/connection.h"
#include "daemon/vfio/guest_memory.h"
#include "daemon/vfio/space.h"
#include "daemon/vfio/vfio.h"
#include "mimic/pci.h"

#define MIMICD_POSTED_MAX 1024u		/* stores of a page that wait behind another */

struct mimicd_keeper;
struct mimicd_machine;
struct mimicd_memory_function;
struct mimicd_rings;
struct mimicd_vfio_listener;

/* A device for virtual machines. */
struct mimicd_vfio_function {
	struct mimicd_function function;	/* first: the engine knows only this part */
	struct mimicd_vfio *vfio;
	struct mimicd_vfio_function *next;
	struct mimicd_vfio_listener *listener;
	const char *path;			/* the listener's */
	const char *memory_path;		/* of the socket for memory and lanes; NULL: one has all */
	bool has_msi;				/* MSI instead of MSI-X */
	bool has_rings;				/* lanes in a BAR */
	struct mimicd_machine *machine;		/* that has the device; NULL: none */
};

struct mimicd_vfio {
	struct mimicd_engine *engine;
	struct mimicd_keeper *keeper;	/* NULL: none */
	struct mimicd_front_end front_end;
	struct mimicd_signaller signaller;
	struct mimicd_vfio_listener *listeners;
	unsigned int listener_count;
	struct mimicd_vfio_function *functions;
	/* To be freed when nothing is in the middle of them. */
	struct mimicd_vfio_function *gone;
	struct mimicd_machine *ended;
	struct mimicd_memory_function *ended_memories;
};

/* --- a machine ------------------------------------------------------------------------- */

enum mimicd_machine_access_state {
	MIMICD_ACCESS_IDLE,
	MIMICD_ACCESS_PARKED,	/* in the model */
	MIMICD_ACCESS_HELD,	/* not begun: a person wants the device to misbehave */
	MIMICD_ACCESS_DONE,
	MIMICD_ACCESS_REFUSED,
};

/* An access of a register of the device. */
struct mimicd_machine_access {
	struct mimicd_trap trap;	/* first: the engine knows only this part */
	struct mimicd_machine *machine;
	struct mimicd_owner *owner;	/* the thread that it is taken for */
	enum mimicd_machine_access_state state;
	uint64_t due;			/* HELD: when it begins, 0: when the device answers again */
	struct mimic_access body;	/* of a load that is done, its answer is body.data */
	/* It waited, and is done. */
	void (*complete)(struct mimicd_machine_access *access);
};

struct mimicd_machine_space {
	struct mimicd_space space;
	struct mimicd_binding binding;
	bool is_open;		/* the engine has the binding */
	uint64_t root;		/* as stored; the space has it with the next MODE */
	uint64_t mode;
};

/* Stores of one page that have been answered, and wait behind another: a ring. */
struct mimicd_posted {
	struct mimic_access *stores;	/* MIMICD_POSTED_MAX; NULL: none has waited yet */
	unsigned int first, count;
};

/* A virtual machine that has the device. */
struct mimicd_machine {
	struct mimicd_connection connection;	/* first */
	struct mimicd_machine *next;	/* of those that have ended */
	struct mimicd_vfio_function *function;
	struct mimicd_instance *instance;
	struct mimicd_guest_memory memory;
	struct mimicd_aperture aperture;
	int eventfds[MIMICD_VFIO_INTERRUPTS][MIMIC_PCI_VECTORS];	/* -1: none */

	uint64_t status, done, not_ready;	/* the bus page's registers */
	struct mimicd_process *processes;	/* one: the machine */
	/*
	 * Loads and stores of the device's registers in BAR 0. A store that waits in the device, one for each
	 * page, has been answered, as a bus posts writes. Loads go past it: they are another thread's.
	 */
	struct mimicd_machine_access stores[MIMIC_KIND_PAGES_MAX];
	struct mimicd_machine_access load;
	struct mimicd_owner *loads_owner;
	struct mimicd_posted posted[MIMIC_KIND_PAGES_MAX];	/* behind the store of each page that waits */
	struct mimicd_timer store_is_done;	/* at once: those behind it may begin */
	/* The machine waits with one of these, for as long as its patience says. */
	struct mimic_access pending_store;
	bool has_pending_store;
	bool has_pending_load;			/* machine->load, behind stores */
	struct mimicd_timer patience;
	struct mimicd_machine_access slots[MIMIC_PCI_SLOTS];
	unsigned int held;			/* accesses that are HELD */
	struct mimicd_machine_space spaces[MIMIC_PCI_SPACES];
	struct mimicd_rings *rings;		/* NULL: there are no lanes */
	uint64_t pair;				/* of it and the memory's function; 0: there is none */
	struct mimicd_memory_function *memory_function;	/* NULL: it is not connected */
};

static inline struct mimicd_machine *mimicd_machine_of(const struct mimicd_connection *connection)
{
	return (struct mimicd_machine *)(uintptr_t)connection;
}

/* --- bars.c ----------------------------------------------------------------------------- */

/* A device's number on the PCI bus, by the name of its kind (mimic/pci.h). */
uint16_t mimicd_vfio_device_number(const char *kind);
void mimicd_bars_describe(const struct mimicd_machine *machine, struct mimicd_config_description *description);
/* Of the function beside, if memory and lanes are that one's. */
void mimicd_bars_describe_memory(const struct mimicd_machine *machine,
				 struct mimicd_config_description *description);
/* Of a BAR that was described, of whichever of the two. */
struct mimicd_bar_memory mimicd_bars_memory(const struct mimicd_machine *machine, unsigned int bar);

/* --- spaces.c --------------------------------------------------------------------------- */

/* The space that a device without contexts has from the beginning. 0 or -errno. */
int mimicd_spaces_begin(struct mimicd_machine *machine);
/* No job reads the machine's memory after this. */
void mimicd_spaces_end(struct mimicd_machine *machine);
/* A space as its registers say. */
void mimicd_spaces_set(struct mimicd_machine *machine, unsigned int number);
/* The driver has flushed: no translation survives in any space. */
void mimicd_spaces_flush(struct mimicd_machine *machine);
/* The configuration space has changed: the device's memory may lie elsewhere. */
void mimicd_spaces_place_memory(struct mimicd_machine *machine);

/* --- rings.c ---------------------------------------------------------------------------- */

/* The size of the BAR; and the value of LANE_LAYOUT. */
size_t mimicd_rings_size(void);
uint64_t mimicd_rings_layout(void);
/* flush: a program has dropped its translations. 0 or -errno. */
int mimicd_rings_create(struct mimicd_machine *machine, void (*flush)(struct mimicd_machine *machine));
void mimicd_rings_destroy(struct mimicd_machine *machine);
/* All lanes are closed, as after power-on. */
void mimicd_rings_reset(struct mimicd_machine *machine);
/* Lanes of a space, by its index, are closed. Before its binding is. */
void mimicd_rings_end_space(struct mimicd_machine *machine, unsigned int space);
/* The driver has given the context to a space, or to none. */
void mimicd_rings_attach(struct mimicd_machine *machine, unsigned int context);
/* Of a machine that has rings: the BAR's file, and where it is seen here. */
int mimicd_rings_fd(const struct mimicd_machine *machine);
char *mimicd_rings_memory(const struct mimicd_machine *machine);
/* Registers of lanes. */
uint64_t mimicd_rings_load(const struct mimicd_machine *machine, unsigned int number);
void mimicd_rings_store(struct mimicd_machine *machine, unsigned int number, uint64_t value);
uint64_t mimicd_rings_done(const struct mimicd_machine *machine);
void mimicd_rings_clear_done(struct mimicd_machine *machine, uint64_t bits);
void mimicd_rings_cancel(struct mimicd_machine *machine, uint64_t number);
/* The machine has kicked: threads that ask for the reason of their wait are told. */
void mimicd_rings_explain(struct mimicd_machine *machine);

/* --- machine.c -------------------------------------------------------------------------- */

/* QEMU has connected; takes the descriptor over. 0 or -errno, with a log line. */
int mimicd_machine_create(struct mimicd_vfio_function *function, int fd);
/* The connection is over: the device is as after power-on, and free. It is freed by mimicd_machines_free(). */
void mimicd_machine_end(struct mimicd_machine *machine);
void mimicd_machines_free(struct mimicd_vfio *vfio);

/* --- memory_function.c ------------------------------------------------------------------ */

/*
 * A device's memory and lanes, as a function beside that of its registers: QEMU posts stores of a function
 * only where it maps none of its BARs.
 */
struct mimicd_memory_function {
	struct mimicd_connection connection;	/* first */
	struct mimicd_memory_function *next;	/* of those that have ended */
	struct mimicd_machine *machine;		/* whose memory it is */
};

/* QEMU has connected; takes the descriptor over. 0 or -errno, with a log line. */
int mimicd_memory_function_create(struct mimicd_vfio_function *function, int fd);
/* It is freed by mimicd_memory_functions_free(). */
void mimicd_memory_function_end(struct mimicd_memory_function *memory);
void mimicd_memory_functions_free(struct mimicd_vfio *vfio);

/* --- registers.c ------------------------------------------------------------------------ */

/* The message of a load or a store of BAR 0 is served, or later. */
void mimicd_registers_access(struct mimicd_machine *machine, bool is_write, uint64_t value);
/* The access that the machine waited for has its answer, or its time is over. */
void mimicd_registers_load_is_done(struct mimicd_machine_access *load);
void mimicd_registers_store_is_done(struct mimicd_machine_access *store);
void mimicd_registers_patience_ends(void *machine);
void mimicd_registers_posted_may_go_on(void *machine);

/* --- posted.c --------------------------------------------------------------------------- */

/* 0: it has begun; -EAGAIN: another of its page waits; -EINVAL: there is no such register. */
int mimicd_posted_store(struct mimicd_machine *machine, const struct mimic_access *body);
/* Behind the other. false: there is no room, or nothing may come before it takes effect. */
bool mimicd_posted_wait(struct mimicd_machine *machine, const struct mimic_access *body);
bool mimicd_posted_may_wait(const struct mimicd_machine *machine, const struct mimic_access *body);
/* A store has ended in the device: those behind it begin. Not in a call out of the model. */
void mimicd_posted_go_on(struct mimicd_machine *machine);
/* Does the load come behind stores that wait? */
bool mimicd_posted_precede(const struct mimicd_machine *machine, const struct mimic_access *load);
/* The access begins. A reset or an attach drops the waiting accesses of the device or context. */
void mimicd_posted_forget_before(const struct mimicd_machine_access *access);
/* The program whose space it is has ended. */
void mimicd_posted_forget_space(struct mimicd_machine *machine, const struct mimicd_machine_space *space);
void mimicd_posted_forget(struct mimicd_machine *machine);

/* --- bus_page.c ------------------------------------------------------------------------- */

/* 4 or 8 bytes, aligned. */
uint64_t mimicd_bus_page_load(const struct mimicd_machine *machine, unsigned int offset, unsigned int size);
/* Of the first page of the function beside. */
uint64_t mimicd_bus_page_load_memory(const struct mimicd_machine *machine, unsigned int offset,
				     unsigned int size);
void mimicd_bus_page_store(struct mimicd_machine *machine, unsigned int offset, unsigned int size,
			   uint64_t value);
/* As after power-on. */
void mimicd_bus_page_reset(struct mimicd_machine *machine);

/* --- access.c --------------------------------------------------------------------------- */

/* An idle access; access->body says which. Afterwards its state is DONE, REFUSED, or it waits. */
void mimicd_access_begin(struct mimicd_machine_access *access);
/* If it waits, it is taken back. It is idle then. */
void mimicd_access_withdraw(struct mimicd_machine_access *access);
static inline bool mimicd_access_waits(const struct mimicd_machine_access *access)
{
	return access->state == MIMICD_ACCESS_PARKED || access->state == MIMICD_ACCESS_HELD;
}
/* Begins held accesses that may. true: there was one. */
bool mimicd_accesses_release(struct mimicd_machine *machine, uint64_t now);

/* --- interrupt.c ------------------------------------------------------------------------ */

unsigned int mimicd_interrupt_count(const struct mimicd_machine *machine, unsigned int index);
/* Does a SET_IRQS request. 0 or -errno. */
int mimicd_interrupt_set(struct mimicd_machine *machine, const struct mimicd_vfio_irq_set *set,
			 const int *fds, unsigned int fd_count);
/* A cause, MIMIC_PCI_STATUS_..., and its vector. 0, or -ENOTCONN: the driver has none. */
int mimicd_interrupt_raise(struct mimicd_machine *machine, uint64_t cause, unsigned int vector);
void mimicd_interrupt_forget(struct mimicd_machine *machine);

#endif
