/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Random machine code with accesses of a device: short and long instructions side by side, jumps that lead
 * between them, loops. It is written to a file and mapped as a library's text is. Each
 * function runs on a queue of the device and on plain memory in turn, by as many threads as asked for,
 * and an interpreter of the same operations computes the right result. Two threads are at the same
 * function, the next two at its neighbour. With `signals` each thread gets one every 100 us. Says how many
 * accesses there were.
 *
 * With `low` the text lies where jumps with a negative distance lead nowhere. With `back` the program takes
 * its text back at the end, page by page, by changing rights or mapping the file anew.
 *
 *   sites FUNCTIONS SEED THREADS ROUNDS [signals] [low] [back]
 */
#include "contract.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

#define FUNCTIONS_MAX 1000
#define OPERATIONS_MAX 48
#define REGISTERS 7
#define DEPTH 6 /* words in the queue at most: the smallest has 8 */
#define FUNCTION_BYTES 1024
#define LOW_TEXT 0x10000000ul
#define PRODUCE_AT (PRODUCE << 3)
#define CONSUME_AT (CONSUME << 3)

enum kind {
	STORE,
	STORE_IMMEDIATE,
	LOAD,
	LOAD_BYTE,
	LOAD_ADD,
	ADD,
	XOR,
	ROTATE,
	LEA,
	TEST,
	BRANCH,
	LOOP_BEGIN,
	LOOP_END,
	KINDS
};

struct operation {
	enum kind kind;
	unsigned int form; /* of the address: 0 register, 1 byte, 2 word of displacement */
	unsigned int to, from;
	uint32_t value; /* immediate; iterations; operations that a branch skips */
};

struct function {
	struct operation operations[OPERATIONS_MAX];
	unsigned int count;
	uint64_t (*code)(volatile char *page);
};

static struct function functions[FUNCTIONS_MAX];
static unsigned int function_count, round_count;
static int has_signals, is_low;
static uint8_t *original;
static size_t text_size;
static int text_file;
static _Atomic uint64_t accesses, signals; /* of all threads */
static char *text;
static uint64_t random_state;

/* --- the generator ------------------------------------------------------------ */

static unsigned int below(unsigned int limit)
{
	return (unsigned int)((next_random(&random_state) >> 20) % limit);
}

static struct operation *append(struct function *function, enum kind kind)
{
	struct operation *operation = &function->operations[function->count++];

	operation->kind = kind;
	operation->form = below(3);
	operation->to = below(REGISTERS);
	operation->from = below(REGISTERS);
	operation->value = (uint32_t)next_random(&random_state);
	return operation;
}

static void append_arithmetic(struct function *function)
{
	append(function, ADD + below(4));
}

static void append_access(struct function *function, int *level)
{
	if (*level > 0 && (*level == DEPTH || below(2))) {
		append(function, LOAD + below(3));
		--*level;
	} else {
		append(function, STORE + below(2));
		++*level;
	}
}

/* A test, and a jump over one operation; between them an access may come, which leaves the flags alone. */
static void append_branch(struct function *function, int *level)
{
	append(function, TEST);
	if (below(2)) {
		int is_load = *level > 0 && (*level == DEPTH || below(2));

		append(function, (is_load ? LOAD : STORE) + below(2));
		*level += is_load ? -1 : 1;
	}
	append(function, BRANCH)->value = 1;
	append_arithmetic(function);
}

/* A loop's body leaves the queue as it was. */
static void append_loop(struct function *function)
{
	append(function, LOOP_BEGIN)->value = 2 + below(5);
	append(function, STORE + below(2));
	if (below(2))
		append_arithmetic(function);
	append(function, LOAD + below(3));
	append(function, LOOP_END);
}

static void generate(struct function *function)
{
	int level = 0;

	function->count = 0;
	while (function->count < OPERATIONS_MAX - DEPTH - 9) {
		switch (below(8)) {
		case 0:
			append_branch(function, &level);
			append_access(function, &level);
			break;
		case 1:
			if (level < DEPTH)
				append_loop(function);
			break;
		case 2:
		case 3:
			append_arithmetic(function);
			break;
		default:
			append_access(function, &level);
		}
	}
	while (level-- > 0)
		append(function, LOAD);
}

/* --- the assembler -------------------------------------------------------------- */

/* rax, rcx, rdx, r8 to r11; rdi is the page, rsi where loads go, rbx where stores go, r15 counts. */
static const uint8_t number_of[REGISTERS] = { 0, 1, 2, 8, 9, 10, 11 };

