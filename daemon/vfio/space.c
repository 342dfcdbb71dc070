/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/vfio/space.h"

#include <errno.h>
#include <string.h>

#include "daemon/loop/log.h"
#include "devices/atomic.h"
#include "mimic/access.h"
#include "mimic/pci.h"

#define ROW_BYTES 64	/* from one row to the next (devices/model.h) */
#define PAGE_MASK (MIMIC_PAGE_SIZE - 1ull)

/* --- translation: with the memory's lock for reading ---------------------------------- */

static void complain(struct mimicd_space *space, uint64_t physical, const char *what)
{
	if (atomic_exchange_explicit(&space->has_complained, true, memory_order_relaxed))
		return;
	mimicd_log_of(space->owner, MIMICD_LOG_ERROR, "%s at %#llx of the machine, which it does not share: QEMU "
		      "needs -object memory-backend-memfd,id=ram,size=...,share=on and -machine memory-backend=ram",
		      what, (unsigned long long)physical);
}

static uint64_t *find_entry(void *context, uint64_t physical)
{
	struct mimicd_space *space = context;
	const struct mimicd_guest_range *range = mimicd_guest_memory_find(space->memory, physical);

	if (range && range->base && range->is_writable)
		return (uint64_t *)(void *)(range->base + (physical - range->address));
	if (range)
		complain(space, physical, "a page table lies");
	return NULL;
}

/* Where the page that begins there is seen here; NULL: no memory, or not for stores. */
static char *find_page(struct mimicd_space *space, uint64_t physical, bool *is_writable)
{
	const struct mimicd_aperture *aperture = space->aperture;
	const struct mimicd_guest_range *range;

	*is_writable = true;
	if (physical >= aperture->address && physical - aperture->address < aperture->size)
		return aperture->base + (physical - aperture->address);
	range = mimicd_guest_memory_find(space->memory, physical);
	if (!range)
		return NULL;
	if (!range->base) {
		complain(space, physical, "a page of memory lies");
		return NULL;
	}
	*is_writable = range->is_writable;
	return range->base + (physical - range->address);
}

static void fill(struct mimicd_space *space, uint64_t page, char *base, bool is_writable)
{
	if (space->has_tlb)
		space->tlb[page / MIMIC_PAGE_SIZE % MIMICD_SPACE_TLB] =
			(struct mimicd_space_entry){ page + 1, base, is_writable };
}

static char *walk(struct mimicd_space *space, uint64_t address, bool is_store)
{
	struct mimicd_walk found = { .physical = address, .is_writable = true, .is_dirty = true };
	bool is_writable;
	char *base;

	if (!space->is_physical && mimicd_page_walk(&space->tables, address, is_store, &found))
		return NULL;
	base = find_page(space, found.physical & ~PAGE_MASK, &is_writable);
	if (!base || (is_store && !is_writable))
		return NULL;
	fill(space, address & ~PAGE_MASK, base, is_writable && found.is_writable && found.is_dirty);
	return base + (address & PAGE_MASK);
}

/* Where the byte at an address is seen here; those to the end of its page follow it. NULL: a fault. */
static inline char *translate(struct mimicd_space *space, uint64_t address, bool is_store)
{
	const struct mimicd_space_entry *entry = &space->tlb[address / MIMIC_PAGE_SIZE % MIMICD_SPACE_TLB];

	if (entry->page == (address & ~PAGE_MASK) + 1 && (!is_store || entry->is_writable))
		return entry->base + (address & PAGE_MASK);
	return walk(space, address, is_store);
}

/* Returns the bytes that were moved before the first page that faulted. */
static size_t move(struct mimicd_space *space, bool is_store, uint64_t address, char *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t piece = MIMIC_PAGE_SIZE - ((address + done) & PAGE_MASK);
		char *place = translate(space, address + done, is_store);

		if (!place)
			break;
		if (piece > size - done)
			piece = size - done;
		if (is_store)
			memcpy(place, buffer + done, piece);
		else
			memcpy(buffer + done, place, piece);
		done += piece;
	}
	return done;
}

/* From here to unlock() translations stay valid. */
static void lock(struct mimicd_space *space)
{
	pthread_rwlock_rdlock(&space->memory->lock);
	if (!space->has_tlb || space->removals == space->memory->removals)
		return;
	memset(space->tlb, 0, sizeof(space->tlb));
	space->removals = space->memory->removals;
}

static void unlock(struct mimicd_space *space)
{
	pthread_rwlock_unlock(&space->memory->lock);
}

/* --- the port of devices whose calls reach memory ------------------------------------- */

static bool load_value(struct mimicd_space *space, uint64_t address, unsigned int size, uint64_t *value)
{
	const char *place;

	*value = 0;
	if ((address & PAGE_MASK) > MIMIC_PAGE_SIZE - size)
		return move(space, false, address, (char *)value, size) == size;
	place = translate(space, address, false);
	if (!place)
		return false;
	/* Of a constant size, so that a value that is aligned is read in one piece. */
	if (size == sizeof(uint32_t))
		memcpy(value, place, sizeof(uint32_t));
	else
		memcpy(value, place, sizeof(uint64_t));
	return true;
}

