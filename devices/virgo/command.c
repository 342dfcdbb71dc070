/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The commands, each from its start or from where it had to stop. */
#include "devices/virgo/virgo_internal.h"

#define EXECUTE(NAME) static enum work execute_##NAME(struct virgo_job *job, const struct command *command)

EXECUTE(CONFIG)
{
	return virgo_configure_command(job, command);
}

EXECUTE(MVIN)
{
	return virgo_move_in_command(job, command, &job->x.load[0]);
}

EXECUTE(MVIN2)
{
	return virgo_move_in_command(job, command, &job->x.load[1]);
}

EXECUTE(MVIN3)
{
	return virgo_move_in_command(job, command, &job->x.load[2]);
}

EXECUTE(MVOUT)
{
	return virgo_move_out_command(job, command);
}

EXECUTE(PRELOAD)
{
	virgo_array_preload(job, command->rs1, command->rs2);
	return WORK_DONE;
}

EXECUTE(COMPUTE_PRELOADED)
{
	return virgo_array_compute(job, command->rs1, command->rs2, true);
}

EXECUTE(COMPUTE_ACCUMULATED)
{
	return virgo_array_compute(job, command->rs1, command->rs2, false);
}

EXECUTE(FLUSH)
{
	(void)command;
	job->x.dma.page = NO_PAGE;
	count(job, VIRGO_COUNTER_shootdowns, 1);
	return WORK_DONE;
}

EXECUTE(LOOP_WS)
{
	return virgo_loop_ws(job, command->rs1, command->rs2);
}

/* A parameter of the LOOP_WS that follows. */
EXECUTE(LOOP_WS_BOUNDS)
{
	virgo_loop_ws_configure(job, command);
	return WORK_DONE;
}

EXECUTE(LOOP_CONV_WS)
{
	return virgo_loop_conv(job, command->rs1, command->rs2);
}

/* A parameter of the LOOP_CONV_WS that follows. */
EXECUTE(LOOP_CONV_WS_CONFIG_1)
{
	virgo_loop_conv_configure(job, command);
	return WORK_DONE;
}

/* There are no clocks to gate. */
EXECUTE(CLOCK_GATE)
{
	(void)job;
	(void)command;
	return WORK_DONE;
}

EXECUTE(COUNTER)
{
	return virgo_configure_counter(job, command->rs1);
}

/* Commands that differ only in the bits of the command word. */
#define execute_MVOUT_SPAD execute_MVOUT
#define execute_LOOP_WS_ADDRS_AB execute_LOOP_WS_BOUNDS
#define execute_LOOP_WS_ADDRS_DC execute_LOOP_WS_BOUNDS
#define execute_LOOP_WS_STRIDES_AB execute_LOOP_WS_BOUNDS
#define execute_LOOP_WS_STRIDES_DC execute_LOOP_WS_BOUNDS
#define execute_LOOP_WS_SPAD_AB execute_LOOP_WS_BOUNDS
#define execute_LOOP_WS_SPAD_C execute_LOOP_WS_BOUNDS
#define execute_LOOP_CONV_WS_CONFIG_2 execute_LOOP_CONV_WS_CONFIG_1
#define execute_LOOP_CONV_WS_CONFIG_3 execute_LOOP_CONV_WS_CONFIG_1
#define execute_LOOP_CONV_WS_CONFIG_4 execute_LOOP_CONV_WS_CONFIG_1
#define execute_LOOP_CONV_WS_CONFIG_5 execute_LOOP_CONV_WS_CONFIG_1
#define execute_LOOP_CONV_WS_CONFIG_6 execute_LOOP_CONV_WS_CONFIG_1

/* A row for each command: include/mimic/virgo_commands.h lists them. */
static const struct {
	enum work (*execute)(struct virgo_job *job, const struct command *command);
	enum virgo_counter counter;	/* VIRGO_COUNTER_commands: no other */
} commands[] = {
#define _(funct, name, text, counter, meaning) [funct] = { execute_##name, VIRGO_COUNTER_##counter },
	VIRGO_COMMANDS(_)
#undef _
	/* It stands for a word of the CISC port, and does nothing. */
	[FUNCT_PLACEHOLDER] = { execute_CLOCK_GATE, VIRGO_COUNTER_commands },
};

enum work virgo_command_execute(struct virgo_job *job, const struct command *command)
{
	enum virgo_counter counter = commands[command->funct].counter;
	enum work work;

	if (!commands[command->funct].execute)
		return fail(job, VIRGO_ERROR_COMMAND,
			    command->funct == FUNCT_ILLEGAL ? command->word : command->funct);
	work = commands[command->funct].execute(job, command);
	if (work != WORK_DONE)
		return work;
	count(job, VIRGO_COUNTER_commands, 1);
	if (counter != VIRGO_COUNTER_commands)
		count(job, counter, 1);
	memset(&job->x.progress, 0, sizeof(job->x.progress));
	return WORK_DONE;
}
