// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/mimic/devices/NAMEn/: what has been counted of a device. */
#include <linux/module.h>
#include <linux/sysfs.h>

#include "internal.h"

struct counter_attribute {
	struct device_attribute attribute;
	size_t offset;	/* of an atomic64_t in struct accelerator */
};

static ssize_t accelerator_counter_show(struct device *dev, struct device_attribute *attribute,
					char *text)
{
	const struct counter_attribute *counter =
		container_of(attribute, struct counter_attribute, attribute);
	const atomic64_t *value = dev_get_drvdata(dev) + counter->offset;

	return sysfs_emit(text, "%lld\n", (long long)atomic64_read(value));
}

#define COUNTER_ATTRIBUTE(name, member) { \
	.attribute = __ATTR(name, 0444, accelerator_counter_show, NULL), \
	.offset = offsetof(struct accelerator, member), \
}

static struct counter_attribute counters[] = {
	COUNTER_ATTRIBUTE(interrupts, interrupts),
	COUNTER_ATTRIBUTE(spurious, spurious),
	COUNTER_ATTRIBUTE(faults, faults),
	COUNTER_ATTRIBUTE(unresolved, unresolved),
	COUNTER_ATTRIBUTE(polled, polled),
	COUNTER_ATTRIBUTE(shootdowns, shootdowns),
	COUNTER_ATTRIBUTE(timeouts, timeouts),
};

static struct attribute *counter_attrs[] = {
	&counters[0].attribute.attr,
	&counters[1].attribute.attr,
	&counters[2].attribute.attr,
	&counters[3].attribute.attr,
	&counters[4].attribute.attr,
	&counters[5].attribute.attr,
	&counters[6].attribute.attr,
	NULL
};

const struct attribute_group accelerator_group = {
	.attrs = counter_attrs,
};
EXPORT_SYMBOL_GPL(accelerator_group);
