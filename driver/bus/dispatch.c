// SPDX-License-Identifier: GPL-2.0
/* Passes a driver's calls (mimic.h) to the module that brought the device. */
#include "mimic_bus.h"

/* Its module has the function that frees it, so a reference to the device keeps the module. */
bool mimic_device_get(struct mimic_device *device)
{
	if (!try_module_get(device->ops->owner))
		return false;
	get_device(&device->dev);
	return true;
}
EXPORT_SYMBOL_GPL(mimic_device_get);

void mimic_device_put(struct mimic_device *device)
{
	struct module *owner = device->ops->owner;

	put_device(&device->dev);
	module_put(owner);
}
EXPORT_SYMBOL_GPL(mimic_device_put);

/* --- registers, interrupts ------------------------------------------------------ */

int mimic_device_read(struct mimic_device *device, unsigned int page, unsigned int offset,
		      unsigned int size, u64 *value)
{
	return device->ops->read(device, page, offset, size, value);
}
EXPORT_SYMBOL_GPL(mimic_device_read);

int mimic_device_write(struct mimic_device *device, unsigned int page, unsigned int offset,
		       unsigned int size, u64 value)
{
	return device->ops->write(device, page, offset, size, value);
}
EXPORT_SYMBOL_GPL(mimic_device_write);

int mimic_device_wait_for_daemon(struct mimic_device *device)
{
	return device->ops->wait_for_daemon ? device->ops->wait_for_daemon(device) : -EIO;
}
EXPORT_SYMBOL_GPL(mimic_device_wait_for_daemon);

void mimic_device_post(struct mimic_device *device, unsigned int number, bool is_write,
		       unsigned int page, unsigned int offset, unsigned int size, u64 value)
{
	device->ops->post(device, number, is_write, page, offset, size, value);
}
EXPORT_SYMBOL_GPL(mimic_device_post);

int mimic_device_interrupt(struct mimic_device *device, unsigned int line)
{
	return device->ops->interrupt(device, line);
}
EXPORT_SYMBOL_GPL(mimic_device_interrupt);

/* --- bindings --------------------------------------------------------------------- */

static const struct mimic_device_ops *mimic_binding_device_ops(struct mimic_binding *binding)
{
	return mimic_binding_head(binding)->device->ops;
}

struct mimic_binding *mimic_bind(struct mimic_device *device, const struct mimic_binding_ops *ops,
				 void *context)
{
	return device->ops->bind(device, ops, context);
}
EXPORT_SYMBOL_GPL(mimic_bind);

void mimic_binding_put(struct mimic_binding *binding)
{
	mimic_binding_device_ops(binding)->put(binding);
}
EXPORT_SYMBOL_GPL(mimic_binding_put);

void mimic_binding_get(struct mimic_binding *binding)
{
	kref_get(&mimic_binding_head(binding)->kref);
}
EXPORT_SYMBOL_GPL(mimic_binding_get);

static void mimic_binding_released(struct kref *kref)
{
	struct mimic_binding_head *head = container_of(kref, struct mimic_binding_head, kref);

	head->device->ops->free((struct mimic_binding *)head);
}

void mimic_binding_release(struct mimic_binding *binding)
{
	kref_put(&mimic_binding_head(binding)->kref, mimic_binding_released);
}
EXPORT_SYMBOL_GPL(mimic_binding_release);

void *mimic_binding_context(struct mimic_binding *binding)
{
	return mimic_binding_head(binding)->context;
}
EXPORT_SYMBOL_GPL(mimic_binding_context);

u32 mimic_binding_number(const struct mimic_binding *binding)
{
	return ((const struct mimic_binding_head *)binding)->number;
}
EXPORT_SYMBOL_GPL(mimic_binding_number);

int mimic_binding_check(struct mimic_binding *binding)
{
	return mimic_binding_device_ops(binding)->check(binding);
}
EXPORT_SYMBOL_GPL(mimic_binding_check);

int mimic_binding_mmap(struct mimic_binding *binding, struct vm_area_struct *vma,
		       unsigned int first, unsigned int count)
{
	return mimic_binding_device_ops(binding)->mmap(binding, vma, first, count);
}
EXPORT_SYMBOL_GPL(mimic_binding_mmap);

int mimic_binding_mmap_memory(struct mimic_binding *binding, struct vm_area_struct *vma,
			      unsigned long first)
{
	return mimic_binding_device_ops(binding)->mmap_memory(binding, vma, first);
}
EXPORT_SYMBOL_GPL(mimic_binding_mmap_memory);

void mimic_binding_share_mapping(struct mimic_binding *binding, struct file *file)
{
	mimic_binding_device_ops(binding)->share_mapping(binding, file);
}
EXPORT_SYMBOL_GPL(mimic_binding_share_mapping);

void mimic_binding_end(struct mimic_binding *binding)
{
	mimic_binding_device_ops(binding)->end(binding);
}
EXPORT_SYMBOL_GPL(mimic_binding_end);

int mimic_binding_sync(struct mimic_binding *binding, unsigned long start, unsigned long end)
{
	return mimic_binding_device_ops(binding)->sync(binding, start, end);
}
EXPORT_SYMBOL_GPL(mimic_binding_sync);

int mimic_binding_connect(struct mimic_binding *binding, struct file **file)
{
	return mimic_binding_device_ops(binding)->connect(binding, file);
}
EXPORT_SYMBOL_GPL(mimic_binding_connect);

/* --- lanes ------------------------------------------------------------------------ */

int mimic_binding_lane(struct mimic_binding *binding, struct accelerator_lane *lane)
{
	const struct mimic_device_ops *ops = mimic_binding_device_ops(binding);

	return ops->lane ? ops->lane(binding, lane) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(mimic_binding_lane);

int mimic_binding_lane_call(struct mimic_binding *binding,
			    const struct accelerator_lane_call *call)
{
	const struct mimic_device_ops *ops = mimic_binding_device_ops(binding);

	return ops->lane_call ? ops->lane_call(binding, call) : -EOPNOTSUPP;
}
EXPORT_SYMBOL_GPL(mimic_binding_lane_call);

int mimic_binding_mmap_lane(struct mimic_binding *binding, struct vm_area_struct *vma)
{
	const struct mimic_device_ops *ops = mimic_binding_device_ops(binding);

	return ops->mmap_lane ? ops->mmap_lane(binding, vma) : -EINVAL;
}
EXPORT_SYMBOL_GPL(mimic_binding_mmap_lane);

void mimic_binding_end_lanes(struct mimic_binding *binding)
{
	const struct mimic_device_ops *ops = mimic_binding_device_ops(binding);

	if (ops->end_lanes)
		ops->end_lanes(binding);
}
EXPORT_SYMBOL_GPL(mimic_binding_end_lanes);
