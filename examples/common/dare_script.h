/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program for DARE in a text file: the assembler's instructions, and
 * directives for a host's work around them.
 *
 *   li REGISTER, NUMBER		a scalar register gets a number
 *   la REGISTER, NAME[+BYTES]		... or an address
 *   addi REGISTER, REGISTER, NUMBER
 *   .data NAME, BYTES			zeroed memory; or
 *   .data NAME, "FILE"			the file's contents, relative to the program's
 *   .fp32 NUMBER, ...			fills the last .data further; also .bf16, .int8, .int32,
 *   .address NAME[+BYTES], ...		addresses of 8 bytes
 *   .print NAME[+BYTES], TYPE, ROWS, COLUMNS
 *					waits for the device and prints; fp32, bf16, int8, int32, hex (bytes)
 */
#ifndef EXAMPLES_DARE_SCRIPT_H
#define EXAMPLES_DARE_SCRIPT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "examples/common/message.h"

enum script_type { SCRIPT_FP32, SCRIPT_BF16, SCRIPT_INT8, SCRIPT_INT32, SCRIPT_HEX, SCRIPT_TYPES };

struct script_data {
	char *name;
	uint8_t *bytes;
	size_t size;
	size_t filled;		/* by directives, so far */
};

/* `at` of data `into` gets the address of `data` and `addend`. */
struct script_address {
	size_t into, at;
	size_t data;
	uint64_t addend;
};

enum script_kind { SCRIPT_INSTRUCTION, SCRIPT_SET, SCRIPT_SET_ADDRESS, SCRIPT_ADD, SCRIPT_PRINT };

struct script_step {
	enum script_kind kind;
	unsigned long line;
	uint32_t word;			/* INSTRUCTION */
	unsigned int destination;	/* the others: scalar registers */
	unsigned int source;
	uint64_t number;		/* SET, ADD; SET_ADDRESS, PRINT: bytes behind the start of the data */
	size_t data;			/* SET_ADDRESS, PRINT */
	enum script_type type;		/* PRINT */
	uint64_t rows, columns;
};

struct script {
	struct script_data *data;
	size_t data_count;
	struct script_address *address;
	size_t address_count;
	struct script_step *step;
	size_t step_count;
};

/*
 * Reads a whole program; `name` is the file's, for messages and other files. 0;
 * -EINVAL: the text is wrong, -ENOMEM: no memory, with a message that begins with
 * name, line and column. Free the script in every case.
 */
int script_read(struct script *script, FILE *file, const char *name, struct message *message);
void script_free(struct script *script);

const char *script_type_name(enum script_type type);
size_t script_type_size(enum script_type type);

#endif
