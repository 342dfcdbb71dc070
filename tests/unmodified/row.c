/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Twelve loads of two bytes side by side. A jump over one has a place only if its highest byte, which lies in the
 * instruction behind the next, is another jump's. Each instruction may be jumped to and stepped through, threads execute
 * them while they are replaced, and the text is taken back, by rights and by mapping the file anew.
 *
 *   row [low]         low: where jumps with a negative distance lead nowhere
 *   row early         the first load accesses the device, and the others memory
 *   row elsewhere     ... and later a device far away, too
 */
#include "contract.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>

#define LOW_TEXT 0x10000000ul
#define FAR_PAGE 0x610000000000ul
#define LOADS 12u
#define LENGTH 2u
#define COPIES 16u
#define COPY_BYTES 1024u /* so that their jumps do not lead to the same places */
#define MIB (1ul << 20)
#define THREADS 4u
#define LAST 0x01020304u
#define AT_RETURN (LOADS * LENGTH + 5)

/* mov (%rdi), %eax; add (%rdi), %eax; xor (%rdi), %eax */
static const uint8_t opcodes[LOADS] = { 0x8b, 0x03, 0x33, 0x03, 0x33, 0x03, 0x33, 0x03, 0x33, 0x03, 0x33, 0x03 };
/* Behind them: add $LAST, %eax; ret */
static const uint8_t behind[] = { 0x05, 0x04, 0x03, 0x02, 0x01, 0xc3 };

/*
 * stc; mov (%rdi), %eax; jc over four bytes that look like loads, and are none; add $LAST, %eax; ret. The highest byte of a
 * jump over the load would be theirs.
 */
static const uint8_t over_code[] = { 0xf9, 0x8b, 0x07, 0x72, 0x04, 0x8b, 0x0f, 0x8b,
				     0x17, 0x05, 0x04, 0x03, 0x02, 0x01, 0xc3 };

static uint8_t file_bytes[(COPIES + 2) * COPY_BYTES];
static char *text;
static int file;
static volatile char *device;

/*
 * Where the jumps over two loads would lead without more: the bytes of the loads are the highest of their distances. The
 * heap may be there, or be in the way.
 */
