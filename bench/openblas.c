/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "bench/openblas.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"

#define FAST_OPENBLAS 60e9		/* multiply-adds a second from which the device has a rate to reach */
#define RATE 10e9

/*
 * OpenBLAS falls back to kernels of twenty years ago on a processor that is newer
 * than it is; it must be told which of its kernels the processor can run.
 */
static const char *best_core(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
		return "SkylakeX";
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return "Haswell";
#endif
	return NULL;
}

void openblas_load(struct openblas *blas)
{
	const char *core = best_core();
	const char *(*corename)(void);
	void (*set_threads)(int);
	void *library;

	/* read once, when the library is loaded: hence no link against it */
	setenv("OPENBLAS_NUM_THREADS", "1", 1);
	if (core)
		setenv("OPENBLAS_CORETYPE", core, 0);
	library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		bench_fail("%s (Debian package libopenblas-dev)", dlerror());
	*(void **)&blas->sgemm = dlsym(library, "cblas_sgemm");
	*(void **)&set_threads = dlsym(library, "openblas_set_num_threads");
	*(void **)&corename = dlsym(library, "openblas_get_corename");
	if (!blas->sgemm || !set_threads || !corename)
		bench_fail("libopenblas.so.0: %s", dlerror());
	set_threads(1);
	snprintf(blas->core, sizeof(blas->core), "%s", corename());
}

void openblas_square(const struct openblas *blas, size_t side, const float *a, const float *b, float *c)
{
	const int n = (int)side, row_major = 101, as_it_is = 111;

	blas->sgemm(row_major, as_it_is, as_it_is, n, n, n, 1, a, n, b, n, 0, c, n);
}

static bool has_pipes_for_each(void)
{
#ifdef __x86_64__
	return __builtin_cpu_is("amd") && __builtin_cpu_supports("avx512vnni");
#else
	return false;
#endif
}

double openblas_share_limit(double macs, double reference, bool has_rate, double share)
{
	return has_pipes_for_each() ? reference / share : openblas_limit(macs, reference, has_rate);
}

double openblas_limit(double macs, double reference, bool has_rate)
{
	if (has_rate && macs / reference >= FAST_OPENBLAS && macs / RATE < 8 * reference)
		return macs / RATE;
	return 8 * reference;
}