static uint8_t *put(uint8_t *at, const char *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}
#define PUT(at, bytes) put(at, bytes, sizeof(bytes) - 1)

static uint8_t *put_word(uint8_t *at, uint32_t word)
{
	memcpy(at, &word, sizeof(word));
	return at + sizeof(word);
}

/* An instruction with a register and the device's register in one of three forms of address. */
static uint8_t *put_memory(uint8_t *at, const char *opcode, unsigned int reg, unsigned int form, int is_store)
{
	unsigned int base = form ? 7 : is_store ? 3 : 6;
	uint32_t offset = is_store ? PRODUCE_AT : CONSUME_AT;

	if (reg >= 8)
		*at++ = 0x44;
	at = put(at, opcode, strlen(opcode));
	*at++ = (uint8_t)(form << 6 | (reg & 7) << 3 | base);
	if (form == 1)
		*at++ = (uint8_t)offset;
	return form == 2 ? put_word(at, offset) : at;
}

/* Of two registers, 64 bits. */
static uint8_t *put_registers(uint8_t *at, uint8_t opcode, unsigned int to, unsigned int from)
{
	*at++ = (uint8_t)(0x48 | (from >> 3) << 2 | to >> 3);
	*at++ = opcode;
	*at++ = (uint8_t)(0xc0 | (from & 7) << 3 | (to & 7));
	return at;
}

static uint8_t *put_operation(uint8_t *at, const struct operation *operation)
{
	unsigned int to = number_of[operation->to], from = number_of[operation->from];

	switch (operation->kind) {
	case STORE:
		return put_memory(at, "\x89", from, operation->form, 1);
	case STORE_IMMEDIATE:
		return put_word(put_memory(at, "\xc7", 0, operation->form, 1), operation->value);
	case LOAD:
		return put_memory(at, "\x8b", to, operation->form, 0);
	case LOAD_BYTE:
		return put_memory(at, "\x0f\xb6", to, operation->form, 0);
	case LOAD_ADD:
		return put_memory(at, "\x03", to, operation->form, 0);
	case ADD:
		return put_registers(at, 0x01, to, from);
	case XOR:
		return put_registers(at, 0x31, to, from);
	case ROTATE:
		*at++ = (uint8_t)(0x48 | to >> 3);
		*at++ = 0xc1;
		*at++ = (uint8_t)(0xc0 | (to & 7));
		*at++ = 13;
		return at;
	case LEA: /* 5(to, from), into to */
		*at++ = (uint8_t)(0x48 | (to >> 3) << 2 | (from >> 3) << 1 | to >> 3);
		*at++ = 0x8d;
		*at++ = (uint8_t)(0x44 | (to & 7) << 3);
		*at++ = (uint8_t)((from & 7) << 3 | (to & 7));
		*at++ = 5;
		return at;
	case LOOP_BEGIN:
		return put_word(PUT(at, "\x41\xbf"), operation->value); /* mov $value, %r15d */
	case TEST: /* test $1, %al or the like */
		if (to >= 8)
			*at++ = 0x41;
		*at++ = 0xf6;
		*at++ = (uint8_t)(0xc0 | (to & 7));
		*at++ = 1;
		return at;
	case BRANCH: /* jne over the skipped code: filled in later */
		return PUT(at, "\x75\x00");
	default:
		return at;
	}
}

static size_t assemble(const struct function *function, uint8_t *code)
{
	uint8_t *at = PUT(code,
			  "\x53\x41\x57" /* push %rbx; push %r15 */
			  "\x48\x8d\x5f\x40\x48\x8d\x77\x38" /* lea 0x40(%rdi), %rbx; lea 0x38(%rdi), %rsi */
			  "\x31\xc0\x31\xc9\x31\xd2\x45\x31\xc0\x45\x31\xc9\x45\x31\xd2\x45\x31\xdb");
	uint8_t *loop = NULL, *branch = NULL;
	unsigned int i, skipped = 0;

	for (i = 0; i < function->count; i++) {
		const struct operation *operation = &function->operations[i];

		at = put_operation(at, operation);
		if (operation->kind == LOOP_BEGIN) {
			loop = at;
		} else if (operation->kind == LOOP_END) {
			at = PUT(at, "\x41\xff\xcf\x75\x00"); /* dec %r15d; jne */
			at[-1] = (uint8_t)(loop - at);
		} else if (operation->kind == BRANCH) {
			branch = at;
			skipped = operation->value;
		} else if (branch && !--skipped) {
			branch[-1] = (uint8_t)(at - branch);
			branch = NULL;
		}
	}
	/* all into rax */
	at = PUT(at,
		 "\x48\x01\xc8\x48\x31\xd0\x4c\x01\xc0\x4c\x31\xc8\x4c\x01\xd0\x4c\x31\xd8\x41\x5f\x5b\xc3");
	return (size_t)(at - code);
}

