/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The public calls of mimic.h: the table of open devices, forks, and error texts. */
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "libmimic/base/error.h"
#include "libmimic/base/fork.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/patience.h"
#include "libmimic/base/plugin.h"
#include "libmimic/base/probe.h"
#include "libmimic/base/thread.h"
#include "libmimic/base/vectors.h"
#include "libmimic/kernel/kernel.h"
#include "libmimic/transport.h"

#define DEVICES_MAX 1024

/* clang's way to say it. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define MIMIC_HAS_SANITIZER 1
#endif
#endif
#ifndef MIMIC_HAS_SANITIZER
#define MIMIC_HAS_SANITIZER 0
#endif

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mimic_device *table[DEVICES_MAX];
static const char *const _Atomic no_report;

/* Of this process among its ancestors: a handle of another generation is the parent's. */
static _Atomic unsigned int generation = 1;
static bool fork_is_watched;

/* Long enough to make a call cheap, and they stay in the L1 cache. */
#define PIECE_VALUES 1024

/* AUTO has none of its own. */
static const struct mimic_transport_ops *const transports[] = {
	[MIMIC_TRANSPORT_EMBEDDED] = &mimic_embedded_transport,
	[MIMIC_TRANSPORT_DAEMON] = &mimic_daemon_transport,
	[MIMIC_TRANSPORT_KERNEL] = &mimic_kernel_transport,
};

/* In place of all of these. NULL: there is none. */
static const struct mimic_transport_ops *registered;

#define TRANSPORT_FIRST MIMIC_TRANSPORT_EMBEDDED
#define TRANSPORT_LAST MIMIC_TRANSPORT_KERNEL

/* Every transport lets go of this thread. */
static void thread_ended(void)
{
	for (unsigned int i = TRANSPORT_FIRST; i <= TRANSPORT_LAST; i++) {
		if (transports[i]->thread_gone)
			transports[i]->thread_gone();
	}
}

static void after_fork(void)
{
	atomic_fetch_add(&generation, 1);
	/* A thread that this process does not have may have held it. */
	pthread_mutex_init(&table_lock, NULL);
	memset(table, 0, sizeof(table));
	for (unsigned int i = TRANSPORT_FIRST; i <= TRANSPORT_LAST; i++)
		transports[i]->after_fork();
	if (registered)
		registered->after_fork();
	registered = NULL;
}

void mimic_fork_happened(void)
{
	if (fork_is_watched)
		after_fork();
}

void mimic_transport_register(const struct mimic_transport_ops *ops)
{
	registered = ops;
}

static const char *or_environment(const char *value, const char *name)
{
	return value ? value : secure_getenv(name);
}

static int choose_transport(const char *word, enum mimic_transport *transport)
{
	*transport = MIMIC_TRANSPORT_AUTO;
	if (!word || !*word || !strcmp(word, "auto"))
		return 0;
	for (unsigned int i = TRANSPORT_FIRST; i <= TRANSPORT_LAST; i++) {
		if (strcmp(word, transports[i]->name))
			continue;
		*transport = (enum mimic_transport)i;
		return 0;
	}
	return mimic_error(-EINVAL, "MIMIC_TRANSPORT '%.64s' is none of auto, kernel, daemon, embedded",
			   word);
}

static bool is_given(const char *value)
{
	return value && *value;
}

static int complete_transport(struct mimic_options *options)
{
	if (options->transport > TRANSPORT_LAST)
		return mimic_error(-EINVAL, "transport %u is unknown", (unsigned int)options->transport);
	if (options->transport != MIMIC_TRANSPORT_AUTO)
		return 0;
	return choose_transport(secure_getenv("MIMIC_TRANSPORT"), &options->transport);
}

static int complete_options(struct mimic_options *to, const struct mimic_options *from)
{
	static const struct mimic_options none;
	bool wants_embedded;
	int error;

	*to = from ? *from : none;
	error = complete_transport(to);
	if (error)
		return error;
	/* Before the environment: it may be meant for a daemon, or for other programs. */
	wants_embedded = is_given(to->config_path) || is_given(to->devices);
	if (wants_embedded && to->transport > MIMIC_TRANSPORT_EMBEDDED)
		return mimic_error(-EINVAL, "the options config and devices belong to the embedded "
				   "transport; the daemon has its own: start mimicd with them");
	if (wants_embedded)
		to->transport = MIMIC_TRANSPORT_EMBEDDED;
	to->socket_path = or_environment(to->socket_path, "MIMIC_SOCKET");
	to->config_path = or_environment(to->config_path, "MIMIC_CONFIG");
	to->devices = or_environment(to->devices, "MIMIC_DEVICES");
	return 0;
}

