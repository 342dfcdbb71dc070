// SPDX-License-Identifier: GPL-2.0
/*
 * accelerator.ko: code that drivers of devices on mimic's bus share (accelerator.h).
 *
 * This file: the module, drivers and their devices.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "internal.h"
#include "version.h"

/* --- lifetime ------------------------------------------------------------- */

static void accelerator_free(struct kref *references)
{
	struct accelerator *accelerator = container_of(references, struct accelerator, references);

	mimic_device_put(accelerator->device);
	kfree(accelerator);
}

void accelerator_put(struct accelerator *accelerator)
{
	kref_put(&accelerator->references, accelerator_free);
}

/* --- registers ------------------------------------------------------------ */

/* One message when the device falls silent, not one for each access. */
static int accelerator_note_answer(struct accelerator *accelerator, int error)
{
	struct device *dev = &accelerator->device->dev;

	if (error == -ETIMEDOUT) {
		atomic64_inc(&accelerator->timeouts);
		if (!accelerator->silent)
			dev_warn_ratelimited(dev, "no answer: page faults wait\n");
		accelerator->silent = true;
	} else if (!error && accelerator->silent) {
		dev_info_ratelimited(dev, "answers again\n");
		accelerator->silent = false;
	}
	return error;
}

int accelerator_read(struct accelerator *accelerator, unsigned int page, unsigned int offset,
		     u64 *value)
{
	unsigned int reg = page * PAGE_SIZE + offset;
	int error = regmap_raw_read(accelerator->regmap, reg, value, sizeof(*value));

	return accelerator_note_answer(accelerator, error);
}
EXPORT_SYMBOL_GPL(accelerator_read);

int accelerator_write(struct accelerator *accelerator, unsigned int page, unsigned int offset,
		      u64 value)
{
	unsigned int reg = page * PAGE_SIZE + offset;
	int error = regmap_raw_write(accelerator->regmap, reg, &value, sizeof(value));

	return accelerator_note_answer(accelerator, error);
}
EXPORT_SYMBOL_GPL(accelerator_write);

bool accelerator_may_try_again(struct accelerator *accelerator, int *error)
{
	*error = mimic_device_wait_for_daemon(accelerator->device);
	return !*error;
}

static bool accelerator_register_has_effects(struct device *dev, unsigned int reg)
{
	const struct accelerator *accelerator = dev_get_drvdata(dev);

	return reg != accelerator->driver->harmless_register;
}

/* --- the device ----------------------------------------------------------- */

static int accelerator_check_resources(struct mimic_device *device,
				       const struct accelerator_driver *driver)
{
	if (driver->memory_page && !device->memory_size) {
		dev_err(&device->dev, "no memory: a %s has some\n", driver->name);
		return -EINVAL;
	}
	if (device->index < ACCELERATOR_MINOR_ANY && device->pages >= driver->pages &&
	    device->interrupts)
		return 0;
	dev_err(&device->dev, "%u pages and %u interrupts: a %s has at least %u and 1\n",
		device->pages, device->interrupts, driver->name, driver->pages);
	return -EINVAL;
}

static struct accelerator *accelerator_create(struct mimic_device *device,
					      struct accelerator_driver *driver)
{
	struct accelerator *accelerator = kzalloc(driver->size, GFP_KERNEL);

	if (!accelerator)
		return NULL;
	if (!mimic_device_get(device)) {
		kfree(accelerator);
		return NULL;
	}
	kref_init(&accelerator->references);
	mutex_init(&accelerator->serving);
	spin_lock_init(&accelerator->lock);
	accelerator->due_until = jiffies;
	accelerator->driver = driver;
	accelerator->context_count = 1;
	accelerator->device = device;
	return accelerator;
}

static int accelerator_identify(struct accelerator *accelerator)
{
	struct device *dev = &accelerator->device->dev;
	int error = accelerator->driver->identify(accelerator);

	/* A device or daemon that goes as soon as it has come is no error to log. */
	if (error && error != -ENODEV && error != -EIO && error != -EAGAIN)
		dev_err(dev, "IDENTIFY cannot be read: %d\n", error);
	return error;
}

