/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The daemon transport as libmimic/device/device.c sees it. */
#include "libmimic/daemon/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmimic/base/error.h"
#include "libmimic/base/thread.h"
#include "libmimic/daemon/credit.h"
#include "libmimic/daemon/device.h"
#include "libmimic/daemon/lane.h"
#include "libmimic/daemon/memory.h"
#include "libmimic/daemon/order.h"
#include "libmimic/daemon/session.h"

/* Of a function that each store of a program runs: inlined there, it would have it save all registers. */
#define RARE __attribute__((noinline, cold))
/* Words of one posted command. */
#define POST_WORDS 2048
/* Narrow answers that are packed at once. */
#define PIECE_WORDS 512

static int explain_open(int error, const char *name)
{
	switch (error) {
	case -EBUSY:
		return mimic_error(error, "%s: in use by another process, or none is free, or all its contexts are taken", name);
	case -ENODEV:
		return mimic_error(error, "%s: the daemon has no such device", name);
	case -ENOENT:
		return mimic_error(error, "%s: unknown kind of device", name);
	case -EDQUOT:
		return mimic_error(error, "%s: programs of this user have as many devices as one user may", name);
	default:
		return mimic_error(error, "%s: the daemon says: %s", name, strerror(-error));
	}
}

/* A file that can shrink would be a SIGBUS in the program. Takes the descriptor over. */
static int take_memory(struct daemon_device *device, int fd, uint64_t size)
{
	struct stat status;
	int seals;

	device->memory.fd = -1;
	if (fd < 0)
		return size ? -EPROTO : 0;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK) || !size || fstat(fd, &status) < 0 ||
	    (uint64_t)status.st_size < size) {
		close(fd);
		return -EPROTO;
	}
	device->memory = mimic_descriptor_keep(fd);
	device->memory_size = (size_t)size;
	return 0;
}

/* `mimic run --no-post`. */
static bool may_post(void)
{
	const char *value = secure_getenv("MIMIC_POST");

	return !value || strcmp(value, "0");
}

static int request_open(struct daemon_device *device, const char *name)
{
	struct mimic_open message = { 0 };
	struct mimic_open_reply reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_OPEN,
		.fd = -1,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};
	int error;

	if (strlen(name) >= sizeof(message.name))
		return -ENOENT;
	strcpy(message.name, name);
	error = mimic_daemon_session_request(device->generation, &request);
	if (error)
		return error;
	if (reply.device > UINT8_MAX || reply.name[MIMIC_NAME_MAX - 1]) {
		if (request.reply_fd >= 0)
			close(request.reply_fd);
		return -EPROTO;
	}
	device->number = (uint8_t)reply.device;
	device->counters = reply.counters;
	device->posts_stores = may_post() ? reply.posts_stores : 0;
	strcpy(device->base.name, reply.name);
	return take_memory(device, request.reply_fd, reply.memory_size);
}

int mimic_daemon_device_open(struct daemon_device *device, uint32_t generation, const char *name)
{
	int error;

	device->generation = generation;
	error = request_open(device, name);
	if (error)
		return explain_open(error, name);
	mimic_daemon_session_of(generation)->devices++;
	return 0;
}

void mimic_daemon_device_close(struct daemon_device *device)
{
	if (!mimic_daemon_session_tell(device->generation, MIMIC_MESSAGE_CLOSE, device->number))
		mimic_daemon_session_of(device->generation)->devices--;
	mimic_descriptor_close(&device->memory);
}

static int daemon_open(struct mimic_device **opened, const char *name,
		       const struct mimic_options *options)
{
	struct daemon_device *device;
	int error = mimic_daemon_session_get(options->socket_path);

	if (error)
		return error;
	device = calloc(1, sizeof(*device));
	if (!device)
		return -ENOMEM;
	device->base.transport = &mimic_daemon_transport;
	error = mimic_daemon_device_open(device, mimic_daemon_sessions[DAEMON_SESSION_SOCKET].generation,
					 name);
	if (error) {
		free(device);
		return error;
	}
	*opened = &device->base;
	return 0;
}

