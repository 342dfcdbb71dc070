/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Runs a program of DARE's instructions from a text file. */
#include <errno.h>
#include <json-c/json.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dare.h"
#include "examples/common/arguments.h"
#include "examples/common/dare_script.h"

static const char usage[] =
	"Usage: run [OPTION...] [FILE]\n"
	"Runs a program of DARE's instructions. FILE, or else standard input, has one on a line, as\n"
	"for mimic asm. Scalar registers and memory are the program's, too:\n\n"
	"  .data NAME, BYTES            zeroed memory\n"
	"  .data NAME, \"FILE\"           memory with the contents of the file (relative to the program's)\n"
	"  .fp32 NUMBER, ...            fills the last .data further; also .bf16, .int8, .int32\n"
	"  .address NAME[+BYTES], ...   the same with addresses, for mgather and mscatter\n"
	"  li REGISTER, NUMBER          a scalar register gets a number\n"
	"  la REGISTER, NAME[+BYTES]    ... or an address\n"
	"  addi REGISTER, REGISTER, NUMBER\n"
	"  .print NAME[+BYTES], TYPE, ROWS, COLUMNS    of fp32, bf16, int8, int32 or hex\n\n"
	"  --transport NAME     kernel, daemon, embedded, or auto: the first that is there; default auto\n"
	"  --socket PATH        socket of the daemon\n"
	"  --config FILE        configuration of the device; embedded only, and auto is then embedded\n"
	"  --device NAME        dare: any with a free context; dare0, dare1, ...: that one\n"
	"  --json               print the output, the counters and an error as JSON\n"
	"  --help               print this\n\n"
	"Exit status: 0; 1: an instruction or the device failed; 2: bad input. Then nothing has run.\n";

struct run_options {
	struct dare_options device;
	const char *file;
	bool json;
};

struct run {
	const struct script *script;
	const char *name;		/* of the program */
	struct dare *dare;
	uint8_t **memory;		/* of each .data */
	unsigned long *line_of;		/* of each instruction that was dispatched */
	size_t dispatched;
	uint64_t x[32];
	struct json_object *prints;	/* NULL: to standard output */
	struct message message;
};

/* --- printing ------------------------------------------------------------------------------ */

static double element(const uint8_t *bytes, enum script_type type)
{
	uint32_t word = 0;
	float real;

	memcpy(&word, bytes, script_type_size(type));
	switch (type) {
	case SCRIPT_FP32:
		memcpy(&real, &word, sizeof(real));
		return (double)real;
	case SCRIPT_BF16:
		return (double)dare_from_bf16((uint16_t)word);
	case SCRIPT_INT8:
		return (int8_t)word;
	case SCRIPT_INT32:
		return (int32_t)word;
	default:
		return (double)word;
	}
}

static void print_rows(const struct script_step *step, const char *name, const uint8_t *bytes)
{
	size_t size = script_type_size(step->type);

	printf("%s: %zu x %zu %s\n", name, (size_t)step->rows, (size_t)step->columns, script_type_name(step->type));
	for (uint64_t row = 0; row < step->rows; row++) {
		for (uint64_t column = 0; column < step->columns; column++, bytes += size) {
			if (step->type == SCRIPT_HEX)
				printf(" %02x", *bytes);
			else
				printf(" %.9g", element(bytes, step->type));
		}
		putchar('\n');
	}
}

/* JSON has no infinities and NaNs: these are strings. */
static struct json_object *json_number(double value, enum script_type type)
{
	char text[32];

	if (type != SCRIPT_FP32 && type != SCRIPT_BF16)
		return json_object_new_int64((int64_t)value);
	snprintf(text, sizeof(text), "%.9g", value);
	return isfinite(value) ? json_object_new_double_s(value, text) : json_object_new_string(text);
}

static void add_rows(struct json_object *prints, const struct script_step *step, const char *name,
		     const uint8_t *bytes)
{
	struct json_object *print = json_object_new_object(), *rows = json_object_new_array();

	json_object_object_add(print, "name", json_object_new_string(name));
	json_object_object_add(print, "line", json_object_new_int64((int64_t)step->line));
	json_object_object_add(print, "type", json_object_new_string(script_type_name(step->type)));
	json_object_object_add(print, "rows", rows);
	for (uint64_t row = 0; row < step->rows; row++) {
		struct json_object *values = json_object_new_array();

		for (uint64_t column = 0; column < step->columns; column++) {
			json_object_array_add(values, json_number(element(bytes, step->type), step->type));
			bytes += script_type_size(step->type);
		}
		json_object_array_add(rows, values);
	}
	json_object_array_add(prints, print);
}

