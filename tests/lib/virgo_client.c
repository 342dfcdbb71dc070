/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/virgo_client.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/sanitized.h"

#define TILE 32u	/* rows, columns and depth of one LOOP_WS */
#define SHARED_HALF (64u << 10)
#define ONE 0x3f800000ull	/* a scale of 1 */

static pid_t test_process;

static void require(bool condition, const char *what)
{
	if (condition)
		return;
	if (getpid() == test_process)
		fail_msg("%s", what);
	fprintf(stderr, "child: %s (%s)\n", what, mimic_error_text());
	_exit(99);
}

int virgo_daemon_start(struct served *served, unsigned int clusters, unsigned int maples)
{
	alarm(200);
	test_process = getpid();
	memset(served, 0, sizeof(*served));
	served->virgos = clusters;
	return served_start(served, maples, false) ? 0 : -1;
}

int virgo_daemon_end(struct served *served)
{
	int status = served_end(served, SIGTERM);

	if (status) {
		char line[600];
		FILE *log = fopen(served->log, "re");

		while (log && fgets(line, sizeof(line), log))
			fputs(line, stderr);
		if (log)
			fclose(log);
	}
	served_clean(served);
	return status;
}

uint64_t virgo_daemon_cpu_ns(const struct served *served)
{
	uint64_t sum = 0;
	char path[300];
	struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)served->pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		unsigned long long time = 0;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", (int)served->pid, entry->d_name);
		file = fopen(path, "re");
		if (file && fscanf(file, "%llu", &time) == 1)
			sum += time;
		if (file)
			fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

struct mimic_device *virgo_client_open(const struct served *served, const char *name)
{
	struct mimic_options options = {
		.transport = MIMIC_TRANSPORT_DAEMON,
		.socket_path = served->socket,
	};
	struct mimic_device *device = NULL;

	require(mimic_device_open(&device, name, &options) == 0, "the cluster cannot be opened");
	return device;
}

uint64_t virgo_client_load(struct mimic_device *device, unsigned int page, unsigned int offset)
{
	struct mimic_access access = { .page = (uint8_t)page, .offset = offset, .size = 8 };

	require(mimic_device_access(device, &access) == 0, "a load failed");
	return access.data;
}

void virgo_client_store(struct mimic_device *device, unsigned int page, unsigned int offset, uint64_t value)
{
	struct mimic_access access = {
		.page = (uint8_t)page, .offset = offset, .size = 8, .is_write = 1, .data = value,
	};

	require(mimic_device_access(device, &access) == 0, "a store failed");
}

uint64_t virgo_client_unit(struct mimic_device *device, unsigned int unit, unsigned int offset)
{
	return virgo_client_load(device, VIRGO_PAGE_UNITS, VIRGO_BLOCK_SIZE * unit + offset);
}

void virgo_client_command(struct mimic_device *device, unsigned int unit, enum virgo_funct funct,
			  uint64_t rs1, uint64_t rs2)
{
	const struct mimic_access stream = {
		.page = VIRGO_PAGE_UNITS, .offset = VIRGO_UNIT_OFFSET(unit, STREAM), .size = 8,
	};
	const uint64_t values[] = { rs1, rs2, VIRGO_INSTRUCTION_WORD(funct) };

	require(mimic_device_post(device, &stream, values, 3) == 3, "a post failed");
}

enum virgo_error virgo_client_fence(struct mimic_device *device, unsigned int unit)
{
	virgo_client_unit(device, unit, VIRGO_FENCE);
	return (enum virgo_error)virgo_client_unit(device, unit, VIRGO_ERROR);
}

/* --- a product -------------------------------------------------------------------- */

static size_t bytes_of(unsigned int side)
{
	return (size_t)side * side * sizeof(float);
}

