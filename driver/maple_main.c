// SPDX-License-Identifier: GPL-2.0
/*
 * maple.ko: the driver of MAPLE. It gives programs /dev/maple0, /dev/maple1, ...
 * whose pages are the device's, and serves the device's page faults.
 *
 * This file: the module, its nodes, and the coming and going of devices.
 */
#define pr_fmt(format) KBUILD_MODNAME ": " format

#include <linux/cdev.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "compat.h"
#include "maple.h"

static DEFINE_MUTEX(maple_instances_lock);
static struct maple *maple_instances[MAPLE_MINOR_ANY];	/* by minor; each entry holds its own */

static struct class *maple_class;
static struct cdev maple_cdev;
static dev_t maple_numbers;

/* --- instances ------------------------------------------------------------ */

struct maple *maple_get(unsigned int minor)
{
	struct maple *maple = NULL;

	if (minor >= MAPLE_MINOR_ANY)
		return NULL;
	mutex_lock(&maple_instances_lock);
	maple = maple_instances[minor];
	if (maple)
		kref_get(&maple->references);
	mutex_unlock(&maple_instances_lock);
	return maple;
}

static void free_maple(struct kref *references)
{
	struct maple *maple = container_of(references, struct maple, references);

	put_device(&maple->device->dev);
	kfree(maple);
}

void maple_put(struct maple *maple)
{
	kref_put(&maple->references, free_maple);
}

static void publish(struct maple *maple, bool is_there)
{
	mutex_lock(&maple_instances_lock);
	maple_instances[maple->device->index] = is_there ? maple : NULL;
	mutex_unlock(&maple_instances_lock);
}

/* --- the device ----------------------------------------------------------- */

bool maple_is_paper(const struct maple *maple)
{
	return READ_ONCE(maple->identify);
}

/*
 * The artifact's hardware has no such register and answers 0, as to any
 * operation that it does not know.
 */
static int identify(struct maple *maple)
{
	struct device *dev = &maple->device->dev;
	u64 value;
	int error;

	error = maple_register_read(maple, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0),
				    &value);
	if (error) {
		/* A device or daemon that goes as soon as it has come is nobody's concern. */
		if (error != -ENODEV && error != -EIO)
			dev_err(dev, "IDENTIFY cannot be read: %d\n", error);
		return error;
	}
	if (value && value >> 32 != MAPLE_IDENTIFY_MAGIC) {
		dev_err(dev, "this is no MAPLE: IDENTIFY is %#llx\n", value);
		return -ENODEV;
	}
	if (value && (value >> 24 & 0xff) != MAPLE_IDENTIFY_VERSION) {
		dev_err(dev, "registers of version %llu, this driver knows version %u\n",
			value >> 24 & 0xff, MAPLE_IDENTIFY_VERSION);
		return -ENODEV;
	}
	WRITE_ONCE(maple->identify, value);
	return 0;
}

/*
 * Nearly every load does something to the device: regmap's debugfs, which reads
 * registers for curiosity, must not. It warns where there is none at all that it
 * may read, so it gets the one that is harmless.
 */
static bool has_effects(struct device *dev, unsigned int reg)
{
	return reg != MAPLE_PAGE_MAPLE * PAGE_SIZE + MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0);
}

static const struct regmap_config maple_regmap = {
	.name = "maple",
	.precious_reg = has_effects,
};

static struct maple *create(struct mimic_device *device)
{
	struct maple *maple = kzalloc(sizeof(*maple), GFP_KERNEL);

	if (!maple)
		return NULL;
	kref_init(&maple->references);
	mutex_init(&maple->serving);
	spin_lock_init(&maple->lock);
	maple->due_until = jiffies;
	maple->device = device;
	get_device(&device->dev);
	return maple;
}

static int check_resources(struct mimic_device *device)
{
	if (device->index < MAPLE_MINOR_ANY && device->pages >= MAPLE_PAGE_COUNT &&
	    device->interrupts)
		return 0;
	dev_err(&device->dev, "%u pages and %u interrupts: a MAPLE has at least %u and 1\n",
		device->pages, device->interrupts, MAPLE_PAGE_COUNT);
	return -EINVAL;
}