/* --- the program ---------------------------------------------------------------------------- */

/* The instruction that failed, with its line, or another error. */
static int explain(struct run *run, int error)
{
	struct dare_error_info info = { .error = DARE_ERROR_NONE };

	if (dare_error(run->dare, &info) == 0 && info.error != DARE_ERROR_NONE && info.position < run->dispatched)
		return message_set(&run->message, error, "%s:%lu: %s", run->name, run->line_of[info.position], info.text);
	return message_set(&run->message, error, "%s", *dare_error_text() ? dare_error_text() : strerror(-error));
}

static int print(struct run *run, const struct script_step *step)
{
	const uint8_t *bytes = run->memory[step->data] + step->number;
	const char *name = run->script->data[step->data].name;
	int error = dare_fence(run->dare);

	if (error)
		return explain(run, error);
	if (run->prints)
		add_rows(run->prints, step, name, bytes);
	else
		print_rows(step, name, bytes);
	return 0;
}

static int dispatch(struct run *run, const struct script_step *step)
{
	/* Where the formats with scalar registers have them; the others do not look at the values. */
	uint64_t rs1 = run->x[step->word >> 15 & 31], rs2 = run->x[step->word >> 20 & 31];
	int error = dare_dispatch(run->dare, step->word, rs1, rs2);

	if (error)
		return explain(run, error);
	run->line_of[run->dispatched++] = step->line;
	return 0;
}

static void set_register(struct run *run, unsigned int number, uint64_t value)
{
	/* x0 is always 0. */
	if (number)
		run->x[number] = value;
}

static int execute(struct run *run, const struct script_step *step)
{
	switch (step->kind) {
	case SCRIPT_INSTRUCTION:
		return dispatch(run, step);
	case SCRIPT_SET:
		set_register(run, step->destination, step->number);
		return 0;
	case SCRIPT_SET_ADDRESS:
		set_register(run, step->destination, (uint64_t)(uintptr_t)run->memory[step->data] + step->number);
		return 0;
	case SCRIPT_ADD:
		set_register(run, step->destination, run->x[step->source] + step->number);
		return 0;
	case SCRIPT_PRINT:
		return print(run, step);
	}
	return -EINVAL;
}

static int allocate(struct run *run)
{
	const struct script *script = run->script;

	run->memory = calloc(script->data_count + 1, sizeof(*run->memory));
	run->line_of = calloc(script->step_count + 1, sizeof(*run->line_of));
	if (!run->memory || !run->line_of)
		return message_set(&run->message, -ENOMEM, "%s: out of memory", run->name);
	for (size_t i = 0; i < script->data_count; i++) {
		const struct script_data *data = &script->data[i];

		run->memory[i] = dare_alloc(run->dare, data->size);
		if (!run->memory[i])
			return message_set(&run->message, -ENOMEM, "%s: .data %s: no memory for %zu bytes", run->name,
					   data->name, data->size);
		memcpy(run->memory[i], data->bytes, data->size);
	}
	for (size_t i = 0; i < script->address_count; i++) {
		const struct script_address *address = &script->address[i];
		uint64_t value = (uint64_t)(uintptr_t)run->memory[address->data] + address->addend;

		memcpy(run->memory[address->into] + address->at, &value, sizeof(value));
	}
	return 0;
}

static int run_all(struct run *run)
{
	int error = allocate(run);

	for (size_t i = 0; !error && i < run->script->step_count; i++)
		error = execute(run, &run->script->step[i]);
	if (error)
		return error;
	error = dare_fence(run->dare);
	return error ? explain(run, error) : 0;
}

static void release(struct run *run)
{
	for (size_t i = 0; run->memory && i < run->script->data_count; i++)
		dare_free(run->dare, run->memory[i]);
	free(run->memory);
	free(run->line_of);
}

/* --- the report -------------------------------------------------------------------------------- */