static bool suits(const struct mimic_device *device, enum mimic_transport transport)
{
	return transport == MIMIC_TRANSPORT_AUTO || device->transport == registered ||
	       device->transport == transports[transport];
}

/* "maple@5": the process's own. No node of the kernel stands for it. */
static bool is_private(const char *name)
{
	return strchr(name, '@') != NULL;
}

/* NULL if this process does not hold it, or can have more than one of its contexts. */
static struct mimic_device *find_open(const char *name, enum mimic_transport transport)
{
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		if (table[i] && !table[i]->kind->contexts && !strcmp(table[i]->name, name) && suits(table[i], transport))
			return table[i];
	}
	return NULL;
}

/* The first transport that is there: the kernel, the daemon, ourselves. */
static int open_by_any(struct mimic_device **device, const char *name,
		       const struct mimic_options *options)
{
	int error;

	if (!is_private(name)) {
		error = mimic_kernel_transport.open(device, name, options);
		/* Nodes that we may not open are as good as none. */
		if (error != -ECONNREFUSED && error != -EACCES)
			return error;
	}
	error = mimic_daemon_transport.open(device, name, options);
	if (error != -ECONNREFUSED)
		return error;
	return mimic_embedded_transport.open(device, name, options);
}

static int open_by_transport(struct mimic_device **device, const char *name,
			     const struct mimic_options *options)
{
	if (registered)
		return registered->open(device, name, options);
	if (options->transport == MIMIC_TRANSPORT_AUTO)
		return open_by_any(device, name, options);
	return transports[options->transport]->open(device, name, options);
}

static int prepare_process(void)
{
	if (!fork_is_watched && pthread_atfork(NULL, NULL, after_fork))
		return -ENOMEM;
	fork_is_watched = true;
	mimic_thread_on_end(thread_ended);
	mimic_patience_from_environment();
	return mimic_probe_install_handlers();
}

/* With the table's lock. A free place of the table, or -errno: it is full, or the process is not ready. */
static int find_place(void)
{
	int place = 0;
	int error;

	while (place < DEVICES_MAX && table[place])
		place++;
	if (place == DEVICES_MAX)
		return mimic_error(-EMFILE, "this process holds %d devices", DEVICES_MAX);
	error = prepare_process();
	return error ? error : place;
}

static void enter_table(int place, struct mimic_device *device, const struct mimic_kind *kind)
{
	device->kind = kind;
	if (!device->report)
		device->report = &no_report;
	device->users = 1;
	device->generation = atomic_load(&generation);
	table[place] = device;
}

/* With the table's lock. */
static int open_locked(struct mimic_device **device, const struct mimic_kind *kind, const char *name,
		       const struct mimic_options *options)
{
	int place, error;

	*device = find_open(name, options->transport);
	if (*device) {
		(*device)->users++;
		return 0;
	}
	place = find_place();
	if (place < 0)
		return place;
	error = open_by_transport(device, name, options);
	if (!error)
		enter_table(place, *device, kind);
	return error;
}

/* With the table's lock. */
static int open_node_locked(struct mimic_device **device, const struct mimic_kind *kind, int node)
{
	char name[sizeof((*device)->name)];
	int error = mimic_kernel_node_name(kind, node, name, sizeof(name));
	int place;

	if (error)
		return error;
	*device = find_open(name, MIMIC_TRANSPORT_KERNEL);
	if (*device) {
		(*device)->users++;
		return 0;
	}
	place = find_place();
	if (place < 0)
		return place;
	error = mimic_kernel_open_node(device, kind, node);
	if (!error)
		enter_table(place, *device, kind);
	return error;
}

int mimic_device_open_node(struct mimic_device **device, const struct mimic_kind *kind, int node, int *own,
			   bool *is_inherited)
{
	int error;

	if (!mimic_thread_self())
		return -ENOMEM;
	pthread_mutex_lock(&table_lock);
	error = open_node_locked(device, kind, node);
	if (!error)
		*own = mimic_kernel_node_of(*device, is_inherited);
	pthread_mutex_unlock(&table_lock);
	return error;
}

