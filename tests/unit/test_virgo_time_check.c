/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Parameters of a Virgo cluster that do not fit each other: each rule has a case. */
#include <stdio.h>

#include "tests/lib/virgo_cycles.h"

#define CHANGES 5

struct bad {
	const char *key; /* that the text begins with */
	const char *changes[CHANGES];
};

static const struct bad bad[] = {
	{ "cluster.design:", { "cluster.design=5" } },
	{ "cluster.cores:", { "cluster.cores=0" } },
	{ "cluster.cores:", { "cluster.cores=17" } },
	{ "cluster.warps:", { "cluster.warps=0" } },
	{ "cluster.warps:", { "cluster.warps=17" } },
	{ "cluster.lanes:", { "cluster.lanes=0" } },
	{ "cluster.lanes:", { "cluster.lanes=2" } },
	{ "cluster.lanes:", { "cluster.lanes=12" } },
	{ "cluster.lanes:", { "cluster.lanes=32" } },
	{ "simt.buffer:", { "simt.buffer=0" } },
	{ "simt.buffer:", { "simt.buffer=33" } },
	{ "simt.operands:", { "simt.operands=0" } },
	{ "simt.operands:", { "simt.operands=5" } },
	{ "simt.fetch", { "simt.fetch=0" } },
	{ "simt.fetch, dispatch", { "simt.dispatch=0" } },
	{ "simt.fetch, dispatch and alus:", { "simt.alus=0" } },
	{ "simt.alus:", { "simt.alus=9" } },
	{ "lsu.queue:", { "lsu.queue=0" } },
	{ "lsu.queue:", { "lsu.queue=65" } },
	{ "lsu.outstanding:", { "lsu.outstanding=0" } },
	{ "lsu.outstanding:", { "lsu.outstanding=65" } },
	{ "lsu.merged:", { "lsu.merged=0" } },
	{ "lsu.merged:", { "lsu.merged=65" } },
	{ "shared.banks:", { "shared.banks=0" } },
	{ "shared.banks:", { "shared.banks=3" } },
	{ "shared.banks:", { "shared.banks=32" } },
	{ "shared.size:", { "shared.size=0" } },
	{ "shared.size:", { "shared.size=2048" } },
	{ "shared.size:", { "shared.size=65537" } },
	{ "shared.size:", { "shared.size=2147483648" } },
	{ "shared.words:", { "shared.words=0" } },
	{ "shared.words:", { "shared.words=6" } },
	{ "shared.words:", { "shared.words=64" } },
	{ "dcache.line:", { "dcache.line=0" } },
	{ "dcache.line:", { "dcache.line=8" } },
	{ "dcache.line:", { "dcache.line=48" } },
	{ "dcache.line:", { "dcache.line=512" } },
	{ "dcache.banks:", { "dcache.banks=0" } },
	{ "dcache.banks:", { "dcache.banks=17" } },
	{ "dcache.mshrs:", { "dcache.mshrs=0" } },
	{ "dcache.mshrs:", { "dcache.mshrs=65" } },
	{ "dcache.ways:", { "dcache.ways=0" } },
	{ "dcache.ways:", { "dcache.ways=65" } },
	{ "dcache.ways:", { "dcache.ways=72057594037927936" } },
	{ "dcache.size:", { "dcache.size=1023" } },
	{ "dcache.size: at most", { "dcache.size=33554432" } },
	{ "dcache.size: at most", { "dcache.size=18446744073709551615" } },
	{ "bus.beat:", { "bus.beat=0" } },
	{ "bus.beat:", { "bus.beat=4" } },
	{ "bus.beat:", { "bus.beat=24" } },
	{ "bus.beat:", { "bus.beat=128" } },
	{ "bus.interval:", { "bus.interval=0" } },
	{ "bus.latency:", { "bus.latency=2048" } },
	{ "dma.request:", { "dma.request=0" } },
	{ "dma.request:", { "dma.request=16" } },
	{ "dma.request:", { "dma.request=96" } },
	{ "dma.request:", { "dma.request=2048" } },
	{ "dma.outstanding:", { "dma.outstanding=0" } },
	{ "dma.outstanding:", { "dma.outstanding=65" } },
	{ "dma.outstanding: more", { "dma.outstanding=64", "dma.request=1024", "bus.beat=16" } },
	{ "matrix.units:", { "matrix.units=0" } },
	{ "matrix.units:", { "matrix.units=9" } },
	{ "matrix.units: each needs a core", { "matrix.units=2", "cluster.cores=1" } },
	{ "matrix.units: only virgo-dma",
	  { "matrix.units=2", "matrix.tile_m=32", "matrix.tile_n=32", "cluster.design=2" } },
	{ "matrix.tile_m, tile_n and tile_k: powers", { "matrix.tile_m=48" } },
	{ "matrix.tile_m, tile_n and tile_k: powers", { "matrix.tile_n=48" } },
	{ "matrix.tile_m, tile_n and tile_k: powers", { "matrix.tile_k=0" } },
	{ "matrix.tile_m, tile_n and tile_k: at most", { "matrix.tile_m=2048" } },
	{ "matrix.tile_m, tile_n and tile_k: at most", { "matrix.tile_n=4294967296" } },
	{ "matrix.tile_m, tile_n and tile_k: at most", { "matrix.tile_k=2048" } },
	{ "matrix.tile_k:", { "matrix.tile_k=128" } },
	{ "matrix.tile_k:", { "matrix.tile_m=128", "matrix.accumulator=65536" } },
	{ "matrix.tile_k:", { "matrix.tile_n=128", "matrix.accumulator=65536" } },
	{ "matrix.tile_k:", { "matrix.units=2" } },
	{ "matrix.accumulator:", { "matrix.accumulator=16383" } },
	{ "matrix.loops", { "matrix.loops=0" } },
	{ "matrix.queue:", { "matrix.queue=3" } },
	{ "matrix.queue:", { "matrix.queue=65" } },
	{ "matrix.loops and move:", { "matrix.move=0" } },
	{ "matrix.dim: 4,", { "matrix.dim=0" } },
	{ "matrix.dim: 4,", { "matrix.dim=2" } },
	{ "matrix.dim: 4,", { "matrix.dim=12" } },
	{ "matrix.dim: 4,", { "matrix.dim=64" } },
	{ "matrix.dim: the array is larger than the tile", { "matrix.dim=32", "matrix.tile_m=16" } },
	{ "matrix.dim: the array is larger than the tile", { "matrix.dim=32", "matrix.tile_n=16" } },
	{ "matrix.dim: the array is larger than the tile", { "matrix.dim=32", "matrix.tile_k=16" } },
	{ "matrix.dim_others: 4,",
	  { "matrix.units=2", "matrix.tile_m=32", "matrix.tile_n=32", "matrix.dim_others=12" } },
	{ "matrix.dim_others: the array",
	  { "matrix.units=2", "matrix.tile_m=16", "matrix.tile_n=16", "matrix.dim_others=32" } },
	{ "cluster.lanes: the tensor core", { "cluster.design=0", "cluster.lanes=16" } },
	{ "cluster.lanes: the tensor core", { "cluster.design=1", "cluster.lanes=4" } },
	{ "matrix.tile_m, tile_n and tile_k: less than the 16, 8",
	  { "cluster.design=0", "matrix.tile_m=8", "matrix.tile_n=512", "matrix.tile_k=8" } },
	{ "matrix.tile_m, tile_n and tile_k: less than the 16, 8",
	  { "cluster.design=1", "matrix.tile_m=1024", "matrix.tile_n=4", "matrix.tile_k=4",
	    "matrix.dim=4" } },
	{ "matrix.tile_m, tile_n and tile_k: less than the 16, 8",
	  { "cluster.design=0", "matrix.tile_k=4", "matrix.dim=4" } },
	{ "matrix.tile_n and tile_k:", { "cluster.design=2", "matrix.tile_k=4", "matrix.dim=4" } },
	{ "matrix.tile_n and tile_k:", { "cluster.design=2", "matrix.tile_n=8", "cluster.lanes=16" } },
	{ "matrix.tile_m: warps", { "cluster.design=0", "cluster.warps=4" } },
	{ "matrix.tile_m: warps", { "cluster.design=1", "matrix.tile_m=32" } },
	{ "matrix.tile_m, tile_n and tile_k: less", { "cluster.design=4", "matrix.tile_m=8" } },
	{ "matrix.tile_m, tile_n and tile_k: less", { "cluster.design=4", "matrix.tile_n=8" } },
	{ "matrix.tile_m, tile_n and tile_k: less", { "cluster.design=4", "matrix.tile_k=8" } },
};

