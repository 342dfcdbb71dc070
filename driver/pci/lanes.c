// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes: memory in BAR 5 by which one thread of a program gives the device commands without a
 * trap (docs/pci.md). The program asks for one by the ioctl LANE, maps it, and has nothing else of
 * the function there: a command reaches the address space of its binding.
 *
 * For the device a thread is there as long as it has a lane, and loses its roles with the last one.
 * For a program it is there until THREAD_END. So the last lane that a thread has closed is KEPT,
 * until it has another one.
 *
 * device->lock is held over a lane's states, and over the register accesses that go with them.
 * Mappings are taken away without it; the lane is HIDDEN meanwhile, and afterwards it may be
 * nobody's, if the binding has ended. Of the words that the program writes only the one on which
 * it sleeps is read here, and it wakes nobody but that program.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/jiffies.h>
#include <linux/mm.h>

#include "internal.h"
#include "mimic/accelerator_ioctl.h"

/* Of a device that several processes have: the last so many lanes are for those that have few. */
#define LANES_RESERVED 16
#define LANES_FEW 4
/* How often a thread that sleeps looks where there is no interrupt for it. */
#define LOOK_NS (1 * NSEC_PER_MSEC)
/* How long it is believed that the function answers. */
#define SEEN_JIFFIES (HZ / 10)

static unsigned int mimic_pci_lane_index(const struct mimic_pci_device *device,
					 const struct mimic_pci_lane *lane)
{
	return lane - device->lanes;
}

static const u32 *mimic_pci_lane_word(const struct mimic_pci_device *device,
				      const struct mimic_pci_lane *lane)
{
	size_t size = (size_t)device->lane_pages << PAGE_SHIFT;

	return (const u32 *)(device->rings + mimic_pci_lane_index(device, lane) * size +
			     MIMIC_PCI_LANE_SLEEPING);
}

static bool mimic_pci_lane_is(const struct mimic_pci_lane *lane,
			      const struct mimic_binding *binding,
			      enum mimic_pci_lane_state state)
{
	return READ_ONCE(lane->binding) == binding && READ_ONCE(lane->state) == state;
}

bool mimic_pci_has_lane(const struct mimic_binding *binding, unsigned int index)
{
	return !READ_ONCE(binding->gone) &&
	       READ_ONCE(binding->device->lanes[index].shown) == binding;
}

/* --- states: device->lock is held ----------------------------------------------------- */

static void mimic_pci_free_lane(struct mimic_pci_lane *lane)
{
	WRITE_ONCE(lane->shown, NULL);
	WRITE_ONCE(lane->state, MIMIC_PCI_LANE_FREE);
	WRITE_ONCE(lane->binding, NULL);
}

/* Has the device execute posts as far as it can. */
static void mimic_pci_close_lane(struct mimic_pci_device *device, struct mimic_pci_lane *lane)
{
	unsigned int offset = MIMIC_PCI_LANE(mimic_pci_lane_index(device, lane));
	u64 value;

	mimic_pci_store_bus_page(device, offset, 0);
	if (mimic_pci_load_bus_page(device, offset, &value) ||
	    MIMIC_PCI_LANE_STATE(value) == MIMIC_PCI_LANE_IS_CLOSED)
		mimic_pci_free_lane(lane);
	else
		WRITE_ONCE(lane->state, MIMIC_PCI_LANE_CLOSES);
}

/* Frees lanes that are closing and whose posts are done by now. */
static void mimic_pci_look_at_closing(struct mimic_pci_device *device)
{
	unsigned int i;
	u64 value;

	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];

		if (lane->state == MIMIC_PCI_LANE_CLOSES &&
		    !mimic_pci_load_bus_page(device, MIMIC_PCI_LANE(i), &value) &&
		    MIMIC_PCI_LANE_STATE(value) == MIMIC_PCI_LANE_IS_CLOSED)
			mimic_pci_free_lane(lane);
	}
}

