/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * An instruction of the x87 unit with a memory operand, carried out on the state that a signal
 * frame holds: by the processor itself, on memory of ours in place of the program's.
 */
#ifndef MIMIC_X87_H
#define MIMIC_X87_H

#include <stdbool.h>
#include <stdint.h>

/* `image` is an area written by FXSAVE, of which only the x87 part is read and changed. */
void mimic_x87_initial(uint8_t *image);

/*
 * `which` is struct mimic_instruction's `reg`. A load takes *value, a store leaves its result
 * there. `rip` and `address` are the program's, for the unit's record of its last instruction.
 * 0; -EOPNOTSUPP: a store that raises an exception which is not masked. Then nothing has changed.
 */
int mimic_x87_execute(unsigned int which, bool is_store, uint8_t *image, uint64_t *value, uint64_t rip,
		      uint64_t address);

#endif
