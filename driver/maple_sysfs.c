// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/mimic/devices/mapleN/: what the driver knows of a device. */
#include <linux/device.h>
#include <linux/pid.h>
#include <linux/sysfs.h>

#include "maple.h"

static ssize_t profile_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const struct maple *maple = dev_get_drvdata(dev);

	return sysfs_emit(text, "%s\n", maple_is_paper(maple) ? "paper" : "artifact");
}
static DEVICE_ATTR_RO(profile);

/* The process that has the device, as the reader's namespace numbers it; 0: nobody it can see. */
static ssize_t holder_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct maple *maple = dev_get_drvdata(dev);
	pid_t process = 0;

	spin_lock(&maple->lock);
	if (maple->user && !READ_ONCE(maple->user->gone))
		process = pid_vnr(maple->user->process);
	spin_unlock(&maple->lock);
	return sysfs_emit(text, "%d\n", process);
}
static DEVICE_ATTR_RO(holder);

struct counter_attribute {
	struct device_attribute attribute;
	size_t offset;	/* of an atomic64_t in struct maple */
};

static ssize_t counter_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const struct counter_attribute *counter =
		container_of(attribute, struct counter_attribute, attribute);
	const atomic64_t *value = dev_get_drvdata(dev) + counter->offset;

	return sysfs_emit(text, "%lld\n", (long long)atomic64_read(value));
}

#define COUNTER_ATTRIBUTE(name, member) { \
	.attribute = __ATTR(name, 0444, counter_show, NULL), \
	.offset = offsetof(struct maple, member), \
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

static struct attribute *maple_attrs[] = {
	&dev_attr_profile.attr,
	&dev_attr_holder.attr,
	&counters[0].attribute.attr,
	&counters[1].attribute.attr,
	&counters[2].attribute.attr,
	&counters[3].attribute.attr,
	&counters[4].attribute.attr,
	&counters[5].attribute.attr,
	&counters[6].attribute.attr,
	NULL
};

static const struct attribute_group maple_group = {
	.attrs = maple_attrs,
};

const struct attribute_group *maple_attribute_groups[] = {
	&maple_group,
	NULL
};
