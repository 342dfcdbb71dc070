/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Single commands, and the buffer of a unit that they go through. */
#include <string.h>

#include "internal.h"

#define SIZE_MAX_16 0xffffu

static int post(struct virgo_unit *unit, const uint64_t *values, size_t count)
{
	ssize_t posted = mimic_library_post(unit->virgo->device, VIRGO_PAGE_UNITS,
					    VIRGO_UNIT_OFFSET(unit->number, STREAM), values, count);

	return posted < 0 ? (int)posted : 0;
}

/*
 * A queue that takes a store too many for an error, as the RTL's does, gets no more than
 * it has room for, and when the unit has done the ones before.
 */
static int post_slowly(struct virgo_unit *unit, size_t count)
{
	const size_t most = (size_t)unit->info.queue_entries * VIRGO_COMMAND_VALUES;
	int error = 0;

	for (size_t at = 0, some; at < count && !error; at += some) {
		uint64_t status;

		some = count - at < most ? count - at : most;
		error = virgo_load_fence(unit, &status);
		if (!error)
			error = post(unit, unit->buffer + at, some);
	}
	return error;
}

int virgo_post_buffer(struct virgo_unit *unit)
{
	size_t count = unit->buffered;

	if (count == 0)
		return 0;
	/* Also if it fails: the device is gone then, and the same values would fail again. */
	unit->buffered = 0;
	if (unlikely(unit->overflows))
		return post_slowly(unit, count);
	return post(unit, unit->buffer, count);
}

static bool is_loop(unsigned int funct)
{
	return funct == VIRGO_FUNCT_LOOP_WS || funct == VIRGO_FUNCT_LOOP_CONV_WS;
}

static void note_loop(struct virgo_unit *unit)
{
	memmove(unit->last_loops + 1, unit->last_loops, sizeof(unit->last_loops) - sizeof(uint64_t));
	unit->last_loops[0] = unit->given;
}

int virgo_put(struct virgo_unit *unit, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	int error = 0;

	if (unlikely(unit->buffered + VIRGO_COMMAND_VALUES > VIRGO_BUFFER_VALUES))
		error = virgo_post_buffer(unit);
	unit->buffer[unit->buffered++] = rs1;
	unit->buffer[unit->buffered++] = rs2;
	unit->buffer[unit->buffered++] = VIRGO_INSTRUCTION_WORD(funct);
	unit->given++;
	if (is_loop(funct))
		note_loop(unit);
	return error;
}

int virgo_set(struct virgo_unit *unit, enum virgo_setting setting, unsigned int funct, uint64_t rs1,
	      uint64_t rs2)
{
	if (unit->settings[setting].is_known && unit->settings[setting].rs1 == rs1 &&
	    unit->settings[setting].rs2 == rs2)
		return 0;
	unit->settings[setting].is_known = true;
	unit->settings[setting].rs1 = rs1;
	unit->settings[setting].rs2 = rs2;
	return virgo_put(unit, funct, rs1, rs2);
}

void virgo_forget_settings(struct virgo_unit *unit)
{
	for (unsigned int i = 0; i < VIRGO_SETTINGS; i++)
		unit->settings[i].is_known = false;
}

/* Commands that leave all settings as they are. */
static bool keeps_settings(unsigned int funct)
{
	return funct == VIRGO_FUNCT_MVIN || funct == VIRGO_FUNCT_MVIN2 || funct == VIRGO_FUNCT_MVIN3 ||
	       funct == VIRGO_FUNCT_MVOUT || funct == VIRGO_FUNCT_PRELOAD ||
	       funct == VIRGO_FUNCT_COMPUTE_PRELOADED || funct == VIRGO_FUNCT_COMPUTE_ACCUMULATED;
}

int virgo_command(struct virgo *virgo, unsigned int number, unsigned int funct, uint64_t rs1,
		  uint64_t rs2)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (unlikely(error))
		return error;
	if (unlikely(funct > 127))
		return virgo_fail(-EINVAL, "funct %u: there are 0 to 127", funct);
	if (!keeps_settings(funct))
		virgo_forget_settings(unit);
	if (funct == VIRGO_FUNCT_LOOP_WS && rs2 & VIRGO_LOOP_NEXT_ACCUMULATOR)
		unit->uses_halves = true;
	return virgo_put(unit, funct, rs1, rs2);
}

/*
 * The port takes words at once, and makes commands of them that have to be counted. A loop
 * comes behind another command. The one that comes alone does nothing: a load that waits for it
 * waits for all.
 */
int virgo_cisc(struct virgo *virgo, unsigned int number, uint32_t word)
{
	struct virgo_unit *unit;
	uint64_t dispatched;
	bool has_loop;
	int error = virgo_find(virgo, number, &unit);

	if (error)
		return error;
	word = (word & ~(7u << VIRGO_CISC_UNIT_SHIFT)) | number << VIRGO_CISC_UNIT_SHIFT;
	virgo_forget_settings(unit);
	error = virgo_post_buffer(unit);
	if (!error)
		error = virgo_store_register(unit, VIRGO_CISC, word);
	if (!error)
		error = virgo_load_register(unit, VIRGO_DISPATCHED, &dispatched);
	if (error)
		return error;
	has_loop = unit->start + dispatched > unit->given + 1;
	unit->given = unit->start + dispatched;
	if (has_loop)
		note_loop(unit);
	return 0;
}

/* --- configuration ------------------------------------------------------------------------ */

static uint64_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

