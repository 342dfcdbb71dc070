/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The scripted daemon: its answers, and the channel's forms without io_uring. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fake_server.h"
#include "mimic/virgo_registers.h"

static void die(void)
{
	kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

void fake_die_if_before_taking(struct fake_server *server)
{
	if (server->control->dies_before_taking)
		die();
}

void fake_commit(struct fake_server *server, unsigned int slot)
{
	struct mimic_bus_commit commit = { .size = sizeof(commit), .slot = slot };

	ioctl(server->self.fd, MIMIC_BUS_COMMIT, &commit);
	server->control->commits++;
}

static void answer_in_slot(struct fake_server *server, const struct mimic_bus_answer *answer,
			   bool commits)
{
	struct mimic_bus_slot *slot = &server->self.slots[answer->slot];

	slot->status = answer->status;
	slot->data = answer->data;
	slot->fd = answer->fd;
	__atomic_store_n(&slot->answered, 1, __ATOMIC_RELEASE);
	/* Pairs with the kernel's between its flag and its last read of the answer. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!commits || !__atomic_load_n(&slot->waiter_sleeps, __ATOMIC_RELAXED))
		return;
	if (server->channel != FAKE_URING || !pthread_equal(pthread_self(), server->thread)) {
		fake_commit(server, answer->slot);
		return;
	}
	if (server->uncommitted >= 0)
		fake_commit(server, (unsigned int)server->uncommitted);
	server->uncommitted = (int)answer->slot;
}

static void give(struct fake_server *server, const struct mimic_bus_answer *answer, bool commits)
{
	if (server->channel != FAKE_READ_WRITE) {
		answer_in_slot(server, answer, commits);
		return;
	}
	if (write(server->self.fd, answer, sizeof(*answer)) != sizeof(*answer))
		die();
}

/* --- registers ------------------------------------------------------------ */

static bool is_load_of(const struct mimic_bus_request *request, unsigned int page,
		       unsigned int offset)
{
	return !request->is_write && request->page == page && request->offset == offset;
}

/* Serves accesses of the function driver itself to a Virgo. */
static bool serve_virgo_driver(struct fake_server *server, const struct mimic_bus_request *request,
			       uint64_t *data)
{
	struct fake_control *control = server->control;

	if (is_load_of(request, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_IDENTIFY)) {
		*data = (uint64_t)VIRGO_MAGIC << 32 | VIRGO_VERSION << 24 | VIRGO_UNITS_MAX;
	} else if (is_load_of(request, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_SHARED_SIZE)) {
		*data = server->memory_size;
	} else if (is_load_of(request, VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS)) {
		*data = control->fault_word;
	} else if (request->is_write && request->page == VIRGO_PAGE_CONTROL &&
		   request->offset == VIRGO_CONTROL_FLUSH) {
		control->flushes++;
	} else if (request->is_write && request->page == VIRGO_PAGE_CONTROL &&
		   request->offset == VIRGO_CONTROL_RESOLVE) {
		control->fault_word = 0;
		control->last_resolve = request->data;
		control->resolves++;
	} else {
		return false;
	}
	return true;
}

/* Of a MAPLE. */
static bool serve_driver(struct fake_server *server, const struct mimic_bus_request *request,
			 uint64_t *data)
{
	struct fake_control *control = server->control;
	const unsigned int resolve = MAPLE_OFFSET(MAPLE_STORE_MMU, MAPLE_MMU_RESOLVE);

	if (server->memory_size)
		return serve_virgo_driver(server, request, data);
	if (is_load_of(request, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0))) {
		*data = server->is_paper ? MAPLE_IDENTIFY_MAGIC << 32 | MAPLE_IDENTIFY_VERSION << 24 : 0;
	} else if (is_load_of(request, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_FAULT_STATUS, 0))) {
		*data = control->fault_word;
	} else if (is_load_of(request, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FAULT))) {
		*data = control->fault_word & ~0xcull;
	} else if (is_load_of(request, MAPLE_PAGE_MMU, MAPLE_OFFSET(MAPLE_LOAD_DEBUG, MAPLE_MMU_FLUSH))) {
		control->flushes++;
		*data = 0;
	} else if (request->is_write && request->page == MAPLE_PAGE_MMU && request->offset == resolve) {
		control->fault_word = 0;
		control->last_resolve = request->data;
		control->resolves++;
	} else {
		return false;
	}
	return true;
}