static void occupy(void)
{
	static const uint8_t highest[] = { 0x03, 0x06, 0x07, 0x0f, 0x33, 0x8b };
	unsigned int i, part;

	for (i = 0; i < sizeof(highest); i++)
		for (part = 0; part < 18; part++)
			mmap((void *)(LOW_TEXT + highest[i] * 16 * MIB + part * MIB), MIB, PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

/* mov (%rdi), %eax; add -128(%rsi), %eax; xor -128(%rsi), %eax; add -128(%rsi), %eax; add $LAST, %eax; ret */
static const uint8_t other_code[] = { 0x8b, 0x07, 0x03, 0x46, 0x80, 0x33, 0x46, 0x80, 0x03, 0x46, 0x80,
				      0x05, 0x04, 0x03, 0x02, 0x01, 0xc3 };

static void make_text(int is_low)
{
	char path[] = "/tmp/mimic-row-XXXXXX";
	unsigned int copy, i;

	for (copy = 0; copy < COPIES; copy++) {
		uint8_t *code = file_bytes + copy * COPY_BYTES;

		for (i = 0; i < LOADS; i++) {
			code[i * LENGTH] = opcodes[i];
			code[i * LENGTH + 1] = 0x07;
		}
		memcpy(code + LOADS * LENGTH, behind, sizeof(behind));
	}
	memcpy(file_bytes + COPIES * COPY_BYTES, other_code, sizeof(other_code));
	memcpy(file_bytes + (COPIES + 1) * COPY_BYTES, over_code, sizeof(over_code));
	file = mkstemp(path);
	CHECK(file >= 0 && write(file, file_bytes, sizeof(file_bytes)) == sizeof(file_bytes));
	text = mmap(is_low ? (void *)LOW_TEXT : NULL, sizeof(file_bytes), PROT_READ | PROT_EXEC,
		    MAP_PRIVATE | (is_low ? MAP_FIXED_NOREPLACE : 0), file, 0);
	CHECK(text != MAP_FAILED);
	if (is_low)
		occupy();
	device = map_node("/dev/maple0", WORDS_16);
}

/* The file must have its name until the first instruction is replaced. */
static void lose_name(void)
{
	char path[64], name[64] = { 0 };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	CHECK(readlink(path, name, sizeof(name) - 1) > 0);
	unlink(name);
}

/* From the load `from` on. */
static uint32_t call(unsigned int copy, unsigned int from, const volatile void *address, uint32_t result,
		     int with_steps)
{
	__asm__ volatile("pushfq\n	or %k4, (%%rsp)\n	popfq\n"
			 "	call *%1\n"
			 "	pushfq\n	andl $~0x100, (%%rsp)\n	popfq\n"
			 : "=a"(result)
			 : "r"(text + copy * COPY_BYTES + from * LENGTH), "D"(address), "0"(result),
			   "r"(with_steps ? 0x100 : 0)
			 : "cc", "memory");
	return result;
}

static uint32_t operate(unsigned int load, uint32_t result, uint32_t word)
{
	return opcodes[load] == 0x8b ? word : opcodes[load] == 0x03 ? result + word : result ^ word;
}

static uint32_t word_of(unsigned int load, uint32_t seed)
{
	return seed * 2654435761u ^ load * 0x1010101u;
}

/* eax behind the last one, after these words; those of memory are all the same. */
static uint32_t expected(unsigned int from, uint32_t result, uint32_t seed, int is_memory)
{
	unsigned int i;

	for (i = from; i < LOADS; i++)
		result = operate(i, result, is_memory ? seed : word_of(i, seed));
	return result + LAST;
}

static void check_on_device(unsigned int copy, unsigned int from, unsigned int queue, uint32_t seed)
{
	const volatile char *place = device + (CONSUME << 3 | queue << 9);
	unsigned int i;

	for (i = from; i < LOADS; i++)
		store32(device, PRODUCE, queue, word_of(i, seed));
	CHECK(call(copy, from, place, seed, 0) == expected(from, seed, seed, 0));
}

static void check_on_memory(unsigned int copy, unsigned int from, uint32_t seed)
{
	volatile uint32_t memory = seed;

	CHECK(call(copy, from, &memory, ~seed, 0) == expected(from, ~seed, seed, 1));
}

/* --- threads ------------------------------------------------------------------------ */

static pthread_barrier_t barrier;

/* Each copy is replaced while two threads access the device by it, and two memory. */
static void *run(void *argument)
{
	unsigned int thread = (unsigned int)(uintptr_t)argument, copy, round;

	if (thread < 2)
		open_both((void *)device, thread + 1);
	for (copy = 1; copy < COPIES; copy++) {
		pthread_barrier_wait(&barrier);
		for (round = 0; round < (thread < 2 ? 20 : 2000); round++) {
			unsigned int from = (round + thread) % LOADS;

			if (thread < 2)
				check_on_device(copy, from, thread + 1, round);
			else
				check_on_memory(copy, from, round);
		}
	}
	return NULL;
}

static void check_threads(void)
{
	pthread_t threads[THREADS];
	unsigned int i;

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		CHECK(!pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i));
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

/* --- steps -------------------------------------------------------------------------- */

static volatile unsigned int steps, seen[LOADS + 1];
static volatile int is_wrong;
static uint32_t states[LOADS + 1]; /* of eax, before each instruction */

static void on_step(int number, siginfo_t *information, void *argument)
{
	const ucontext_t *context = argument;
	uint64_t rip = (uint64_t)context->uc_mcontext.gregs[REG_RIP], offset = rip - (uintptr_t)text;
	uint32_t eax = (uint32_t)context->uc_mcontext.gregs[REG_RAX];

	(void)number;
	(void)information;
	steps++;
	/* The steps before the call and behind it are in this program's own text. */
	if (offset >= sizeof(file_bytes)) {
		is_wrong |= rip - 0x400000 >= 0x1000000;
		return;
	}
	if (offset == AT_RETURN) {
		is_wrong |= eax != states[LOADS] + LAST;
		return;
	}
	if (offset > LOADS * LENGTH || offset % LENGTH || eax != states[offset / LENGTH]) {
		is_wrong = 1;
		return;
	}
	seen[offset / LENGTH]++;
}

static void check_steps(int is_device)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	const uint32_t seed = 77;
	volatile uint32_t memory = seed;
	const volatile void *place = is_device ? (const volatile void *)(device + (CONSUME << 3)) : &memory;
	unsigned int i;

	states[0] = 0x12345678;
	for (i = 0; i < LOADS; i++) {
		if (is_device)
			store32(device, PRODUCE, 0, word_of(i, seed));
		states[i + 1] = operate(i, states[i], is_device ? word_of(i, seed) : seed);
	}
	memset((void *)seen, 0, sizeof(seen));
	sigaction(SIGTRAP, &action, NULL);
	CHECK(call(0, 0, place, states[0], 1) == states[LOADS] + LAST);
	signal(SIGTRAP, SIG_DFL);
	CHECK(!is_wrong);
	/* A trap takes the step behind it. */
	for (i = 0; i <= LOADS && !is_device; i++)
		CHECK(seen[i]);
}

/* --- text that is taken back ---------------------------------------------------------- */

static void check_all(unsigned int copies)
{
	unsigned int copy, from;

	for (copy = 0; copy < copies; copy++)
		for (from = 0; from < LOADS; from++) {
			check_on_device(copy, from, 0, copy + from);
			check_on_memory(copy, from, copy + from);
		}
}

static void check_child(int is_mapped)
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (!child) {
		device = map_node("/dev/maple1", WORDS_16);
		open_both((void *)device, 0);
		check_all(2);
		if (is_mapped)
			CHECK(mmap(text, sizeof(file_bytes), PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
				   file, 0) == text);
		else
			CHECK(!mprotect(text, sizeof(file_bytes), PROT_READ | PROT_WRITE | PROT_EXEC));
		CHECK(!memcmp(text, file_bytes, sizeof(file_bytes)));
		CHECK(!mprotect(text, sizeof(file_bytes), PROT_READ | PROT_EXEC));
		check_all(2);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

/* --- loads that have not trapped --------------------------------------------------------- */

static void call_others(const volatile void *first, const volatile void *others)
{
	uint32_t from_first = *(const volatile uint32_t *)first, from_others = *(const volatile uint32_t *)others;
	uint32_t result;

	__asm__ volatile("call *%1"
			 : "=a"(result)
			 : "r"(text + COPIES * COPY_BYTES), "D"(first), "S"((uintptr_t)others + 128)
			 : "cc", "memory");
	CHECK(result == ((from_first + from_others) ^ from_others) + from_others + LAST);
}

static void check_others(int is_elsewhere)
{
	const unsigned int place = DEBUG << 3 | 2 << 9;
	volatile uint32_t memory = 4321;
	volatile char *far;
	unsigned int round;

	call_others(device + place, &memory);
	lose_name();
	for (round = 0; round < 50; round++)
		call_others(device + place, &memory);
	if (!is_elsewhere)
		return;
	far = mmap((void *)FAR_PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   open_or_die("/dev/maple0"), 0);
	CHECK(far == (char *)FAR_PAGE);
	for (round = 0; round < 50; round++)
		call_others(&memory, far + place);
}

/* --- bytes behind a jump ------------------------------------------------------------------ */

static void check_over(void)
{
	const unsigned int copy = COPIES + 1, at = copy * COPY_BYTES + 5;
	uint32_t i;

	for (i = 0; i < 5; i++) {
		store32(device, PRODUCE, 0, i);
		CHECK(call(copy, 0, device + (CONSUME << 3), 0, 0) == i + LAST);
		CHECK(!memcmp(text + at, file_bytes + at, 4));
	}
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";

	make_text(strcmp(how, "") != 0);
	if (!strcmp(how, "early") || !strcmp(how, "elsewhere")) {
		check_others(!strcmp(how, "elsewhere"));
		return 0;
	}
	open_both((void *)device, 0);
	check_on_device(0, 0, 0, 5);
	lose_name();
	check_on_device(0, 0, 0, 6);
	check_over();
	check_threads();
	check_all(COPIES);
	check_steps(0);
	check_steps(1);
	check_child(0);
	check_child(1);
	printf("%u signals\n", steps);
	return 0;
}
