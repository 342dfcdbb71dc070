// SPDX-License-Identifier: GPL-2.0
/* The nodes of a driver, and which device is behind each. */
#include <linux/module.h>

#include "compat.h"
#include "internal.h"

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

void accelerator_publish(struct accelerator *accelerator, bool is_there)
{
	struct accelerator_nodes *nodes = &accelerator->driver->nodes;

	mutex_lock(&nodes->lock);
	nodes->accelerators[accelerator->device->index] = is_there ? accelerator : NULL;
	mutex_unlock(&nodes->lock);
}

int accelerator_node_create(struct accelerator *accelerator)
{
	const struct accelerator_driver *driver = accelerator->driver;
	unsigned int index = accelerator->device->index;

	accelerator->node = device_create(driver->nodes.class, &accelerator->device->dev,
					  MKDEV(MAJOR(driver->nodes.numbers), index), accelerator,
					  "%s%u", driver->name, index);
	return PTR_ERR_OR_ZERO(accelerator->node);
}

void accelerator_node_destroy(struct accelerator *accelerator)
{
	device_destroy(accelerator->driver->nodes.class, accelerator->node->devt);
}

/* --- all of a driver's ------------------------------------------------------- */

/* Any user may use the device: it reaches nothing but its user's own memory. */
static char *accelerator_devnode(mimic_const_device struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

static int accelerator_create_class(struct accelerator_nodes *nodes, const char *name)
{
	dev_t any = MKDEV(MAJOR(nodes->numbers), ACCELERATOR_MINOR_ANY);
	struct device *node;

	nodes->class = mimic_class_create(name);
	if (IS_ERR(nodes->class))
		return PTR_ERR(nodes->class);
	nodes->class->devnode = accelerator_devnode;
	node = device_create(nodes->class, NULL, any, NULL, "%s", name);
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

int accelerator_nodes_create(struct accelerator_driver *driver, struct module *owner)
{
	struct accelerator_nodes *nodes = &driver->nodes;
	int error;

	mutex_init(&nodes->lock);
	error = alloc_chrdev_region(&nodes->numbers, 0, ACCELERATOR_MINORS, driver->name);
	if (error)
		return error;
	error = accelerator_create_class(nodes, driver->name);
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

/* No file is open any more: an open one holds the driver's module. */
void accelerator_nodes_destroy(struct accelerator_driver *driver)
{
	struct accelerator_nodes *nodes = &driver->nodes;

	cdev_del(&nodes->cdev);
	accelerator_destroy_class(nodes);
	unregister_chrdev_region(nodes->numbers, ACCELERATOR_MINORS);
}
