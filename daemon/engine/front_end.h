/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A way by which programs reach the engine. Front ends do not know each other, and the engine
 * knows only the structure that each registers here.
 */
#ifndef MIMICD_FRONT_END_H
#define MIMICD_FRONT_END_H

#include <stdbool.h>

struct mimicd_binding;
struct mimicd_engine;
struct mimicd_instance;

/* Each may be NULL. All calls come from the loop's thread. */
struct mimicd_front_end_ops {
	/* As programs know the way: "daemon", "kernel". NULL: they get no device by it. */
	const char *transport;
	/*
	 * Serves requests that no descriptor announces. `is_idle`: the engine has nothing
	 * else to do, so that it may cost a system call. true: something was done.
	 */
	bool (*poll)(void *context, bool is_idle);
	/* Is there anything that poll() would do? */
	bool (*has_work)(void *context);
	/* Each time before the loop asks for events of its descriptors. */
	void (*prepare)(void *context);
	/* For programs that are about to wait: where the loop runs, and whether it must be woken. */
	void (*publish_cpu)(void *context, int cpu);
	void (*publish_sleep)(void *context, bool sleeps);
	/* There is a new device, to be shown on a bus. 0 or -errno: then there is none. */
	int (*add_device)(void *context, struct mimicd_instance *instance);
	/*
	 * Lanes for the process of a binding: *fd is the process's end of a connection by
	 * which it asks for them (docs/protocol.md), the caller's to hand on.
	 */
	int (*connect)(void *context, const struct mimicd_binding *binding, int *fd);
	/* Of a daemon that can be recovered (step.h): writes records anew that have changed. */
	void (*record)(void *context);
	/* The step is committed: its answers are shown. */
	void (*publish)(void *context);
	/* All models have their states again; what comes now is committed with the takeover (recover.h). */
	void (*recovered)(void *context);
};

struct mimicd_front_end {
	struct mimicd_front_end *next;
	const struct mimicd_front_end_ops *ops;
	void *context;
};

void mimicd_front_end_add(struct mimicd_engine *engine, struct mimicd_front_end *front_end);
void mimicd_front_end_remove(struct mimicd_engine *engine, struct mimicd_front_end *front_end);

/* Polls all front ends. true: something was done. */
bool mimicd_front_ends_poll(struct mimicd_engine *engine, bool is_idle);
/* Does one of them show devices on a bus? */
bool mimicd_front_ends_have_bus(const struct mimicd_engine *engine);
/* 0, or -errno of the first that failed: those before it show the device, the others do not. */
int mimicd_front_ends_add_device(struct mimicd_engine *engine, struct mimicd_instance *instance);
/* By the front end that can. -EOPNOTSUPP: none; -EMFILE, -ENOMEM, -ESRCH. */
int mimicd_front_ends_connect(struct mimicd_engine *engine, const struct mimicd_binding *binding, int *fd);
/* Calls these of all front ends that have them. */
void mimicd_front_ends_record(struct mimicd_engine *engine);
void mimicd_front_ends_publish(struct mimicd_engine *engine);
void mimicd_front_ends_recovered(struct mimicd_engine *engine);

#endif
