/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Devices beside the cores: operations on their way there and back, and its ways to memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "devices/explain.h"
#include "libmimic/base/kinds.h"
#include "libmimic/base/probe.h"
#include "libmimic/base/spool.h"
#include "sim/runtime/internal.h"

static uint64_t parameter(void *context, const char *section, const char *key)
{
	(void)context;
	return sim_parameters_get(&sim.setup->parameters, section, key);
}

/* --- memory --------------------------------------------------------------------------------- */

static uint64_t read_time(void *context, uint64_t address, unsigned int size, bool through_l2, uint64_t now)
{
	uint64_t physical = sim_physical(address);

	(void)context;
	if (through_l2)
		return soc_device_read_l2(sim.soc, physical, size, now);
	return soc_device_read_memory(sim.soc, physical, size, now);
}

static uint64_t write_time(void *context, uint64_t address, unsigned int size, uint64_t now)
{
	(void)context;
	return soc_device_write(sim.soc, sim_physical(address), size, now);
}

static void prefetch(void *context, uint64_t address, uint64_t now)
{
	(void)context;
	soc_device_prefetch(sim.soc, sim_physical(address), now);
}

static unsigned int number_of(const struct sim_device *device)
{
	return (unsigned int)(device - sim.devices);
}

static uint64_t walk_time(void *context, uint64_t address, uint64_t now)
{
	return soc_device_walk(sim.soc, number_of(context), sim_physical(address), now);
}

static int read_bytes(void *context, uint64_t address, void *buffer, unsigned int size)
{
	(void)context;
	return mimic_probe_read(address, buffer, size);
}

static uint64_t physical(void *context, uint64_t address)
{
	(void)context;
	return sim_physical(address);
}

static long read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	(void)context;
	return (long)mimic_probe_read_rows(addresses, count, size, rows);
}

static long write_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context;
	return (long)mimic_probe_write_rows(addresses, count, size, rows);
}

static int do_atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		     uint32_t expected, uint32_t *old)
{
	(void)context;
	return mimic_probe_atomic(address, operation, operand, expected, old);
}

static void report(void *context, const char *text)
{
	(void)context;
	sim_say("%s", text);
}

/* --- the way ---------------------------------------------------------------------------------- */

static struct sim_operation *first_operation(struct sim_channel *channel)
{
	return &channel->operations[channel->first];
}

/* Its first operation leaves the core, when all before it have ended. */
static void send_first(struct sim_channel *channel, unsigned int core)
{
	const struct sim_operation *operation = first_operation(channel);
	uint64_t arrival = soc_mmio_arrival(sim.soc, core, operation->device, operation->issued);

	sim_channel_arrives(core, arrival);
	if (arrival < sim.limit)
		sim.limit = arrival;
}

/* The device has answered a core's first operation at `time`. Returns when the core has the answer. */
static uint64_t end_first(struct sim_channel *channel, unsigned int core, uint64_t time)
{
	const struct sim_operation *operation = first_operation(channel);

	sim_channel_arrives(core, SIM_NEVER);
	channel->first = channel->first + 1 < SIM_CHANNEL ? channel->first + 1 : 0;
	channel->count--;
	if (operation->is_memory)
		return soc_device_memory_end(sim.soc, core, operation->access.is_write, operation->issued, time);
	return soc_mmio_end(sim.soc, core, operation->device, operation->access.is_write, operation->issued, time);
}

static void finish(unsigned int core, uint64_t data, uint64_t time)
{
	struct sim_channel *channel = &sim.channels[core];
	struct sim_thread *thread = sim.on_core[core];
	uint64_t back = end_first(channel, core, time);

	if (channel->count)
		send_first(channel, core);
	if (!thread)
		return;
	if (thread->wait == SIM_WAIT_MMIO_ROOM || (thread->wait == SIM_WAIT_MMIO && !channel->count)) {
		thread->answer = data;
		sim_wake(thread, back);
	}
}

static void complete(void *context, uint64_t owner, uint64_t data, uint64_t time)
{
	const unsigned int number = number_of(context);

	for (unsigned int core = 0; core < sim.cores; core++) {
		struct sim_channel *channel = &sim.channels[core];

		if (!channel->count || channel->arrival != SIM_NEVER || first_operation(channel)->access.owner != owner ||
		    first_operation(channel)->device != number)
			continue;
		finish(core, data, time);
		return;
	}
}

/* The first operation is at the device. false: it waits there. */
static bool arrive(struct sim_channel *channel, unsigned int core, uint64_t *done)
{
	struct sim_operation *operation = first_operation(channel);
	struct sim_device *device = &sim.devices[operation->device];
	uint64_t now = channel->arrival;

	sim_channel_arrives(core, SIM_NEVER);
	return device->time->access(device->timed, &operation->access, now, done);
}