static struct virgo_time_parameters with(const struct bad *changes)
{
	struct virgo_time_parameters parameters = paper_parameters;

	for (unsigned int i = 0; i < CHANGES && changes->changes[i]; i++)
		cluster_set(&parameters, changes->changes[i]);
	return parameters;
}

static void each_rule_names_its_key(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct virgo_time_parameters parameters = with(&bad[i]);
		const char *wrong = virgo_time_check(&parameters);

		if (!wrong || strncmp(wrong, bad[i].key, strlen(bad[i].key)))
			fail_msg("%s: %s instead of %s", bad[i].changes[0], wrong ? wrong : "nothing",
				 bad[i].key);
		assert_null(strchr(wrong, '\n'));
	}
}

/* At their ends, and a cluster of another shape. */
static const struct bad good[] = {
	{ NULL, { NULL } },
	{ NULL, { "cluster.design=0" } },
	{ NULL, { "cluster.design=1" } },
	{ NULL, { "cluster.design=2" } },
	{ NULL, { "cluster.design=4" } },
	{ NULL, { "cluster.cores=1" } },
	{ NULL, { "cluster.cores=16" } },
	{ NULL, { "cluster.warps=16" } },
	{ NULL, { "cluster.warps=1", "simt.alus=1" } },
	{ NULL, { "cluster.lanes=4" } },
	{ NULL, { "cluster.lanes=16" } },
	{ NULL, { "simt.buffer=1", "simt.operands=4", "simt.fetch=1", "simt.dispatch=1", "simt.alus=8" } },
	{ NULL, { "lsu.queue=1", "lsu.outstanding=1", "lsu.merged=1" } },
	{ NULL, { "lsu.queue=64", "lsu.outstanding=64", "lsu.merged=64" } },
	{ NULL, { "shared.banks=1", "shared.words=4" } },
	{ NULL, { "shared.banks=16", "shared.words=16" } },
	{ NULL, { "dcache.line=16", "dcache.banks=1", "dcache.mshrs=1", "dcache.ways=1" } },
	{ NULL, { "dcache.line=256", "dcache.banks=16", "dcache.mshrs=64" } },
	{ NULL, { "cluster.design=2", "dcache.size=1024" } },
	{ NULL, { "cluster.design=2", "dcache.size=16777216", "dcache.ways=64" } },
	{ NULL, { "cluster.design=2", "matrix.tile_k=8", "matrix.tile_n=8" } },
	{ NULL, { "cluster.design=1", "matrix.tile_m=16", "matrix.tile_n=256", "matrix.tile_k=16" } },
	{ NULL, { "cluster.design=0", "matrix.tile_m=512", "matrix.tile_n=8", "matrix.tile_k=8" } },
	{ NULL, { "bus.beat=8", "bus.latency=2047", "dma.request=8", "dma.outstanding=64" } },
	{ NULL, { "dma.outstanding=1" } },
	{ NULL, { "bus.beat=64", "bus.latency=0", "dma.request=1024", "dma.outstanding=64" } },
	{ NULL, { "matrix.units=2", "matrix.tile_m=32", "matrix.tile_n=32" } },
	{ NULL, { "matrix.dim=4" } },
	{ NULL, { "matrix.dim=32" } },
	{ NULL, { "matrix.tile_m=4", "matrix.tile_n=4", "matrix.tile_k=4", "matrix.dim=4" } },
};