/* NULL: there is none for this process. */
static struct mimic_pci_lane *mimic_pci_find_free_lane(const struct mimic_binding *binding)
{
	struct mimic_pci_device *device = binding->device;
	unsigned int i, own = 0, free = 0;
	struct mimic_pci_lane *found = NULL;

	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];

		own += lane->binding == binding;
		if (lane->state != MIMIC_PCI_LANE_FREE)
			continue;
		free++;
		if (!found)
			found = lane;
	}
	return device->is_shared && own >= LANES_FEW && free <= LANES_RESERVED ? NULL : found;
}

static struct mimic_pci_lane *mimic_pci_get_free_lane(const struct mimic_binding *binding)
{
	struct mimic_pci_lane *lane = mimic_pci_find_free_lane(binding);

	if (lane)
		return lane;
	mimic_pci_look_at_closing(binding->device);
	return mimic_pci_find_free_lane(binding);
}

static bool mimic_pci_has_thread(const struct mimic_binding *binding, u32 thread, bool closing_too)
{
	const struct mimic_pci_device *device = binding->device;
	unsigned int i;

	for (i = 0; i < device->lane_count; i++) {
		const struct mimic_pci_lane *lane = &device->lanes[i];

		if (lane->binding == binding && lane->thread == thread &&
		    (closing_too || lane->state != MIMIC_PCI_LANE_CLOSES))
			return true;
	}
	return false;
}

/* There are more numbers than lanes. */
static u32 mimic_pci_new_thread(const struct mimic_binding *binding)
{
	u32 thread = 1;

	BUILD_BUG_ON(MIMIC_PCI_LANE_THREADS <= MIMIC_PCI_LANES);
	while (mimic_pci_has_thread(binding, thread, true))
		thread++;
	return thread;
}

void mimic_pci_lanes_gone(struct mimic_binding *binding)
{
	struct mimic_pci_device *device = binding->device;
	unsigned int i;

	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];

		if (lane->binding != binding)
			continue;
		mimic_pci_free_lane(lane);
		wake_up_all(&lane->wait);
	}
}

void mimic_pci_end_lanes(struct mimic_binding *binding)
{
	struct mimic_pci_device *device = binding->device;
	bool has_some = false;
	unsigned int i;

	mutex_lock(&device->lock);
	for (i = 0; i < device->lane_count; i++)
		has_some |= device->lanes[i].binding == binding;
	if (has_some) {
		mimic_pci_refresh_space(binding);
		mimic_pci_lanes_gone(binding);
	}
	mutex_unlock(&device->lock);
}

/* --- LANE -------------------------------------------------------------------------------- */

/* All that a program finds there is that it has lost its devices. */
static int mimic_pci_make_lost_page(struct mimic_binding *binding)
{
	if (binding->lost_page)
		return 0;
	binding->lost_page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!binding->lost_page)
		return -ENOMEM;
	memset(page_address(binding->lost_page) + MIMIC_PCI_LANE_LOST, 0xff,
	       MIMIC_PCI_LANE_LOST_SIZE);
	return 0;
}

/* The thread has another lane: those that were kept for it are of no use any more. */
static void mimic_pci_close_kept(struct mimic_binding *binding, u32 thread)
{
	struct mimic_pci_device *device = binding->device;
	unsigned int i;

	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];

		if (lane->thread == thread &&
		    mimic_pci_lane_is(lane, binding, MIMIC_PCI_LANE_KEPT))
			mimic_pci_close_lane(device, lane);
	}
}

static int mimic_pci_open_lane(struct mimic_binding *binding, struct mimic_pci_lane *lane,
			       u32 thread, u32 level)
{
	struct mimic_pci_device *device = binding->device;
	unsigned int offset = MIMIC_PCI_LANE(mimic_pci_lane_index(device, lane));
	u64 value;
	int error;

	mimic_pci_store_bus_page(device, offset,
				 MIMIC_PCI_LANE_OPEN(binding->head.number, thread, level));
	error = mimic_pci_load_bus_page(device, offset, &value);
	if (error)
		return error;
	if (MIMIC_PCI_LANE_STATE(value) != MIMIC_PCI_LANE_IS_OPEN)
		return -EMFILE;
	lane->number = MIMIC_PCI_LANE_NUMBER(value);
	lane->thread = thread;
	WRITE_ONCE(lane->binding, binding);
	WRITE_ONCE(lane->state, MIMIC_PCI_LANE_USED);
	WRITE_ONCE(lane->shown, binding);
	return 0;
}

