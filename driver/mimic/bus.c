// SPDX-License-Identifier: GPL-2.0
/* The bus: how devices and function drivers find each other. */
#include <linux/device.h>

#include "internal.h"

static int mimic_bus_match(struct device *device, mimic_const_driver struct device_driver *driver)
{
	const struct mimic_driver *wanted = container_of(driver, struct mimic_driver, driver);

	return !strcmp(to_mimic_device(device)->kind, wanted->kind);
}

static int mimic_bus_uevent(mimic_const_device struct device *device, struct kobj_uevent_env *env)
{
	return add_uevent_var(env, "MODALIAS=mimic:%s", to_mimic_device(device)->kind);
}

static int mimic_bus_probe(struct device *device)
{
	struct mimic_driver *driver = container_of(device->driver, struct mimic_driver, driver);
	struct mimic_bus_device *bus_device = to_bus_device(to_mimic_device(device));
	int error;

	/* Before, as a probe ends with nodes that are opened at once. */
	mimic_device_driven_by(bus_device, driver);
	error = driver->probe(to_mimic_device(device));
	if (error)
		mimic_device_driven_by(bus_device, NULL);
	return error;
}

static void mimic_bus_remove(struct device *device)
{
	struct mimic_driver *driver = container_of(device->driver, struct mimic_driver, driver);

	mimic_device_driven_by(to_bus_device(to_mimic_device(device)), NULL);
	if (driver->remove)
		driver->remove(to_mimic_device(device));
}

static ssize_t kind_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%s\n", to_mimic_device(device)->kind);
}
static DEVICE_ATTR_RO(kind);

static ssize_t served_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct mimic_bus_device *bus_device = to_bus_device(to_mimic_device(device));

	return sysfs_emit(text, "%d\n", READ_ONCE(bus_device->connection) ? 1 : 0);
}
static DEVICE_ATTR_RO(served);

static struct attribute *device_attrs[] = {
	&dev_attr_kind.attr,
	&dev_attr_served.attr,
	NULL,
};
ATTRIBUTE_GROUPS(device);

struct bus_type mimic_bus = {
	.name = "mimic",
	.match = mimic_bus_match,
	.uevent = mimic_bus_uevent,
	.probe = mimic_bus_probe,
	.remove = mimic_bus_remove,
	.dev_groups = device_groups,
};

int __mimic_driver_register(struct mimic_driver *driver, struct module *owner)
{
	driver->driver.bus = &mimic_bus;
	driver->driver.owner = owner;
	return driver_register(&driver->driver);
}
EXPORT_SYMBOL_GPL(__mimic_driver_register);

void mimic_driver_unregister(struct mimic_driver *driver)
{
	driver_unregister(&driver->driver);
	/* Nobody has a file any more; notifiers that call the driver may still be there. */
	mimic_bindings_flush();
}
EXPORT_SYMBOL_GPL(mimic_driver_unregister);
