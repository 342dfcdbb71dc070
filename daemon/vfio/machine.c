/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A virtual machine that has a device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/engine/binding.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/instance.h"
#include "daemon/engine/process.h"
#include "daemon/loop/log.h"
#include "daemon/vfio/internal.h"
#include "libmimic/base/clock.h"

static struct mimicd_engine *engine_of(const struct mimicd_machine *machine)
{
	return machine->function->vfio->engine;
}

/* --- owners -------------------------------------------------------------------------- */

static int make_owner(struct mimicd_machine *machine, struct mimicd_machine_access *access)
{
	access->machine = machine;
	access->owner = mimicd_owner_create(engine_of(machine), machine->processes, 0);
	if (!access->owner)
		return -ENOMEM;
	access->owner->traps++;
	return 0;
}

static int make_owners(struct mimicd_machine *machine, const struct mimicd_machine_calls *calls)
{
	int error;

	if (!mimicd_process_get(&machine->processes, 1))
		return -ENOMEM;
	error = make_owner(machine, &machine->load);
	machine->loads_owner = machine->load.owner;
	machine->load.complete = calls->load_is_done;
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX && !error; i++) {
		machine->stores[i].complete = calls->store_is_done;
		error = make_owner(machine, &machine->stores[i]);
	}
	for (unsigned int i = 0; i < MIMIC_PCI_SLOTS && !error; i++)
		error = make_owner(machine, &machine->slots[i]);
	return error;
}

static void free_owner(struct mimicd_machine *machine, struct mimicd_owner **owner)
{
	if (!*owner)
		return;
	(*owner)->traps--;
	mimicd_owner_free_unused(machine->processes, *owner);
	*owner = NULL;
}

static void free_owners(struct mimicd_machine *machine)
{
	free_owner(machine, &machine->loads_owner);
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		free_owner(machine, &machine->stores[i].owner);
	for (unsigned int i = 0; i < MIMIC_PCI_SLOTS; i++)
		free_owner(machine, &machine->slots[i].owner);
	if (machine->processes)
		mimicd_process_free_unused(machine->processes);
}

/* --- made ------------------------------------------------------------------------------ */

static void power_on(struct mimicd_machine *machine)
{
	struct mimicd_config_description description;

	mimicd_bars_describe(machine, &description);
	mimicd_config_init(&machine->config, &description);
	machine->aperture = (struct mimicd_aperture){ 0 };
}

static int take_device(struct mimicd_machine *machine)
{
	struct mimicd_instance *instance = machine->instance;
	int error = 0;

	if (machine->function->machine || !mimicd_binding_may_open(instance))
		return -EBUSY;
	if (instance->device_memory.base)
		error = mimicd_device_memory_open(&instance->device_memory, &instance->engine->memory_fixes);
	if (error)
		return error;
	error = mimicd_spaces_begin(machine);
	if (error && instance->device_memory.base)
		mimicd_device_memory_close(&instance->device_memory);
	return error;
}

static int start(struct mimicd_machine *machine, const struct mimicd_machine_calls *calls)
{
	struct mimicd_loop *loop = engine_of(machine)->loop;
	int error = make_owners(machine, calls);

	if (!error && machine->function->has_rings)
		error = mimicd_rings_create(machine, mimicd_spaces_flush);
	machine->patience.expired = calls->patience_ends;
	machine->patience.context = machine;
	machine->store_is_done.expired = calls->posted_may_go_on;
	machine->store_is_done.context = machine;
	if (!error)
		error = mimicd_timer_create(&machine->patience, loop);
	if (!error)
		error = mimicd_timer_create(&machine->store_is_done, loop);
	if (error)
		return error;
	mimicd_bus_page_reset(machine);
	power_on(machine);
	machine->source = (struct mimicd_source){ calls->hear, machine };
	return mimicd_loop_watch(loop, machine->fd, EPOLLIN, &machine->source);
}

static void free_machine(struct mimicd_machine *machine)
{
	mimicd_timer_destroy(&machine->patience);
	mimicd_timer_destroy(&machine->store_is_done);
	mimicd_guest_memory_destroy(&machine->memory);
	free(machine);
}

static struct mimicd_machine *allocate(struct mimicd_vfio_function *function, int fd)
{
	struct mimicd_machine *machine = calloc(1, sizeof(*machine));
	struct ucred peer = { .uid = UINT32_MAX };
	socklen_t size = sizeof(peer);