static int start(struct maple *maple)
{
	struct mimic_device *device = maple->device;
	int error;

	maple->regmap = devm_mimic_regmap(device, &maple_regmap);
	if (IS_ERR(maple->regmap))
		return PTR_ERR(maple->regmap);
	error = identify(maple);
	if (error)
		return error;
	error = maple_faults_start(maple);
	if (error) {
		dev_err(&device->dev, "no page fault interrupt: %d\n", error);
		return error;
	}
	/* Before the node: what udev tells of must have its attributes, and open. */
	error = device_add_groups(&device->dev, maple_attribute_groups);
	if (error)
		goto no_attributes;
	publish(maple, true);
	maple->node = device_create(maple_class, &device->dev,
				    MKDEV(MAJOR(maple_numbers), device->index), maple, "maple%d",
				    device->index);
	if (!IS_ERR(maple->node))
		return 0;
	error = PTR_ERR(maple->node);
	publish(maple, false);
	device_remove_groups(&device->dev, maple_attribute_groups);
no_attributes:
	maple_faults_stop(maple);
	return error;
}

static int maple_probe(struct mimic_device *device)
{
	struct maple *maple;
	int error;

	error = check_resources(device);
	if (error)
		return error;
	maple = create(device);
	if (!maple)
		return -ENOMEM;
	dev_set_drvdata(&device->dev, maple);
	error = start(maple);
	if (error) {
		maple_put(maple);
		return error;
	}
	dev_info(&device->dev, "%s profile\n", maple_is_paper(maple) ? "paper" : "artifact");
	return 0;
}

/* Programs may still have it open: the bus told their files that it is gone. */
static void maple_remove(struct mimic_device *device)
{
	struct maple *maple = dev_get_drvdata(&device->dev);

	publish(maple, false);
	device_destroy(maple_class, maple->node->devt);
	/* Waits for readers. */
	device_remove_groups(&device->dev, maple_attribute_groups);
	maple_faults_stop(maple);
	dev_info(&device->dev, "removed\n");
	maple_put(maple);
}

/* Another daemon, and perhaps another profile. */
static void maple_reset(struct mimic_device *device)
{
	struct maple *maple = dev_get_drvdata(&device->dev);

	mutex_lock(&maple->serving);
	identify(maple);
	maple->last_bad = 0;
	mutex_unlock(&maple->serving);
}

static struct mimic_driver maple_driver = {
	.driver = {
		.name = "maple",
	},
	.kind = "maple",
	.probe = maple_probe,
	.remove = maple_remove,
	.reset = maple_reset,
};

/* --- the module ----------------------------------------------------------- */

/* Anybody may use the device: it reaches nothing but its user's own memory. */
static char *maple_devnode(mimic_const_device struct device *dev, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

static int create_class(void)
{
	struct device *any;

	maple_class = mimic_class_create("maple");
	if (IS_ERR(maple_class))
		return PTR_ERR(maple_class);
	maple_class->devnode = maple_devnode;
	any = device_create(maple_class, NULL, MKDEV(MAJOR(maple_numbers), MAPLE_MINOR_ANY), NULL,
			    "maple");
	if (!IS_ERR(any))
		return 0;
	class_destroy(maple_class);
	return PTR_ERR(any);
}

static void destroy_class(void)
{
	device_destroy(maple_class, MKDEV(MAJOR(maple_numbers), MAPLE_MINOR_ANY));
	class_destroy(maple_class);
}

static int __init maple_init(void)
{
	int error;

	error = alloc_chrdev_region(&maple_numbers, 0, MAPLE_MINORS, "maple");
	if (error)
		return error;
	error = create_class();
	if (error)
		goto no_class;
	cdev_init(&maple_cdev, &maple_file_operations);
	maple_cdev.owner = THIS_MODULE;
	error = cdev_add(&maple_cdev, maple_numbers, MAPLE_MINORS);
	if (error)
		goto no_cdev;
	error = mimic_driver_register(&maple_driver);
	if (error)
		goto no_driver;
	return 0;

no_driver:
	cdev_del(&maple_cdev);
no_cdev:
	destroy_class();
no_class:
	unregister_chrdev_region(maple_numbers, MAPLE_MINORS);
	return error;
}

/* No file is open any more: an open one holds the module. */
static void __exit maple_exit(void)
{
	mimic_driver_unregister(&maple_driver);
	cdev_del(&maple_cdev);
	destroy_class();
	unregister_chrdev_region(maple_numbers, MAPLE_MINORS);
}

module_init(maple_init);
module_exit(maple_exit);

MODULE_DESCRIPTION("MAPLE, a memory access engine with hardware queues");
MODULE_LICENSE("GPL");
MODULE_ALIAS("mimic:maple");