static uint64_t small_kernel(const struct virgo_time_parameters *parameters)
{
	char why[128] = "";
	struct virgo_timing *timing = virgo_time_create(parameters, why, sizeof(why));
	struct virgo_time_kernel kernel = { .design = (enum virgo_time_design)parameters->cluster_design,
					    .m = parameters->matrix_tile_m,
					    .n = parameters->matrix_tile_n,
					    .k = 2 * parameters->matrix_tile_k };
	struct virgo_time_statistics statistics;
	uint64_t cycles;

	assert_string_equal(why, "");
	assert_non_null(timing);
	assert_int_equal(virgo_time_start(timing, &kernel, 0), 0);
	virgo_time_advance(timing, 1000000);
	assert_false(virgo_time_is_running(timing, 0));
	cycles = virgo_time_ended(timing, 0);
	virgo_time_statistics(timing, 1000000, &statistics);
	assert_int_equal(statistics.matrix_macs + statistics.tensor_macs, kernel.m * kernel.n * kernel.k);
	virgo_time_destroy(timing);
	return cycles;
}

static void valid_parameters_run_a_kernel_to_its_end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct virgo_time_parameters parameters = with(&good[i]);

		assert_null(virgo_time_check(&parameters));
		assert_true(small_kernel(&parameters) > 0);
	}
}

static void a_cluster_that_cannot_be_is_not_created(void **state)
{
	struct virgo_time_parameters parameters = paper_parameters;
	char why[128], cut[8];

	(void)state;
	parameters.shared_banks = 0;
	errno = 0;
	assert_null(virgo_time_create(&parameters, why, sizeof(why)));
	assert_int_equal(errno, EINVAL);
	assert_string_equal(why, "shared.banks: there has to be one");
	assert_null(virgo_time_create(&parameters, cut, sizeof(cut)));
	assert_string_equal(cut, "shared.");
	assert_null(virgo_time_create(&parameters, NULL, 0));
}

#define ON(function) cmocka_unit_test(function)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(each_rule_names_its_key),
		ON(valid_parameters_run_a_kernel_to_its_end),
		ON(a_cluster_that_cannot_be_is_not_created),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
