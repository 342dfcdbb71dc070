// SPDX-License-Identifier: GPL-2.0
/* Devices of the bus: they come with a daemon, wait when it dies, go when it says so. */
#include <linux/ctype.h>
#include <linux/idr.h>
#include <linux/slab.h>

#include "internal.h"

/* How long the driver waits for a register: it holds locks that each close of the device needs. */
#define ACCESS_TIMEOUT HZ
/* After a probe or a reset that was not answered. */
#define ATTACH_PAUSE (HZ / 4)

/* Which devices there are. */
DEFINE_MUTEX(mimic_devices_lock);
static LIST_HEAD(devices);
static DEFINE_IDA(device_ids);

static void mimic_device_release(struct device *dev)
{
	struct mimic_bus_device *device = to_bus_device(to_mimic_device(dev));

	mimic_interrupts_destroy(device);
	mimic_memory_destroy(device);
	if (device->connection)
		mimic_connection_put(device->connection);
	ida_free(&device_ids, device->device.id);
	kfree(device);
}

struct mimic_connection *mimic_device_connection(struct mimic_bus_device *device)
{
	struct mimic_connection *connection;

	spin_lock(&device->connection_lock);
	connection = device->connection;
	if (connection)
		kref_get(&connection->kref);
	spin_unlock(&device->connection_lock);
	return connection;
}

static void mimic_device_set_connection(struct mimic_bus_device *device,
					struct mimic_connection *connection)
{
	struct mimic_connection *old;

	if (connection)
		kref_get(&connection->kref);
	spin_lock(&device->connection_lock);
	old = device->connection;
	device->connection = connection;
	spin_unlock(&device->connection_lock);
	if (old)
		mimic_connection_put(old);
}

/* --- registers ------------------------------------------------------------ */

static int mimic_device_access(struct mimic_device *public, unsigned int page, unsigned int offset,
			       unsigned int size, bool is_write, u64 *value)
{
	struct mimic_bus_device *device = to_bus_device(public);
	struct mimic_connection *connection;
	struct mimic_request request;
	unsigned int successors;
	int error;

	if (page >= public->pages || offset >= PAGE_SIZE || offset % size)
		return -EINVAL;
	connection = mimic_device_connection(device);
	if (!connection)
		return -EIO;
	mimic_request_init(&request, MIMIC_BUS_REQUEST_ACCESS, public);
	request.body.page = page;
	request.body.offset = offset;
	request.body.size = size;
	request.body.is_write = is_write;
	request.body.data = is_write ? *value : 0;
	successors = READ_ONCE(connection->successors);
	error = mimic_request_run(connection, &request, false, ACCESS_TIMEOUT);
	if (error == -EAGAIN)
		error = -EIO;
	/* A successor may take its time before it answers anything. */
	if (error == -ETIMEDOUT && (READ_ONCE(connection->is_unserved) ||
				    READ_ONCE(connection->is_starting) ||
				    READ_ONCE(connection->successors) != successors))
		error = -EAGAIN;
	mimic_connection_put(connection);
	if (!error && !is_write)
		*value = request.data;
	return error;
}

static int mimic_device_load(struct mimic_device *device, unsigned int page, unsigned int offset,
			     unsigned int size, u64 *value)
{
	return mimic_device_access(device, page, offset, size, false, value);
}

static int mimic_device_store(struct mimic_device *device, unsigned int page, unsigned int offset,
			      unsigned int size, u64 value)
{
	return mimic_device_access(device, page, offset, size, true, &value);
}

static int mimic_device_await_daemon(struct mimic_device *public)
{
	struct mimic_connection *connection = mimic_device_connection(to_bus_device(public));
	int error;

	if (!connection)
		return -EIO;
	error = mimic_connection_wait_for_server(connection);
	mimic_connection_put(connection);
	return error;
}

static void mimic_device_post_released(struct mimic_request *request)
{
}