static void daemon_close(struct mimic_device *base)
{
	struct daemon_device *device = mimic_daemon_device(base);

	mimic_daemon_device_close(device);
	free(device);
}

static inline uint64_t pack(const struct daemon_device *device, enum mimic_command_kind kind,
			    const struct mimic_access *pattern, uint32_t count)
{
	struct mimic_command command = {
		.kind = kind,
		.device = device->number,
		.page = pattern->page,
		.size = pattern->size,
		.offset = (uint16_t)pattern->offset,
		.count = count,
	};

	return mimic_command_pack(&command);
}

/* Once answers are there, or before a post: a device that is lost gives no value. */
static int check_lost(const struct daemon_device *device, const struct daemon_lane *lane)
{
	return __builtin_expect(mimic_lane_has_lost(lane->memory, device->number), 0) ? -ENODEV : 0;
}

/* Publishes a command with `due` answers whose words are in the ring. */
static void issue(struct daemon_lane *lane, uint64_t words, uint32_t due)
{
	lane->withdrawn = false;
	/* Before it is published: a signal handler never finds a command that it would not take back. */
	lane->due = due;
	atomic_signal_fence(memory_order_seq_cst);
	mimic_daemon_publish(lane, words);
}

/* Of a program's own store, it may ask for credits. */
static enum mimic_command_kind kind_of(const struct daemon_device *device, const struct daemon_lane *lane,
				       const struct mimic_access *access, bool is_plain)
{
	if (is_plain && mimic_daemon_credit_ask(device, lane, access))
		return MIMIC_COMMAND_STORE_FOR_CREDIT;
	if (device->base.kind->credits)
		mimic_daemon_credit_leave(device, lane, access);
	return access->is_write ? MIMIC_COMMAND_STORE_ACKNOWLEDGED : MIMIC_COMMAND_LOAD;
}

static int access_once(struct daemon_device *device, struct daemon_lane *lane, struct mimic_access *access,
		       bool is_plain)
{
	unsigned int losses = lane->thread->credit_losses;
	enum mimic_command_kind kind;
	uint64_t words, answer;
	int64_t level;
	int error = mimic_daemon_get_room(lane, device->generation, MIMIC_DAEMON_ORDER_WORDS + 2);

	if (error)
		return error;
	kind = kind_of(device, lane, access, is_plain);
	words = device->base.kind->order ? mimic_daemon_order_access(device, lane, access) : 0;
	mimic_ring_put(&lane->commands, words++, pack(device, kind, access, 1));
	if (access->is_write)
		mimic_ring_put(&lane->commands, words++, access->data);
	issue(lane, words, 1);
	level = mimic_daemon_wait_answers(lane, device->generation);
	if (level < 0)
		return (int)level;
	answer = mimic_ring_get(&lane->responses, 0);
	mimic_ring_release(&lane->responses, 1);
	if (kind == MIMIC_COMMAND_STORE_FOR_CREDIT && lane->thread->credit_losses == losses)
		mimic_daemon_credit_give(device, lane, access, answer);
	if (kind == MIMIC_COMMAND_LOAD)
		access->data = answer;
	return check_lost(device, lane);
}

static int access_by_answer(struct daemon_device *device, struct mimic_access *access, bool is_plain)
{
	struct daemon_lane *lane = mimic_daemon_begin_again(device, __builtin_frame_address(0));
	int error;

	if (!lane) {
		error = mimic_daemon_begin(device, access, __builtin_frame_address(0), &lane);
		if (error)
			return error;
	}
	lane->device = device;
	lane->pattern = access;
	do {
		error = access_once(device, lane, access, is_plain);
	} while (error == -EINTR);
	mimic_daemon_end(lane);
	return error;
}

int mimic_daemon_device_access(struct mimic_device *base, struct mimic_access *access)
{
	return access_by_answer(mimic_daemon_device(base), access, false);
}

static void put_payload(struct daemon_lane *lane, uint64_t ahead, const uint64_t *values,
			uint64_t count)
{
	uint64_t done = 0;

	while (done < count) {
		uint64_t piece;
		uint64_t *slots = mimic_ring_piece(&lane->commands, ahead + done, count - done, &piece);

		memcpy(slots, values + done, piece * sizeof(*values));
		done += piece;
	}
}

