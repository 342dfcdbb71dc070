/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A device from outside of mimic's tree: a shared library that exports one symbol,
 *
 *	MIMIC_PLUGIN(mimic_kind_mydevice);
 *
 * and is linked with libmimic-device.a (pkg-config mimic-device). docs/your-device.md
 * leads through it.
 *
 * Nothing of a plugin is trusted to be right: it is tried in a child process first
 * (libmimic/base/plugin.c). But it then runs in the process of the programs that use the
 * device, or of mimicd, as any library does.
 */
#ifndef MIMIC_DEVICES_PLUGIN_H
#define MIMIC_DEVICES_PLUGIN_H

#include "devices/kind.h"

/*
 * The version of the interface between devices/ and libmimic. 0: it may change with each release,
 * so that a plugin fits the release that it was compiled for, and no other.
 */
#define MIMIC_PLUGIN_VERSION 0u

struct mimic_plugin {
	/* These three never move: a plugin of another version is told by them. */
	uint32_t version;	/* MIMIC_PLUGIN_VERSION */
	uint32_t size;		/* of this structure */
	const char *release;	/* of mimic */

	/* Structures as the plugin's compiler saw them. */
	uint32_t kind_size, ops_size, host_size, access_size, block_size, register_size;
	const struct mimic_kind *kind;
};

/* The release of mimic that libmimic-device.a belongs to. */
extern const char mimic_device_release[];

#define MIMIC_PLUGIN(kind_) \
	__attribute__((visibility("default"))) extern const struct mimic_plugin mimic_plugin; \
	const struct mimic_plugin mimic_plugin = { \
		.version = MIMIC_PLUGIN_VERSION, \
		.size = sizeof(struct mimic_plugin), \
		.release = mimic_device_release, \
		.kind_size = sizeof(struct mimic_kind), \
		.ops_size = sizeof(struct mimic_model_ops), \
		.host_size = sizeof(struct mimic_host), \
		.access_size = sizeof(struct mimic_access), \
		.block_size = sizeof(struct mimic_register_block), \
		.register_size = sizeof(struct mimic_register), \
		.kind = &(kind_), \
	}

#endif
