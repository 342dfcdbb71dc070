/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * OpenMP in virtual time: the functions of gcc's libgomp that libmimic-sim replaces. A program that
 * calls another one is refused before it runs.
 */
#ifndef MIMIC_SIM_OPENMP_H
#define MIMIC_SIM_OPENMP_H

/* gcc's names of the schedules of a loop, and their meanings. Nonmonotonic ones have no other order here. */
#define SIM_OPENMP_SCHEDULES(_) \
	_(static, STATIC) _(dynamic, DYNAMIC) _(guided, GUIDED) \
	_(nonmonotonic_dynamic, DYNAMIC) _(nonmonotonic_guided, GUIDED)
/* OMP_SCHEDULE says which. They have no argument for a chunk's size. */
#define SIM_OPENMP_RUNTIME_SCHEDULES(_) _(runtime) _(nonmonotonic_runtime) _(maybe_nonmonotonic_runtime)

#define SIM_OPENMP_FUNCTIONS(_) \
	_(GOMP_parallel) _(GOMP_parallel_sections) _(GOMP_barrier) _(GOMP_loop_end) _(GOMP_loop_end_nowait) \
	_(GOMP_sections_start) _(GOMP_sections_next) _(GOMP_sections_end) _(GOMP_sections_end_nowait) \
	_(GOMP_single_start) _(GOMP_single_copy_start) _(GOMP_single_copy_end) \
	_(GOMP_critical_start) _(GOMP_critical_end) _(GOMP_critical_name_start) _(GOMP_critical_name_end) \
	_(GOMP_atomic_start) _(GOMP_atomic_end) \
	_(omp_get_thread_num) _(omp_get_num_threads) _(omp_get_max_threads) _(omp_set_num_threads) \
	_(omp_get_num_procs) _(omp_in_parallel) _(omp_get_level) _(omp_get_active_level) _(omp_get_thread_limit) \
	_(omp_get_dynamic) _(omp_set_dynamic) _(omp_get_wtime) _(omp_get_wtick) \
	_(omp_init_lock) _(omp_destroy_lock) _(omp_set_lock) _(omp_unset_lock) _(omp_test_lock)

#endif