static int mimic_pci_give_lane(struct mimic_binding *binding, struct accelerator_lane *wanted)
{
	struct mimic_pci_device *device = binding->device;
	struct mimic_pci_lane *lane;
	u32 thread = wanted->thread;
	int error;
	u64 page;

	if (binding->gone)
		return -ENODEV;
	if (thread && !mimic_pci_has_thread(binding, thread, false))
		return -ENOENT;
	error = mimic_pci_make_lost_page(binding);
	if (error)
		return error;
	lane = mimic_pci_get_free_lane(binding);
	if (!lane)
		return -EMFILE;
	if (!thread)
		thread = mimic_pci_new_thread(binding);
	error = mimic_pci_open_lane(binding, lane, thread, wanted->level);
	if (error)
		return error;
	mimic_pci_close_kept(binding, thread);
	wanted->thread = thread;
	wanted->lane = lane->number;
	page = MIMIC_LANES_PAGE + (u64)mimic_pci_lane_index(device, lane) * device->lane_pages;
	wanted->offset = page << PAGE_SHIFT;
	wanted->command_words = device->command_words;
	wanted->response_words = device->response_words;
	return 0;
}

int mimic_pci_lane(struct mimic_binding *binding, struct accelerator_lane *wanted)
{
	struct mimic_pci_device *device = binding->device;
	int error;

	if (!device->lane_count)
		return -EOPNOTSUPP;
	if (wanted->level >= MIMIC_PCI_LANE_LEVELS)
		return -EINVAL;
	mutex_lock(&device->lock);
	error = mimic_pci_give_lane(binding, wanted);
	mutex_unlock(&device->lock);
	return error;
}

/* --- LANE_CALL: the end of lanes ------------------------------------------------------- */

/* The last lane of a thread that goes on? device->lock is held. */
static bool mimic_pci_is_last(const struct mimic_pci_lane *lane)
{
	const struct mimic_binding *binding = lane->binding;
	const struct mimic_pci_device *device = binding->device;
	unsigned int i;

	for (i = 0; i < device->lane_count; i++) {
		const struct mimic_pci_lane *other = &device->lanes[i];

		if (other != lane && other->thread == lane->thread &&
		    mimic_pci_lane_is(other, binding, MIMIC_PCI_LANE_USED))
			return false;
	}
	return true;
}

/* device->lock is held. */
static void mimic_pci_keep_lane(struct mimic_pci_device *device, struct mimic_pci_lane *lane)
{
	mimic_pci_store_bus_page(device, MIMIC_PCI_LANE_CANCEL, mimic_pci_lane_index(device, lane));
	WRITE_ONCE(lane->state, MIMIC_PCI_LANE_KEPT);
}

/* Those of the thread, or else (0) the one of that number. */
static u64 mimic_pci_begin_end(struct mimic_binding *binding, u32 thread, u32 number)
{
	struct mimic_pci_device *device = binding->device;
	unsigned int i;
	u64 lanes = 0;

	mutex_lock(&device->lock);
	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];
		bool is_kept = thread && mimic_pci_lane_is(lane, binding, MIMIC_PCI_LANE_KEPT);

		if (!is_kept && !mimic_pci_lane_is(lane, binding, MIMIC_PCI_LANE_USED))
			continue;
		if (thread ? lane->thread != thread : lane->number != number)
			continue;
		WRITE_ONCE(lane->shown, NULL);
		WRITE_ONCE(lane->state, MIMIC_PCI_LANE_HIDDEN);
		wake_up_all(&lane->wait);
		lanes |= BIT_ULL(i);
	}
	mutex_unlock(&device->lock);
	return lanes;
}

