// SPDX-License-Identifier: GPL-2.0
/* /sys/bus/mimic/devices/NAMEn/: the processes that have a device, and its counters. */
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/sysfs.h>

#include "internal.h"

/* --- counters ---------------------------------------------------------------- */

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

static const struct attribute_group counter_group = {
	.attrs = counter_attrs,
};

/* --- which processes have it ------------------------------------------------- */

/* As the reader's namespace numbers it; 0: none, or none that the reader can see. */
static pid_t accelerator_holder(struct accelerator *accelerator, unsigned int number)
{
	struct accelerator_context *context;
	pid_t process = 0;

	spin_lock(&accelerator->lock);
	context = accelerator->contexts[number];
	if (context && !READ_ONCE(context->gone))
		process = pid_vnr(context->process);
	spin_unlock(&accelerator->lock);
	return process;
}

static ssize_t holder_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%d\n", accelerator_holder(dev_get_drvdata(dev), 0));
}
static DEVICE_ATTR_RO(holder);

static ssize_t contexts_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	const struct accelerator *accelerator = dev_get_drvdata(dev);

	return sysfs_emit(text, "%u\n", READ_ONCE(accelerator->context_count));
}
static DEVICE_ATTR_RO(contexts);

/* For each context its process. */
static ssize_t holders_show(struct device *dev, struct device_attribute *attribute, char *text)
{
	struct accelerator *accelerator = dev_get_drvdata(dev);
	unsigned int i, count = READ_ONCE(accelerator->context_count);
	ssize_t length = 0;

	for (i = 0; i < count; i++)
		length += sysfs_emit_at(text, length, "%d%c", accelerator_holder(accelerator, i),
					i + 1 < count ? ' ' : '\n');
	return length;
}
static DEVICE_ATTR_RO(holders);

static struct attribute *holder_attrs[] = {
	&dev_attr_holder.attr,
	&dev_attr_contexts.attr,
	&dev_attr_holders.attr,
	NULL
};

static umode_t accelerator_holder_is_visible(struct kobject *object, struct attribute *attribute,
					     int number)
{
	const struct accelerator *accelerator = dev_get_drvdata(kobj_to_dev(object));
	bool is_of_contexts = attribute != &dev_attr_holder.attr;

	return is_of_contexts == !!accelerator->driver->attach ? attribute->mode : 0;
}

static const struct attribute_group holder_group = {
	.attrs = holder_attrs,
	.is_visible = accelerator_holder_is_visible,
};

/* --- all of them ------------------------------------------------------------- */

#define GROUPS_MAX 4

/* Ours, and the driver's if it has any. */
static void accelerator_list_groups(const struct accelerator *accelerator,
				    const struct attribute_group *groups[GROUPS_MAX])
{
	groups[0] = &counter_group;
	groups[1] = &holder_group;
	groups[2] = accelerator->driver->attributes;
	groups[3] = NULL;
}

int accelerator_attributes_create(struct accelerator *accelerator)
{
	const struct attribute_group *groups[GROUPS_MAX];

	accelerator_list_groups(accelerator, groups);
	return device_add_groups(&accelerator->device->dev, groups);
}

/* Waits for readers. */
void accelerator_attributes_destroy(struct accelerator *accelerator)
{
	const struct attribute_group *groups[GROUPS_MAX];

	accelerator_list_groups(accelerator, groups);
	device_remove_groups(&accelerator->device->dev, groups);
}
