/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Waiting for commands, and the unit's errors. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "internal.h"

#define LOOPS_MAX 3	/* the device waits for at most so many that are left */
#define AGAIN_NANOSECONDS 100000	/* when there is no room to wait in the device */

static const char *const meanings[] = {
#define _(number, name, meaning) [number] = meaning,
	VIRGO_ERRORS(_)
#undef _
};

static const char *const command_names[128] = {
#define _(funct, name, text, counter, meaning) [funct] = text,
	VIRGO_COMMANDS(_)
#undef _
};

#define ERRORS (sizeof(meanings) / sizeof(meanings[0]))

/* --- errors --------------------------------------------------------------------------- */

static int error_number(uint64_t error)
{
	switch (error) {
	case VIRGO_ERROR_COMMAND:
		return -EILSEQ;
	case VIRGO_ERROR_RANGE:
	case VIRGO_ERROR_SIZE:
	case VIRGO_ERROR_VALUE:
		return -EINVAL;
	case VIRGO_ERROR_OVERFLOW:
		return -EOVERFLOW;
	case VIRGO_ERROR_LOAD:
	case VIRGO_ERROR_STORE:
		return -EFAULT;
	default:
		return -EIO;	/* a newer device knows more of them */
	}
}

static void name_command(uint32_t word, char *text, size_t size)
{
	const char *name = command_names[word >> 25];

	if ((word & 0x7f) == VIRGO_OPCODE && name)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "0x%x", word);
}

static void write_text(struct virgo_error_info *info)
{
	const char *meaning = info->error < ERRORS ? meanings[info->error] : "unknown error";
	bool is_address = info->error == VIRGO_ERROR_LOAD || info->error == VIRGO_ERROR_STORE;
	char command[32], value[40];

	name_command(info->instruction, command, sizeof(command));
	snprintf(value, sizeof(value), is_address ? "address 0x%llx" : "%llu",
		 (unsigned long long)info->address);
	/* The meanings speak of a register that holds the value. */
	snprintf(info->text, sizeof(info->text), "command %llu, %s: %s: %.*s",
		 (unsigned long long)info->position, command, value, (int)strcspn(meaning, ";"), meaning);
}

static int read_error(struct virgo_unit *unit, struct virgo_error_info *info)
{
	uint64_t error, instruction;
	const struct {
		unsigned int offset;
		uint64_t *value;
	} registers[] = {
		{ VIRGO_ERROR, &error },
		{ VIRGO_ERROR_INSTRUCTION, &instruction },
		{ VIRGO_ERROR_POSITION, &info->position },
		{ VIRGO_ERROR_ADDRESS, &info->address },
		{ VIRGO_ERROR_RS1, &info->rs1 },
		{ VIRGO_ERROR_RS2, &info->rs2 },
	};

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++) {
		int failed = virgo_load_register(unit, registers[i].offset, registers[i].value);

		if (failed)
			return failed;
	}
	info->error = (enum virgo_error)error;
	info->instruction = (uint32_t)instruction;
	write_text(info);
	return 0;
}

static int report_error(struct virgo_unit *unit)
{
	struct virgo_error_info info;
	int error = read_error(unit, &info);

	if (error)
		return error;
	return virgo_fail(error_number(info.error), "%s, unit %u: %s", virgo_device_name(unit->virgo),
			  unit->number, info.text);
}

int virgo_check_error(struct virgo_unit *unit)
{
	uint64_t status;
	int error = virgo_load_register(unit, VIRGO_STATUS, &status);

	if (error || !(status & VIRGO_STATUS_ERROR))
		return error;
	return report_error(unit);
}

/* --- waiting ---------------------------------------------------------------------------- */

/* So many threads wait in the device that it answers others at once. */
static void come_again(void)
{
	const struct timespec moment = { 0, AGAIN_NANOSECONDS };

	nanosleep(&moment, NULL);
}

int virgo_load_fence(struct virgo_unit *unit, uint64_t *status)
{
	int error = virgo_load_register(unit, VIRGO_FENCE, status);

	while (!error && *status & VIRGO_STATUS_BUSY) {
		come_again();
		error = virgo_load_register(unit, VIRGO_FENCE, status);
	}
	return error;
}

/* Waits, and ignores errors. */
static int settle(struct virgo_unit *unit, uint64_t *status)
{
	int error = virgo_post_buffer(unit);

	return error ? error : virgo_load_fence(unit, status);
}

int virgo_wait_loops(struct virgo_unit *unit, unsigned int loops)
{
	const unsigned int offset = VIRGO_WAIT_LOOPS_0 + 8 * loops;
	uint64_t left = 0;
	int error = virgo_post_buffer(unit);

	if (!error)
		error = virgo_load_register(unit, offset, &left);
	while (!error && left > loops) {
		come_again();
		error = virgo_load_register(unit, offset, &left);
	}
	return error;
}