int virgo_set_array(struct virgo_unit *unit, enum virgo_dataflow dataflow, unsigned int flags)
{
	uint64_t rs1 = VIRGO_CONFIG_EX | (uint64_t)dataflow << 2 |
		       (flags & VIRGO_TRANSPOSE_A ? 1u << 8 : 0) |
		       (flags & VIRGO_TRANSPOSE_B ? 1u << 9 : 0) | 1u << 16 | bits_of(1) << 32;

	return virgo_set(unit, VIRGO_SETTING_ARRAY, VIRGO_FUNCT_CONFIG, rs1, 1ull << 48);
}

int virgo_config_array(struct virgo *virgo, unsigned int number, enum virgo_dataflow dataflow,
		       unsigned int flags)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (error)
		return error;
	if ((unsigned int)dataflow > VIRGO_WEIGHT_STATIONARY)
		return virgo_fail(-EINVAL, "dataflow %u: not of enum virgo_dataflow", (unsigned int)dataflow);
	if (flags & ~(unsigned int)(VIRGO_TRANSPOSE_A | VIRGO_TRANSPOSE_B))
		return virgo_fail(-EINVAL, "virgo_config_array: flags 0x%x", flags);
	return virgo_set_array(unit, dataflow, flags);
}

int virgo_set_load(struct virgo_unit *unit, unsigned int which, uint64_t stride, float scale,
		   bool is_shrunk)
{
	uint64_t rs1 = VIRGO_CONFIG_LD | (is_shrunk ? 1u << 2 : 0) | (uint64_t)which << 3 | 1u << 8 |
		       (uint64_t)unit->info.dim << 16 | bits_of(scale) << 32;

	return virgo_set(unit, VIRGO_SETTING_LOAD + which, VIRGO_FUNCT_CONFIG, rs1, stride);
}

int virgo_config_load(struct virgo *virgo, unsigned int number, unsigned int which, size_t stride,
		      float scale, unsigned int flags)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (error)
		return error;
	if (which > 2)
		return virgo_fail(-EINVAL, "load configuration %u: there are 0 to 2", which);
	if (flags & ~(unsigned int)VIRGO_SHRUNK)
		return virgo_fail(-EINVAL, "virgo_config_load: flags 0x%x", flags);
	return virgo_set_load(unit, which, stride, scale, flags & VIRGO_SHRUNK);
}

int virgo_set_store(struct virgo_unit *unit, uint64_t stride, enum virgo_activation activation,
		    float scale)
{
	return virgo_set(unit, VIRGO_SETTING_STORE, VIRGO_FUNCT_CONFIG,
			 VIRGO_CONFIG_ST | (uint64_t)activation << 2, stride | bits_of(scale) << 32);
}

int virgo_config_store(struct virgo *virgo, unsigned int number, size_t stride,
		       enum virgo_activation activation, float scale)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (error)
		return error;
	/* Two bits; the third is a field of CONFIG 3. */
	if ((unsigned int)activation > VIRGO_IGELU)
		return virgo_fail(-EINVAL, "virgo_config_store: activation %u", (unsigned int)activation);
	if (stride > UINT32_MAX)
		return virgo_fail(-EINVAL, "virgo_config_store: a stride of %zu bytes; it has 32 bits", stride);
	if (bits_of(scale) == UINT32_MAX)
		return virgo_fail(-EINVAL, "virgo_config_store: this NaN would keep the scale as it is");
	return virgo_set_store(unit, stride, activation, scale);
}

/* --- moves and the array ------------------------------------------------------------------- */

static uint64_t packed(unsigned int rows, unsigned int columns, uint32_t local)
{
	return (uint64_t)rows << 48 | (uint64_t)columns << 32 | local;
}

static int check_size(unsigned int rows, unsigned int columns)
{
	if (rows > SIZE_MAX_16 || columns > SIZE_MAX_16)
		return virgo_fail(-EINVAL, "%u rows of %u elements: the largest is %u", rows, columns,
				  SIZE_MAX_16);
	return 0;
}

int virgo_mvin(struct virgo *virgo, unsigned int number, unsigned int which, const void *from,
	       uint32_t local, unsigned int rows, unsigned int columns)
{
	static const unsigned int functs[] = { VIRGO_FUNCT_MVIN, VIRGO_FUNCT_MVIN2, VIRGO_FUNCT_MVIN3 };
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (!error)
		error = check_size(rows, columns);
	if (error)
		return error;
	if (which > 2)
		return virgo_fail(-EINVAL, "load configuration %u: there are 0 to 2", which);
	return virgo_put(unit, functs[which], (uintptr_t)from, packed(rows, columns, local));
}

int virgo_mvout(struct virgo *virgo, unsigned int number, void *to, uint32_t local, unsigned int rows,
		unsigned int columns)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (!error)
		error = check_size(rows, columns);
	if (error)
		return error;
	return virgo_put(unit, VIRGO_FUNCT_MVOUT, (uintptr_t)to, packed(rows, columns, local));
}

static int put_operands(struct virgo *virgo, unsigned int number, unsigned int funct,
			struct virgo_operand first, struct virgo_operand second)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (error)
		return error;
	return virgo_put(unit, funct, packed(first.rows, first.columns, first.local),
			 packed(second.rows, second.columns, second.local));
}

int virgo_preload(struct virgo *virgo, unsigned int number, struct virgo_operand source,
		  struct virgo_operand result)
{
	return put_operands(virgo, number, VIRGO_FUNCT_PRELOAD, source, result);
}

int virgo_compute_preloaded(struct virgo *virgo, unsigned int number, struct virgo_operand a,
			    struct virgo_operand other)
{
	return put_operands(virgo, number, VIRGO_FUNCT_COMPUTE_PRELOADED, a, other);
}

int virgo_compute_accumulated(struct virgo *virgo, unsigned int number, struct virgo_operand a,
			      struct virgo_operand other)
{
	return put_operands(virgo, number, VIRGO_FUNCT_COMPUTE_ACCUMULATED, a, other);
}
