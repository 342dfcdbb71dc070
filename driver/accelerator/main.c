// SPDX-License-Identifier: GPL-2.0
/*
 * accelerator.ko: what drivers of devices on mimic's bus share (accelerator.h).
 *
 * This file: the module, the nodes of a driver, the coming and going of devices.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "internal.h"

struct workqueue_struct *accelerator_workqueue;

/* --- devices by minor number ------------------------------------------------ */

struct accelerator *accelerator_get(struct accelerator_nodes *nodes, unsigned int minor)
{
	struct accelerator *accelerator = NULL;

	if (minor >= ACCELERATOR_MINOR_ANY)
		return NULL;
	mutex_lock(&nodes->lock);
	accelerator = nodes->accelerators[minor];
	if (accelerator)
		kref_get(&accelerator->references);
	mutex_unlock(&nodes->lock);
	return accelerator;
}

static void accelerator_free(struct kref *references)
{
	struct accelerator *accelerator = container_of(references, struct accelerator, references);

	put_device(&accelerator->device->dev);
	kfree(accelerator);
}

void accelerator_put(struct accelerator *accelerator)
{
	kref_put(&accelerator->references, accelerator_free);
}

static void accelerator_publish(struct accelerator *accelerator, bool is_there)
{
	struct accelerator_nodes *nodes = accelerator->nodes;

	mutex_lock(&nodes->lock);
	nodes->accelerators[accelerator->device->index] = is_there ? accelerator : NULL;
	mutex_unlock(&nodes->lock);
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
					      struct accelerator_nodes *nodes)
{
	struct accelerator *accelerator = kzalloc(nodes->driver->size, GFP_KERNEL);

	if (!accelerator)
		return NULL;
	kref_init(&accelerator->references);
	mutex_init(&accelerator->serving);
	spin_lock_init(&accelerator->lock);
	accelerator->due_until = jiffies;
	accelerator->driver = nodes->driver;
	accelerator->nodes = nodes;
	accelerator->context_count = 1;
	accelerator->device = device;
	get_device(&device->dev);
	return accelerator;
}

static int accelerator_identify(struct accelerator *accelerator)
{
	struct device *dev = &accelerator->device->dev;
	int error = accelerator->driver->identify(accelerator);

	/* A device or daemon that goes as soon as it has come is nobody's concern. */
	if (error && error != -ENODEV && error != -EIO)
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
	/* Before the node: what udev tells of must have its attributes, and open. */
	error = device_add_groups(&device->dev, driver->attribute_groups);
	if (error)
		goto no_attributes;
	accelerator_publish(accelerator, true);
	accelerator->node = device_create(accelerator->nodes->class, &device->dev,
					  MKDEV(MAJOR(accelerator->nodes->numbers), device->index),
					  accelerator, "%s%d", driver->name, device->index);
	if (!IS_ERR(accelerator->node))
		return 0;
	error = PTR_ERR(accelerator->node);
	accelerator_publish(accelerator, false);
	device_remove_groups(&device->dev, driver->attribute_groups);
no_attributes:
	accelerator_faults_stop(accelerator);
	return error;
}

int accelerator_probe(struct mimic_device *device, struct accelerator_nodes *nodes)
{
	struct accelerator *accelerator;
	int error;

	error = accelerator_check_resources(device, nodes->driver);
	if (error)
		return error;
	accelerator = accelerator_create(device, nodes);
	if (!accelerator)
		return -ENOMEM;
	dev_set_drvdata(&device->dev, accelerator);
	error = accelerator_start(accelerator);
	if (error)
		accelerator_put(accelerator);
	return error;
}
EXPORT_SYMBOL_GPL(accelerator_probe);

/* Programs may still have it open: the bus told their files that it is gone. */
void accelerator_remove(struct mimic_device *device)
{
	struct accelerator *accelerator = dev_get_drvdata(&device->dev);

	accelerator_publish(accelerator, false);
	device_destroy(accelerator->nodes->class, accelerator->node->devt);
	/* Waits for readers. */
	device_remove_groups(&device->dev, accelerator->driver->attribute_groups);
	accelerator_faults_stop(accelerator);
	dev_info(&device->dev, "removed\n");
	accelerator_put(accelerator);
}
EXPORT_SYMBOL_GPL(accelerator_remove);