int virgo_wait_all(struct virgo_unit *unit)
{
	uint64_t status;
	int error = settle(unit, &status);

	if (error || !(status & VIRGO_STATUS_ERROR))
		return error;
	return report_error(unit);
}

/*
 * Commands are over in order: all before a loop are when it is. So the wait is for the
 * first loop that is not before the ticket, if there is one: it is over when only the
 * ones behind it are left.
 */
int virgo_wait_ticket(struct virgo_unit *unit, uint64_t ticket)
{
	unsigned int behind = 0;
	uint64_t status;
	int error;

	if (unit->last_loops[0] < ticket)
		return virgo_wait_all(unit);
	while (behind < LOOPS_MAX && unit->last_loops[behind + 1] >= ticket)
		behind++;
	error = virgo_wait_loops(unit, behind);
	if (!error)
		error = virgo_load_register(unit, VIRGO_STATUS, &status);
	if (error || !(status & VIRGO_STATUS_ERROR))
		return error;
	/* Loops that were dropped are not left, and may be the ones that were counted on. */
	return virgo_wait_all(unit);
}

/* All of it was over when the unit was reset, or there was nothing. */
static int wait_for_nothing(struct virgo_unit *unit)
{
	int error = virgo_post_buffer(unit);

	return error ? error : virgo_check_error(unit);
}

static int check_ticket(const struct virgo_unit *unit, uint64_t ticket)
{
	if (ticket > unit->given)
		return virgo_fail(-EINVAL, "ticket %llu: unit %u has had %llu commands",
				  (unsigned long long)ticket, unit->number,
				  (unsigned long long)unit->given);
	return 0;
}

int virgo_flush(struct virgo *virgo, unsigned int number)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	return error ? error : virgo_post_buffer(unit);
}

uint64_t virgo_ticket(struct virgo *virgo, unsigned int number)
{
	struct virgo_unit *unit;

	return virgo_find(virgo, number, &unit) ? 0 : unit->given;
}

int virgo_done(struct virgo *virgo, unsigned int number, uint64_t ticket)
{
	struct virgo_unit *unit;
	uint64_t completed;
	int error = virgo_find(virgo, number, &unit);

	if (!error)
		error = check_ticket(unit, ticket);
	if (!error)
		error = virgo_post_buffer(unit);
	if (!error)
		error = virgo_load_register(unit, VIRGO_COMPLETED, &completed);
	return error ? error : unit->start + completed >= ticket;
}

int virgo_wait(struct virgo *virgo, unsigned int number, uint64_t ticket)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (!error)
		error = check_ticket(unit, ticket);
	if (error)
		return error;
	return ticket <= unit->start ? wait_for_nothing(unit) : virgo_wait_ticket(unit, ticket);
}

int virgo_fence(struct virgo *virgo, unsigned int number)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	return error ? error : virgo_wait_all(unit);
}

int virgo_fence_loops(struct virgo *virgo, unsigned int number, unsigned int loops)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	if (error)
		return error;
	if (loops > LOOPS_MAX)
		return virgo_fail(-EINVAL, "virgo_fence_loops: %u loops; it waits for 0 to %u", loops,
				  LOOPS_MAX);
	error = virgo_wait_loops(unit, loops);
	return error ? error : virgo_check_error(unit);
}

int virgo_error(struct virgo *virgo, unsigned int number, struct virgo_error_info *info)
{
	struct virgo_unit *unit;
	uint64_t status;
	int error = virgo_find(virgo, number, &unit);

	if (error)
		return error;
	if (!info)
		return virgo_fail(-EINVAL, "virgo_error: no place for it");
	memset(info, 0, sizeof(*info));
	error = settle(unit, &status);
	if (error || !(status & VIRGO_STATUS_ERROR))
		return error;
	return read_error(unit, info);
}

int virgo_forget_error(struct virgo_unit *unit)
{
	uint64_t status;
	/* Commands that are still on their way belong to the time before the error was cleared. */
	int error = settle(unit, &status);

	/* Settings may have been among the dropped commands. */
	virgo_forget_settings(unit);
	return error ? error : virgo_store_register(unit, VIRGO_ERROR, 0);
}

int virgo_clear_error(struct virgo *virgo, unsigned int number)
{
	struct virgo_unit *unit;
	int error = virgo_find(virgo, number, &unit);

	return error ? error : virgo_forget_error(unit);
}

int virgo_reset_unit(struct virgo_unit *unit)
{
	virgo_forget_settings(unit);
	unit->start = unit->given;
	unit->uses_halves = false;
	return virgo_store_register(unit, VIRGO_RESET, 0);
}

int virgo_reset(struct virgo *virgo, unsigned int number)
{
	struct virgo_unit *unit;
	uint64_t status;
	int error = virgo_find(virgo, number, &unit);

	if (!error)
		error = settle(unit, &status);
	return error ? error : virgo_reset_unit(unit);
}