static long port_gather(void *context, const uint64_t *addresses, size_t count, unsigned int size,
			uint64_t tag, uint64_t *values)
{
	struct mimicd_space *space = context;
	size_t done = 0;

	(void)tag;
	lock(space);
	while (done < count && load_value(space, addresses[done], size, &values[done]))
		done++;
	unlock(space);
	return (long)done;
}

static int port_read(void *context, uint64_t address, void *buffer, size_t size)
{
	struct mimicd_space *space = context;
	size_t done;

	lock(space);
	done = move(space, false, address, buffer, size);
	unlock(space);
	memset((char *)buffer + done, 0, size - done);
	return done == size ? 0 : -EFAULT;
}

static long move_rows(struct mimicd_space *space, bool is_store, const uint64_t *addresses, size_t count,
		      size_t size, char *rows)
{
	size_t done = 0;

	lock(space);
	while (done < count && move(space, is_store, addresses[done], rows + done * ROW_BYTES, size) == size) {
		if (!is_store)
			memset(rows + done * ROW_BYTES + size, 0, ROW_BYTES - size);
		done++;
	}
	unlock(space);
	return (long)done;
}

static long port_read_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	return move_rows(context, false, addresses, count, size, rows);
}

static long port_write_rows(void *context, const uint64_t *addresses, size_t count, size_t size,
			    const void *rows)
{
	/* Only read: the function is one for both directions. */
	return move_rows(context, true, addresses, count, size, (char *)(uintptr_t)rows);
}

/* Beside the guest's processors, which do the same at the same place. */
static int do_atomic(uint32_t *place, enum mimic_atomic operation, uint32_t operand, uint32_t expected,
		     uint32_t *old)
{
	uint32_t value = __atomic_load_n(place, __ATOMIC_ACQUIRE);

	if (operation > MIMIC_ATOMIC_CAS)
		return -EINVAL;
	while (!__atomic_compare_exchange_n(place, &value,
					    mimic_atomic_result(operation, value, operand, expected), false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	*old = value;
	return 0;
}

static int port_atomic(void *context, uint64_t address, enum mimic_atomic operation, uint32_t operand,
		       uint32_t expected, uint32_t *old)
{
	struct mimicd_space *space = context;
	int error = -EFAULT;
	char *place;

	if (address % sizeof(uint32_t))
		return -EFAULT;
	lock(space);
	place = translate(space, address, true);
	if (place)
		error = do_atomic((uint32_t *)(void *)place, operation, operand, expected, old);
	unlock(space);
	return error;
}

/* --- the port of devices whose jobs do ------------------------------------------------- */

static long move_block(struct mimicd_space *space, bool is_store, uint64_t address, uint64_t stride,
		       size_t size, size_t count, char *buffer, size_t buffer_stride)
{
	size_t done = 0;

	lock(space);
	while (done < count &&
	       move(space, is_store, address + done * stride, buffer + done * buffer_stride, size) == size)
		done++;
	unlock(space);
	return (long)done;
}

static long port_read_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
			    void *buffer, size_t buffer_stride)
{
	return move_block(context, false, address, stride, size, count, buffer, buffer_stride);
}

static long port_write_block(void *context, uint64_t address, uint64_t stride, size_t size, size_t count,
			     const void *buffer, size_t buffer_stride)
{
	return move_block(context, true, address, stride, size, count, (char *)(uintptr_t)buffer,
			  buffer_stride);
}

/* --- made and changed ------------------------------------------------------------------ */

void mimicd_space_init(struct mimicd_space *space, struct mimicd_guest_memory *memory,
		       const struct mimicd_aperture *aperture, bool has_jobs, bool has_tlb,
		       struct mimic_memory *port)
{
	memset(space, 0, sizeof(*space));
	space->memory = memory;
	space->aperture = aperture;
	space->owner = memory->owner;
	space->has_tlb = has_tlb;
	space->tables.entry = find_entry;
	space->tables.context = space;
	if (has_jobs)
		*port = (struct mimic_memory){
			.context = space,
			.read_block = port_read_block,
			.write_block = port_write_block,
		};
	else
		*port = (struct mimic_memory){
			.context = space,
			.gather = port_gather,
			.read = port_read,
			.read_rows = port_read_rows,
			.write_rows = port_write_rows,
			.atomic = port_atomic,
		};
}

/* The lock is held for writing, so that no access is under way. */
int mimicd_space_set(struct mimicd_space *space, uint64_t mode, uint64_t root)
{
	bool is_walked = mimicd_walk_is_mode(mode);

	pthread_rwlock_wrlock(&space->memory->lock);
	space->tables.mode = is_walked ? (enum mimicd_walk_mode)mode : MIMICD_WALK_NONE;
	space->is_physical = mode == MIMIC_PCI_MODE_PHYSICAL;
	space->tables.root = root & ~PAGE_MASK;
	memset(space->tlb, 0, sizeof(space->tlb));
	atomic_store_explicit(&space->has_complained, false, memory_order_relaxed);
	pthread_rwlock_unlock(&space->memory->lock);
	return is_walked || space->is_physical || mode == MIMIC_PCI_MODE_NONE ? 0 : -EINVAL;
}

void mimicd_space_flush(struct mimicd_space *space)
{
	pthread_rwlock_wrlock(&space->memory->lock);
	memset(space->tlb, 0, sizeof(space->tlb));
	pthread_rwlock_unlock(&space->memory->lock);
}