	if (!machine)
		return NULL;
	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	machine->function = function;
	machine->instance = function->function.instance;
	machine->fd = fd;
	machine->uid = peer.uid;
	machine->pid = peer.pid;
	machine->patience.fd = -1;
	machine->store_is_done.fd = -1;
	memset(machine->eventfds, -1, sizeof(machine->eventfds));
	mimicd_guest_memory_init(&machine->memory, function->vfio->engine->loop->closer);
	machine->memory.owner = machine->uid;
	return machine;
}

/* false: another user's. Root may do what it likes. */
static bool may_connect(const struct mimicd_machine *machine)
{
	return machine->uid == geteuid() || machine->uid == 0;
}

/* It has gone, and the loop has not come to that yet: a machine that is started anew at once is not to be refused. */
static void end_if_gone(struct mimicd_machine *machine)
{
	char byte;

	if (machine && !recv(machine->fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT))
		mimicd_machine_end(machine);
}

int mimicd_machine_create(struct mimicd_vfio_function *function, int fd, const struct mimicd_machine_calls *calls)
{
	struct mimicd_machine *machine = allocate(function, fd);
	int error;

	if (!machine) {
		close(fd);
		return -ENOMEM;
	}
	end_if_gone(function->machine);
	if (!may_connect(machine))
		error = -EPERM;
	else
		error = take_device(machine);
	if (error) {
		mimicd_log_of(machine->uid, MIMICD_LOG_WARNING, "%s: a virtual machine (pid %d) does not get %s: %s",
			      function->path, (int)machine->pid, machine->instance->name, strerror(-error));
		free_owners(machine);
		close(fd);
		free_machine(machine);
		return error;
	}
	function->machine = machine;
	error = start(machine, calls);
	if (error) {
		mimicd_log(MIMICD_LOG_ERROR, "%s: %s", function->path, strerror(-error));
		mimicd_machine_end(machine);
		return error;
	}
	mimicd_log(MIMICD_LOG_INFO, "%s: a virtual machine (pid %d) has %s", function->path, (int)machine->pid,
		   machine->instance->name);
	return 0;
}

/* --- reset and ended --------------------------------------------------------------------- */

/* No access waits afterwards, and no job reads the machine's memory. */
static void power_off(struct mimicd_machine *machine)
{
	mimicd_access_withdraw(&machine->load);
	machine->has_pending_store = machine->has_pending_load = false;
	mimicd_posted_forget(machine);
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		mimicd_access_withdraw(&machine->stores[i]);
	mimicd_bus_page_reset(machine);
	mimicd_spaces_end(machine);
	mimicd_rings_reset(machine);
	/* What was stored without any space, too. Not if others have contexts of the device by now. */
	if (!mimicd_instance_is_held(machine->instance) && !mimicd_instance_is_bound(machine->instance))
		machine->instance->model->ops->power_on(machine->instance->model, mimic_now());
}

int mimicd_machine_reset(struct mimicd_machine *machine)
{
	struct mimicd_device_memory *memory = &machine->instance->device_memory;

	power_off(machine);
	power_on(machine);
	/* The machine keeps the descriptor of the device's memory: the same file, empty. */
	if (memory->base)
		memset(memory->base, 0, memory->size);
	return mimicd_spaces_begin(machine);
}

/*
 * Messages that nobody has read become ECONNRESET at the other end, and QEMU aborts there. None come
 * any more when these are read.
 */
static void hang_up(int fd)
{
	char bytes[4096];

	shutdown(fd, SHUT_RDWR);
	while (recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	close(fd);
}

void mimicd_machine_end(struct mimicd_machine *machine)
{
	struct mimicd_vfio *vfio = machine->function->vfio;

	if (machine->has_ended)
		return;
	machine->has_ended = true;
	power_off(machine);
	mimicd_rings_destroy(machine);
	free_owners(machine);
	if (machine->instance->device_memory.base)
		mimicd_device_memory_close(&machine->instance->device_memory);
	mimicd_interrupt_forget(machine);
	mimicd_vfio_packet_close(machine);
	mimicd_guest_memory_clear(&machine->memory);
	if (!machine->is_paused)
		mimicd_loop_forget(vfio->engine->loop, machine->fd);
	hang_up(machine->fd);
	machine->function->machine = NULL;
	machine->next = vfio->ended;
	vfio->ended = machine;
}

void mimicd_machines_free(struct mimicd_vfio *vfio)
{
	while (vfio->ended) {
		struct mimicd_machine *machine = vfio->ended;

		vfio->ended = machine->next;
		free_machine(machine);
	}
}