/* Header and payload, whole: the daemon never sees half a command. Order words come before it. */
static int post_piece(struct daemon_device *device, struct daemon_lane *lane,
		      struct mimic_daemon_order *order, const struct mimic_access *store,
		      const uint64_t *values, uint64_t count, bool quietly)
{
	uint64_t words = 0;
	int error = mimic_daemon_get_room(lane, device->generation, count + MIMIC_DAEMON_ORDER_WORDS + 1);

	if (error)
		return error;
	if (order)
		words = mimic_daemon_order_begin(device, lane, store, order);
	mimic_ring_put(&lane->commands, words++, pack(device, MIMIC_COMMAND_STORE, store, (uint32_t)count));
	put_payload(lane, words, values, count);
	if (quietly)
		mimic_daemon_publish_quietly(lane, words + count);
	else
		mimic_daemon_publish(lane, words + count);
	return 0;
}

/* In pieces: the daemon starts on one while the next is written. */
static int post_pieces(struct daemon_device *device, struct daemon_lane *lane,
		       struct mimic_daemon_order *order, const struct mimic_access *store,
		       const uint64_t *values, size_t count, bool quietly)
{
	uint64_t most = POST_WORDS;
	size_t done = 0;
	int error = 0;

	/* The daemon wakes a thread that waits for room when half the ring is free. */
	if (most > (lane->commands.mask + 1) / 2)
		most = (lane->commands.mask + 1) / 2;
	most -= MIMIC_DAEMON_ORDER_WORDS + 1;
	while (!error && done < count) {
		uint64_t piece = count - done < most ? count - done : most;

		/* The pieces that follow are behind the first in our lane. */
		error = post_piece(device, lane, done ? NULL : order, store, values + done, piece, quietly);
		done += piece;
	}
	return error;
}

/*
 * One piece of one value, which most posts are. Without memcpy(): a store of a program that a trampoline makes would
 * have to keep its vector registers.
 */
static inline void put_one(const struct daemon_device *device, struct daemon_lane *lane,
			   const struct mimic_access *store, uint64_t value, uint64_t words, bool quietly)
{
	mimic_ring_put(&lane->commands, words++, pack(device, MIMIC_COMMAND_STORE, store, 1));
	mimic_ring_put(&lane->commands, words++, value);
	if (quietly)
		mimic_daemon_publish_quietly(lane, words);
	else
		mimic_daemon_publish(lane, words);
}

static RARE int post_one_in_order(struct daemon_device *device, struct daemon_lane *lane,
				  const struct mimic_access *store, uint64_t value, bool quietly)
{
	struct mimic_daemon_order order;

	/* It may wait. */
	lane->device = device;
	lane->pattern = store;
	put_one(device, lane, store, value, mimic_daemon_order_begin(device, lane, store, &order), quietly);
	return mimic_daemon_order_end(device, lane, &order);
}

/* The lane has room for it. */
static inline __attribute__((always_inline)) int post_one(struct daemon_device *device,
							  struct daemon_lane *lane,
							  const struct mimic_access *store, uint64_t value,
							  bool quietly)
{
	int part = mimic_daemon_order_alone(device, lane, store);

	if (part < 0)
		return post_one_in_order(device, lane, store, value, quietly);
	put_one(device, lane, store, value, 0, quietly);
	mimic_daemon_order_end_alone(device, lane, part);
	return 0;
}

static int post_on(struct daemon_device *device, struct daemon_lane *lane, const struct mimic_access *store,
		   const uint64_t *values, size_t count, bool quietly)
{
	int error = check_lost(device, lane);
	struct mimic_daemon_order order;

	if (!error && count == 1)
		error = mimic_daemon_get_room(lane, device->generation, MIMIC_DAEMON_ORDER_WORDS + 2);
	if (error)
		return error;
	if (count == 1)
		return post_one(device, lane, store, values[0], quietly);
	/* The first piece begins the order, as count is not 0; some compilers do not see that. */
	order.works_on = 0;
	error = post_pieces(device, lane, &order, store, values, count, quietly);
	if (!error)
		error = mimic_daemon_order_end(device, lane, &order);
	return error ? error : check_lost(device, lane);
}

