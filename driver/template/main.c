// SPDX-License-Identifier: GPL-2.0
/*
 * template.ko: a driver to copy, for a small adder. docs/writing-a-driver.md
 * goes through it.
 *
 * /dev/templateN belongs to one process at a time. It maps the device's user
 * page, stores two numbers, stores START, and loads their sum; or waits for the
 * addition in poll() and read(). The control page is the driver's.
 *
 * There is no lock: what the interrupt tells a reader is one atomic counter, and
 * the registers have one user, the interrupt's thread.
 *
 * Lifetimes: the node's device holds struct template, and an open file holds
 * the node's device (cdev_device_add), so it is there until the last file is
 * closed, even if remove() was long before. The bus calls gone() with it before
 * remove(). Registers are accessed in probe() and by the interrupt only, which
 * remove() frees.
 */
#include <linux/cdev.h>
#include <linux/interrupt.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/regmap.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "compat.h"
#include "mimic.h"
#include "devices/template/template_registers.h"

#define TEMPLATE_MINORS 64

struct template {
	struct device node;
	struct cdev cdev;
	struct mimic_device *device;	/* counted */
	struct regmap *regmap;
	int irq;
	atomic64_t done;	/* additions whose interrupt came */
	wait_queue_head_t wait;	/* for `done`, or for the end of the binding */
};

/* An open of the node. */
struct template_file {
	struct template *template;
	struct mimic_binding *binding;	/* counted */
	s64 seen;	/* of template->done; by read() */
};

static dev_t template_numbers;
static struct class *template_class;

/* --- registers and the interrupt ------------------------------------------ */

static int template_read_register(struct template *template, unsigned int offset, u64 *value)
{
	return regmap_raw_read(template->regmap, TEMPLATE_PAGE_CONTROL * PAGE_SIZE + offset, value,
			       sizeof(*value));
}

static int template_write_register(struct template *template, unsigned int offset, u64 value)
{
	return regmap_raw_write(template->regmap, TEMPLATE_PAGE_CONTROL * PAGE_SIZE + offset,
				&value, sizeof(value));
}

/*
 * A thread, because a register access sleeps. Acknowledge before telling anybody:
 * an event that comes in between then raises the line again. An interrupt that
 * is about nothing is no harm; the line is nobody else's.
 */
static irqreturn_t template_interrupt(int irq, void *context)
{
	struct template *template = context;
	u64 events;

	if (template_read_register(template, TEMPLATE_EVENTS, &events) || !events)
		return IRQ_HANDLED;
	if (template_write_register(template, TEMPLATE_ACKNOWLEDGE, events))
		return IRQ_HANDLED;
	if (events & TEMPLATE_EVENT_DONE) {
		atomic64_inc(&template->done);
		wake_up_interruptible(&template->wait);
	}
	return IRQ_HANDLED;
}

/* --- the process that has the device -------------------------------------- */

/* Its memory, the device, or the daemon has gone: who waits for a sum has to know. */
static void template_binding_gone(struct mimic_binding *binding)
{
	struct template *template = mimic_binding_context(binding);

	wake_up_interruptible(&template->wait);
}

static const struct mimic_binding_ops binding_ops = {
	.gone = template_binding_gone,
};

static int template_open(struct inode *inode, struct file *file)
{
	struct template *template = container_of(inode->i_cdev, struct template, cdev);
	struct template_file *opened = kzalloc(sizeof(*opened), GFP_KERNEL_ACCOUNT);

	if (!opened)
		return -ENOMEM;
	opened->template = template;
	opened->binding = mimic_bind(template->device, &binding_ops, template);
	if (IS_ERR(opened->binding)) {
		int error = PTR_ERR(opened->binding);

		kfree(opened);
		return error;
	}
	opened->seen = atomic64_read(&template->done);
	file->private_data = opened;
	return stream_open(inode, file);
}

static int template_release(struct inode *inode, struct file *file)
{
	struct template_file *opened = file->private_data;

	mimic_binding_put(opened->binding);
	kfree(opened);
	return 0;
}

/* The user page and no other; the bus checks the rest. */
static int template_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct template_file *opened = file->private_data;

	if (vma->vm_pgoff != TEMPLATE_PAGE_USER || vma_pages(vma) != 1)
		return -EINVAL;
	return mimic_binding_mmap(opened->binding, vma, 0, opened->template->device->pages);
}

static bool template_has_news(const struct template_file *opened)
{
	return atomic64_read(&opened->template->done) != READ_ONCE(opened->seen);
}

static bool template_is_over(struct template_file *opened)
{
	return mimic_binding_check(opened->binding);
}

/* Waits for an addition, and gives how many have been done since the last read(): 8 bytes. */
static ssize_t template_read(struct file *file, char __user *buffer, size_t size,
			     loff_t *position)
{
	struct template_file *opened = file->private_data;
	struct template *template = opened->template;
	s64 done, news;

	if (size < sizeof(news))
		return -EINVAL;
	if (!(file->f_flags & O_NONBLOCK) &&
	    wait_event_interruptible(template->wait,
				     template_has_news(opened) || template_is_over(opened)))
		return -ERESTARTSYS;
	if (template_is_over(opened))
		return -ENODEV;
	done = atomic64_read(&template->done);
	news = done - READ_ONCE(opened->seen);
	if (!news)
		return -EAGAIN;
	if (copy_to_user(buffer, &news, sizeof(news)))
		return -EFAULT;
	WRITE_ONCE(opened->seen, done);
	return sizeof(news);
}

