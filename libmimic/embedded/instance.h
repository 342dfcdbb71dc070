/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The instances of the embedded transport: their names, and their beginning and end. */
#ifndef LIBMIMIC_EMBEDDED_INSTANCE_H
#define LIBMIMIC_EMBEDDED_INSTANCE_H

#include "libmimic/embedded/embedded.h"

struct mimic_settings;

/* All under the device table's lock, or where no other thread is. */
int mimic_embedded_open(struct mimic_device **device, const char *name,
			const struct mimic_options *options);
void mimic_embedded_close(struct mimic_device *device);
void mimic_embedded_after_fork(void);
/* On the thread that ends. */
void mimic_embedded_thread_gone(void);

/* NULL: none was made for this slot, below MIMIC_THREAD_SLOTS. From any thread. */
struct embedded_instance *mimic_embedded_instance_at(unsigned int slot);
bool mimic_embedded_instance_is_private(const struct embedded_instance *instance);
/* "maple0", "maple@3". For signal handlers, too. */
void mimic_embedded_instance_name(const struct embedded_instance *instance, char *name, size_t size);

/* model.c */

/* A model and its memory. No model: nothing to free, or only the memory. */
struct embedded_model {
	struct mimic_model *model;
	struct embedded_memory memory;
};

/* 0 or -errno. */
int mimic_embedded_model_make(struct embedded_instance *instance, const struct mimic_settings *settings,
			      struct embedded_model *made);
/* Without the lock. */
void mimic_embedded_model_free(const struct mimic_kind *kind, struct embedded_model *made);

#endif
