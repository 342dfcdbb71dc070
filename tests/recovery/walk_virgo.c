/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libvirgo/virgo.h"
#include "tests/recovery/walk.h"

#define DIM_MAX 32u
#define MEETINGS 4u
#define WAIT_MS 60000

struct warp {
	struct virgo *virgo;
	uint32_t *shared;	/* a word of each warp */
	uint32_t seen[MEETINGS];
};

/* Moves a tile in, out again to other memory, and waits by the ticket. */
static void move(struct virgo *virgo, unsigned int unit, char *from, char *to)
{
	struct virgo_unit_info info;

	CHECK_VIRGO(virgo_unit_info(virgo, unit, &info));
	CHECK_VIRGO(virgo_config_load(virgo, unit, 0, info.row_bytes, 1, 0));
	CHECK_VIRGO(virgo_config_store(virgo, unit, info.row_bytes, VIRGO_NO_ACTIVATION, 1));
	CHECK_VIRGO(virgo_mvin(virgo, unit, 0, from, 0, info.dim, info.dim));
	CHECK_VIRGO(virgo_mvout(virgo, unit, to, 0, info.dim, info.dim));
	CHECK_VIRGO(virgo_wait(virgo, unit, virgo_ticket(virgo, unit)));
	walk_print("moved", to, (size_t)info.dim * info.row_bytes);
}

/* Computes in the accumulator, which only grows: a step that is done twice would show. */
static void accumulate(struct virgo *virgo, unsigned int unit, char *to)
{
	struct virgo_unit_info info;
	struct virgo_operand operand, nothing = { VIRGO_GARBAGE, 0, 0 };
	const uint32_t sums = VIRGO_LOCAL_ACCUMULATOR;

	CHECK_VIRGO(virgo_unit_info(virgo, unit, &info));
	operand = (struct virgo_operand){ 0, (uint16_t)info.dim, (uint16_t)info.dim };
	nothing.rows = nothing.columns = (uint16_t)info.dim;
	CHECK_VIRGO(virgo_config_array(virgo, unit, VIRGO_WEIGHT_STATIONARY, 0));
	for (unsigned int i = 0; i < 3; i++) {
		struct virgo_operand result = operand;

		result.local = i ? sums | VIRGO_LOCAL_ACCUMULATE : sums;

		CHECK_VIRGO(virgo_preload(virgo, unit, operand, result));
		CHECK_VIRGO(virgo_compute_preloaded(virgo, unit, operand, nothing));
	}
	CHECK_VIRGO(virgo_config_store(virgo, unit, info.dim * sizeof(int32_t), VIRGO_NO_ACTIVATION, 1));
	CHECK_VIRGO(virgo_mvout(virgo, unit, to, sums | VIRGO_LOCAL_FULL, info.dim, info.dim));
	CHECK_VIRGO(virgo_config_store(virgo, unit, info.row_bytes, VIRGO_NO_ACTIVATION, 1));
	CHECK_VIRGO(virgo_fence(virgo, unit));
	walk_print("sums", to, info.dim * info.dim * sizeof(int32_t));
}

static void product(struct virgo *virgo, unsigned int unit, char *memory)
{
	const size_t n = 40;
	char *a = memory, *b = a + n * n * 4, *c = b + n * n * 4;
	struct virgo_product wanted = { .type = VIRGO_INT8, .m = n, .n = n, .k = n, .a = a, .b = b, .c = c, .lda = n,
					.ldb = n, .ldc = n };

	memset(memory, 0, 3 * n * n * 4);
	walk_fill(a, n * n, 50);
	walk_fill(b, n * n, 60);
	CHECK_VIRGO(virgo_gemm(virgo, unit, &wanted));
	walk_print("product", c, n * n * 4);
	CHECK_VIRGO(virgo_gemm_start(virgo, unit, &wanted));
	CHECK_VIRGO(virgo_gemm_wait(virgo, unit));
	walk_print("product", c, n * n * 4);
}