static void mimic_device_send(struct mimic_device *public, unsigned int number, bool is_write,
			      unsigned int page, unsigned int offset, unsigned int size, u64 value)
{
	struct mimic_bus_device *device = to_bus_device(public);
	const struct mimic_bus_request body = {
		.kind = MIMIC_BUS_REQUEST_ACCESS,
		.device = public->id,
		.page = page,
		.offset = offset,
		.size = size,
		.is_write = is_write,
		.data = is_write ? value : 0,
	};

	if (WARN_ON_ONCE(number >= MIMIC_DEVICE_POSTS))
		return;
	/* Held throughout: without a connection nothing is on its way (mimic_device_remove()). */
	spin_lock(&device->connection_lock);
	if (device->connection)
		mimic_request_post_again(device->connection, &device->posts[number], &body);
	spin_unlock(&device->connection_lock);
}

int mimic_device_wait_for_posts(struct mimic_bus_device *device, long timeout)
{
	unsigned int i;

	for (i = 0; i < MIMIC_DEVICE_POSTS; i++) {
		const struct mimic_request *request = &device->posts[i];
		unsigned long posts = READ_ONCE(request->posts);

		if (mimic_request_is_done(request, posts))
			continue;
		timeout = wait_event_timeout(device->posts_wait,
					     mimic_request_is_done(request, posts), timeout);
		if (!timeout)
			return -ETIMEDOUT;
	}
	return 0;
}

/* --- coming and going ----------------------------------------------------- */

/* A device of another module (mimic_pci) keeps its name. */
static int mimic_device_add(struct device *dev)
{
	struct device *other = bus_find_device_by_name(&mimic_bus, NULL, dev_name(dev));

	if (!other)
		return device_add(dev);
	put_device(other);
	return -EEXIST;
}

/*
 * A daemon that has taken over may be long in answering its first access. REGISTER does
 * this of a device that has no daemon, or whose daemon has not registered it.
 */
static void mimic_device_attach_later(struct mimic_bus_device *device)
{
	struct mimic_connection *connection = mimic_device_connection(device);

	if (!connection)
		return;
	if (!READ_ONCE(connection->is_unserved))
		queue_delayed_work(mimic_workqueue, &device->attach, ATTACH_PAUSE);
	mimic_connection_put(connection);
}

static void mimic_device_probe_later(struct mimic_device *public)
{
	mimic_device_attach_later(to_bus_device(public));
}

/* The driver has the device, of another daemon. */
static void mimic_device_reset(struct mimic_bus_device *device)
{
	struct device *dev = &device->device.dev;
	struct mimic_driver *driver = NULL;
	int error = 0;

	device_lock(dev);
	if (dev->driver)
		driver = container_of(dev->driver, struct mimic_driver, driver);
	/* A program may have the device before its driver hears of the daemon. */
	mimic_binding_test_delay();
	if (driver && driver->reset)
		error = driver->reset(&device->device);
	device_unlock(dev);
	if (error != -EAGAIN)
		return;
	WRITE_ONCE(device->needs_reset, true);
	mimic_device_attach_later(device);
}

/* In the background: a probe makes accesses, whose answers the daemon in REGISTER owes. */
static void mimic_device_attach(struct work_struct *work)
{
	struct mimic_bus_device *device =
		container_of(to_delayed_work(work), struct mimic_bus_device, attach);
	struct device *dev = &device->device.dev;
	bool needs_reset;
	int error = 0;

	/* A daemon has died since, and REGISTER comes; or the device goes. */
	if (READ_ONCE(device->is_inherited) || READ_ONCE(device->gone))
		return;
	needs_reset = xchg(&device->needs_reset, false);
	if (!device->added) {
		error = mimic_device_add(dev);
		device->added = !error;
	} else if (!dev->driver) {
		/* A probe may have found no daemon. */
		error = device_attach(dev);
	} else if (needs_reset) {
		mimic_device_reset(device);
	}
	if (error < 0)
		dev_err(dev, "cannot be added: %d\n", error);
}