static struct json_object *json_counters(const struct dare_statistics *statistics)
{
	struct json_object *counters = json_object_new_object();

#define _(name, meaning) json_object_object_add(counters, #name, json_object_new_uint64(statistics->name));
	DARE_COUNTERS(_)
#undef _
	return counters;
}

static void print_json(struct run *run, int failure)
{
	struct json_object *report = json_object_new_object();
	struct dare_statistics statistics = { 0 };

	dare_counters(run->dare, &statistics);
	json_object_object_add(report, "program", json_object_new_string(run->name));
	json_object_object_add(report, "transport", json_object_new_string(dare_transport(run->dare)));
	json_object_object_add(report, "device", json_object_new_string(dare_device_name(run->dare)));
	json_object_object_add(report, "dispatched", json_object_new_uint64(run->dispatched));
	json_object_object_add(report, "prints", json_object_get(run->prints));
	json_object_object_add(report, "error", failure ? json_object_new_string(run->message.text) : NULL);
	json_object_object_add(report, "counters", json_counters(&statistics));
	puts(json_object_to_json_string_ext(report, JSON_C_TO_STRING_PRETTY));
	json_object_put(report);
}

static int complain(int status, const char *text)
{
	fprintf(stderr, "run: %s\n", text);
	return status;
}

/* --- options --------------------------------------------------------------------------------------- */

static const struct option long_options[] = {
	{ "transport", required_argument, NULL, OPTION_TRANSPORT }, { "socket", required_argument, NULL, OPTION_SOCKET },
	{ "config", required_argument, NULL, OPTION_CONFIG }, { "device", required_argument, NULL, OPTION_DEVICE },
	{ "json", no_argument, NULL, OPTION_JSON }, { "help", no_argument, NULL, OPTION_HELP }, { 0 },
};

/* 0, or an exit status plus 1, after a message. */
static int parse_options(int argc, char **argv, struct run_options *options, struct message *message)
{
	struct common_options common;

	if (arguments_parse(&common, argc, argv, long_options, NULL, NULL, message))
		return complain(STATUS_BAD_INPUT, message->text) + 1;
	if (common.help) {
		fputs(usage, stdout);
		return STATUS_VERIFIED + 1;
	}
	options->device.transport = common.transport;
	options->device.socket_path = common.socket_path;
	options->device.config_path = common.config_path;
	options->device.device = common.device;
	options->json = common.json;
	if (common.input.path && strcmp(common.input.path, "-"))
		options->file = common.input.path;
	return 0;
}

static int read_program(const struct run_options *options, struct script *script, struct message *message)
{
	const char *name = options->file ? options->file : "standard input";
	FILE *file = options->file ? fopen(name, "re") : stdin;
	int error;

	memset(script, 0, sizeof(*script));
	if (!file)
		return message_set(message, -errno, "%s: %s", name, strerror(errno));
	error = script_read(script, file, name, message);
	if (options->file)
		fclose(file);
	return error;
}

/* The errors of dare_open() for bad options. */
static bool is_bad_option(int error)
{
	return error == -EINVAL || error == -ENODEV || error == -ENOENT;
}

static int run_program(const struct run_options *options, const struct script *script)
{
	struct run run = { .script = script, .name = options->file ? options->file : "standard input" };
	int error = dare_open(&run.dare, &options->device);

	if (error)
		return complain(is_bad_option(error) ? STATUS_BAD_INPUT : STATUS_FAILED,
				*dare_error_text() ? dare_error_text() : strerror(-error));
	if (options->json)
		run.prints = json_object_new_array();
	error = run_all(&run);
	if (options->json)
		print_json(&run, error);
	json_object_put(run.prints);
	release(&run);
	dare_close(run.dare);
	if (fflush(stdout) || ferror(stdout))
		return complain(STATUS_FAILED, "cannot write to standard output");
	return error ? complain(STATUS_FAILED, run.message.text) : STATUS_VERIFIED;
}

int main(int argc, char **argv)
{
	struct run_options options = { 0 };
	struct message message = { "" };
	struct script script;
	int status = parse_options(argc, argv, &options, &message), error;

	if (status)
		return status - 1;
	error = read_program(&options, &script, &message);
	if (error)
		status = complain(error == -ENOMEM ? STATUS_FAILED : STATUS_BAD_INPUT, message.text);
	else
		status = run_program(&options, &script);
	script_free(&script);
	return status;
}