static int mimic_pci_end_some(struct mimic_binding *binding, u32 thread, u32 number)
{
	struct mimic_pci_device *device = binding->device;
	u64 lanes = mimic_pci_begin_end(binding, thread, number);
	unsigned int i;

	if (!lanes)
		return -ENOENT;
	mimic_pci_hide_lanes(binding, lanes);
	mutex_lock(&device->lock);
	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];

		/* If not, the binding has ended meanwhile, with all of its lanes. */
		if (!(lanes & BIT_ULL(i)) ||
		    !mimic_pci_lane_is(lane, binding, MIMIC_PCI_LANE_HIDDEN))
			continue;
		if (!thread && mimic_pci_is_last(lane))
			mimic_pci_keep_lane(device, lane);
		else
			mimic_pci_close_lane(device, lane);
	}
	mutex_unlock(&device->lock);
	return 0;
}

/* --- LANE_CALL: the others ---------------------------------------------------------------- */

/* Not each time: a trap takes as long as all else that is done here. */
static int mimic_pci_look_for_daemon(struct mimic_pci_device *device)
{
	unsigned long now = jiffies;

	if (time_before(now, READ_ONCE(device->seen) + SEEN_JIFFIES))
		return 0;
	if (!mimic_pci_is_served(&device->device))
		return -ENODEV;
	WRITE_ONCE(device->seen, now);
	return 0;
}

static int mimic_pci_kick(struct mimic_binding *binding)
{
	mimic_pci_store_bus_page(binding->device, MIMIC_PCI_LANE_KICK, 1);
	return mimic_pci_look_for_daemon(binding->device);
}

/* NULL: it has no such lane. It may be another one's when this returns. */
static struct mimic_pci_lane *mimic_pci_find_lane(struct mimic_binding *binding, u32 number)
{
	struct mimic_pci_device *device = binding->device;
	unsigned int i;

	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];

		if (mimic_pci_lane_is(lane, binding, MIMIC_PCI_LANE_USED) &&
		    READ_ONCE(lane->number) == number)
			return lane;
	}
	return NULL;
}

/* When this returns no answer comes any more. */
static int mimic_pci_cancel(struct mimic_binding *binding, u32 number)
{
	struct mimic_pci_device *device = binding->device;
	struct mimic_pci_lane *lane;
	int error = -ENOENT;
	u64 value;

	mutex_lock(&device->lock);
	lane = mimic_pci_find_lane(binding, number);
	if (lane) {
		unsigned int index = mimic_pci_lane_index(device, lane);

		mimic_pci_store_bus_page(device, MIMIC_PCI_LANE_CANCEL, index);
		error = mimic_pci_load_bus_page(device, MIMIC_PCI_LANE(index), &value);
	}
	mutex_unlock(&device->lock);
	return error;
}

/* Also where there is nothing to wait for any more. */
static bool mimic_pci_is_awake(struct mimic_binding *binding, const struct mimic_pci_lane *lane,
			       u32 number, u32 value)
{
	struct mimic_pci_device *device = binding->device;
	int index = srcu_read_lock(&device->readers);
	bool is_awake = true;

	if (!READ_ONCE(device->is_gone) && !READ_ONCE(binding->gone) &&
	    mimic_pci_lane_is(lane, binding, MIMIC_PCI_LANE_USED) &&
	    READ_ONCE(lane->number) == number)
		is_awake = READ_ONCE(*mimic_pci_lane_word(device, lane)) != value;
	srcu_read_unlock(&device->readers, index);
	return is_awake;
}

static int mimic_pci_sleep(struct mimic_binding *binding, struct mimic_pci_lane *lane, u32 number,
			   u32 value, u64 nanoseconds)
{
	bool is_woken = binding->device->vectors > MIMIC_PCI_VECTOR_SLOTS;
	int error;
	u64 part;

	do {
		part = is_woken ? nanoseconds : min_t(u64, nanoseconds, LOOK_NS);
		error = wait_event_interruptible_hrtimeout(lane->wait,
							   mimic_pci_is_awake(binding, lane, number,
									      value),
							   ns_to_ktime(part));
		nanoseconds -= part;
	} while (error == -ETIME && nanoseconds);
	return error;
}