static int accelerator_start(struct accelerator *accelerator)
{
	const struct accelerator_driver *driver = accelerator->driver;
	struct mimic_device *device = accelerator->device;
	const struct regmap_config config = {
		.name = driver->name,
		.precious_reg = accelerator_register_has_effects,
	};
	int error;

	accelerator->regmap = devm_mimic_regmap(device, &config);
	if (IS_ERR(accelerator->regmap))
		return PTR_ERR(accelerator->regmap);
	error = accelerator_identify(accelerator);
	if (error)
		return error;
	error = accelerator_faults_start(accelerator);
	if (error) {
		dev_err(&device->dev, "no page fault interrupt: %d\n", error);
		return error;
	}
	/* Before the node: as soon as udev tells of it, it must have its attributes, and open. */
	error = accelerator_attributes_create(accelerator);
	if (error)
		goto no_attributes;
	accelerator_publish(accelerator, true);
	error = accelerator_node_create(accelerator);
	if (!error)
		return 0;
	accelerator_publish(accelerator, false);
	accelerator_attributes_destroy(accelerator);
no_attributes:
	accelerator_faults_stop(accelerator);
	return error;
}

static int accelerator_probe(struct mimic_device *device)
{
	struct mimic_driver *bus = container_of(device->dev.driver, struct mimic_driver, driver);
	struct accelerator_driver *driver = container_of(bus, struct accelerator_driver, bus);
	struct accelerator *accelerator;
	int error;

	error = accelerator_check_resources(device, driver);
	if (error)
		return error;
	accelerator = accelerator_create(device, driver);
	if (!accelerator)
		return -ENOMEM;
	dev_set_drvdata(&device->dev, accelerator);
	error = accelerator_start(accelerator);
	if (error) {
		accelerator_put(accelerator);
		return error;
	}
	if (driver->announce)
		driver->announce(accelerator);
	return 0;
}

/* Programs may still have it open: the bus told their files that it is gone. */
static void accelerator_remove(struct mimic_device *device)
{
	struct accelerator *accelerator = dev_get_drvdata(&device->dev);

	accelerator_publish(accelerator, false);
	accelerator_node_destroy(accelerator);
	accelerator_attributes_destroy(accelerator);
	accelerator_faults_stop(accelerator);
	dev_info(&device->dev, "removed\n");
	accelerator_put(accelerator);
}

/*
 * Another daemon, and perhaps another profile. A process may have been faster, and have the device
 * of this one already, or have had it: then it is not as after power-on.
 */
static int accelerator_reset(struct mimic_device *device)
{
	struct accelerator *accelerator = dev_get_drvdata(&device->dev);
	const struct accelerator_context *context;
	int error;

	mutex_lock(&accelerator->serving);
	context = accelerator->contexts[0];
	if (!context || READ_ONCE(context->gone))
		accelerator->events = 0;
	accelerator->is_used = context;
	error = accelerator_identify(accelerator);
	if (accelerator->driver->reset)
		accelerator->driver->reset(accelerator);
	mutex_unlock(&accelerator->serving);
	return error;
}

/* --- the driver and the module -------------------------------------------- */

int __accelerator_driver_register(struct accelerator_driver *driver, struct module *owner)
{
	int error = accelerator_nodes_create(driver, owner);

	if (error)
		return error;
	driver->bus.driver.name = driver->name;
	driver->bus.kind = driver->name;
	driver->bus.is_shared = driver->attach;
	driver->bus.waiters = driver->waiters;
	driver->bus.probe = accelerator_probe;
	driver->bus.remove = accelerator_remove;
	driver->bus.reset = accelerator_reset;
	error = __mimic_driver_register(&driver->bus, owner);
	if (error)
		accelerator_nodes_destroy(driver);
	return error;
}
EXPORT_SYMBOL_GPL(__accelerator_driver_register);

void accelerator_driver_unregister(struct accelerator_driver *driver)
{
	mimic_driver_unregister(&driver->bus);
	accelerator_nodes_destroy(driver);
}
EXPORT_SYMBOL_GPL(accelerator_driver_unregister);

MODULE_DESCRIPTION("Nodes, page faults and shootdowns of the accelerators on mimic's bus");
MODULE_LICENSE("GPL");
MODULE_VERSION(MIMIC_DRIVER_VERSION);