/* `store` is one of them. */
static ssize_t post(struct mimic_device *base, const struct mimic_access *store, const uint64_t *values,
		    size_t count, bool quietly)
{
	struct daemon_device *device = mimic_daemon_device(base);
	struct daemon_lane *lane;
	int error = mimic_daemon_begin(device, store, __builtin_frame_address(0), &lane);

	if (error)
		return error;
	if (base->kind->credits)
		mimic_daemon_credit_leave(device, lane, store);
	error = post_on(device, lane, store, values, count, quietly);
	mimic_daemon_end(lane);
	return error ? error : (ssize_t)count;
}

/* -EAGAIN: it has no credits. */
static int post_by_credit(struct daemon_device *device, const struct mimic_access *store)
{
	struct daemon_lane *lane;
	unsigned int losses;
	int error = mimic_daemon_begin(device, store, __builtin_frame_address(0), &lane);

	if (error)
		return error;
	losses = lane->thread->credit_losses;
	error = mimic_daemon_credit_take(device, lane, store) ?
		post_on(device, lane, store, &store->data, 1, false) : -EAGAIN;
	if (!error && lane->thread->credit_losses != losses) {
		/* A signal handler came in between, and what we took may have been used up: until nothing is in the ring. */
		mimic_daemon_credits_drop(lane->thread);
		error = mimic_daemon_wait_room(lane, device->generation, lane->commands.mask + 1);
	}
	mimic_daemon_end(lane);
	return error;
}

static RARE int post_anyhow(struct daemon_device *device, const struct mimic_access *store, bool quietly)
{
	ssize_t posted = post(&device->base, store, &store->data, 1, quietly);

	return posted < 0 ? (int)posted : 0;
}

ssize_t mimic_daemon_device_post(struct mimic_device *base, const struct mimic_access *pattern,
				 const uint64_t *values, size_t count)
{
	struct mimic_access store = *pattern;

	store.is_write = 1;
	return count ? post(base, &store, values, count, false) : 0;
}

/*
 * As post() of one value, in one function: each store of a program to such a register is made so. A rare case
 * begins anew in post().
 */
static inline int post_store(struct daemon_device *device, const struct mimic_access *store, bool quietly)
{
	struct daemon_lane *lane = mimic_daemon_begin_again(device, __builtin_frame_address(0));
	int error;

	if (!lane)
		return post_anyhow(device, store, quietly);
	if (mimic_ring_room(&lane->commands, MIMIC_DAEMON_ORDER_WORDS + 2) < MIMIC_DAEMON_ORDER_WORDS + 2 ||
	    check_lost(device, lane) || device->base.kind->credits) {
		mimic_daemon_end_post(lane);
		return post_anyhow(device, store, quietly);
	}
	error = post_one(device, lane, store, store->data, quietly);
	mimic_daemon_end_post(lane);
	return error;
}

static int daemon_store(struct mimic_device *base, struct mimic_access *store)
{
	const struct mimic_kind *kind = base->kind;
	struct daemon_device *device = mimic_daemon_device(base);
	int error;

	if (kind->credits && device->posts_stores == MIMIC_POSTS_BY_CREDIT) {
		error = post_by_credit(device, store);
		return error == -EAGAIN ? access_by_answer(device, store, true) : error;
	}
	if (!kind->posts_stores || device->posts_stores != MIMIC_POSTS_ALWAYS || !kind->may_wait(store))
		return mimic_daemon_device_access(base, store);
	return post_store(device, store, kind->is_operand && kind->is_operand(store));
}

/* Answer words to packed values of `size` bytes. Little endian, as the machines that mimic runs on. */
static void take_words(struct daemon_lane *lane, char *values, unsigned int size, uint64_t count)
{
	uint64_t done = 0;

	while (done < count) {
		uint64_t piece;
		const uint64_t *slots = mimic_ring_piece(&lane->responses, done, count - done, &piece);

		if (size == sizeof(uint64_t)) {
			memcpy(values + done * size, slots, piece * size);
		} else if (size == sizeof(uint32_t)) {
			for (uint64_t i = 0; i < piece; i++) {
				uint32_t value = (uint32_t)slots[i];

				memcpy(values + (done + i) * sizeof(value), &value, sizeof(value));
			}
		} else {
			for (uint64_t i = 0; i < piece; i++)
				memcpy(values + (done + i) * size, &slots[i], size);
		}
		done += piece;
	}
}

