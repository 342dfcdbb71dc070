/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The CISC port: a 32-bit word stands for one to three commands. Both of its
 * generations; docs/virgo.md has the tables.
 */
#include "devices/virgo/virgo_internal.h"

#define COMMANDS_MAX 4

struct expansion {
	struct command commands[COMMANDS_MAX];
	unsigned int count;
};

static void add(struct expansion *e, unsigned int funct, uint64_t rs1, uint64_t rs2)
{
	e->commands[e->count++] = (struct command){
		.word = VIRGO_INSTRUCTION_WORD(funct & 0x7f), .funct = (uint8_t)funct,
		.rs1 = rs1, .rs2 = rs2,
	};
}

static void add_bounds(const struct unit *u, struct expansion *e)
{
	add(e, VIRGO_FUNCT_LOOP_WS_BOUNDS, 0, u->front.cisc_tile);
}

/* A begins with row `a`; B ends before row `b_end`. */
static void add_spad(struct expansion *e, uint32_t a, uint32_t b_end)
{
	add(e, VIRGO_FUNCT_LOOP_WS_SPAD_AB, a, b_end);
}

static void add_loop(struct expansion *e, bool accumulate, uint32_t what, uint32_t c_row)
{
	add(e, VIRGO_FUNCT_LOOP_WS, accumulate ? VIRGO_LOOP_ACCUMULATE : 0,
	    (uint64_t)c_row << VIRGO_LOOP_C_ROW_SHIFT | what);
}

static void add_move(const struct unit *u, struct expansion *e, uint32_t a, uint32_t b_end,
		     uint32_t what, bool accumulate, uint32_t c_row)
{
	add_bounds(u, e);
	add_spad(e, a, b_end);
	add_loop(e, accumulate, what, c_row);
}

/* The paper's: A in the first or second quarter of the shared memory, B in the third or fourth. */
static bool expand_paper(const struct unit *u, uint32_t word, struct expansion *e)
{
	uint32_t quarter = u->rows / 4, operation = word & 0x1f;
	bool second = operation == 2 || operation == 3 || operation == 11;
	uint32_t a = second ? quarter : 0, b_end = second ? 4 * quarter : 3 * quarter;

	switch (operation) {
	case 0:
	case 1:
	case 2:
	case 3:
		add_move(u, e, a, b_end, VIRGO_LOOP_COMPUTE, operation == 1 || operation == 2, 0);
		return true;
	case 8:
		add(e, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, word >> 8 & 0xff, word >> 16 & 0xff);
		return true;
	case 9:
		add_bounds(u, e);
		add_loop(e, false, VIRGO_LOOP_STORE_SPAD, 0);
		return true;
	case 10:
	case 11:
		add_move(u, e, a, b_end, VIRGO_LOOP_LOAD, false, 0);
		return true;
	default:
		return false;
	}
}

/* The later one: places are sixteenths of the shared memory, B's is its last. */
static bool expand_later(const struct unit *u, uint32_t word, struct expansion *e)
{
	uint32_t part = u->rows / 16, operation = word & 0x1f;
	uint32_t a = (word >> 8 & 0xff) * part, b_end = ((word >> 16 & 0xff) + 1) * part;

	switch (operation) {
	case 0:
		add_move(u, e, a, b_end, VIRGO_LOOP_COMPUTE, word >> 24 & 1, 0);
		return true;
	case 1:
		add_move(u, e, a, b_end, VIRGO_LOOP_COMPUTE_TO_SPAD, false, (word >> 24) * part);
		return true;
	case 2:
		add(e, FUNCT_PLACEHOLDER, 0, 0);
		return true;
	case 8:
		add(e, VIRGO_FUNCT_LOOP_WS_STRIDES_AB, word >> 8 & 0xfff, word >> 20);
		return true;
	case 9:
		add_bounds(u, e);
		add_loop(e, false, VIRGO_LOOP_STORE_SPAD, a);
		return true;
	case 10:
		add_move(u, e, a, b_end, VIRGO_LOOP_LOAD, false, 0);
		return true;
	case 11:
		add(e, VIRGO_FUNCT_LOOP_WS_STRIDES_DC, word >> 8 & 0xfff, word >> 20);
		return true;
	case 12:
		add_bounds(u, e);
		add_loop(e, false, VIRGO_LOOP_STORE, 0);
		return true;
	default:
		return false;
	}
}

/* The RTL asserts here; a program that gets here has not waited. */
static bool overflows(const struct virgo *v, const struct unit *u, const struct expansion *e)
{
	const struct front *f = &u->front;

	if (f->cisc_generation == VIRGO_CISC_PAPER && virgo_unit_is_busy(u))
		return true;
	return f->cisc_unfinished >= VIRGO_CISC_DEPTH || virgo_command_queue_room(v, u) < e->count;
}

struct unit *virgo_cisc_unit(struct virgo *v, uint32_t word)
{
	uint32_t number = word >> VIRGO_CISC_UNIT_SHIFT & 7;

	return number < v->config.units ? &v->unit[number] : NULL;
}

bool virgo_cisc_store(struct virgo *v, struct unit *port, uint32_t word)
{
	struct unit *u = virgo_cisc_unit(v, word);
	struct command failed = { .word = word, .position = port->front.dispatched };
	struct expansion e = { .count = 0 };
	bool known;

	if (!u) {
		virgo_unit_latch(v, port, &failed, VIRGO_ERROR_COMMAND, word);
		return false;
	}
	failed.position = u->front.dispatched;
	if (u->front.cisc_generation == VIRGO_CISC_PAPER)
		known = expand_paper(u, word, &e);
	else
		known = expand_later(u, word, &e);
	if (!known) {
		virgo_unit_latch(v, u, &failed, VIRGO_ERROR_COMMAND, word & 0x1f);
		return false;
	}
	if (overflows(v, u, &e)) {
		virgo_unit_latch(v, u, &failed, VIRGO_ERROR_OVERFLOW,
				 u->front.cisc_generation == VIRGO_CISC_PAPER ? 1 : VIRGO_CISC_DEPTH);
		return false;
	}
	e.commands[e.count - 1].ends_cisc = 1;
	count_front(u, VIRGO_COUNTER_cisc, 1);
	for (unsigned int i = 0; i < e.count; i++)
		virgo_command_queue_push(u, &e.commands[i]);
	return true;
}
