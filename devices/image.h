/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Images of a model's whole state: a header, the configuration, then the data that the
 * model puts behind them. An image is restored only into a device of the same kind
 * and configuration.
 */
#ifndef MIMIC_DEVICES_IMAGE_H
#define MIMIC_DEVICES_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mimic_image_kind {
	uint64_t magic;
	uint32_t version;
	uint32_t config_size;
};

/* Bytes of an image with so much state. */
size_t mimic_image_size(const struct mimic_image_kind *kind, size_t state_size);
/* Writes the header and the configuration. Answers where the state goes. */
char *mimic_image_begin(const struct mimic_image_kind *kind, const void *config, void *image,
			size_t state_size);
/* Where the state is; NULL: no image of this kind, size and configuration. */
const char *mimic_image_state(const struct mimic_image_kind *kind, const void *config,
			      const void *image, size_t size, size_t state_size);

/* Pieces one after the other. The answer is where the next one is. An image may lie at any address. */
char *mimic_image_put(char *to, const void *from, size_t size);
const char *mimic_image_get(const char *from, void *to, size_t size);

#endif