/* Values taken before the command was over: `count`, or fewer and *error. */
static size_t collect(struct daemon_device *device, struct daemon_lane *lane, char *values,
		      unsigned int size, size_t count, int *error)
{
	size_t done = 0;

	while (done < count) {
		int64_t level = mimic_daemon_wait_answers(lane, device->generation);
		uint64_t piece;

		if (level < 0) {
			*error = (int)level;
			break;
		}
		piece = (uint64_t)level < count - done ? (uint64_t)level : count - done;
		take_words(lane, values + done * size, size, piece);
		mimic_ring_release(&lane->responses, piece);
		lane->due -= (uint32_t)piece;
		done += piece;
	}
	return done;
}

/* Where the answers of a command go: into an array, or to a function piece by piece. */
struct destination {
	char *values;	/* NULL: to the function */
	mimic_take take;
	void *context;
};

/* As collect(); answers of 8 bytes are taken where they lie. */
static size_t hand_out(struct daemon_device *device, struct daemon_lane *lane, const struct destination *to,
		       unsigned int size, size_t count, int *error)
{
	uint64_t packed[PIECE_WORDS];
	size_t done = 0;

	while (done < count) {
		int64_t level = mimic_daemon_wait_answers(lane, device->generation);
		const void *values = packed;
		uint64_t piece;

		if (level < 0) {
			*error = (int)level;
			break;
		}
		piece = (uint64_t)level < count - done ? (uint64_t)level : count - done;
		if (size == sizeof(uint64_t)) {
			values = mimic_ring_piece(&lane->responses, 0, piece, &piece);
		} else {
			piece = piece < PIECE_WORDS ? piece : PIECE_WORDS;
			take_words(lane, (char *)packed, size, piece);
		}
		/* A command that is withdrawn meanwhile has no more answers than there are. */
		to->take(to->context, values, piece);
		mimic_ring_release(&lane->responses, piece);
		lane->due -= (uint32_t)piece;
		done += piece;
	}
	return done;
}

static ssize_t read_many(struct daemon_device *device, enum mimic_command_kind kind,
			 const struct mimic_access *pattern, const struct destination *to, size_t count,
			 void *frame)
{
	struct daemon_lane *lane;
	size_t done = 0;
	int error = mimic_daemon_begin(device, pattern, frame, &lane);

	if (error)
		return error;
	while (done < count && (!error || error == -EINTR)) {
		/* Never more than the ring holds: the daemon takes more for a fault of ours. */
		uint64_t most = lane->responses.mask + 1;
		uint32_t piece = (uint32_t)(count - done < most ? count - done : most);
		uint64_t words;

		error = mimic_daemon_wait_room(lane, device->generation, MIMIC_DAEMON_ORDER_WORDS + 1);
		if (error)
			break;
		if (kind == MIMIC_COMMAND_LOAD)
			mimic_daemon_credit_leave(device, lane, pattern);
		words = kind == MIMIC_COMMAND_LOAD ? mimic_daemon_order_access(device, lane, pattern) : 0;
		mimic_ring_put(&lane->commands, words, pack(device, kind, pattern, piece));
		issue(lane, words + 1, piece);
		if (to->values)
			done += collect(device, lane, to->values + done * pattern->size, pattern->size, piece, &error);
		else
			done += hand_out(device, lane, to, pattern->size, piece, &error);
	}
	if (!error || error == -EINTR)
		error = check_lost(device, lane);
	mimic_daemon_end(lane);
	return error && error != -EINTR ? error : (ssize_t)done;
}

ssize_t mimic_daemon_device_load(struct mimic_device *base, const struct mimic_access *pattern,
				 void *values, size_t count)
{
	const struct destination to = { .values = values };

	return read_many(mimic_daemon_device(base), MIMIC_COMMAND_LOAD, pattern, &to, count,
			 __builtin_frame_address(0));
}