static bool mimic_kind_is_valid(const char *kind)
{
	size_t length = strnlen(kind, MIMIC_BUS_KIND_MAX);
	size_t i;

	if (!length || length == MIMIC_BUS_KIND_MAX || isdigit(kind[length - 1]))
		return false;
	for (i = 0; i < length; i++) {
		/* The kernel's letters are those of Latin-1. */
		if (!isascii(kind[i]) || (!isalnum(kind[i]) && kind[i] != '-'))
			return false;
	}
	return true;
}

static int mimic_device_check(const struct mimic_bus_register *wanted)
{
	if (wanted->flags || memchr_inv(wanted->reserved, 0, sizeof(wanted->reserved)))
		return -EINVAL;
	if (!mimic_kind_is_valid(wanted->kind) || wanted->index < -1 ||
	    wanted->index >= MIMIC_BUS_DEVICES_MAX)
		return -EINVAL;
	if (!wanted->pages || wanted->pages > MIMIC_BUS_PAGES_MAX ||
	    wanted->interrupts > MIMIC_BUS_INTERRUPTS_MAX || wanted->void_pages >> wanted->pages)
		return -EINVAL;
	if (wanted->memory_size > MIMIC_BUS_MEMORY_MAX || !PAGE_ALIGNED(wanted->memory_size))
		return -EINVAL;
	return wanted->capabilities & ~(MIMIC_BUS_TRAPS | MIMIC_BUS_WINDOW_ACCESS) ? -EINVAL : 0;
}

/* mimic_devices_lock is held. */
static struct mimic_bus_device *mimic_device_find(const char *kind, int index)
{
	struct mimic_bus_device *device;

	list_for_each_entry(device, &devices, link) {
		if (device->device.index == index && !strcmp(device->device.kind, kind))
			return device;
	}
	return NULL;
}

static int mimic_device_first_free_index(const char *kind)
{
	int index = 0;

	while (mimic_device_find(kind, index))
		index++;
	return index;
}

/* One of the processes that have it loses it. false: there is none. */
static bool mimic_device_detach_binding(struct mimic_bus_device *device)
{
	struct mimic_binding *binding;
	bool disabled = false;

	mutex_lock(&device->lock);
	binding = list_first_entry_or_null(&device->bindings, struct mimic_binding, device_link);
	if (binding) {
		mimic_binding_get(binding);
		list_del_init(&binding->device_link);
		disabled = mimic_binding_disable(binding);
	}
	mutex_unlock(&device->lock);
	if (disabled)
		mimic_binding_taken_away(binding);
	if (binding)
		mimic_binding_release(binding);
	return binding;
}

/* Programs lose it now; the rest of it goes with its last user. */
static void mimic_device_detach_bindings(struct mimic_bus_device *device)
{
	while (mimic_device_detach_binding(device))
		cond_resched();
}

static void mimic_device_driven_by(struct mimic_device *public, const struct mimic_driver *driver)
{
	struct mimic_bus_device *device = to_bus_device(public);

	mutex_lock(&device->lock);
	device->has_driver = driver;
	if (driver) {
		device->is_shared = driver->is_shared;
		WRITE_ONCE(device->waiters, driver->waiters);
	}
	mutex_unlock(&device->lock);
	if (!driver)
		mimic_device_detach_bindings(device);
}

static bool mimic_device_is_served(struct mimic_device *device)
{
	return READ_ONCE(to_bus_device(device)->connection);
}

static const struct mimic_device_ops device_ops = {
	.owner = THIS_MODULE,
	.read = mimic_device_load,
	.write = mimic_device_store,
	.wait_for_daemon = mimic_device_await_daemon,
	.post = mimic_device_send,
	.interrupt = mimic_interrupts_number,
	.driven_by = mimic_device_driven_by,
	.probe_later = mimic_device_probe_later,
	.is_served = mimic_device_is_served,
	.bind = mimic_binding_begin,
	.put = mimic_binding_leave,
	.free = mimic_binding_schedule_free,
	.check = mimic_binding_is_current,
	.mmap = mimic_trap_mmap,
	.mmap_memory = mimic_memory_program_mmap,
	.share_mapping = mimic_memory_share_mapping,
	.get_mm = mimic_binding_get_living_mm,
	.end = mimic_binding_do_end,
	.sync = mimic_window_sync,
	.connect = mimic_binding_ask_for_session,
};