static void serve_memory(struct fake_server *server, const struct mimic_bus_request *request,
			 uint64_t *data)
{
	uint8_t *place = (uint8_t *)server->control->memory[request->page] + request->offset;

	*data = 0;
	if (request->is_write)
		memcpy(place, &request->data, request->size);
	else
		memcpy(data, place, request->size);
}

static const struct fake_special *special_of(struct fake_server *server,
					     const struct mimic_bus_request *request)
{
	unsigned int i = server->control->special_count;

	while (i-- > 0) {
		const struct fake_special *special = &server->control->specials[i];

		if (special->page == request->page && special->offset == request->offset &&
		    special->is_drivers == !request->binding &&
		    (request->is_write || !special->only_stores))
			return special;
	}
	return NULL;
}

static void serve_access(struct fake_server *server, const struct mimic_bus_request *request,
			 struct mimic_bus_answer *answer)
{
	const struct fake_special *special = special_of(server, request);

	if (request->page >= MIMIC_BUS_PAGES_MAX || request->offset + request->size > 4096u) {
		answer->status = -EIO;
	} else if (special && special->action == FAKE_STATUS) {
		answer->status = special->status;
	} else if (special && special->action == FAKE_DATA) {
		answer->data = special->data;
	} else {
		uint64_t data = 0;

		if (request->binding || !serve_driver(server, request, &data))
			serve_memory(server, request, &data);
		answer->data = data;
	}
}

/* --- requests ------------------------------------------------------------- */

static void count(struct fake_server *server, const struct mimic_bus_request *request)
{
	struct fake_control *control = server->control;

	if (request->kind == MIMIC_BUS_REQUEST_ACCESS && !request->binding) {
		if (request->is_write)
			control->driver_stores++;
		else
			control->driver_loads++;
		return;
	}
	/* The entry first: a thread that sees the count may read it. */
	control->log[control->log_count % FAKE_LOG_MAX] = *request;
	control->serials[control->log_count % FAKE_LOG_MAX] = server->self.slots[request->slot].serial;
	control->log_count++;
	switch (request->kind) {
	case MIMIC_BUS_REQUEST_OPEN:
		control->last_open = *request;
		control->opens++;
		break;
	case MIMIC_BUS_REQUEST_CLOSE:
		control->closes++;
		break;
	case MIMIC_BUS_REQUEST_ACCESS:
		if (request->is_write)
			control->stores++;
		else
			control->loads++;
		break;
	case MIMIC_BUS_REQUEST_THREAD_GONE:
		control->threads_gone++;
		break;
	case MIMIC_BUS_REQUEST_CONNECT:
		control->connects++;
		break;
	}
}

/* A socket that says "mimic". */
static void connect_session(struct fake_server *server, struct mimic_bus_answer *answer)
{
	int ends[2];

	answer->status = server->control->connect_status;
	if ((answer->status && !server->control->fails_with_file) || server->control->connects_without_file)
		return;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		answer->status = -errno;
		return;
	}
	answer->fd = ends[0];
	if (write(ends[1], "mimic", 5) != 5)
		answer->status = -EIO;
	close(ends[1]);
}