static int mimic_pci_wait(struct mimic_binding *binding, u32 number, u32 value, u64 nanoseconds)
{
	struct mimic_pci_lane *lane = mimic_pci_find_lane(binding, number);
	int error;

	if (!lane)
		return READ_ONCE(binding->gone) ? -ENODEV : -ENOENT;
	nanoseconds = min_t(u64, nanoseconds, KTIME_MAX - 1);
	error = mimic_pci_sleep(binding, lane, number, value, nanoseconds);
	if (READ_ONCE(binding->gone))
		return -ENODEV;
	if (error == -ETIME)
		return mimic_pci_look_for_daemon(binding->device) ?: -ETIMEDOUT;
	if (error)
		return -EINTR;
	return mimic_pci_find_lane(binding, number) ? 0 : -ENOENT;
}

int mimic_pci_lane_call(struct mimic_binding *binding, const struct accelerator_lane_call *call)
{
	if (!binding->device->lane_count)
		return -EOPNOTSUPP;
	switch (call->call) {
	case ACCELERATOR_LANE_KICK:
		return mimic_pci_kick(binding);
	case ACCELERATOR_LANE_WAIT:
		return mimic_pci_wait(binding, call->number, call->value, call->nanoseconds);
	case ACCELERATOR_LANE_CANCEL:
		return mimic_pci_cancel(binding, call->number);
	case ACCELERATOR_LANE_CLOSE:
		return mimic_pci_end_some(binding, 0, call->number);
	case ACCELERATOR_LANE_THREAD_END:
		return call->number ? mimic_pci_end_some(binding, call->number, 0) : -ENOENT;
	default:
		return -EINVAL;
	}
}

/* --- the function's ------------------------------------------------------------------------ */

/* There is something for those that sleep and whose word is 0. It takes no register to know. */
static irqreturn_t mimic_pci_lanes_raised(int irq, void *data)
{
	struct mimic_pci_device *device = data;
	unsigned int i;

	for (i = 0; i < device->lane_count; i++) {
		struct mimic_pci_lane *lane = &device->lanes[i];

		if (READ_ONCE(lane->state) == MIMIC_PCI_LANE_USED &&
		    !READ_ONCE(*mimic_pci_lane_word(device, lane)))
			wake_up_all(&lane->wait);
	}
	return IRQ_HANDLED;
}

int mimic_pci_lanes_start(struct mimic_pci_device *device)
{
	resource_size_t start = pci_resource_start(device->memory_pci, MIMIC_PCI_BAR_RINGS);
	u64 layout = readq(device->registers + MIMIC_PCI_LANE_LAYOUT);
	unsigned int count = readq(device->registers + MIMIC_PCI_LAYOUT) >> 32 & 0xff;
	unsigned int pages = layout & 0xffff, i;
	size_t size = ((size_t)count * pages) << PAGE_SHIFT;

	if (!count)
		return 0;
	if (count > MIMIC_PCI_LANES || !pages ||
	    pci_resource_len(device->memory_pci, MIMIC_PCI_BAR_RINGS) < size)
		return -ENODEV;
	/* As memory, so that programs' mappings can be memory. */
	device->rings = devm_memremap(&device->pci->dev, start, size, MEMREMAP_WB);
	if (IS_ERR(device->rings))
		return PTR_ERR(device->rings);
	for (i = 0; i < count; i++)
		init_waitqueue_head(&device->lanes[i].wait);
	device->rings_frame = start >> PAGE_SHIFT;
	device->lane_pages = pages;
	device->command_words = layout >> 16 & 0xffff;
	device->response_words = layout >> 32 & 0xffff;
	device->seen = jiffies;
	device->lane_count = count;
	return 0;
}

/* With one vector, which is the driver's of the device, those that sleep look themselves. */
int mimic_pci_lanes_listen(struct mimic_pci_device *device)
{
	int error;

	if (!device->lane_count || device->vectors <= MIMIC_PCI_VECTOR_SLOTS)
		return 0;
	error = request_irq(pci_irq_vector(device->pci, MIMIC_PCI_VECTOR_SLOTS),
			    mimic_pci_lanes_raised, 0, KBUILD_MODNAME, device);
	device->listens = !error;
	return error;
}

void mimic_pci_lanes_stop(struct mimic_pci_device *device)
{
	if (device->listens)
		free_irq(pci_irq_vector(device->pci, MIMIC_PCI_VECTOR_SLOTS), device);
}