static int mimic_device_create(struct mimic_connection *connection,
			       const struct mimic_bus_register *wanted,
			       struct mimic_bus_device **created)
{
	int id = ida_alloc_range(&device_ids, 1, MIMIC_BUS_DEVICES_MAX, GFP_KERNEL);
	struct mimic_bus_device *device;
	unsigned int i;
	int error;

	if (id < 0)
		return id;
	device = kzalloc(sizeof(*device), GFP_KERNEL);
	if (!device) {
		ida_free(&device_ids, id);
		return -ENOMEM;
	}
	strscpy(device->device.kind, wanted->kind, sizeof(device->device.kind));
	device->device.index = wanted->index;
	device->device.id = id;
	device->device.pages = wanted->pages;
	device->device.interrupts = wanted->interrupts;
	device->device.capabilities = wanted->capabilities;
	device->void_pages = wanted->void_pages;
	INIT_DELAYED_WORK(&device->attach, mimic_device_attach);
	mutex_init(&device->lock);
	spin_lock_init(&device->connection_lock);
	init_waitqueue_head(&device->changed);
	init_waitqueue_head(&device->posts_wait);
	INIT_LIST_HEAD(&device->bindings);
	for (i = 0; i < MIMIC_DEVICE_POSTS; i++) {
		INIT_LIST_HEAD(&device->posts[i].link);
		init_completion(&device->posts[i].done);
		device->posts[i].release = mimic_device_post_released;
		device->posts[i].posts_wait = &device->posts_wait;
	}
	device_initialize(&device->device.dev);
	device->device.dev.bus = &mimic_bus;
	device->device.ops = &device_ops;
	device->device.dev.release = mimic_device_release;
	error = dev_set_name(&device->device.dev, "%s%d", wanted->kind, wanted->index);
	if (!error)
		error = mimic_interrupts_create(device);
	if (!error)
		error = mimic_memory_resize(device, wanted->memory_size);
	if (error) {
		put_device(&device->device.dev);
		return error;
	}
	mimic_device_set_connection(device, connection);
	*created = device;
	return 0;
}

static bool mimic_device_is_like(const struct mimic_bus_device *device,
				 const struct mimic_bus_register *wanted)
{
	const struct mimic_device *public = &device->device;

	return public->pages == wanted->pages && public->interrupts == wanted->interrupts &&
	       public->capabilities == wanted->capabilities &&
	       device->void_pages == wanted->void_pages;
}

/* A dead daemon's device, taken over. */
static int mimic_device_adopt(struct mimic_bus_device *device, struct mimic_connection *connection,
			      const struct mimic_bus_register *wanted)
{
	int error;

	if (READ_ONCE(device->connection) || !mimic_device_is_like(device, wanted))
		return -EEXIST;
	error = mimic_memory_resize(device, wanted->memory_size);
	if (error)
		return error;
	/* A successor may have died before it registered the device. */
	WRITE_ONCE(device->is_inherited, false);
	WRITE_ONCE(device->needs_reset, true);
	mimic_device_set_connection(device, connection);
	return 0;
}

/* The successor's call for a device that its connection has: that is as it was. */
static int mimic_device_resume(struct mimic_bus_device *device,
			       const struct mimic_bus_register *wanted)
{
	u32 line;

	if (!device->is_inherited || !mimic_device_is_like(device, wanted) ||
	    device->device.memory_size != wanted->memory_size)
		return -EEXIST;
	WRITE_ONCE(device->is_inherited, false);
	/* The one before may have died before it raised them: the driver looks. */
	for (line = 0; line < device->device.interrupts; line++)
		mimic_interrupts_raise(device, line);
	return 0;
}

u32 mimic_devices_inherit(struct mimic_connection *connection)
{
	struct mimic_bus_device *device;
	u32 count = 0;

	mutex_lock(&mimic_devices_lock);
	list_for_each_entry(device, &devices, link) {
		if (READ_ONCE(device->connection) != connection)
			continue;
		WRITE_ONCE(device->is_inherited, true);
		count++;
	}
	mutex_unlock(&mimic_devices_lock);
	return count;
}