static int unknown_kind(const char *name)
{
	const char *trouble = mimic_plugins_trouble();

	return mimic_error(-ENOENT, "device '%.64s': the kinds of devices are %s%s%s", name,
			   mimic_kind_names(), trouble ? "; " : "", trouble ? trouble : "");
}

int mimic_device_open(struct mimic_device **device, const char *name,
		      const struct mimic_options *options)
{
	struct mimic_options complete;
	struct mimic_device *opened = NULL;
	struct mimic_thread *self = mimic_thread_self();
	const struct mimic_kind *kind;
	const char *rest;
	int error;

	if (!self)
		return -ENOMEM;
	self->error_text[0] = '\0';
	if (!device || !name)
		return mimic_error(-EINVAL, "no device name");
	kind = mimic_kind_of_device(name, &rest);
	if (!kind)
		return unknown_kind(name);
	error = complete_options(&complete, options);
	if (error)
		return error;
	if (complete.transport == MIMIC_TRANSPORT_KERNEL && is_private(name))
		complete.transport = MIMIC_TRANSPORT_AUTO;
	pthread_mutex_lock(&table_lock);
	error = open_locked(&opened, kind, name, &complete);
	pthread_mutex_unlock(&table_lock);
	if (!error)
		*device = opened;
	else if (!self->error_text[0])
		mimic_error(error, "device '%.64s': %s", name, strerror(-error));
	return error;
}

static bool is_usable(const struct mimic_device *device)
{
	return device && device->generation ==
	       atomic_load_explicit(&generation, memory_order_relaxed);
}

static void forget_memory(struct mimic_device *device)
{
	if (device->memory)
		munmap(device->memory, device->memory_size);
	device->memory = NULL;
}

void mimic_device_close(struct mimic_device *device)
{
	if (!is_usable(device))
		return;
	pthread_mutex_lock(&table_lock);
	for (size_t i = 0; i < DEVICES_MAX; i++) {
		if (table[i] != device)
			continue;
		if (--device->users)
			break;
		table[i] = NULL;
		forget_memory(device);
		device->transport->close(device);
		break;
	}
	pthread_mutex_unlock(&table_lock);
}

const char *mimic_device_name(const struct mimic_device *device)
{
	return device->name;
}

const char *mimic_device_transport(const struct mimic_device *device)
{
	return device->transport->name;
}

static bool is_access(const struct mimic_access *access)
{
	unsigned int size = access->size;

	/* The page's number has four bits in a ring's command. */
	return (size == 1 || size == 2 || size == 4 || size == 8) &&
	       access->offset < MIMIC_PAGE_SIZE && access->page < 16;
}

int mimic_device_access(struct mimic_device *device, struct mimic_access *access)
{
	if (!is_usable(device))
		return -ENODEV;
	if (!is_access(access) || access->is_write > 1)
		return -EINVAL;
	return device->transport->access(device, access);
}

int mimic_device_plain_access(struct mimic_device *device, struct mimic_access *access)
{
	if (!access->is_write || !is_usable(device) || !device->transport->store || !is_access(access))
		return mimic_device_access(device, access);
	return device->transport->store(device, access);
}

