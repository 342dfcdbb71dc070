/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* One command, from its start or from where it had to stop. */
#include "devices/virgo/virgo_internal.h"

static void flush(struct virgo_job *job)
{
	job->x.dma.page = NO_PAGE;
	count(job, VIRGO_COUNTER_shootdowns, 1);
}

static enum work dispatch(struct virgo_job *job, const struct command *command)
{
	struct execution *x = &job->x;

	switch (command->funct) {
	case VIRGO_FUNCT_CONFIG:
		return configure_command(job, command);
	case VIRGO_FUNCT_MVIN:
		return move_in_command(job, command, &x->load[0]);
	case VIRGO_FUNCT_MVIN2:
		return move_in_command(job, command, &x->load[1]);
	case VIRGO_FUNCT_MVIN3:
		return move_in_command(job, command, &x->load[2]);
	case VIRGO_FUNCT_MVOUT:
	case VIRGO_FUNCT_MVOUT_SPAD:
		return move_out_command(job, command);
	case VIRGO_FUNCT_PRELOAD:
		array_preload(job, command->rs1, command->rs2);
		return WORK_DONE;
	case VIRGO_FUNCT_COMPUTE_PRELOADED:
	case VIRGO_FUNCT_COMPUTE_ACCUMULATED:
		return array_compute(job, command->rs1, command->rs2,
				     command->funct == VIRGO_FUNCT_COMPUTE_PRELOADED);
	case VIRGO_FUNCT_FLUSH:
		flush(job);
		return WORK_DONE;
	case VIRGO_FUNCT_LOOP_WS:
		return loop_ws(job, command->rs1, command->rs2);
	case VIRGO_FUNCT_LOOP_CONV_WS:
		return loop_conv(job, command->rs1, command->rs2);
	case VIRGO_FUNCT_CLOCK_GATE:
	case FUNCT_PLACEHOLDER:
		return WORK_DONE;
	case VIRGO_FUNCT_COUNTER:
		return configure_counter(job, command->rs1);
	default:
		break;
	}
	if ((command->funct >= VIRGO_FUNCT_LOOP_WS_BOUNDS &&
	     command->funct <= VIRGO_FUNCT_LOOP_WS_STRIDES_DC) ||
	    command->funct == VIRGO_FUNCT_LOOP_WS_SPAD_AB ||
	    command->funct == VIRGO_FUNCT_LOOP_WS_SPAD_C) {
		loop_ws_configure(job, command);
		return WORK_DONE;
	}
	if (command->funct >= VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_1 &&
	    command->funct <= VIRGO_FUNCT_LOOP_CONV_WS_CONFIG_6) {
		loop_conv_configure(job, command);
		return WORK_DONE;
	}
	return fail(job, VIRGO_ERROR_COMMAND,
		    command->funct == FUNCT_ILLEGAL ? command->word : command->funct);
}

/* Which counter a completed command is one of; VIRGO_COUNTER_commands: none but that. */
static enum virgo_counter counter_of(unsigned int funct)
{
	switch (funct) {
	case VIRGO_FUNCT_MVIN:
	case VIRGO_FUNCT_MVIN2:
	case VIRGO_FUNCT_MVIN3:
		return VIRGO_COUNTER_moves_in;
	case VIRGO_FUNCT_MVOUT:
	case VIRGO_FUNCT_MVOUT_SPAD:
		return VIRGO_COUNTER_moves_out;
	case VIRGO_FUNCT_PRELOAD:
		return VIRGO_COUNTER_preloads;
	case VIRGO_FUNCT_COMPUTE_PRELOADED:
	case VIRGO_FUNCT_COMPUTE_ACCUMULATED:
		return VIRGO_COUNTER_computes;
	case VIRGO_FUNCT_LOOP_WS:
	case VIRGO_FUNCT_LOOP_CONV_WS:
		return VIRGO_COUNTER_loops;
	case VIRGO_FUNCT_FLUSH:
	case VIRGO_FUNCT_CLOCK_GATE:
	case VIRGO_FUNCT_COUNTER:
	case FUNCT_PLACEHOLDER:
		return VIRGO_COUNTER_commands;
	default:
		return VIRGO_COUNTER_configurations;
	}
}

enum work command_execute(struct virgo_job *job, const struct command *command)
{
	enum virgo_counter counter = counter_of(command->funct);
	enum work work = dispatch(job, command);

	if (work != WORK_DONE)
		return work;
	count(job, VIRGO_COUNTER_commands, 1);
	if (counter != VIRGO_COUNTER_commands)
		count(job, counter, 1);
	memset(&job->x.progress, 0, sizeof(job->x.progress));
	return WORK_DONE;
}