int mimic_device_register(struct mimic_connection *connection, struct mimic_bus_register *wanted)
{
	struct mimic_bus_device *device;
	int error = mimic_device_check(wanted);

	if (error)
		return error;
	mutex_lock(&mimic_devices_lock);
	/* mimic_devices_abandon() has come, or will find it. */
	if (READ_ONCE(connection->dead)) {
		mutex_unlock(&mimic_devices_lock);
		return -EIO;
	}
	if (wanted->index < 0)
		wanted->index = mimic_device_first_free_index(wanted->kind);
	device = mimic_device_find(wanted->kind, wanted->index);
	if (device && READ_ONCE(device->connection) == connection) {
		error = mimic_device_resume(device, wanted);
	} else if (device) {
		error = mimic_device_adopt(device, connection, wanted);
	} else {
		error = mimic_device_create(connection, wanted, &device);
		if (!error)
			list_add_tail(&device->link, &devices);
	}
	if (!error) {
		wanted->device = device->device.id;
		mod_delayed_work(mimic_workqueue, &device->attach, 0);
	}
	mutex_unlock(&mimic_devices_lock);
	return error;
}

static void mimic_device_remove(struct mimic_bus_device *device)
{
	struct mimic_connection *connection = mimic_device_connection(device);
	unsigned int i;

	mutex_lock(&device->lock);
	WRITE_ONCE(device->gone, true);
	mutex_unlock(&device->lock);
	mimic_device_detach_bindings(device);
	/* From now on no request can be sent; requests that were sent end, a probe included. */
	mimic_device_set_connection(device, NULL);
	if (connection) {
		for (i = 0; i < MIMIC_DEVICE_POSTS; i++)
			mimic_request_forget(connection, &device->posts[i]);
		mimic_requests_fail(connection, device->device.id, -ENODEV);
		mimic_connection_put(connection);
	}
	cancel_delayed_work_sync(&device->attach);
	if (device->added)
		device_del(&device->device.dev);
	/* A probe that ended meanwhile may have asked for another one. */
	cancel_delayed_work_sync(&device->attach);
	put_device(&device->device.dev);
}

int mimic_device_unregister(struct mimic_connection *connection, u32 id)
{
	struct mimic_bus_device *device, *found = NULL;

	mutex_lock(&mimic_devices_lock);
	list_for_each_entry(device, &devices, link) {
		if (device->device.id == id && READ_ONCE(device->connection) == connection)
			found = device;
	}
	if (found)
		list_del(&found->link);
	mutex_unlock(&mimic_devices_lock);
	if (!found)
		return -ENOENT;
	mimic_device_remove(found);
	return 0;
}

int mimic_device_raise(struct mimic_connection *connection, u32 id, u32 line)
{
	struct mimic_bus_device *device;
	int error = -ENOENT;

	mutex_lock(&mimic_devices_lock);
	list_for_each_entry(device, &devices, link) {
		if (device->device.id != id || READ_ONCE(device->connection) != connection)
			continue;
		error = mimic_interrupts_raise(device, line);
		break;
	}
	mutex_unlock(&mimic_devices_lock);
	return error;
}

void mimic_devices_abandon(struct mimic_connection *connection)
{
	struct mimic_bus_device *device;

	mutex_lock(&mimic_devices_lock);
	list_for_each_entry(device, &devices, link) {
		if (READ_ONCE(device->connection) != connection)
			continue;
		mimic_device_set_connection(device, NULL);
		mimic_device_detach_bindings(device);
	}
	mutex_unlock(&mimic_devices_lock);
}

void mimic_devices_remove_all(void)
{
	struct mimic_bus_device *device, *next;

	list_for_each_entry_safe(device, next, &devices, link) {
		list_del(&device->link);
		mimic_device_remove(device);
	}
}

/* No binding is left, which may be a removed device's last user. */
void mimic_devices_exit(void)
{
	ida_destroy(&device_ids);
}
