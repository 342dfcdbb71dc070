/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Kinds of devices: all that libmimic, mimicd and the commands know of a kind. They name
 * none. A kind is built in, by a line in devices/kinds.def, or is a plugin's
 * (devices/plugin.h). Limits and required functions are checked when it is registered
 * (libmimic/base/kind_check.c).
 */
#ifndef MIMIC_DEVICES_KIND_H
#define MIMIC_DEVICES_KIND_H

#include "devices/model.h"
#include "devices/register.h"
#include "devices/state.h"
#include "devices/text.h"
#include "devices/time.h"

#define MIMIC_KINDS_MAX 16
#define MIMIC_KIND_NAME_MAX 12		/* letters of a name */
#define MIMIC_KIND_DEVICES_MAX 1024	/* of one kind, each with a number below this */
#define MIMIC_KIND_PRIVATE_MAX 64	/* private ones, likewise */
#define MIMIC_KIND_CONTEXTS_MAX 64	/* of a device */
#define MIMIC_KIND_COUNTERS_MAX 128
#define MIMIC_KIND_ORDERS 8
#define MIMIC_KIND_PAGES_MAX 16
#define MIMIC_KIND_JOBS_MAX 64		/* out at once */
#define MIMIC_KIND_MEMORY_MAX (16u << 20)	/* bytes that programs map; the kernel's bus takes up to 1 MB */

/*
 * Limits of a device's state(): values and folders, and bytes of their names, texts and
 * meanings. A plugin that shows more is refused, because mimicd serves nobody else while it
 * makes the text of a state, and `mimic dump` waits ten seconds for it. The largest
 * built-in device shows 1,200 values at rest, as a trial sees it, and under 20,000 with all
 * queues full.
 */
#define MIMIC_KIND_STATE_VALUES_MAX 100000u
#define MIMIC_KIND_STATE_TEXT_MAX (8u << 20)

#define MIMIC_KIND_KEYS_MAX 64
#define MIMIC_KIND_PARAMETERS_MAX 512	/* bytes */

/*
 * The functions that are compiled for general registers only: an access of `mimic run` that calls them leaves
 * the program's vector registers alone (libmimic/base/vectors.h, GENERAL_ONLY in the Makefile).
 */
enum mimic_keeps_vectors {
	MIMIC_KEEPS_NO_VECTORS,
	MIMIC_KEEPS_VECTORS_IN_KIND, /* the functions of the kind itself: may_wait(), order(), explain() and the like */
	MIMIC_KEEPS_VECTORS_IN_MODELS, /* and all of its models */
};

/* Room for the parameters of a device of any one kind: the kind's own structure. */
struct mimic_own_parameters {
	_Alignas(16) unsigned char bytes[MIMIC_KIND_PARAMETERS_MAX];
};

/* Of a kind's structure: its size, if there is room for it. */
#define MIMIC_PARAMETERS_SIZE(type) \
	(sizeof(type) + 0 * sizeof(char[sizeof(type) <= MIMIC_KIND_PARAMETERS_MAX ? 1 : -1]))

/* A key of the kind's section: a number, or one bit of a number. */
struct mimic_key {
	const char *name;
	size_t offset;		/* of an unsigned int in the kind's parameters */
	unsigned int bit;	/* yes or no; 0: a whole number */
};

/*
 * A kind whose devices have contexts: parts that different programs have at the
 * same time, each with an address space of its own.
 */
struct mimic_contexts {
	/* How many an instance has. */
	unsigned int (*count)(const void *parameters);
	/* The page of the device that is the program's page 0; the others follow it. */
	unsigned int (*first_page)(unsigned int context);
	/* Gives a context to an address space, as after its reset; 0: to nobody. Never waits. */
	void (*attach)(struct mimic_model *model, unsigned int context, uint64_t address_space,
		       uint64_t now);
	/* As those of struct mimic_model_ops, of one context. */
	size_t (*counters)(const struct mimic_model *model, unsigned int context, uint64_t *values,
			   size_t count);
	size_t (*describe)(const struct mimic_model *model, unsigned int context, char *text,
			   size_t size);
	/*
	 * After restore(): a context that has an address space gets that one in its place, and keeps all else,
	 * since numbers of address spaces mean nothing to another driver of models. false: it has none. NULL:
	 * states of the kind cannot be restored where others saved them.
	 */
	bool (*adopt)(struct mimic_model *model, unsigned int context, uint64_t address_space);
};

/*
 * A kind whose models leave long work to others: jobs. take() and done() are calls of
 * the model like all others, run() belongs to none: several at once may run, and
 * the lock that serialises the model's calls is not held meanwhile.
 */
