/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Dense matrix product, C = A B, by plain stores to the control page of a matrix
 * unit: as a program written for Gemmini does it when its instruction macro becomes
 * three stores. No library of mimic; needs the node /dev/virgo0, so it runs under
 * `mimic run`, or with virgo.ko as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "examples/common/arguments.h"
#include "examples/common/dense.h"
#include "examples/common/json.h"
#include "mimic/virgo_commands.h"

#define PAGE 4096
#define ROWS_MAX 4096		/* of each matrix */
#define ONE 0x3f800000ull	/* 1.0f, a scale */

struct stores {
	const char *node;
	bool is_named;		/* by an option */
	struct dense_product product;
	void *a, *b, *c, *sums;
	volatile char *pages;	/* the cluster's control page, and the units' */
	volatile char *unit;	/* its control block */
	unsigned int number;
	unsigned int dim;
	double seconds;		/* of the commands */
	bool json;
};

static const char *const type_names[] = { [VIRGO_INT8] = "int8", [VIRGO_FP32] = "fp32" };

/* --- the interface ----------------------------------------------------------------------- */

static void store(struct stores *s, unsigned int offset, uint64_t value)
{
	*(volatile uint64_t *)(s->unit + offset) = value;
}

static uint64_t load(struct stores *s, unsigned int offset)
{
	return *(volatile uint64_t *)(s->unit + offset);
}

/* This is the macro. On a core with Gemmini it is one instruction of the custom-3 opcode. */
static void instruction(struct stores *s, enum virgo_funct funct, uint64_t rs1, uint64_t rs2)
{
	store(s, VIRGO_RS1, rs1);
	store(s, VIRGO_RS2, rs2);
	*(volatile uint32_t *)(s->unit + VIRGO_INSTRUCTION) = VIRGO_INSTRUCTION_WORD(funct);
}

/* Gemmini's fence; here the load says whether the unit is done. */
static void fence(struct stores *s)
{
	while (load(s, VIRGO_BUSY))
		sched_yield();
}

static uint64_t counter(struct stores *s, enum virgo_counter which)
{
	store(s, VIRGO_COUNTER_SELECT, which);
	return load(s, VIRGO_COUNTER_VALUE);
}

/* --- the kernel ---------------------------------------------------------------------------- */