void sim_device_arrive(unsigned int core)
{
	struct sim_channel *channel = &sim.channels[core];
	uint64_t done;

	if (arrive(channel, core, &done))
		finish(core, first_operation(channel)->access.data, done);
}

static void charge(struct sim_thread *self)
{
	sim_charge(self, sim_mmio_cost(self));
}

/* Once for each device: which thread of the program an owner is. */
static void trace_thread(struct sim_thread *self, unsigned int number)
{
	struct sim_device *device = &sim.devices[number];
	struct mimic_trace_source *trace = &device->time->model(device->timed)->trace;

	if (self->traced >> number & 1 || !trace->trace)
		return;
	self->traced |= 1ull << number;
	if (mimic_trace_now(trace))
		MIMIC_TRACE(trace, thread, sim_owner_of(self), 0, 0ull, 0u, self->number, 0ull);
}

/*
 * An operation that reaches the device before any other event is made at once, which saves a search for
 * the next event. `limit` is sim.limit without it. false: it is on its way, or the device keeps it waiting.
 */
static bool access_at_once(struct sim_thread *self, struct sim_channel *channel, uint64_t limit)
{
	struct sim_device *device = &sim.devices[first_operation(channel)->device];
	uint64_t done, next;

	if (channel->count > 1 || channel->arrival >= limit)
		return false;
	sim.limit = limit;
	if (channel->arrival > sim.now)
		sim.now = channel->arrival;
	if (!arrive(channel, self->core, &done))
		return false;
	self->answer = first_operation(channel)->access.data;
	soc_sleep_until(sim.soc, self->core, end_first(channel, self->core, done));
	/* Now it may do something by itself earlier than before. */
	next = device->time->next(device->timed);
	if (next < sim.limit)
		sim.limit = next;
	sim_settle(self);
	return true;
}

void sim_device_access(struct sim_thread *self, unsigned int number, struct mimic_access *access)
{
	struct sim_channel *channel = &sim.channels[self->core];
	const struct sim_device *device = &sim.devices[number];
	struct sim_operation *operation;
	uint64_t limit;

	if (device->time->expect)
		device->time->expect(device->timed, access);
	charge(self);
	sim_settle(self);
	trace_thread(self, number);
	while (!soc_mmio_may_begin(sim.soc, self->core, access->is_write))
		sim_block(self, SIM_WAIT_MMIO_ROOM, channel, SIM_NEVER);
	operation = &channel->operations[(channel->first + channel->count) % SIM_CHANNEL];
	operation->access = *access;
	operation->access.owner = sim_owner_of(self);
	operation->device = number;
	operation->is_memory = false;
	operation->issued = soc_mmio_begin(sim.soc, self->core, access->is_write);
	limit = sim.limit;
	if (!channel->count++)
		send_first(channel, self->core);
	if (access->is_write && sim.stores_are_buffered)
		return;
	if (!access_at_once(self, channel, limit))
		sim_block(self, SIM_WAIT_MMIO, channel, SIM_NEVER);
	if (!access->is_write)
		access->data = self->answer;
}

/* Ends a post of the stores that the device has taken. The last one may wait in it. */
static void end_post(struct sim_thread *self, unsigned int number, const struct mimic_access *last, uint64_t now,
		     bool waits)
{
	struct sim_device *device = &sim.devices[number];
	struct sim_channel *channel = &sim.channels[self->core];
	uint64_t next;

	if (now > sim.now)
		sim.now = now;
	if (waits) {
		*first_operation(channel) = (struct sim_operation){ .access = *last, .issued = now, .device = number };
		channel->count = 1;
		sim_block(self, SIM_WAIT_MMIO, channel, SIM_NEVER);
		return;
	}
	next = device->time->next(device->timed);
	if (next < sim.limit)
		sim.limit = next;
	sim_settle(self);
}

size_t sim_device_post(struct sim_thread *self, unsigned int number, const struct mimic_access *pattern,
		       const uint64_t *values, size_t count)
{
	struct sim_device *device = &sim.devices[number];
	struct mimic_access access = *pattern;
	const struct sim_place_cost *cost;
	uint64_t now;
	bool waits;
	size_t done;

	if (!device->time->post || sim.channels[self->core].count || !soc_mmio_may_post(sim.soc))
		return 0;
	sim_settle(self);
	trace_thread(self, number);
	access.owner = sim_owner_of(self);
	now = core_now(self->on);
	done = device->time->post(device->timed, &access, values, count, &now, sim.limit, &waits);
	if (!done)
		return 0;
	/* It costs no time, so it can be counted afterwards. */
	cost = sim_mmio_cost(self);
	for (size_t i = 0; i < done; i++)
		sim_charge(self, cost);
	soc_mmio_posted(sim.soc, self->core, done, now);
	access.data = values[done - 1];
	end_post(self, number, &access, now, waits);
	return done;
}

