/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * libmimic-sim: the functions that a program in virtual time (`mimic sim`) can call, beside
 * the hooks that the compiler calls. This header is its manual; there is a man page for
 * each function, and docs/timing.md is the tutorial.
 *
 * Outside of `mimic sim` every function here returns at once and changes nothing. All are
 * weak: a program that is not linked with libmimic-sim finds them NULL.
 */
#ifndef MIMIC_SIM_H
#define MIMIC_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef MIMIC_SIM_API
#define MIMIC_SIM_API __attribute__((weak, visibility("default")))
#endif

/**
 * mimic_sim_is_on() - asks whether this program runs in virtual time
 *
 * Returns true under `mimic sim`, else false.
 *
 * See also: mimic-sim(1).
 */
MIMIC_SIM_API bool mimic_sim_is_on(void);

/**
 * mimic_sim_cycles() - reads the clock of the calling thread's core
 *
 * Returns the cycles, 0 outside of `mimic sim`.
 */
MIMIC_SIM_API uint64_t mimic_sim_cycles(void);

/**
 * mimic_sim_phase_begin() - begins a section of the report
 * @name: its title; a name that comes again is added to its section
 *
 * All that is counted from here to mimic_sim_phase_end() is in the report's section of this
 * name, too. Phases do not nest.
 *
 * See also: mimic_sim_reset(), mimic-sim(1).
 */
MIMIC_SIM_API void mimic_sim_phase_begin(const char *name);

/**
 * mimic_sim_phase_end() - ends the section of the report that mimic_sim_phase_begin() began
 */
MIMIC_SIM_API void mimic_sim_phase_end(void);

/**
 * mimic_sim_reset() - begins the report here
 *
 * All counts so far, of the whole run and of every phase, are
 * cleared, and the run's cycles count from the calling thread's clock on; a phase that is
 * open begins anew. Caches, store buffers, requests in flight, the device and the clocks stay as they are.
 *
 * Threads. Any thread may call it. Other threads first run up to the caller's clock, and their counts are
 * cleared, too; if a thread's clock is ahead, because it waits for data, its cycles up to
 * that clock are cleared. So no thread's cycles are split if the others wait at a barrier or for a join.
 *
 * See also: mimic_sim_phase_begin(), mimic-sim(1).
 */
MIMIC_SIM_API void mimic_sim_reset(void);

/**
 * mimic_sim_indirect() - tells a prefetcher in hardware (DROPLET) of an indirect array
 * @indices: 4 bytes each
 * @count: how many indices
 * @data: the array that they are indices of
 * @element_size: bytes of an element of data
 *
 * See also: mimic-sim(1).
 */
MIMIC_SIM_API void mimic_sim_indirect(const uint32_t *indices, size_t count, const void *data,
				      size_t element_size);

/**
 * mimic_sim_kernel() - tells how long a kernel took in one of its forms
 * @kernel: its name
 * @block: rows and columns of the blocks that it worked on
 * @form: the name of the form
 * @units: of work that it has done
 * @cycles: of the calling thread that it took
 *
 * For libraries whose kernels have several forms. `mimic sim --profile` writes down which
 * form takes fewest cycles for a unit.
 *
 * See also: dare_profile_read(), mimic-sim(1).
 */
MIMIC_SIM_API void mimic_sim_kernel(const char *kernel, unsigned int block, const char *form, uint64_t units,
				    uint64_t cycles);

/**
 * mimic_sim_device_kernel() - has the modelled hardware run a kernel of its own, if it has one
 * @device: the device's name
 * @part: which part (unit) of the device
 * @shape: the size of the work, in the device's own terms
 * @count: numbers of shape
 *
 * For libraries of devices, which call it before they do the work themselves. If there is such a
 * kernel, the calling thread has waited until it was over; the library does the work then,
 * and its accesses to this device take no time until mimic_sim_device_kernel_end().
 *
 * Returns 0, or
 * -ENOSYS: there is no such kernel, or no virtual time
 * -EINVAL and others: the kernel has failed
 */
MIMIC_SIM_API int mimic_sim_device_kernel(const char *device, unsigned int part, const uint64_t *shape, size_t count);

/**
 * mimic_sim_device_kernel_end() - ends the kernel that mimic_sim_device_kernel() began
 * @device: as there
 * @part: as there
 */
MIMIC_SIM_API void mimic_sim_device_kernel_end(const char *device, unsigned int part);

#ifdef __cplusplus
}
#endif
#endif