/* --- the interpreter --------------------------------------------------------------- */

struct machine {
	uint64_t registers[REGISTERS];
	uint32_t words[64]; /* a queue; or, of memory, the loaded words */
	unsigned int head, tail;
	int is_memory;
	unsigned int accesses;
};

static uint32_t take(struct machine *machine)
{
	machine->accesses++;
	return machine->is_memory ? machine->words[0] : machine->words[machine->head++ % 64];
}

static void give(struct machine *machine, uint32_t word)
{
	machine->accesses++;
	if (!machine->is_memory)
		machine->words[machine->tail++ % 64] = word;
}

static void carry_out(struct machine *machine, const struct operation *operation)
{
	uint64_t *to = &machine->registers[operation->to];
	uint64_t from = machine->registers[operation->from];

	switch (operation->kind) {
	case STORE:
		give(machine, (uint32_t)from);
		break;
	case STORE_IMMEDIATE:
		give(machine, operation->value);
		break;
	case LOAD:
		*to = take(machine);
		break;
	case LOAD_BYTE:
		*to = (uint8_t)take(machine);
		break;
	case LOAD_ADD:
		*to = (uint32_t)*to + take(machine);
		*to = (uint32_t)*to;
		break;
	case ADD:
		*to += from;
		break;
	case XOR:
		*to ^= from;
		break;
	case ROTATE:
		*to = *to << 13 | *to >> 51;
		break;
	default:
		*to += from + 5; /* LEA */
	}
}

static uint64_t interpret(const struct function *function, int is_memory, uint32_t memory, uint64_t *count)
{
	struct machine machine = { .is_memory = is_memory, .words[0] = memory };
	const uint64_t *r = machine.registers;
	unsigned int i, begin = 0;
	uint32_t left = 0;
	int is_set = 0;

	for (i = 0; i < function->count; i++) {
		const struct operation *operation = &function->operations[i];

		if (operation->kind == LOOP_BEGIN) {
			begin = i;
			left = operation->value;
		} else if (operation->kind == LOOP_END) {
			if (--left)
				i = begin;
		} else if (operation->kind == TEST) {
			is_set = machine.registers[operation->to] & 1;
		} else if (operation->kind == BRANCH) {
			if (is_set)
				i += operation->value;
		} else {
			carry_out(&machine, operation);
		}
	}
	*count += machine.accesses;
	return (((((r[0] + r[1]) ^ r[2]) + r[3]) ^ r[4]) + r[5]) ^ r[6];
}

/* --- running ------------------------------------------------------------------------- */

static void *device;
static __thread volatile unsigned int signal_count;
static pthread_barrier_t barrier;

/* A context that is neither the program's nor a library's would be a half of an access. */
static void on_signal(int number, siginfo_t *information, void *argument)
{
	const ucontext_t *context = argument;
	uintptr_t rip = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	(void)number;
	(void)information;
	signal_count++;
	CHECK(rip - 0x400000 < 0x1000000 || rip >= 0x7e0000000000ull ||
	      (is_low && rip - (uintptr_t)text < text_size));
}

static void check_result(unsigned int number, uint64_t got, uint64_t wanted, const char *where)
{
	if (got == wanted)
		return;
	fprintf(stderr, "function %u, %s: %#llx, and should be %#llx\n", number, where,
		(unsigned long long)got, (unsigned long long)wanted);
	_exit(1);
}

/* This thread alone gets it, wherever it is. */
static timer_t start_signals(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM };
	struct itimerspec often = { { 0, 100000 }, { 0, 100000 } };
	timer_t timer;

	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &often, NULL));
	return timer;
}

static uint64_t run_all(unsigned int thread, volatile char *page, volatile char *memory, uint32_t word)
{
	unsigned int round, i;
	uint64_t total = 0;

	for (i = 0; i < function_count; i++) {
		unsigned int number = (i + thread / 2) % function_count;
		const struct function *function = &functions[number];
		uint64_t count = 0;
		uint64_t on_device = interpret(function, 0, 0, &count), unused = 0;
		uint64_t on_memory = interpret(function, 1, word, &unused);

		for (round = 0; round < round_count; round++) {
			check_result(number, function->code(page), on_device, "device");
			check_result(number, function->code(memory), on_memory, "memory");
		}
		total += count * round_count;
	}
	return total;
}