/* Another daemon, and perhaps another profile. */
void accelerator_reset(struct mimic_device *device)
{
	struct accelerator *accelerator = dev_get_drvdata(&device->dev);

	mutex_lock(&accelerator->serving);
	accelerator->events = 0;
	accelerator_identify(accelerator);
	if (accelerator->driver->reset)
		accelerator->driver->reset(accelerator);
	mutex_unlock(&accelerator->serving);
}
EXPORT_SYMBOL_GPL(accelerator_reset);

/* --- nodes ------------------------------------------------------------------ */

/* Anybody may use the device: it reaches nothing but its user's own memory. */
static char *accelerator_devnode(mimic_const_device struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

static int accelerator_create_class(struct accelerator_nodes *nodes)
{
	dev_t any = MKDEV(MAJOR(nodes->numbers), ACCELERATOR_MINOR_ANY);
	struct device *node;

	nodes->class = mimic_class_create(nodes->driver->name);
	if (IS_ERR(nodes->class))
		return PTR_ERR(nodes->class);
	nodes->class->devnode = accelerator_devnode;
	node = device_create(nodes->class, NULL, any, NULL, "%s", nodes->driver->name);
	if (!IS_ERR(node))
		return 0;
	class_destroy(nodes->class);
	return PTR_ERR(node);
}

static void accelerator_destroy_class(struct accelerator_nodes *nodes)
{
	device_destroy(nodes->class, MKDEV(MAJOR(nodes->numbers), ACCELERATOR_MINOR_ANY));
	class_destroy(nodes->class);
}

int accelerator_nodes_create(struct accelerator_nodes *nodes,
			     const struct accelerator_driver *driver, struct module *owner)
{
	int error;

	nodes->driver = driver;
	mutex_init(&nodes->lock);
	error = alloc_chrdev_region(&nodes->numbers, 0, ACCELERATOR_MINORS, driver->name);
	if (error)
		return error;
	error = accelerator_create_class(nodes);
	if (error)
		goto no_class;
	cdev_init(&nodes->cdev, &accelerator_file_operations);
	/* An open file holds it, and it holds us. */
	nodes->cdev.owner = owner;
	error = cdev_add(&nodes->cdev, nodes->numbers, ACCELERATOR_MINORS);
	if (!error)
		return 0;
	accelerator_destroy_class(nodes);
no_class:
	unregister_chrdev_region(nodes->numbers, ACCELERATOR_MINORS);
	return error;
}
EXPORT_SYMBOL_GPL(accelerator_nodes_create);

/* No file is open any more: an open one holds the driver's module. */
void accelerator_nodes_destroy(struct accelerator_nodes *nodes)
{
	cdev_del(&nodes->cdev);
	accelerator_destroy_class(nodes);
	unregister_chrdev_region(nodes->numbers, ACCELERATOR_MINORS);
}
EXPORT_SYMBOL_GPL(accelerator_nodes_destroy);

/* As many as there can be contexts that wait for slow pages, or one would wait for another's. */
#define SLOW_FAULTS_MAX WQ_MAX_ACTIVE

static int __init accelerator_init(void)
{
	accelerator_workqueue = alloc_workqueue("accelerator", WQ_UNBOUND, SLOW_FAULTS_MAX);
	return accelerator_workqueue ? 0 : -ENOMEM;
}

/* Waits for pages that somebody still brings to programs that have closed their files. */
static void __exit accelerator_exit(void)
{
	destroy_workqueue(accelerator_workqueue);
}

module_init(accelerator_init);
module_exit(accelerator_exit);

MODULE_DESCRIPTION("Nodes, page faults and shootdowns of the accelerators on mimic's bus");
MODULE_LICENSE("GPL");
