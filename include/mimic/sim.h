/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program in virtual time (mimic sim): what libmimic-sim exports to programs, beside
 * the hooks that the compiler calls.
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

/* Does this program run in virtual time? */
MIMIC_SIM_API bool mimic_sim_is_on(void);
/* The clock of the calling thread's core, in cycles. 0 outside of `mimic sim`. */
MIMIC_SIM_API uint64_t mimic_sim_cycles(void);
/*
 * What is measured begins here, or ends: the report gives each name a section. A name that
 * comes again is added to its section. Any thread may call them; phases do not nest.
 */
MIMIC_SIM_API void mimic_sim_phase_begin(const char *name);
MIMIC_SIM_API void mimic_sim_phase_end(void);
/*
 * The report begins here. What was counted so far, of the whole run and of every phase, is
 * forgotten, and the run's cycles count from the calling thread's clock on; a phase that is
 * open begins anew. Caches, store buffers, what is in flight, the device and the clocks stay as they are.
 *
 * Any thread may call it. Others first do all that comes before the caller's clock, and that is
 * forgotten, too; of one whose clock is ahead, because it waits for data, the cycles up to
 * its clock are forgotten. So no thread's cycles are split if the others wait at a barrier or for a join.
 */
MIMIC_SIM_API void mimic_sim_reset(void);
/*
 * For a prefetcher in hardware (DROPLET): `count` indices of 4 bytes, of elements of
 * `element_size` bytes from `data`.
 */
MIMIC_SIM_API void mimic_sim_indirect(const uint32_t *indices, size_t count, const void *data,
				      size_t element_size);
/*
 * For libraries whose kernels have several forms: `kernel` has run in this form, on blocks of this size, and has
 * done `units` of work in so many cycles of the calling thread. `mimic sim --profile` writes down which form takes fewest
 * cycles for a unit.
 */
MIMIC_SIM_API void mimic_sim_kernel(const char *kernel, unsigned int block, const char *form, uint64_t units,
				    uint64_t cycles);
/*
 * For libraries of devices: the modelled hardware may have a kernel of its own for what the library is about to do
 * with a part (a unit) of a device, of a shape in the device's own terms. 0: the calling thread has waited until the
 * kernel was over; the library does the work then, and what it asks of this device takes no time until
 * mimic_sim_device_kernel_end(). -ENOSYS: there is no such kernel, or no virtual time; another -errno: it has failed.
 */
MIMIC_SIM_API int mimic_sim_device_kernel(const char *device, unsigned int part, const uint64_t *shape, size_t count);
MIMIC_SIM_API void mimic_sim_device_kernel_end(const char *device, unsigned int part);

#ifdef __cplusplus
}
#endif
#endif