static void serve_now(struct fake_server *server, const struct mimic_bus_request *request,
		      bool commits)
{
	struct fake_control *control = server->control;
	struct mimic_bus_answer answer = { .slot = request->slot, .fd = -1 };

	switch (request->kind) {
	case MIMIC_BUS_REQUEST_OPEN:
		answer.status = control->open_status;
		if (!answer.status)
			control->open_binding = (int)request->binding;
		break;
	case MIMIC_BUS_REQUEST_CLOSE:
		if (!control->is_kept)
			memset(control->memory, 0, sizeof(control->memory));
		break;
	case MIMIC_BUS_REQUEST_ACCESS:
		serve_access(server, request, &answer);
		break;
	case MIMIC_BUS_REQUEST_CONNECT:
		connect_session(server, &answer);
		break;
	}
	give(server, &answer, commits);
	if (answer.fd < 0)
		return;
	/* Before the file is taken: the commit may still wait for the next FETCH. */
	if (server->uncommitted >= 0) {
		fake_commit(server, (unsigned int)server->uncommitted);
		server->uncommitted = -1;
	}
	close(answer.fd);
}

static void hold(struct fake_server *server, const struct mimic_bus_request *request)
{
	server->is_held[request->slot] = true;
	server->held[request->slot] = *request;
	server->control->held++;
}

static enum fake_action action_of(struct fake_server *server, const struct mimic_bus_request *request)
{
	const struct fake_special *special = NULL;

	if (server->control->hold_kinds & 1u << request->kind)
		return FAKE_KEEP;
	if (request->kind == MIMIC_BUS_REQUEST_ACCESS)
		special = special_of(server, request);
	return special ? special->action : 0;
}

static void give_back(struct fake_server *server, unsigned int number)
{
	struct mimic_bus_answer answer = { .slot = number, .status = MIMIC_BUS_TAKEN_BACK, .fd = -1 };

	server->control->given_back++;
	give(server, &answer, true);
}

/* One that is held should be given back. */
static void cancel(struct fake_server *server, unsigned int number)
{
	server->control->cancels++;
	if (action_of(server, &server->held[number]) == FAKE_KEEP)
		return;
	server->is_held[number] = false;
	server->control->held--;
	give_back(server, number);
}

/* server->lock is held. */
void fake_serve_request(struct fake_server *server, const struct mimic_bus_request *request)
{
	enum fake_action action;

	if (request->slot >= MIMIC_BUS_SLOTS)
		die();
	if (server->is_held[request->slot]) {
		cancel(server, request->slot);
		return;
	}
	/* Read: to be cancelled, but answered meanwhile. */
	if (request->kind == MIMIC_BUS_REQUEST_ACCESS && !request->size)
		return;
	count(server, request);
	action = action_of(server, request);
	if (action == FAKE_DIE_AFTER_TAKING)
		die();
	if (action == FAKE_HOLD || action == FAKE_KEEP) {
		hold(server, request);
		return;
	}
	serve_now(server, request, action != FAKE_DIE_AFTER_ANSWER);
	if (action == FAKE_DIE_AFTER_ANSWER)
		die();
}

long fake_release_held(struct fake_server *server)
{
	unsigned int i;
	long released = 0;

	pthread_mutex_lock(&server->lock);
	for (i = 0; i < MIMIC_BUS_SLOTS; i++) {
		if (!server->is_held[i])
			continue;
		server->is_held[i] = false;
		server->control->held--;
		serve_now(server, &server->held[i], true);
		released++;
	}
	pthread_mutex_unlock(&server->lock);
	return released;
}

/* --- shared slots --------------------------------------------------------- */

bool fake_slots_pending(const struct fake_server *server)
{
	const struct mimic_bus_header *header = server->self.header;
	uint64_t bits = 0;
	unsigned int i;

	for (i = 0; i < MIMIC_BUS_SLOTS / 64; i++)
		bits |= __atomic_load_n(&header->pending[i], __ATOMIC_RELAXED) |
			__atomic_load_n(&header->cancelled[i], __ATOMIC_RELAXED);
	return bits;
}