bool mimic_device_keeps_vectors(const struct mimic_device *device)
{
/* A sanitizer's functions have no gates. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || MIMIC_HAS_SANITIZER
	(void)device;
	return false;
#else
	return mimic_vectors_are_safe() && is_usable(device) && device->transport->keeps_vectors &&
	       device->transport->keeps_vectors(device);
#endif
}

static ssize_t store_each(struct mimic_device *device, const struct mimic_access *pattern,
			  const uint64_t *values, size_t count)
{
	struct mimic_access access = *pattern;

	access.is_write = 1;
	for (size_t i = 0; i < count; i++) {
		int error;

		access.data = values[i];
		error = device->transport->access(device, &access);
		if (error)
			return error;
	}
	return (ssize_t)count;
}

ssize_t mimic_device_post(struct mimic_device *device, const struct mimic_access *pattern,
			  const uint64_t *values, size_t count)
{
	if (!is_usable(device))
		return -ENODEV;
	if (!is_access(pattern))
		return -EINVAL;
	if (!device->kind->may_wait(pattern))
		return store_each(device, pattern, values, count);
	return device->transport->post(device, pattern, values, count);
}

ssize_t mimic_device_load(struct mimic_device *device, const struct mimic_access *pattern,
			  void *values, size_t count)
{
	if (!is_usable(device))
		return -ENODEV;
	if (!is_access(pattern))
		return -EINVAL;
	return device->transport->load(device, pattern, values, count);
}

static ssize_t load_by_pieces(struct mimic_device *device, const struct mimic_access *pattern, size_t count,
			      mimic_take take, void *context)
{
	uint64_t values[PIECE_VALUES];
	size_t piece;

	for (size_t done = 0; done < count; done += piece) {
		ssize_t got;

		piece = count - done < PIECE_VALUES ? count - done : PIECE_VALUES;
		got = device->transport->load(device, pattern, values, piece);
		if (got < 0)
			return got;
		take(context, values, piece);
	}
	return (ssize_t)count;
}

ssize_t mimic_device_load_pieces(struct mimic_device *device, const struct mimic_access *pattern, size_t count,
				 mimic_take take, void *context)
{
	if (!is_usable(device))
		return -ENODEV;
	if (!is_access(pattern))
		return -EINVAL;
	return (device->transport->load_pieces ? device->transport->load_pieces : load_by_pieces)(
		device, pattern, count, take, context);
}

ssize_t mimic_device_counters(struct mimic_device *device, uint64_t *values, size_t count)
{
	if (!is_usable(device))
		return -ENODEV;
	return device->transport->counters(device, values, count);
}

int mimic_device_memory_file(struct mimic_device *device, struct mimic_memory_file *file)
{
	if (!is_usable(device))
		return -ENODEV;
	if (!device->kind->memory_size || !device->transport->device_memory)
		return -ENXIO;
	return device->transport->device_memory(device, file);
}

void mimic_device_memory_mapped(struct mimic_device *device, uintptr_t address, size_t size, uint64_t offset)
{
	if (device->transport->memory_mapped)
		device->transport->memory_mapped(device, address, size, offset);
}

/* With the table's lock. */
static int map_memory(struct mimic_device *device)
{
	struct mimic_memory_file file;
	int error = mimic_device_memory_file(device, &file);
	void *memory;

	if (error)
		return error;
	memory = mmap(NULL, file.size, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, (off_t)file.offset);
	if (memory == MAP_FAILED)
		return -errno;
	/* A child has no devices: its stores must not come to ours. */
	if (madvise(memory, file.size, MADV_DONTFORK)) {
		error = -errno;
		munmap(memory, file.size);
		return error;
	}
	device->memory = memory;
	device->memory_size = file.size;
	mimic_device_memory_mapped(device, (uintptr_t)memory, file.size, 0);
	return 0;
}

int mimic_device_memory(struct mimic_device *device, void **address, size_t *size)
{
	int error = 0;

	if (!is_usable(device))
		return -ENODEV;
	pthread_mutex_lock(&table_lock);
	if (!device->memory)
		error = map_memory(device);
	if (!error) {
		*address = device->memory;
		*size = device->memory_size;
	}
	pthread_mutex_unlock(&table_lock);
	return error;
}

int mimic_device_eventfd(struct mimic_device *device, int fd, uint64_t events)
{
	if (!is_usable(device))
		return -ENODEV;
	if (!device->kind->take_events || !device->transport->device_eventfd)
		return -ENXIO;
	if (fd < 0 || !events)
		return device->transport->device_eventfd(device, -1, 0);
	if (events & ~device->kind->events)
		return -EINVAL;
	return device->transport->device_eventfd(device, fd, events);
}

const char *mimic_device_report(struct mimic_device *device)
{
	if (!is_usable(device) || !device->transport->report)
		return NULL;
	return device->transport->report(device);
}

void *mimic_memory_alloc(struct mimic_device *device, size_t size)
{
	if (!is_usable(device)) {
		errno = ENODEV;
		return NULL;
	}
	return device->transport->memory_alloc(device, size);
}

int mimic_memory_free(struct mimic_device *device, void *address)
{
	if (!is_usable(device))
		return -ENODEV;
	return device->transport->memory_free(device, address);
}

int mimic_memory_register(struct mimic_device *device, void *address, size_t size)
{
	if (!is_usable(device))
		return -ENODEV;
	return device->transport->memory_register(device, address, size);
}

int mimic_memory_unregister(struct mimic_device *device, void *address, size_t size)
{
	if (!is_usable(device))
		return -ENODEV;
	return device->transport->memory_unregister(device, address, size);
}