void sim_device_thread_gone(struct sim_thread *self)
{
	struct sim_channel *channel = &sim.channels[self->core];

	sim_settle(self);
	while (channel->count)
		sim_block(self, SIM_WAIT_MMIO_ROOM, channel, SIM_NEVER);
	for (unsigned int number = 0; number < sim.device_count; number++) {
		struct sim_device *device = &sim.devices[number];

		if (device->timed)
			device->time->owner_gone(device->timed, sim_owner_of(self), sim_time(self));
	}
}

void sim_device_describe(unsigned int core, char *text, size_t size)
{
	struct sim_channel *channel = &sim.channels[core];
	const struct sim_operation *operation = first_operation(channel);
	const struct sim_device *device;
	struct mimic_text sentence;

	mimic_text_begin(&sentence, text, size);
	if (!channel->count)
		return;
	device = &sim.devices[operation->device];
	mimic_explain_access(device->kind, &operation->access, &sentence);
	if (sim_parameters_devices(&sim.setup->parameters) > 1) {
		mimic_text_add(&sentence, " of ");
		mimic_text_add(&sentence, device->kind->name);
		mimic_text_add_decimal(&sentence, operation->device);
	}
	if (channel->arrival != SIM_NEVER)
		mimic_text_add(&sentence, " (on its way)");
	else if (device->timed)
		mimic_explain_reason(device->kind, device->time->model(device->timed), &operation->access,
				     &sentence);
}

static uint64_t clock_cycles(struct mimic_trace *trace)
{
	(void)trace;
	return sim.now;
}

/* One for all devices. */
static void start_trace(struct mimic_spool *spool)
{
	int fd = open(sim.setup->trace, O_RDWR | O_CLOEXEC);

	if (fd < 0 || mimic_spool_attach(spool, fd)) {
		sim_say("the trace: %s", strerror(errno));
		sim_end_with(SIM_REFUSED);
	}
	close(fd);
	spool->trace.clock = clock_cycles;
}

static void trace_device(struct sim_device *device)
{
	static struct mimic_spool spool;
	struct mimic_model *model = device->time->model(device->timed);
	char name[32];

	if (!spool.trace.clock)
		start_trace(&spool);
	/* Always the same number of a process: a trace does not tell runs apart. */
	snprintf(name, sizeof(name), "%s%u", device->kind->name, number_of(device));
	model->trace.device = mimic_spool_device(&spool, name, 1);
	model->trace.trace = &spool.trace;
}

static uint64_t instructions(void *context)
{
	uint64_t sum = 0;

	(void)context;
	for (unsigned int core = 0; core < sim.cores; core++) {
		struct soc_core_counters counters;

		soc_core_counters(sim.soc, core, &counters);
		sum += counters.instructions;
	}
	return sum;
}

/* But for the context, which is the device. */
static const struct mimic_time_host host = {
	.parameter = parameter,
	.read_time = read_time,
	.write_time = write_time,
	.prefetch = prefetch,
	.walk_time = walk_time,
	.physical = physical,
	.read_rows = read_rows,
	.write_rows = write_rows,
	.read = read_bytes,
	.atomic = do_atomic,
	.complete = complete,
	.report = report,
	.instructions = instructions,
};

/* Memory of the device, which the program maps by its file. 0 or -errno. */
static int make_memory(struct sim_device *device, const struct mimic_kind *kind)
{
	uint64_t size = kind->time->memory_size ? kind->time->memory_size(&device->host) : 0;
	int fd;

	if (!size)
		return 0;
	fd = memfd_create(kind->name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, (off_t)size) || fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) < 0) {
		close(fd);
		return -errno;
	}
	device->host.memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (device->host.memory == MAP_FAILED) {
		close(fd);
		return -ENOMEM;
	}
	device->memory_fd = fd;
	device->memory_size = size;
	return 0;
}

bool sim_device_is_there(const struct mimic_kind *kind)
{
	return kind->time && kind->time->is_there(&host);
}

int sim_device_open(const struct mimic_kind *kind, unsigned int number)
{
	struct sim_device *device = &sim.devices[number];
	int error;

	for (unsigned int other = 0; other < sim.device_count; other++)
		if (sim.devices[other].timed && sim.devices[other].kind != kind)
			return -EBUSY;
	if (device->timed)
		return 0;
	device->host = host;
	device->host.context = device;
	error = make_memory(device, kind);
	if (error)
		return error;
	device->timed = kind->time->create(&device->host);
	if (!device->timed)
		return -errno;
	device->kind = kind;
	device->time = kind->time;
	if (number >= sim.device_count)
		sim.device_count = number + 1;
	snprintf(sim.setup->kind, sizeof(sim.setup->kind), "%s", kind->name);
	sim.setup->opened |= 1ull << number;
	sim_phases_device_opens(number, sim_self ? sim_time(sim_self) : sim.now);
	if (sim.setup->trace[0])
		trace_device(device);
	return 0;
}
