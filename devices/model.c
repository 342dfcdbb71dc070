/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/model.h"

#include <string.h>

/* The values that a pattern carries have its size. */
static uint64_t low_bytes(uint64_t value, unsigned int size)
{
	return size >= sizeof(value) ? value : value & ((1ull << (8 * size)) - 1);
}

size_t mimic_store_each(struct mimic_model *model, const struct mimic_access *pattern, const uint64_t *values,
			size_t count, uint64_t now)
{
	size_t done;

	for (done = 0; done < count && !model->ops->busy(model); done++) {
		struct mimic_access access = *pattern;

		access.is_write = 1;
		access.data = low_bytes(values[done], access.size);
		if (model->ops->access(model, &access, now) == MIMIC_PARKED) {
			model->ops->cancel(model, access.owner, now);
			break;
		}
	}
	return done;
}

size_t mimic_load_each(struct mimic_model *model, const struct mimic_access *pattern, void *values,
		       size_t count, uint64_t now)
{
	size_t done;

	for (done = 0; done < count; done++) {
		struct mimic_access access = *pattern;

		access.is_write = 0;
		if (model->ops->access(model, &access, now) == MIMIC_PARKED) {
			model->ops->cancel(model, access.owner, now);
			break;
		}
		memcpy((char *)values + done * access.size, &access.data, access.size);
	}
	return done;
}
