/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Declarations that the files of accelerator.ko share. Locks and lifetimes are in accelerator.h. */
#ifndef ACCELERATOR_INTERNAL_H
#define ACCELERATOR_INTERNAL_H

#include "accelerator.h"

struct accelerator_file {
	struct accelerator_context *context;	/* one of its open_files */
	struct list_head link;		/* context->files */
	struct eventfd_ctx *eventfd;	/* under context->lock; of events: the only one */
	struct fasync_struct *fasync;
	s64 seen;	/* unresolved faults that INFO has told of */
	s64 events_read;	/* of context->events; under context->lock */
};

extern const struct file_operations accelerator_file_operations;

/*
 * The structure at `from`, which starts with its size: `size` bytes are known
 * here, all of them since the first version. Bytes that a newer program has
 * behind them must be 0.
 */
int accelerator_get_structure(void *structure, u32 size, const void __user *from);
bool accelerator_is_clear(const void *reserved, size_t size);

/* The ioctls LANE and LANE_CALL. */
int accelerator_ioctl_lane(struct accelerator_file *opened, void __user *argument);
int accelerator_ioctl_lane_call(struct accelerator_file *opened, const void __user *argument);

void accelerator_put(struct accelerator *accelerator);
/*
 * After -EAGAIN of a register access, for which a daemon has died: true when another one serves the
 * device, else the reason. Not under `serving`, which each close takes: this may take minutes.
 */
bool accelerator_may_try_again(struct accelerator *accelerator, int *error);

/* The nodes of a driver: before it is registered with the bus, and after. */
int accelerator_nodes_create(struct accelerator_driver *driver, struct module *owner);
void accelerator_nodes_destroy(struct accelerator_driver *driver);
/* The device can be opened now; not any more. */
void accelerator_publish(struct accelerator *accelerator, bool is_there);
/* The node of a device. */
int accelerator_node_create(struct accelerator *accelerator);
void accelerator_node_destroy(struct accelerator *accelerator);
/* The device of a minor number, counted, or NULL. */
struct accelerator *accelerator_get(struct accelerator_nodes *nodes, unsigned int minor);

/*
 * The current process opens the device. With `only_new` a context that it has already
 * is -EBUSY. 0 or -errno, as mimic_bind(); -EBUSY: no context is free.
 */
int accelerator_context_enter(struct accelerator *accelerator, bool only_new,
			      struct accelerator_context **context);
void accelerator_context_leave(struct accelerator_context *context);
void accelerator_context_put(struct accelerator_context *context);
/* An address is not the process's: tells the files that asked to be told. */
void accelerator_context_fault(struct accelerator_context *context);
/* Drivers with events: some have happened. `is_counted`: also some that the eventfd counts. */
void accelerator_context_events(struct accelerator_context *context, bool is_counted);

int accelerator_faults_start(struct accelerator *accelerator);
void accelerator_faults_stop(struct accelerator *accelerator);

/* The device's files in sysfs. */
int accelerator_attributes_create(struct accelerator *accelerator);
void accelerator_attributes_destroy(struct accelerator *accelerator);

int accelerator_fault_in(struct accelerator_context *context,
			 const struct accelerator_fault *fault, bool nowait);
/* accelerator->serving is held; `has_more` says whether accelerator_faults_go_on() is due. */
void accelerator_faults_serve_late(struct accelerator *accelerator);
void accelerator_faults_go_on(struct accelerator *accelerator);

void accelerator_slow_start(struct accelerator *accelerator);
void accelerator_slow_stop(struct accelerator *accelerator);
/* These three: accelerator->serving is held. A thread brings the page: 0 or -ENOMEM. */
int accelerator_slow_begin(struct accelerator_slow *slow, const struct accelerator_fault *fault);
bool accelerator_slow_runs(const struct accelerator_context *context);
/* No thread waits for the context's slow pages any more. */
void accelerator_slow_cancel(struct accelerator_context *context);
/*
 * The device raises its interrupt for these events from now on; 0: for none. 0; -ENODEV,
 * or the error of the register access. accelerator->serving is held.
 */
int accelerator_events_want(struct accelerator *accelerator, u64 events);
/* The watch: checks for faults whose interrupt got lost while a process has the device. */
void accelerator_faults_watch(struct accelerator *accelerator);

#endif
