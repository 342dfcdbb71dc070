/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Compares the constructs of OpenMP with plain loops. Prints errors, or "right" and the number of threads. */
#include <omp.h>
#include <stdio.h>

#define N 1000

static long times[N], wrong;

static void expect(const char *what, long got, long want)
{
	if (got == want)
		return;
	printf("%s: %ld, not %ld\n", what, got, want);
	wrong++;
}

/* Each iteration once, whatever its thread. */
#define LOOP(clause) \
	do { \
		long sum = 0; \
		for (int i = 0; i < N; i++) \
			times[i] = 0; \
		_Pragma("omp parallel") \
		{ \
			_Pragma(clause) \
			for (int i = 0; i < N; i++) { \
				times[i]++; \
				__atomic_fetch_add(&sum, (long)i * i, __ATOMIC_RELAXED); \
			} \
		} \
		expect(clause, sum, (long)(N - 1) * N * (2 * N - 1) / 6); \
		for (int i = 0; i < N; i++) \
			expect(clause " each", times[i], 1); \
	} while (0)

static void schedules(void)
{
	LOOP("omp for schedule(static)");
	LOOP("omp for schedule(static, 7)");
	LOOP("omp for schedule(dynamic)");
	LOOP("omp for schedule(dynamic, 13)");
	LOOP("omp for schedule(guided)");
	LOOP("omp for schedule(guided, 5)");
	LOOP("omp for schedule(runtime)");
	LOOP("omp for schedule(auto)");
	LOOP("omp for schedule(monotonic: dynamic, 3)");
	LOOP("omp for schedule(monotonic: guided, 3)");
	LOOP("omp for schedule(monotonic: runtime)");
	LOOP("omp for schedule(nonmonotonic: runtime)");
}

static void bounds(void)
{
	long sum = 0, want = 0, empty = 0;
	unsigned long long large = 0, first = 1ull << 63;

#pragma omp parallel for schedule(dynamic, 3) reduction(+:sum)
	for (long i = N - 1; i >= 0; i -= 3)
		sum += i;
	for (long i = N - 1; i >= 0; i -= 3)
		want += i;
	expect("down by threes", sum, want);
#pragma omp parallel for schedule(guided) reduction(+:large)
	for (unsigned long long i = first + 100; i > first; i -= 2)
		large += i - first;
	expect("unsigned, down", (long)large, 2550);
	large = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+:large)
	for (unsigned long long i = ~0ull - 100; i < ~0ull - 3; i += 5)
		large += ~0ull - i;
	expect("unsigned, up to the end", (long)large, 1050);
#pragma omp parallel for schedule(dynamic) reduction(+:empty)
	for (long i = 5; i < sum - want; i++)
		empty++;
	expect("no iteration", empty, 0);
}

static void reductions(void)
{
	int last = -1, most = 0;
	double product = 1;

#pragma omp parallel for lastprivate(last) schedule(dynamic, 7) reduction(*:product) reduction(max:most)
	for (int i = 0; i < 100; i += 3) {
		last = i;
		product *= i % 10 ? 1 : 2;
		most = i > most ? i : most;
	}
	expect("lastprivate", last, 99);
	expect("product", (long)product, 16);	/* 0, 30, 60, 90 */
	expect("max", most, 99);
}

static void one_at_a_time(void)
{
	int count = 0, named = 0, a = 0, singles = 0, masters = 0, threads = 0;
	double d = 0;

#pragma omp parallel num_threads(3)
	{
		int copied;

		for (int i = 0; i < 100; i++) {
#pragma omp critical
			count++;
#pragma omp critical(other)
			named++;
#pragma omp atomic
			a++;
#pragma omp atomic
			d += 1;
#pragma omp single nowait
			singles++;
		}
#pragma omp barrier
#pragma omp master
		masters++;
#pragma omp single copyprivate(copied)
		copied = 5;
#pragma omp critical
		{
			count += copied;
			threads += omp_get_num_threads() == 3 && omp_in_parallel();
		}
	}
	expect("critical", count, 300 + 15);
	expect("named critical", named, 300);
	expect("atomic", a, 300);
	expect("atomic double", (long)d, 300);
	expect("single", singles, 100);
	expect("master", masters, 1);
	expect("threads", threads, 3);
}

static void sections(void)
{
	int one = 0, two = 0, three = 0;

#pragma omp parallel
	{
#pragma omp sections
		{
#pragma omp section
			one++;
#pragma omp section
			two++;
#pragma omp section
			three++;
		}
	}
#pragma omp parallel sections
	{
#pragma omp section
		one += 10;
#pragma omp section
		two += 10;
	}
	expect("sections", one + 100 * two + 10000 * three, 11 + 1100 + 10000);
}

static void locks_and_inner_regions(void)
{
	omp_lock_t lock;
	int count = 0, inner = 0;

	omp_init_lock(&lock);
#pragma omp parallel reduction(+:inner)
	{
		for (int i = 0; i < 50; i++) {
			omp_set_lock(&lock);
			count++;
			omp_unset_lock(&lock);
		}
#pragma omp parallel reduction(+:inner)
		inner += omp_get_num_threads();
	}
	expect("lock", count, 50 * omp_get_max_threads());
	expect("inner regions have one thread", inner, omp_get_max_threads());
	expect("a free lock", omp_test_lock(&lock) && !omp_test_lock(&lock), 1);
	omp_destroy_lock(&lock);
}

int main(void)
{
	double begin = omp_get_wtime();

	schedules();
	bounds();
	reductions();
	one_at_a_time();
	sections();
	locks_and_inner_regions();
	expect("time", omp_get_wtime() > begin, 1);
	if (!wrong)
		printf("right %d\n", omp_get_max_threads());
	return wrong != 0;
}
