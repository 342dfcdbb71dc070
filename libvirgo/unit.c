/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Used by the other files: error texts, the owner of a handle, its units and their registers. */
#include <stdarg.h>
#include <unistd.h>

#include "internal.h"

int virgo_fail(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	mimic_library_set_text(format, arguments);
	va_end(arguments);
	return error;
}

const char *virgo_error_text(void)
{
	return mimic_library_text();
}

int virgo_check_owner(const struct virgo *virgo)
{
	if (virgo->owner != getpid())
		return virgo_fail(-ENODEV, "%s: the handle is the parent's", virgo_device_name(virgo));
	return 0;
}

const char *virgo_transport(const struct virgo *virgo)
{
	return mimic_device_transport(virgo->device);
}

const char *virgo_device_name(const struct virgo *virgo)
{
	return mimic_device_name(virgo->device);
}

/* --- units ------------------------------------------------------------------------- */

int virgo_find_any(const struct virgo *virgo, unsigned int number, const struct virgo_unit **unit)
{
	*unit = NULL;
	if (unlikely(!virgo))
		return virgo_fail(-EINVAL, "the handle is NULL");
	if (unlikely(number >= virgo->unit_count))
		return virgo_fail(-EINVAL, "unit %u: %s has %u, numbered from 0", number,
				  virgo_device_name(virgo), virgo->unit_count);
	*unit = &virgo->unit[number];
	return 0;
}

int virgo_find(struct virgo *virgo, unsigned int number, struct virgo_unit **unit)
{
	const struct virgo_unit *found;
	int error = virgo_find_any(virgo, number, &found);

	if (unlikely(error))
		return error;
	*unit = &virgo->unit[number];
	if (unlikely(__atomic_load_n(&found->is_taken, __ATOMIC_ACQUIRE)))
		return virgo_fail(-EBUSY, "unit %u: virgo_gemm_start() has it", number);
	return 0;
}

int virgo_load_register(struct virgo_unit *unit, unsigned int offset, uint64_t *value)
{
	return mimic_library_load(unit->virgo->device, VIRGO_PAGE_UNITS,
				  VIRGO_BLOCK_SIZE * unit->number + offset, 8, value);
}

int virgo_store_register(struct virgo_unit *unit, unsigned int offset, uint64_t value)
{
	return mimic_library_store(unit->virgo->device, VIRGO_PAGE_UNITS,
				   VIRGO_BLOCK_SIZE * unit->number + offset, value);
}

unsigned int virgo_unit_count(const struct virgo *virgo)
{
	return virgo->unit_count;
}

int virgo_unit_info(const struct virgo *virgo, unsigned int number, struct virgo_unit_info *info)
{
	const struct virgo_unit *unit;
	int error = virgo_find_any(virgo, number, &unit);

	if (error)
		return error;
	if (!info)
		return virgo_fail(-EINVAL, "virgo_unit_info: no place for it");
	*info = unit->info;
	return 0;
}

int virgo_find_unit(const struct virgo *virgo, enum virgo_type type, unsigned int dim)
{
	static const char *const names[VIRGO_TYPES] = {
		[VIRGO_INT8] = "int8", [VIRGO_FP16] = "fp16", [VIRGO_FP32] = "fp32",
	};
	const char *name = (unsigned int)type < VIRGO_TYPES ? names[type] : "unknown";

	if (!virgo)
		return virgo_fail(-EINVAL, "the handle is NULL");
	for (unsigned int i = 0; i < virgo->unit_count; i++) {
		const struct virgo_unit_info *info = &virgo->unit[i].info;

		if (info->type == type && (!dim || info->dim == dim))
			return (int)i;
	}
	if (!dim)
		return virgo_fail(-ENXIO, "%s has no unit of type %s", virgo_device_name(virgo), name);
	return virgo_fail(-ENXIO, "%s has no unit of type %s with %u x %u",
			  virgo_device_name(virgo), name, dim, dim);
}
