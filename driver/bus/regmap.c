// SPDX-License-Identifier: GPL-2.0
/* A regmap bus over the register windows of a device. */
#include <linux/regmap.h>

#include "mimic.h"

static int mimic_regmap_check(u32 reg, size_t size)
{
	if (size != sizeof(u32) && size != sizeof(u64))
		return -EINVAL;
	return reg % size ? -EINVAL : 0;
}

static int mimic_regmap_read(void *context, const void *reg_buf, size_t reg_size, void *val_buf,
			     size_t val_size)
{
	u32 reg = *(const u32 *)reg_buf;
	u64 value;
	int error = mimic_regmap_check(reg, val_size);

	if (error)
		return error;
	error = mimic_device_read(context, reg / PAGE_SIZE, reg % PAGE_SIZE, val_size, &value);
	/* Little endian, as the machines that mimic runs on. */
	if (!error)
		memcpy(val_buf, &value, val_size);
	return error;
}

static int mimic_regmap_write_value(void *context, u32 reg, const void *bytes, size_t size)
{
	u64 value = 0;
	int error = mimic_regmap_check(reg, size);

	if (error)
		return error;
	memcpy(&value, bytes, size);
	return mimic_device_write(context, reg / PAGE_SIZE, reg % PAGE_SIZE, size, value);
}

static int mimic_regmap_gather_write(void *context, const void *reg, size_t reg_size,
				     const void *val, size_t val_size)
{
	return mimic_regmap_write_value(context, *(const u32 *)reg, val, val_size);
}

static int mimic_regmap_write(void *context, const void *data, size_t count)
{
	return mimic_regmap_write_value(context, *(const u32 *)data, data + sizeof(u32),
					count - sizeof(u32));
}

static const struct regmap_bus regmap_bus = {
	.read = mimic_regmap_read,
	.write = mimic_regmap_write,
	.gather_write = mimic_regmap_gather_write,
	.reg_format_endian_default = REGMAP_ENDIAN_NATIVE,
	.val_format_endian_default = REGMAP_ENDIAN_NATIVE,
	.max_raw_read = sizeof(u64),
	.max_raw_write = sizeof(u64),
};

struct regmap *devm_mimic_regmap(struct mimic_device *device, const struct regmap_config *config)
{
	struct regmap_config complete = *config;

	complete.reg_bits = 32;
	complete.val_bits = 32;
	complete.reg_stride = sizeof(u32);
	complete.max_register = device->pages * PAGE_SIZE - sizeof(u32);
	/* Loads have effects: nothing is cached. */
	complete.cache_type = REGCACHE_NONE;
	return devm_regmap_init(&device->dev, &regmap_bus, device, &complete);
}
EXPORT_SYMBOL_GPL(devm_mimic_regmap);