static __poll_t template_poll(struct file *file, poll_table *wait)
{
	struct template_file *opened = file->private_data;

	poll_wait(file, &opened->template->wait, wait);
	if (template_is_over(opened))
		return EPOLLERR | EPOLLHUP;
	return template_has_news(opened) ? EPOLLIN | EPOLLRDNORM : 0;
}

static const struct file_operations template_operations = {
	.owner = THIS_MODULE,
	.open = template_open,
	.release = template_release,
	.mmap = template_mmap,
	.read = template_read,
	.poll = template_poll,
};

/* --- coming and going ----------------------------------------------------- */

static void template_free(struct device *node)
{
	struct template *template = container_of(node, struct template, node);

	put_device(&template->device->dev);
	kfree(template);
}

static int template_check_identity(struct template *template)
{
	struct device *dev = &template->device->dev;
	u64 identity;
	int error;

	error = template_read_register(template, TEMPLATE_IDENTIFY, &identity);
	if (error) {
		/* A device or daemon that goes as soon as it has come is nobody's concern. */
		if (error != -ENODEV && error != -EIO)
			dev_err(dev, "IDENTIFY cannot be read: %d\n", error);
		return error;
	}
	if (identity != TEMPLATE_IDENTITY) {
		dev_err(dev, "IDENTIFY is %#llx: none of ours\n", identity);
		return -ENODEV;
	}
	return 0;
}

/*
 * Registers have effects: regmap's debugfs must not read them. It warns where there
 * is none at all that it may read, so it gets the one that is harmless.
 */
static bool template_has_effects(struct device *dev, unsigned int reg)
{
	return reg != TEMPLATE_PAGE_CONTROL * PAGE_SIZE + TEMPLATE_IDENTIFY;
}

static const struct regmap_config template_regmap = {
	.name = "template",
	.precious_reg = template_has_effects,
};

static struct template *template_create(struct mimic_device *device)
{
	struct template *template = kzalloc(sizeof(*template), GFP_KERNEL);

	if (!template)
		return NULL;
	template->device = device;
	get_device(&device->dev);
	init_waitqueue_head(&template->wait);
	device_initialize(&template->node);
	template->node.parent = &device->dev;
	template->node.class = template_class;
	template->node.devt = MKDEV(MAJOR(template_numbers), device->index);
	template->node.release = template_free;
	cdev_init(&template->cdev, &template_operations);
	template->cdev.owner = THIS_MODULE;
	return template;
}

static int template_start(struct template *template)
{
	struct mimic_device *device = template->device;
	int error;

	error = dev_set_name(&template->node, "template%d", device->index);
	if (error)
		return error;
	template->regmap = devm_mimic_regmap(device, &template_regmap);
	if (IS_ERR(template->regmap))
		return PTR_ERR(template->regmap);
	error = template_check_identity(template);
	if (error)
		return error;
	template->irq = mimic_device_interrupt(device, 0);
	if (template->irq < 0)
		return template->irq;
	error = request_threaded_irq(template->irq, NULL, template_interrupt, IRQF_ONESHOT,
				     dev_name(&device->dev), template);
	if (error)
		return error;
	/* Last: from here on programs come. */
	error = cdev_device_add(&template->cdev, &template->node);
	if (error)
		free_irq(template->irq, template);
	return error;
}

static int template_probe(struct mimic_device *device)
{
	struct template *template;
	int error;

	if (device->index >= TEMPLATE_MINORS || device->pages < TEMPLATE_PAGE_COUNT)
		return -EINVAL;
	template = template_create(device);
	if (!template)
		return -ENOMEM;
	error = template_start(template);
	if (error) {
		put_device(&template->node);
		return error;
	}
	dev_set_drvdata(&device->dev, template);
	return 0;
}

static void template_remove(struct mimic_device *device)
{
	struct template *template = dev_get_drvdata(&device->dev);

	cdev_device_del(&template->cdev, &template->node);
	free_irq(template->irq, template);
	put_device(&template->node);
}

static struct mimic_driver template_driver = {
	.driver.name = "template",
	.kind = "template",
	.probe = template_probe,
	.remove = template_remove,
};

static char *template_devnode(mimic_const_device struct device *node, umode_t *mode)
{
	if (mode)
		*mode = 0666;
	return NULL;
}

static int __init template_init(void)
{
	int error;

	error = alloc_chrdev_region(&template_numbers, 0, TEMPLATE_MINORS, "template");
	if (error)
		return error;
	template_class = mimic_class_create("template");
	error = PTR_ERR_OR_ZERO(template_class);
	if (error)
		goto no_class;
	template_class->devnode = template_devnode;
	error = mimic_driver_register(&template_driver);
	if (!error)
		return 0;
	class_destroy(template_class);
no_class:
	unregister_chrdev_region(template_numbers, TEMPLATE_MINORS);
	return error;
}

static void __exit template_exit(void)
{
	mimic_driver_unregister(&template_driver);
	class_destroy(template_class);
	unregister_chrdev_region(template_numbers, TEMPLATE_MINORS);
}

module_init(template_init);
module_exit(template_exit);

MODULE_DESCRIPTION("A small device and driver to copy");
MODULE_LICENSE("GPL");
MODULE_ALIAS("mimic:template");