struct mimic_jobs {
	/* How many can be outstanding at once. */
	unsigned int (*count)(const void *parameters);
	/*
	 * A driver that takes jobs calls this before create(). Without it the model does
	 * them in tick(), while it is busy().
	 */
	void (*enable)(void *parameters);
	/* Is there one that no thread has taken? */
	bool (*has)(const struct mimic_model *model);
	/* NULL: there is none. */
	void *(*take)(struct mimic_model *model);
	/* Comes back after a few milliseconds at the latest; the rest is another job. */
	void (*run)(void *job);
	void (*done)(struct mimic_model *model, void *job, uint64_t now);
	/*
	 * For recordings: after how many steps the last run() ended because the device had
	 * dropped the job, UINT_MAX if it did not; and, of a job that is about to run, that it
	 * ends after so many, whether it was dropped or not.
	 */
	unsigned int (*steps)(const void *job);
	void (*limit)(void *job, unsigned int steps);
};

/*
 * Credits, of a kind whose stores may wait for another thread of the program (a full queue): how many words
 * of stores a part of the device takes at once, for certain. While a thread has some, a program's own store
 * (mimic run) is answered before it takes effect; without, the thread waits in the store for as long
 * as the device has no room. So a program does not run ahead of a full queue. Credits hold until the thread makes a
 * store without, or a load that is_for_stores(); no other thread can take from them.
 */
struct mimic_credits {
	/* How many a store takes, and of which part (below MIMIC_KIND_ORDERS). 0: it is never posted so. */
	unsigned int (*cost)(const struct mimic_access *store, unsigned int *part);
	/*
	 * How many the part of a store has for the store's owner. *most: how many it has when it is empty, if another
	 * thread empties it; else 0. A call of the model that changes nothing, also from inside complete().
	 */
	unsigned int (*left)(const struct mimic_model *model, const struct mimic_access *store, unsigned int *most);
};

/* A table of mimic list: of devices that programs use, or of their contexts, some counters. */
struct mimic_summary {
	const char *title;	/* of the first column */
	struct mimic_summary_column {
		const char *counter;
		const char *title;
	} columns[8];		/* up to a NULL */
};

/*
 * Private devices that lie in the machine's physical address space: mappings of /dev/mem there,
 * and those addresses themselves, are their pages. One kind has such.
 */
struct mimic_physical {
	uint64_t start, size;	/* all of their addresses are in here */
	uint64_t (*address)(unsigned int number, unsigned int page);
	/* The device and the page that an address between start and start + size lies in; false: none. */
	bool (*page_of)(uint64_t address, unsigned int *number, unsigned int *page);
};

struct mimic_kind {
	const char *name;		/* small letters; begins the names of its devices, and is their section */
	const char *title;		/* as people write it; NULL: the name */
	unsigned int default_count;	/* instances, if neither an option nor a file says how many */

	unsigned int pages;		/* that a program can map */
	unsigned int device_pages;	/* that the device has on a bus */
	uint32_t void_pages;		/* of these, by bit: loads give 0, stores are dropped */
	/* The calls of its nodes (mimic/accelerator_ioctl.h): the type in their numbers, INFO's version. */
	uint8_t ioctl_type;
	uint32_t ioctl_version;
	/* `mimic run` answers INFO and EVENTFD, too; else ENOTTY. Not for kinds with contexts. */
	bool has_emulated_ioctls;
	uint8_t keeps_vectors;		/* enum mimic_keeps_vectors; of plugins 0 */
	unsigned int private_count;	/* "NAME@0" on: made for one process, on demand; 0: none */
	const struct mimic_physical *physical;	/* where these lie; NULL: nowhere */
	/*
	 * Stores that may go to the model in one call: it has not to work longer than
	 * about 100 us on them.
	 */
	size_t batch;

	/* Parameters are a structure of the kind's own; without pointers, because it is copied. */
	const struct mimic_key *keys;
	size_t key_count;
	size_t parameters_size;		/* MIMIC_PARAMETERS_SIZE() */
	void (*defaults)(void *parameters);
	/* The key "profile", which a section must then have: sets all others. -EINVAL: no such. NULL: no key. */
	int (*profile)(void *parameters, const char *name);
	const char *profiles;		/* their names, for people */
	/* The one that profile() or defaults() has set. NULL: the kind does not keep it. */
	const char *(*profile_name)(const void *parameters);
	/* NULL, or the error; the text begins with the key's name. */
	const char *(*check)(const void *parameters);

	/* Memory of the device that programs map, in whole pages. NULL: it has none. */
	size_t (*memory_size)(const void *parameters);
	uint64_t memory_offset;		/* where a program maps it on the device's node */

