/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/image.h"

#include <string.h>

struct image_header {
	uint64_t magic;
	uint32_t version;
	uint32_t header_size;	/* with the configuration */
	uint64_t total_size;
};

static size_t header_size(const struct mimic_image_kind *kind)
{
	return (sizeof(struct image_header) + kind->config_size + 7) / 8 * 8;
}

size_t mimic_image_size(const struct mimic_image_kind *kind, size_t state_size)
{
	return header_size(kind) + state_size;
}

char *mimic_image_put(char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

const char *mimic_image_get(const char *from, void *to, size_t size)
{
	memcpy(to, from, size);
	return from + size;
}

char *mimic_image_begin(const struct mimic_image_kind *kind, const void *config, void *image,
			size_t state_size)
{
	struct image_header header = {
		.magic = kind->magic, .version = kind->version,
		.header_size = (uint32_t)header_size(kind),
		.total_size = mimic_image_size(kind, state_size),
	};
	char *to = image;

	memset(to, 0, header_size(kind));
	mimic_image_put(mimic_image_put(to, &header, sizeof(header)), config, kind->config_size);
	return to + header_size(kind);
}

const char *mimic_image_state(const struct mimic_image_kind *kind, const void *config,
			      const void *image, size_t size, size_t state_size)
{
	struct image_header header;
	const char *from = image;

	if (size != mimic_image_size(kind, state_size))
		return NULL;
	from = mimic_image_get(from, &header, sizeof(header));
	if (header.magic != kind->magic || header.version != kind->version ||
	    header.header_size != header_size(kind) || header.total_size != size ||
	    memcmp(from, config, kind->config_size))
		return NULL;
	return (const char *)image + header_size(kind);
}