static unsigned int serve_word(struct fake_server *server, unsigned int word)
{
	struct mimic_bus_header *header = server->self.header;
	uint64_t pending = __atomic_load_n(&header->pending[word], __ATOMIC_ACQUIRE);
	uint64_t cancelled = __atomic_load_n(&header->cancelled[word], __ATOMIC_ACQUIRE);
	unsigned int bit, served = 0;

	for (bit = 0; bit < 64; bit++) {
		uint64_t mask = 1ull << bit;
		struct mimic_bus_request request;

		if (pending & mask) {
			request = server->self.slots[word * 64 + bit].request;
			if (request.kind == MIMIC_BUS_REQUEST_ACCESS && request.binding)
				fake_die_if_before_taking(server);
			if (!(__atomic_fetch_and(&header->pending[word], ~mask, __ATOMIC_ACQ_REL) & mask))
				continue;
			/* From now on it is constant. */
			request = server->self.slots[word * 64 + bit].request;
			/* Both: it was a dead daemon's. It is not to begin. */
			if (__atomic_fetch_and(&header->cancelled[word], ~mask, __ATOMIC_ACQ_REL) & mask)
				give_back(server, word * 64 + bit);
			else
				fake_serve_request(server, &request);
			served++;
		} else if (cancelled & mask) {
			__atomic_fetch_and(&header->cancelled[word], ~mask, __ATOMIC_ACQ_REL);
			if (server->is_held[word * 64 + bit])
				cancel(server, word * 64 + bit);
			served++;
		}
	}
	return served;
}

unsigned int fake_serve_slots(struct fake_server *server)
{
	unsigned int word, served = 0;

	if (!fake_slots_pending(server))
		return 0;
	pthread_mutex_lock(&server->lock);
	for (word = 0; word < MIMIC_BUS_SLOTS / 64; word++)
		served += serve_word(server, word);
	pthread_mutex_unlock(&server->lock);
	return served;
}

static void serve_sleeping(struct fake_server *server)
{
	struct pollfd poll_fd = { .fd = server->self.fd, .events = POLLIN };

	for (;;) {
		__atomic_store_n(&server->self.header->sleeping, 0, __ATOMIC_RELAXED);
		while (fake_serve_slots(server))
			;
		__atomic_store_n(&server->self.header->sleeping, 1, __ATOMIC_RELAXED);
		/* Pairs with the kernel's between a bit and its read of the flag. */
		atomic_thread_fence(memory_order_seq_cst);
		if (!fake_slots_pending(server))
			poll(&poll_fd, 1, -1);
	}
}

static void serve_spinning(struct fake_server *server)
{
	unsigned int rounds;

	__atomic_store_n(&server->self.header->sleeping, 0, __ATOMIC_RELAXED);
	for (rounds = 0;; rounds++) {
		if (rounds % 64 == 0)
			__atomic_store_n(&server->self.header->cpu, sched_getcpu(), __ATOMIC_RELAXED);
		if (!fake_serve_slots(server))
			__builtin_ia32_pause();
	}
}

static void serve_reading(struct fake_server *server)
{
	struct pollfd poll_fd = { .fd = server->self.fd, .events = POLLIN };
	struct mimic_bus_request requests[8];
	ssize_t size;
	size_t i;

	for (;;) {
		if (poll(&poll_fd, 1, -1) < 0)
			continue;
		fake_die_if_before_taking(server);
		pthread_mutex_lock(&server->lock);
		size = read(server->self.fd, requests, sizeof(requests));
		for (i = 0; size > 0 && i < (size_t)size / sizeof(requests[0]); i++)
			fake_serve_request(server, &requests[i]);
		pthread_mutex_unlock(&server->lock);
	}
}

void fake_serve(struct fake_server *server)
{
	switch (server->channel) {
	case FAKE_READ_WRITE:
		serve_reading(server);
		break;
	case FAKE_SLOTS:
		serve_sleeping(server);
		break;
	case FAKE_SPINNING:
		serve_spinning(server);
		break;
	case FAKE_URING:
		fake_serve_uring(server);
		break;
	}
}