	/*
	 * NULL with errno. memory: that many bytes, zeroed, aligned to a page, of the program that
	 * creates the model, until after its destruction; NULL for kinds without.
	 */
	struct mimic_model *(*create)(const void *parameters, const struct mimic_host *host,
				      void *memory);
	void (*destroy)(struct mimic_model *model);
	const char *const *counters;	/* names, in the order of the model's values */
	size_t counter_count;
	const struct mimic_summary *summary;	/* NULL: no table */
	/*
	 * May this store wait in the ring of the thread that posts it? Posts of
	 * different threads lie in different rings, and nothing orders one ring
	 * against another. That is harmless for a store that works on state that its
	 * owner has to itself. One that others depend on must have happened when the call
	 * returns.
	 */
	bool (*may_wait)(const struct mimic_access *store);
	/*
	 * Threads use such registers in turn: posts of different threads take effect in
	 * the order in which they returned.
	 */
	bool ordered_posts;
	/*
	 * The parts of the device, by bit (below MIMIC_KIND_ORDERS), that an access works on: only accesses
	 * that have one in common are ordered. NULL: all are one.
	 */
	uint32_t (*order)(const struct mimic_access *access);
	/*
	 * Is a program's own store (mimic run) that may wait answered before it takes effect,
	 * as a bus posts writes? The program then does not wait for the daemon. With these
	 * parameters a program must not be able to tell. Only with ordered_posts and order.
	 * NULL: no.
	 */
	bool (*posts_stores)(const void *parameters);
	/*
	 * Of the stores that are posted so: does this one only keep an operand, which has no
	 * effect before another access uses it? A daemon that sleeps is not woken for it, but
	 * does it before all that it is woken for. Only with posts_stores. NULL: none does.
	 */
	bool (*is_operand)(const struct mimic_access *store);
	/* Which of a program's own stores are posted, and how far. Only with is_for_stores. NULL: none. */
	const struct mimic_credits *credits;
	/*
	 * Where threads cannot be told apart (a virtual machine's loads and stores), stores and loads are two
	 * threads, so that a load does not wait for a store that the device cannot take yet. Is this a load
	 * by which the stores' thread takes or leaves a role? NULL: there are none.
	 */
	bool (*is_for_stores)(const struct mimic_access *load);
	/*
	 * Does this access drop translations? A device whose memory is reached through page tables of
	 * another system (a virtual machine) has to drop its translations. NULL: none does.
	 */
	bool (*is_flush)(const struct mimic_access *access);
	/*
	 * Does this store, which never waits, clear a part of the device, as a reset of a unit does? Stores
	 * that wait and that order() has in common with it are dropped then. NULL: none does.
	 */
	bool (*clears)(const struct mimic_access *store);
	const struct mimic_jobs *jobs;	/* NULL: none */
	/*
	 * Which events raise the interrupt; and, once it was raised: those of them that have
	 * happened, which are then cleared. Not from inside the model's calls. NULL: it has none.
	 */
	uint64_t events;	/* that there are */
	void (*enable_events)(struct mimic_model *model, uint64_t events, uint64_t now);
	uint64_t (*take_events)(struct mimic_model *model, uint64_t now);
	/* Those that enable_events(), or a store of the function driver, has enabled. */
	uint64_t (*enabled_events)(struct mimic_model *model, uint64_t now);
	/*
	 * For a driver that is no program: accesses to memory that were answered with
	 * MIMIC_FAULT_STALL are made again, as if all pages had been resolved. NULL: pages that
	 * come later are bad ones.
	 */
	void (*retry)(struct mimic_model *model, uint64_t now);
	/*
	 * After restore() of an image of another process, whose time is another: the state's clocks go on from
	 * `now`. NULL: it has none.
	 */
	void (*resume)(struct mimic_model *model, uint64_t now);
	const struct mimic_contexts *contexts;	/* NULL: a device belongs to one process, whole */
	/* All that the device shows of itself: a call of the model that changes nothing. */
	void (*state)(const struct mimic_model *model, uint64_t now,
		      const struct mimic_state_visitor *visitor);
	/*
	 * Why an access waits that the model has parked, or that it cannot take yet: "queue 0 is full (32
	 * words), and nobody consumes". Adds nothing if it does not know. A call of the model that changes
	 * nothing, also from signal handlers; owner, page and offset of the access count. NULL: it never
	 * says.
	 */
	void (*explain)(const struct mimic_model *model, const struct mimic_access *access,
			struct mimic_text *text);
	const struct mimic_time *time;	/* the device in virtual time; NULL: it cannot be */
	/* The name of an instruction or a command word in a trace; NULL: illegal. NULL: it has none. */
	const char *(*command_name)(uint32_t word);
	/* All of its registers (devices/register.h). */
	const struct mimic_register_block *const *blocks;
	size_t block_count;
};

#endif