static float *map_private(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void virgo_client_alloc(struct mimic_device *device, struct virgo_client_product *product,
			unsigned int side, bool shared)
{
	float **const matrices[] = { &product->a, &product->b, &product->c };

	product->side = side;
	product->times = 1;
	for (size_t i = 0; i < 3; i++) {
		*matrices[i] = shared ? mimic_memory_alloc(device, bytes_of(side)) : map_private(bytes_of(side));
		require(*matrices[i], "no memory for a matrix");
	}
}

void virgo_client_fill(struct virgo_client_product *product, unsigned int seed)
{
	size_t count = (size_t)product->side * product->side;

	for (size_t i = 0; i < count; i++) {
		product->a[i] = (float)((i + seed) % 13) - 6;
		product->b[i] = (float)((i * 3 + seed) % 7) - 3;
		product->c[i] = -12345.5f;
	}
}

WITHOUT_THREAD_SANITIZER
static float expected_at(const struct virgo_client_product *product, unsigned int i, unsigned int j)
{
	unsigned int side = product->side;
	float sum = 0;

	for (unsigned int k = 0; k < side; k++)
		sum += product->a[i * side + k] * product->b[k * side + j];
	return sum;
}

size_t virgo_client_wrong(const struct virgo_client_product *product)
{
	unsigned int side = product->side;
	size_t wrong = 0;

	for (unsigned int i = 0; i < side; i++)
		for (unsigned int j = 0; j < side; j++)
			wrong += expected_at(product, i, j) != product->c[i * side + j];
	return wrong;
}

static void configure(struct mimic_device *device, unsigned int unit, unsigned int dim, unsigned int side)
{
	uint64_t blocks = TILE / dim;

	virgo_client_command(device, unit, VIRGO_FUNCT_CONFIG, ONE << 32 | 1u << 16 | 1u << 2, 1ull << 48);
	for (uint64_t load = 0; load < 3; load++)
		virgo_client_command(device, unit, VIRGO_FUNCT_CONFIG,
				     ONE << 32 | dim << 16 | 1u << 8 | load << 3 | VIRGO_CONFIG_LD,
				     side * sizeof(float));
	virgo_client_command(device, unit, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST,
			     ONE << 32 | side * sizeof(float));
	virgo_client_command(device, unit, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, blocks << 32 | blocks << 16 | blocks);
	virgo_client_command(device, unit, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, side, side);
	virgo_client_command(device, unit, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, side, side);
}

static void post_tile(struct mimic_device *device, unsigned int unit, unsigned int dim,
		      const struct virgo_client_product *product, unsigned int i, unsigned int j)
{
	unsigned int side = product->side;
	uint64_t row = (unit ? SHARED_HALF : 0) / (dim * sizeof(float));
	uint64_t rows = 2 * TILE * TILE / dim;

	virgo_client_command(device, unit, VIRGO_FUNCT_LOOP_WS_ADDRS_DC, 0,
			     (uintptr_t)(product->c + (size_t)i * side + j));
	for (unsigned int k = 0; k < side; k += TILE) {
		bool is_last = k + TILE == side;

		virgo_client_command(device, unit, VIRGO_FUNCT_LOOP_WS_ADDRS_AB,
				     (uintptr_t)(product->a + (size_t)i * side + k),
				     (uintptr_t)(product->b + (size_t)k * side + j));
		virgo_client_command(device, unit, VIRGO_FUNCT_LOOP_WS_SPAD_AB, row, row + rows);
		virgo_client_command(device, unit, VIRGO_FUNCT_LOOP_WS,
				     (k ? VIRGO_LOOP_ACCUMULATE : 0) | VIRGO_LOOP_FULL_C |
				     1u << VIRGO_LOOP_A_SPAD_SHIFT | 1u << VIRGO_LOOP_B_SPAD_SHIFT,
				     VIRGO_LOOP_SKIP_D | (is_last ? 0 : VIRGO_LOOP_SKIP_C));
	}
}

void virgo_client_post(struct mimic_device *device, unsigned int unit,
		       const struct virgo_client_product *product)
{
	unsigned int dim = (unsigned int)virgo_client_unit(device, unit, VIRGO_IDENTIFY) & 0xff;

	/* 0: the device is gone. */
	require(dim, "no such unit");
	configure(device, unit, dim, product->side);
	for (unsigned int n = 0; n < product->times; n++) {
		for (unsigned int i = 0; i < product->side; i += TILE) {
			for (unsigned int j = 0; j < product->side; j += TILE)
				post_tile(device, unit, dim, product, i, j);
		}
	}
}

uint64_t virgo_client_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
