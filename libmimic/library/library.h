/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The part that the libraries of devices have in common: they open a device, check
 * that it is of their kind, load and store its registers, and keep a text for the last
 * error. Each of them links a copy of its own and hides it; libmimic.so has none of it.
 */
#ifndef LIBMIMIC_LIBRARY_H
#define LIBMIMIC_LIBRARY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libmimic/mimic.h"

struct mimic_library_kind {
	const char *name;	/* "dare": the beginning of its devices' names */
	const char *title;	/* "DARE": its name in error texts */
	/* IDENTIFY: the magic is in bits 63:32, the version in 31:24. */
	unsigned int page, offset;
	uint32_t magic;
	unsigned int version;
};

/* The common part of the libraries' options. */
struct mimic_library_options {
	const char *device, *transport, *socket_path, *config_path;
};

/* Opens options->device; NULL: any of this kind. 0, or -errno with a text. */
int mimic_library_open(struct mimic_device **device, const struct mimic_library_kind *kind,
		       const struct mimic_library_options *options);
/* Reads IDENTIFY. -EPROTO: it is of another kind, or of another version. */
int mimic_library_identify(struct mimic_device *device, const struct mimic_library_kind *kind,
			   uint64_t *identity);

/* One access. 0, or -errno with a text. */
int mimic_library_load(struct mimic_device *device, unsigned int page, unsigned int offset,
		       unsigned int size, uint64_t *value);
int mimic_library_store(struct mimic_device *device, unsigned int page, unsigned int offset,
			uint64_t value);
/* mimic_memory_alloc() with a text. */
void *mimic_library_alloc(struct mimic_device *device, size_t size);

/* The text of the calling thread's last error in this library; "": there was none. */
const char *mimic_library_text(void);
void mimic_library_set_text(const char *format, va_list arguments) __attribute__((format(printf, 1, 0), cold));
/* Takes libmimic's text for this error of one of its calls over. Returns `error`. */
int mimic_library_error(int error) __attribute__((cold));

/* The result of a call of libmimic; if it is an error, its text is taken over. */
static inline int mimic_library_result(int result)
{
	return __builtin_expect(result < 0, 0) ? mimic_library_error(result) : result;
}

/* mimic_device_post() to a register of 8 bytes. The count, or -errno with a text. */
static inline ssize_t mimic_library_post(struct mimic_device *device, unsigned int page,
					 unsigned int offset, const uint64_t *values, size_t count)
{
	const struct mimic_access pattern = {
		.page = (uint8_t)page, .offset = offset, .size = 8, .is_write = 1,
	};
	ssize_t posted = mimic_device_post(device, &pattern, values, count);

	return __builtin_expect(posted < 0, 0) ? mimic_library_error((int)posted) : posted;
}

#endif