static uint64_t packed(size_t rows, size_t columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void configure(struct stores *s)
{
	size_t size = dense_element_size(s->product.type);

	instruction(s, VIRGO_FUNCT_CONFIG, ONE << 32 | 1 << 16 | VIRGO_WEIGHT_STATIONARY << 2 | VIRGO_CONFIG_EX,
		    1ull << 48);
	instruction(s, VIRGO_FUNCT_CONFIG, ONE << 32 | (uint64_t)s->dim << 16 | 0 << 3 | VIRGO_CONFIG_LD,
		    s->product.k * size);
	instruction(s, VIRGO_FUNCT_CONFIG, ONE << 32 | (uint64_t)s->dim << 16 | 1 << 3 | VIRGO_CONFIG_LD,
		    s->product.n * size);
	instruction(s, VIRGO_FUNCT_CONFIG, VIRGO_CONFIG_ST, ONE << 32 | s->product.n * 4);
}

/* A block of C: products of blocks add up in the accumulator. A and B take turns in two places each. */
static void multiply_block(struct stores *s, size_t row, size_t column)
{
	const struct dense_product *p = &s->product;
	size_t rows = smaller(s->dim, p->m - row), columns = smaller(s->dim, p->n - column);
	size_t size = dense_element_size(p->type);

	for (size_t k = 0; k < p->k; k += s->dim) {
		uint32_t turn = (uint32_t)(k / s->dim % 2), a = turn * s->dim, b = (2 + turn) * s->dim;
		uint32_t c = VIRGO_LOCAL_ACCUMULATOR | (k ? VIRGO_LOCAL_ACCUMULATE : 0);
		size_t depth = smaller(s->dim, p->k - k);

		instruction(s, VIRGO_FUNCT_MVIN, (uintptr_t)s->a + (row * p->k + k) * size, packed(rows, depth, a));
		instruction(s, VIRGO_FUNCT_MVIN2, (uintptr_t)s->b + (k * p->n + column) * size,
			    packed(depth, columns, b));
		instruction(s, VIRGO_FUNCT_PRELOAD, packed(depth, columns, b), packed(rows, columns, c));
		instruction(s, VIRGO_FUNCT_COMPUTE_PRELOADED, packed(rows, depth, a),
			    packed(s->dim, s->dim, VIRGO_GARBAGE));
	}
	instruction(s, VIRGO_FUNCT_MVOUT, (uintptr_t)s->c + (row * p->n + column) * 4,
		    packed(rows, columns, VIRGO_LOCAL_ACCUMULATOR | VIRGO_LOCAL_FULL));
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void multiply(struct stores *s)
{
	double start = now();

	configure(s);
	for (size_t row = 0; row < s->product.m; row += s->dim) {
		for (size_t column = 0; column < s->product.n; column += s->dim)
			multiply_block(s, row, column);
	}
	fence(s);
	s->seconds = now() - start;
}

/* --- around it ------------------------------------------------------------------------------- */

static enum status complain(enum status status, const char *text)
{
	fprintf(stderr, "gemm_stores: %s\n", text);
	return status;
}

/* The first unit of the type. */
static int find_unit(struct stores *s, struct message *message)
{
	unsigned int units = *(volatile uint64_t *)(s->pages + VIRGO_CONTROL_IDENTIFY) & 0xff;

	for (s->number = 0; s->number < units; s->number++) {
		uint64_t identify;

		s->unit = s->pages + PAGE * VIRGO_PAGE_UNITS + VIRGO_BLOCK_SIZE * s->number;
		identify = load(s, VIRGO_IDENTIFY);
		s->dim = identify & 0xff;
		if ((identify >> 8 & 0xff) == s->product.type)
			return 0;
	}
	return message_set(message, -EINVAL, "--type %s: %s has no such matrix unit", type_names[s->product.type],
			   s->node);
}

static int open_cluster(struct stores *s, struct message *message)
{
	int file = open(s->node, O_RDWR | O_CLOEXEC), error = 0;
	void *pages;

	if (file < 0)
		return message_set(message, -errno, "%s: %s%s", s->node, strerror(errno),
				   errno == ENOENT ? "; try `mimic run gemm_stores`" : "");
	pages = mmap(NULL, (size_t)PAGE * VIRGO_PAGE_COUNT, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (pages == MAP_FAILED)
		error = message_set(message, -errno, "%s: mmap: %s", s->node, strerror(errno));
	close(file);
	s->pages = error ? NULL : pages;
	return error;
}

static int make_matrices(struct stores *s, uint64_t seed, struct message *message)
{
	struct dense_product *p = &s->product;
	size_t size = dense_element_size(p->type);

	s->a = malloc(p->m * p->k * size);
	s->b = malloc(p->k * p->n * size);
	s->c = calloc(p->m * p->n, 4);
	s->sums = calloc(p->m * p->n, 4);
	if (!s->a || !s->b || !s->c || !s->sums)
		return message_set(message, -ENOMEM, "out of memory for %zu by %zu by %zu", p->m, p->n, p->k);
	dense_fill_type(p->type, s->a, p->m * p->k, seed);
	dense_fill_type(p->type, s->b, p->k * p->n, ~seed);
	p->a = s->a;
	p->b = s->b;
	return 0;
}

static void print_json(struct stores *s, bool verified)
{
	struct json_object *report = json_object_new_object(), *counters = json_object_new_object();
	const struct dense_product *p = &s->product;
	char text[96];

	snprintf(text, sizeof(text), "A %zu x %zu, B %zu x %zu", p->m, p->k, p->k, p->n);
	add_text(report, "kernel", "gemm_stores");
	add_text(report, "description", text);
	add_text(report, "type", type_names[p->type]);
	add_text(report, "device", s->node);
	add_u64(report, "unit", s->number);
	json_object_object_add(report, "verified", json_object_new_boolean(verified));
	add_real(report, "seconds", s->seconds);
#define _(name, meaning) add_u64(counters, #name, counter(s, VIRGO_COUNTER_##name));
	VIRGO_COUNTERS(_)
#undef _
	json_object_object_add(report, "counters", counters);
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_PRETTY));
	json_object_put(report);
}

static void print_text(struct stores *s, bool verified)
{
	static const enum virgo_counter shown[] = {
		VIRGO_COUNTER_commands, VIRGO_COUNTER_tiles, VIRGO_COUNTER_macs, VIRGO_COUNTER_dma_bytes_read,
		VIRGO_COUNTER_dma_bytes_written, VIRGO_COUNTER_shared_bytes_read,
		VIRGO_COUNTER_shared_bytes_written, VIRGO_COUNTER_polls,
	};
	static const char *const names[] = {
#define _(name, meaning) #name,
		VIRGO_COUNTERS(_)
#undef _
	};

	printf("gemm_stores: C (%zu x %zu) = A B, depth %zu, %s on unit %u of %s: %s\n", s->product.m, s->product.n,
	       s->product.k, type_names[s->product.type], s->number, s->node, verified ? "verified" : "WRONG");
	printf("  %-20s %12.3f\n", "ms", 1000 * s->seconds);
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		printf("  %-20s %12llu\n", names[shown[i]], (unsigned long long)counter(s, shown[i]));
}

static enum status run(struct stores *s, uint64_t seed)
{
	struct message message;
	uint64_t error;
	bool verified;

	if (make_matrices(s, seed, &message))
		return complain(STATUS_FAILED, message.text);
	if (open_cluster(s, &message))
		return complain(s->is_named ? STATUS_BAD_INPUT : STATUS_FAILED, message.text);
	if (find_unit(s, &message))
		return complain(STATUS_BAD_INPUT, message.text);
	multiply(s);
	error = load(s, VIRGO_ERROR);
	if (error) {
		message_set(&message, 0, "the unit latched error %llu at command %llu", (unsigned long long)error,
			    (unsigned long long)load(s, VIRGO_ERROR_POSITION));
		return complain(STATUS_FAILED, message.text);
	}
	if (dense_plain(&s->product, s->dim, s->sums))
		return complain(STATUS_FAILED, "out of memory to verify");
	verified = dense_verify(&s->product, s->c, s->sums, &message);
	if (!verified)
		complain(STATUS_FAILED, message.text);
	(s->json ? print_json : print_text)(s, verified);
	if (fflush(stdout) || ferror(stdout))
		return complain(STATUS_FAILED, "cannot write to standard output");
	return verified ? STATUS_VERIFIED : STATUS_FAILED;
}

/* --- options ----------------------------------------------------------------------------------- */

static const char usage[] =
	"Usage: gemm_stores [OPTIONS]\n"
	"Dense matrix product on a Virgo matrix unit, by plain stores to its control page. Run it\n"
	"under `mimic run`, or where virgo.ko is loaded.\n\n"
	"  --size MxNxK         A has M rows, B has N columns; default 100x90x70\n"
	"  --type NAME          int8 (Gemmini's) or fp32; default int8\n"
	"  --device NODE        default /dev/virgo0\n"
	"  --seed NUMBER        of the matrices; default 1\n"
	"  --json               print the report as JSON\n"
	"  --help               print this\n\n"
	"Exit status: 0 verified, 1 a wrong result or a failing device, 2 bad input.\n";

enum own_option { OPTION_SIZE = 1, OPTION_TYPE };

static int take_option(void *context, int option, struct message *message)
{
	struct dense_product *p = context;

	if (option == OPTION_SIZE)
		return argument_size("size", optarg, ROWS_MAX, &p->m, &p->n, &p->k, message);
	if (strcmp(optarg, "int8") && strcmp(optarg, "fp32"))
		return message_set(message, -EINVAL, "--type %s: it must be int8 or fp32", optarg);
	p->type = strcmp(optarg, "int8") ? VIRGO_FP32 : VIRGO_INT8;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "size", required_argument, NULL, OPTION_SIZE }, { "type", required_argument, NULL, OPTION_TYPE },
		{ "device", required_argument, NULL, OPTION_DEVICE }, { "seed", required_argument, NULL, OPTION_SEED },
		{ "json", no_argument, NULL, OPTION_JSON }, { "help", no_argument, NULL, OPTION_HELP }, { 0 },
	};
	struct stores s = { .product = { VIRGO_INT8, 100, 90, 70, NULL, NULL } };
	struct common_options common;
	struct message message;
	enum status status;

	if (arguments_parse(&common, argc, argv, options, take_option, &s.product, &message))
		return complain(STATUS_BAD_INPUT, message.text);
	if (common.help)
		return fputs(usage, stdout) < 0;
	if (input_is_given(&common.input))
		return complain(STATUS_BAD_INPUT, "it takes no arguments; see --help");
	s.is_named = common.device;
	s.node = common.device ? common.device : "/dev/virgo0";
	s.json = common.json;
	status = run(&s, common.input.seed);
	if (s.pages)
		munmap((void *)s.pages, (size_t)PAGE * VIRGO_PAGE_COUNT);
	free(s.a);
	free(s.b);
	free(s.c);
	free(s.sums);
	return status;
}
