// SPDX-License-Identifier: GPL-2.0
/*
 * mimic_bus.ko: how devices and function drivers find each other. The devices come from a daemon,
 * by mimic.ko, or from a bus of hardware, by mimic_pci.ko.
 */
#include <linux/device.h>

#include "compat.h"
#include "mimic_bus.h"
#include "version.h"

struct workqueue_struct *mimic_retire_workqueue;
EXPORT_SYMBOL_GPL(mimic_retire_workqueue);

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
	struct mimic_device *wanted = to_mimic_device(device);
	int error;

	/* Before, as a probe ends with nodes that are opened at once. */
	wanted->ops->driven_by(wanted, driver);
	error = driver->probe(wanted);
	if (error)
		wanted->ops->driven_by(wanted, NULL);
	if (error == -EAGAIN && wanted->ops->probe_later)
		wanted->ops->probe_later(wanted);
	return error;
}

static void mimic_bus_remove(struct device *device)
{
	struct mimic_driver *driver = container_of(device->driver, struct mimic_driver, driver);
	struct mimic_device *driven = to_mimic_device(device);

	driven->ops->driven_by(driven, NULL);
	if (driver->remove)
		driver->remove(driven);
}

static ssize_t kind_show(struct device *device, struct device_attribute *attribute, char *text)
{
	return sysfs_emit(text, "%s\n", to_mimic_device(device)->kind);
}
static DEVICE_ATTR_RO(kind);

static ssize_t served_show(struct device *device, struct device_attribute *attribute, char *text)
{
	struct mimic_device *shown = to_mimic_device(device);

	return sysfs_emit(text, "%d\n", shown->ops->is_served(shown));
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
EXPORT_SYMBOL_GPL(mimic_bus);

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
	flush_workqueue(mimic_retire_workqueue);
}
EXPORT_SYMBOL_GPL(mimic_driver_unregister);

static int __init mimic_bus_init(void)
{
	int error;

	mimic_retire_workqueue = alloc_workqueue("mimic_retire", WQ_UNBOUND, 0);
	if (!mimic_retire_workqueue)
		return -ENOMEM;
	error = bus_register(&mimic_bus);
	if (error)
		destroy_workqueue(mimic_retire_workqueue);
	return error;
}

static void __exit mimic_bus_exit(void)
{
	bus_unregister(&mimic_bus);
	destroy_workqueue(mimic_retire_workqueue);
}

module_init(mimic_bus_init);
module_exit(mimic_bus_exit);

MODULE_DESCRIPTION("Bus between mimic's accelerators and their drivers");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