static void *run(void *argument)
{
	unsigned int queue = (unsigned int)(uintptr_t)argument;
	volatile char *page = (volatile char *)device + (queue << 9);
	volatile char memory[128] __attribute__((aligned(64))) = { 0 };
	uint32_t word = 0x9abcdef0 + queue;
	timer_t timer = NULL;

	memcpy((char *)memory + CONSUME_AT, &word, sizeof(word));
	open_both(device, queue);
	pthread_barrier_wait(&barrier);
	if (has_signals)
		timer = start_signals();
	accesses += run_all(queue, page, memory, word) + 2;
	if (has_signals) {
		CHECK(!timer_delete(timer));
		CHECK(signal_count);
	}
	signals += signal_count;
	return NULL;
}

static void map_code(void)
{
	size_t size = (size_t)function_count * FUNCTION_BYTES;
	char path[] = "/tmp/mimic-sites-XXXXXX";
	uint8_t *code = calloc(1, size);
	uint64_t count = 0;
	unsigned int i;
	size_t at = 0;
	int file = mkstemp(path);

	CHECK(code && file >= 0);
	for (i = 0; i < function_count; i++) {
		generate(&functions[i]);
		functions[i].code = (uint64_t(*)(volatile char *))at;
		at += assemble(&functions[i], code + at);
	}
	CHECK(write(file, code, size) == (ssize_t)size);
	text = mmap(is_low ? (void *)LOW_TEXT : NULL, size, PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | (is_low ? MAP_FIXED_NOREPLACE : 0), file, 0);
	CHECK(text != MAP_FAILED);
	for (i = 0; i < function_count; i++)
		functions[i].code = (uint64_t(*)(volatile char *))(text + (uintptr_t)functions[i].code);
	/* One access while the file has its name. */
	device = map_node("/dev/maple0", WORDS_8);
	open_both(device, 0);
	check_result(0, functions[0].code(device), interpret(&functions[0], 0, 0, &count), "device");
	unlink(path);
	load64(device, CLOSE_PRODUCER, 0);
	load64(device, CLOSE_CONSUMER, 0);
	accesses += count + 6;
	original = code;
	text_size = size;
	text_file = file;
}

static void check_all_functions(volatile char *page)
{
	uint64_t count = 0;
	unsigned int i;

	for (i = 0; i < function_count; i++)
		check_result(i, functions[i].code(page), interpret(&functions[i], 0, 0, &count),
			     "text taken back");
	accesses += count;
}

/* One page in an order of no meaning; the jumps of its neighbours go on, or are taken back with it. */
static void take_page_back(size_t at, int is_mapped)
{
	char *page = text + at;
	size_t length = text_size - at < PAGE ? text_size - at : PAGE;

	if (is_mapped)
		CHECK(mmap(page, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, text_file,
			   (off_t)at) == page);
	else
		CHECK(!mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC));
	CHECK(!memcmp(page, original + at, length));
	CHECK(!mprotect(page, PAGE, PROT_READ | PROT_EXEC));
}

static void take_text_back(void)
{
	size_t pages = (text_size + PAGE - 1) / PAGE, i;
	volatile char *page = device;

	open_both(device, 0);
	for (i = 0; i < pages; i++) {
		take_page_back(i * 7919 % pages * PAGE, below(2));
		if (i % (pages / 4 + 1) == 0)
			check_all_functions(page);
	}
	check_all_functions(page);
	CHECK(!memcmp(text, original, text_size));
	accesses += 2;
}

static int has_word(char **words, const char *word)
{
	for (; *words; words++)
		if (!strcmp(*words, word))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_RESTART };
	pthread_t threads[8];
	unsigned int thread_count, i;

	CHECK(argc >= 5);
	function_count = (unsigned int)atoi(argv[1]);
	random_state = (uint64_t)atoi(argv[2]) * 2654435761u + 88172645463325252ull;
	thread_count = (unsigned int)atoi(argv[3]);
	round_count = (unsigned int)atoi(argv[4]);
	CHECK(function_count <= FUNCTIONS_MAX && thread_count <= 8);
	has_signals = has_word(argv + 5, "signals");
	is_low = has_word(argv + 5, "low");
	map_code();
	pthread_barrier_init(&barrier, NULL, thread_count);
	if (has_signals)
		sigaction(SIGALRM, &action, NULL);
	for (i = 0; i < thread_count; i++)
		CHECK(!pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i));
	for (i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	if (has_word(argv + 5, "back"))
		take_text_back();
	printf("%llu accesses of the device, %llu signals\n", (unsigned long long)accesses,
	       (unsigned long long)signals);
	return 0;
}
