/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Lanes as they are mapped. Where they are memory of a device's node, the mapping holds the node open, and threads
 * keep their lanes when the program closes it. So they are moved to another node of the session or, with the last one, to
 * memory of the process's own: a thread that still waits there finds positions that cannot be, or no session. Nothing here is
 * left to signal handlers.
 */
#include <errno.h>
#include <sys/mman.h>

#include "libmimic/base/thread.h"
#include "libmimic/daemon/session.h"

static void *map(void *at, size_t size, int fd, uint64_t offset)
{
	int flags = at ? MAP_FIXED : 0;
	void *memory;

	if (fd < 0)
		flags |= MAP_PRIVATE | MAP_ANONYMOUS;
	else
		flags |= MAP_SHARED;
	memory = mmap(at, size, PROT_READ | PROT_WRITE, flags, fd, (off_t)offset);
	/* A child that used it would mix its words with ours. */
	if (memory != MAP_FAILED)
		madvise(memory, size, MADV_DONTFORK);
	return memory;
}

static int record(struct daemon_session *session, void *memory, size_t size, uint64_t offset)
{
	for (unsigned int i = 0; i < DAEMON_SESSION_MAPPINGS; i++) {
		if (session->mappings[i].memory)
			continue;
		session->mappings[i] = (struct daemon_mapping){ memory, size, offset };
		return 0;
	}
	return -EMFILE;
}

/* The session's lock is held. */
static void *map_of_node(struct daemon_session *session, uint32_t generation, const struct daemon_lane_place *place,
			 size_t size)
{
	void *memory;

	if (!mimic_daemon_session_is_current(generation))
		return MAP_FAILED;
	memory = map(NULL, size, place->fd, place->offset);
	if (memory == MAP_FAILED || !record(session, memory, size, place->offset))
		return memory;
	munmap(memory, size);
	return MAP_FAILED;
}

int mimic_daemon_mapping_make(uint32_t generation, const struct daemon_lane_place *place, size_t size, void **made)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	struct mimic_thread *self = mimic_thread_self();
	void *memory;
	sigset_t signals;

	if (!self)
		return -ENOMEM;
	if (!session->ops) {
		memory = map(NULL, size, place->fd, place->offset);
	} else {
		mimic_daemon_block_signals(&signals);
		mimic_lock_acquire(&session->lock, self->number);
		memory = map_of_node(session, generation, place, size);
		mimic_lock_release(&session->lock);
		mimic_daemon_restore_signals(&signals);
	}
	if (memory == MAP_FAILED)
		return -ENOMEM;
	*made = memory;
	return 0;
}

void mimic_daemon_mapping_end(uint32_t generation, void *memory, size_t size)
{
	struct daemon_session *session = mimic_daemon_session_of(generation);
	struct mimic_thread *self = mimic_thread_self();
	sigset_t signals;

	if (!self)
		return;
	mimic_daemon_block_signals(&signals);
	mimic_lock_acquire(&session->lock, self->number);
	for (unsigned int i = 0; i < DAEMON_SESSION_MAPPINGS; i++) {
		if (session->mappings[i].memory == memory)
			session->mappings[i].memory = NULL;
	}
	munmap(memory, size);
	mimic_lock_release(&session->lock);
	mimic_daemon_restore_signals(&signals);
}

void mimic_daemon_mappings_move(struct daemon_session *session, int node)
{
	for (unsigned int i = 0; i < DAEMON_SESSION_MAPPINGS; i++) {
		struct daemon_mapping *mapping = &session->mappings[i];

		if (!mapping->memory)
			continue;
		map(mapping->memory, mapping->size, node, mapping->offset);
		if (node < 0)
			mapping->memory = NULL;
	}
}