ssize_t mimic_daemon_device_load_pieces(struct mimic_device *base, const struct mimic_access *pattern,
					size_t count, mimic_take take, void *context)
{
	const struct destination to = { .take = take, .context = context };

	return read_many(mimic_daemon_device(base), MIMIC_COMMAND_LOAD, pattern, &to, count,
			 __builtin_frame_address(0));
}

ssize_t mimic_daemon_device_counters(struct mimic_device *base, uint64_t *values, size_t count)
{
	static const struct mimic_access pattern = { .size = sizeof(uint64_t) };
	struct daemon_device *device = mimic_daemon_device(base);
	size_t wanted = count < device->counters ? count : device->counters;
	const struct destination to = { .values = (char *)values };
	ssize_t got = read_many(device, MIMIC_COMMAND_COUNTERS, &pattern, &to, wanted, __builtin_frame_address(0));

	return got < 0 ? got : (ssize_t)device->counters;
}

static int device_memory(struct mimic_device *base, struct mimic_memory_file *file)
{
	const struct daemon_device *device = mimic_daemon_device(base);

	if (device->memory.fd < 0)
		return -ENXIO;
	if (!mimic_descriptor_is_ours(&device->memory))
		return -EBADF;
	*file = (struct mimic_memory_file){ .fd = device->memory.fd, .size = device->memory_size };
	return 0;
}

static int device_eventfd(struct mimic_device *base, int fd, uint64_t events)
{
	struct daemon_device *device = mimic_daemon_device(base);
	struct mimic_event_request message = { .device = device->number, .events = events };
	struct mimic_message reply;
	struct daemon_request request = {
		.message = &message.header,
		.size = sizeof(message),
		.type = MIMIC_MESSAGE_EVENTFD,
		.fd = fd,
		.reply = &reply,
		.reply_size = sizeof(reply),
	};

	/* The kernel refuses to send it, and that looks like a lost daemon. */
	if (fd >= 0 && fcntl(fd, F_GETFD) < 0)
		return -EBADF;
	return mimic_daemon_session_request(device->generation, &request);
}

static void *daemon_alloc(struct mimic_device *device, size_t size)
{
	return mimic_daemon_memory_alloc(mimic_daemon_device(device)->generation, size);
}

static int daemon_free(struct mimic_device *device, void *address)
{
	return mimic_daemon_memory_free(mimic_daemon_device(device)->generation, address);
}

static int daemon_register(struct mimic_device *device, void *address, size_t size)
{
	return mimic_daemon_memory_register(mimic_daemon_device(device)->generation, address, size);
}

static int daemon_unregister(struct mimic_device *device, void *address, size_t size)
{
	return mimic_daemon_memory_unregister(mimic_daemon_device(device)->generation, address, size);
}

static void daemon_after_fork(void)
{
	mimic_daemon_session_after_fork();
	mimic_daemon_lanes_after_fork();
	mimic_daemon_memory_after_fork();
}

/* The model is elsewhere. */
bool mimic_daemon_keeps_vectors(const struct mimic_device *device)
{
	return device->kind->keeps_vectors != MIMIC_KEEPS_NO_VECTORS;
}

const struct mimic_transport_ops mimic_daemon_transport = {
	.name = "daemon",
	.open = daemon_open,
	.close = daemon_close,
	.access = mimic_daemon_device_access,
	.store = daemon_store,
	.post = mimic_daemon_device_post,
	.load = mimic_daemon_device_load,
	.load_pieces = mimic_daemon_device_load_pieces,
	.counters = mimic_daemon_device_counters,
	.device_memory = device_memory,
	.device_eventfd = device_eventfd,
	.memory_alloc = daemon_alloc,
	.memory_free = daemon_free,
	.memory_register = daemon_register,
	.memory_unregister = daemon_unregister,
	.keeps_vectors = mimic_daemon_keeps_vectors,
	.thread_gone = mimic_daemon_thread_gone,
	.after_fork = daemon_after_fork,
};