static void *meet(void *argument)
{
	struct warp *warp = argument;

	for (unsigned int i = 0; i < MEETINGS; i++) {
		CHECK_VIRGO(virgo_barrier(warp->virgo, 2));
		warp->seen[i] = warp->shared[0] + warp->shared[1];
		CHECK_VIRGO(virgo_barrier(warp->virgo, 2));
		warp->shared[1] += i + 1;
	}
	CHECK_VIRGO(virgo_barrier(warp->virgo, 2));
	return NULL;
}

static void barriers(struct virgo *virgo)
{
	uint32_t *shared = virgo_shared_alloc(virgo, 4096);
	struct warp warp = { .virgo = virgo, .shared = shared };
	pthread_t thread;

	if (!shared)
		walk_check(-1, "virgo_shared_alloc", virgo_error_text());
	shared[0] = shared[1] = 0;
	CHECK_VIRGO(virgo_barrier_participants(virgo, 2, 2));
	walk_check(-pthread_create(&thread, NULL, meet, &warp), "pthread_create", "");
	for (unsigned int i = 0; i < MEETINGS; i++) {
		CHECK_VIRGO(virgo_barrier(virgo, 2));
		CHECK_VIRGO(virgo_barrier(virgo, 2));
		shared[0] += 100 * (i + 1);
	}
	CHECK_VIRGO(virgo_barrier(virgo, 2));
	pthread_join(thread, NULL);
	walk_print("met", warp.seen, sizeof(warp.seen));
	walk_print("shared", shared, 8);
	CHECK_VIRGO(virgo_shared_free(virgo, shared));
}

/* Sleeps until the unit says that it is idle. */
static void wait_for_event(struct virgo *virgo, unsigned int unit, char *from, char *to)
{
	struct virgo_unit_info info;
	struct pollfd entry = { .events = POLLIN };
	uint64_t ticket, count;

	entry.fd = (int)CHECK_VIRGO(virgo_event_fd(virgo, VIRGO_EVENT_IDLE(unit)));
	CHECK_VIRGO(virgo_unit_info(virgo, unit, &info));
	CHECK_VIRGO(virgo_mvin(virgo, unit, 0, from, 0, info.dim, info.dim));
	CHECK_VIRGO(virgo_mvout(virgo, unit, to, 0, info.dim, info.dim));
	ticket = virgo_ticket(virgo, unit);
	CHECK_VIRGO(virgo_flush(virgo, unit));
	while (!CHECK_VIRGO(virgo_done(virgo, unit, ticket))) {
		if (poll(&entry, 1, WAIT_MS) != 1)
			walk_check(-ETIMEDOUT, "poll", "no event came");
		(void)!read(entry.fd, &count, sizeof(count));
	}
	CHECK_VIRGO(virgo_event_fd(virgo, 0));
	walk_print("after an event", to, (size_t)info.dim * info.row_bytes);
}

static void one(struct virgo *virgo, char *memory, uint32_t seed)
{
	const size_t tile = DIM_MAX * DIM_MAX * 4;
	unsigned int unit = (unsigned int)CHECK_VIRGO(virgo_find_unit(virgo, VIRGO_INT8, 0));

	walk_fill(memory, tile, seed);
	move(virgo, unit, memory, memory + tile);
	accumulate(virgo, unit, memory + tile);
	wait_for_event(virgo, unit, memory + 256, memory + tile);
	product(virgo, unit, memory);
}

void walk_virgo(void)
{
	const struct virgo_options options = { .transport = "daemon" };
	const size_t size = 65536;
	char *plain = malloc(size), *shared, *device;
	struct virgo *virgo;
	size_t device_size;

	CHECK_VIRGO(virgo_open(&virgo, &options));
	shared = virgo_alloc(virgo, size);
	if (!plain || !shared)
		walk_check(-1, "memory", virgo_error_text());
	one(virgo, plain, 40);
	barriers(virgo);
	one(virgo, shared, 41);
	device = virgo_shared(virgo, &device_size);
	walk_print("shared memory", device, device_size);
	CHECK_VIRGO(virgo_free(virgo, shared));
	virgo_close(virgo);
	CHECK_VIRGO(virgo_open(&virgo, &options));
	one(virgo, plain, 42);
	virgo_close(virgo);
	free(plain);
}
