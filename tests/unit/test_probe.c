/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads, copies and atomics at addresses that may not be there; and the signal handlers around them. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmimic/base/probe.h"
#include "libmimic/mimic.h"

#define PAGE 4096

/* Two pages that can be read and written, then one that cannot be touched. */
static char *memory;
/* Two pages of a file that has only one. */
static char *past_end;
static const char *readonly;

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

static int make_memory(void **state)
{
	char name[] = "/tmp/mimic-probe-XXXXXX";
	int file = mkstemp(name);

	(void)state;
	if (file < 0)
		return -1;
	unlink(name);
	memory = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(memory + 2 * PAGE, PAGE, PROT_NONE);
	readonly = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ftruncate(file, PAGE))
		return -1;
	past_end = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	for (int i = 0; i < 2 * PAGE; i++)
		memory[i] = (char)(i * 7 + (i >> 8));
	return 0;
}

static struct sigaction ours[2];

static int install_handlers(void)
{
	if (mimic_probe_install_handlers())
		return -1;
	sigaction(SIGSEGV, NULL, &ours[0]);
	sigaction(SIGBUS, NULL, &ours[1]);
	return 0;
}

/* cmocka puts handlers of its own before every test. */
static void restore_handlers(void)
{
	sigaction(SIGSEGV, &ours[0], NULL);
	sigaction(SIGBUS, &ours[1], NULL);
}

static uint64_t plain_load(const void *pointer, unsigned int size)
{
	uint64_t value = 0;

	memcpy(&value, pointer, size);
	return value;
}

typedef size_t gather_function(const uint64_t *addresses, size_t count, uint64_t *values);

static void expect_gather(gather_function *gather, unsigned int size)
{
	uint64_t addresses[101] = { 0 }, values[101];

	for (size_t count = 0; count <= 101; count++) {
		for (size_t i = 0; i < count; i++)
			addresses[i] = address_of(memory) + i * 73 % 8000;
		memset(values, 0xee, sizeof(values));
		assert_int_equal(gather(addresses, count, values), count);
		for (size_t i = 0; i < count; i++)
			assert_int_equal(values[i], plain_load((void *)(uintptr_t)addresses[i], size));
		for (size_t i = count; i < 101; i++)
			assert_int_equal(values[i], 0xeeeeeeeeeeeeeeeeull);
	}
}

static void a_gather_reads_what_plain_loads_read(void **state)
{
	(void)state;
	expect_gather(mimic_probe_gather32, 4);
	expect_gather(mimic_probe_gather64, 8);
}

static void expect_stop(gather_function *gather, unsigned int size, uint64_t bad)
{
	uint64_t addresses[12], values[12];

	/* Every place of the bad one, before and after the loop of four at a time. */
	for (size_t place = 0; place < 12; place++) {
		for (size_t i = 0; i < 12; i++)
			addresses[i] = address_of(memory) + 16 * i;
		addresses[place] = bad;
		assert_int_equal(gather(addresses, 12, values), place);
		for (size_t i = 0; i < place; i++)
			assert_int_equal(values[i], plain_load((void *)(uintptr_t)addresses[i], size));
	}
}

static void a_gather_stops_before_the_first_bad_address(void **state)
{
	const uint64_t bad[] = {
		0, 8, address_of(memory) + 2 * PAGE, address_of(past_end) + PAGE,
		address_of(memory) + 2 * PAGE - 3,	/* reaches into the bad page */
		0x8000000000000000ull, 0x0000800000000000ull, 0xffff800000000000ull, UINT64_MAX,
		UINT64_MAX - 7,
	};

	(void)state;
	restore_handlers();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect_stop(mimic_probe_gather32, 4, bad[i]);
		expect_stop(mimic_probe_gather64, 8, bad[i]);
	}
}

static void a_copy_reads_every_size_at_every_alignment(void **state)
{
	unsigned char buffer[300];

	(void)state;
	for (size_t size = 0; size < 200; size++) {
		for (size_t shift = 0; shift < 17; shift++) {
			memset(buffer, 0xee, sizeof(buffer));
			assert_int_equal(mimic_probe_read(address_of(memory + shift), buffer, size), 0);
			assert_memory_equal(buffer, memory + shift, size);
			assert_int_equal(buffer[size], 0xee);
		}
	}
}

static void a_copy_into_a_bad_page_gives_the_good_bytes_then_zeros(void **state)
{
	unsigned char buffer[300];

	(void)state;
	restore_handlers();
	for (size_t size = 1; size < 200; size++) {
		for (size_t good = 0; good < size; good++) {
			const char *end = memory + 2 * PAGE;

			memset(buffer, 0xee, sizeof(buffer));
			assert_int_equal(mimic_probe_read(address_of(end - good), buffer, size), -EFAULT);
			assert_memory_equal(buffer, end - good, good);
			for (size_t i = good; i < size; i++)
				assert_int_equal(buffer[i], 0);
			assert_int_equal(buffer[size], 0xee);
		}
	}
}

static void a_copy_from_nowhere_gives_zeros(void **state)
{
	const uint64_t bad[] = { 0, address_of(past_end) + PAGE, 0x8000000000000000ull, UINT64_MAX };
	unsigned char buffer[64], zeros[64] = { 0 };

	(void)state;
	restore_handlers();
	for (size_t i = 0; i < 4; i++) {
		memset(buffer, 0xee, sizeof(buffer));
		assert_int_equal(mimic_probe_read(bad[i], buffer, 64), -EFAULT);
		assert_memory_equal(buffer, zeros, 64);
	}
}

struct atomic_case {
	enum mimic_atomic operation;
	uint32_t before, operand, expected, after;
};

static void atomics_do_what_their_names_say(void **state)
{
	static const struct atomic_case cases[] = {
		{ MIMIC_ATOMIC_ADD, 5, 7, 0, 12 },
		{ MIMIC_ATOMIC_ADD, 0xffffffff, 2, 0, 1 },
		{ MIMIC_ATOMIC_AND, 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00 },
		{ MIMIC_ATOMIC_OR, 0xff00ff00, 0x0ff00ff0, 0, 0xfff0fff0 },
		{ MIMIC_ATOMIC_XOR, 0xff00ff00, 0x0ff00ff0, 0, 0xf0f0f0f0 },
		{ MIMIC_ATOMIC_MAX, 0xffffffff, 1, 0, 1 },
		{ MIMIC_ATOMIC_MAX, 3, 0x80000000, 0, 3 },
		{ MIMIC_ATOMIC_MAXU, 0xffffffff, 1, 0, 0xffffffff },
		{ MIMIC_ATOMIC_MAXU, 1, 0x80000000, 0, 0x80000000 },
		{ MIMIC_ATOMIC_MIN, 0xffffffff, 1, 0, 0xffffffff },
		{ MIMIC_ATOMIC_MIN, 3, 0x80000000, 0, 0x80000000 },
		{ MIMIC_ATOMIC_MINU, 0xffffffff, 1, 0, 1 },
		{ MIMIC_ATOMIC_MINU, 1, 0x80000000, 0, 1 },
		{ MIMIC_ATOMIC_SWAP, 5, 7, 0, 7 },
		{ MIMIC_ATOMIC_CAS, 5, 7, 5, 7 },
		{ MIMIC_ATOMIC_CAS, 5, 7, 6, 5 },
	};
	uint32_t *target = (uint32_t *)(void *)memory;
	uint32_t saved = *target, old;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		*target = cases[i].before;
		old = 0x12345678;
		assert_int_equal(mimic_probe_atomic(address_of(target), cases[i].operation,
						    cases[i].operand, cases[i].expected, &old), 0);
		assert_int_equal(old, cases[i].before);
		assert_int_equal(*target, cases[i].after);
	}
	*target = saved;
}

static void atomics_on_bad_memory_are_an_error(void **state)
{
	const uint64_t bad[] = { 0, address_of(memory) + 2 * PAGE, address_of(past_end) + PAGE,
				 0x8000000000000000ull };
	uint32_t old;

	(void)state;
	restore_handlers();
	for (enum mimic_atomic each = MIMIC_ATOMIC_ADD; each <= MIMIC_ATOMIC_CAS; each++) {
		for (size_t i = 0; i < 4; i++)
			assert_int_equal(mimic_probe_atomic(bad[i], each, 1, 1, &old), -EFAULT);
		/* Readable is not enough. CAS writes the old value where it does not match, so it faults too. */
		assert_int_equal(mimic_probe_atomic(address_of(readonly), each, 1, 1, &old), -EFAULT);
	}
	assert_int_equal(mimic_probe_atomic(address_of(memory), (enum mimic_atomic)10, 1, 1, &old),
			 -EINVAL);
}

static void *add_many(void *target)
{
	uint32_t old;

	for (int i = 0; i < 50000; i++) {
		mimic_probe_atomic(address_of(target), MIMIC_ATOMIC_ADD, 1, 0, &old);
		mimic_probe_atomic(address_of((uint32_t *)target + 1), MIMIC_ATOMIC_XOR, 1u << (i % 32),
				   0, &old);
	}
	return NULL;
}

static void atomics_lose_nothing_beside_the_program_s_own(void **state)
{
	uint32_t *target = (uint32_t *)(void *)(memory + 64);
	uint32_t saved[2] = { target[0], target[1] };
	pthread_t threads[2];

	(void)state;
	target[0] = target[1] = 0;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, add_many, target), 0);
	for (int i = 0; i < 50000; i++)
		__atomic_fetch_add(&target[0], 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(target[0], 150000);
	/* Both threads flipped each bit equally often. */
	assert_int_equal(target[1], 0);
	memcpy(target, saved, sizeof(saved));
}

static void a_prefetch_takes_any_address(void **state)
{
	(void)state;
	mimic_probe_prefetch(0);
	mimic_probe_prefetch(address_of(memory) + 2 * PAGE);
	mimic_probe_prefetch(0x8000000000000000ull);
	mimic_probe_prefetch(UINT64_MAX);
}

static void blocked_fault_signals_can_be_let_through(void **state)
{
	uint64_t addresses[1] = { 0 }, values[1];
	sigset_t all, before;

	(void)state;
	restore_handlers();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	mimic_probe_unblock_signals();
	assert_int_equal(mimic_probe_gather64(addresses, 1, values), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void an_unknown_instruction_has_no_fixup(void **state)
{
	(void)state;
	assert_int_equal(mimic_fault_fixup(0), 0);
	assert_int_equal(mimic_fault_fixup((uintptr_t)mimic_probe_read), 0);
}

/* --- faults that are not the device's: in a child, whose handlers are its own ------------------- */

/* Volatile, so that no compiler knows that it is a bad address. */
static volatile int *volatile nowhere = (volatile int *)16;
static sigjmp_buf back;
static volatile sig_atomic_t seen;
static void *volatile seen_address;

static void jump_back(int number, siginfo_t *info, void *context)
{
	(void)context;
	seen = number;
	seen_address = info->si_addr;
	siglongjmp(back, 1);
}

static void note(int number)
{
	seen = number;
}

/* Runs in a child with a fresh process image, where no handler is installed yet. Its wait status. */
static int run_child(const char *name)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execl("/proc/self/exe", "test_probe", name, (char *)NULL);
		_exit(99);
	}
	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* No exit status of a sanitizer. */
#define SURVIVED 42

static int child_with_handler(void)
{
	struct sigaction action = { .sa_sigaction = jump_back, .sa_flags = SA_SIGINFO };
	uint64_t addresses[1] = { 0 }, values[1];

	sigaction(SIGSEGV, &action, NULL);
	mimic_probe_install_handlers();
	/* Twice: the handler leaves by siglongjmp(). */
	for (int i = 0; i < 2; i++) {
		seen = 0;
		if (!sigsetjmp(back, 1))
			*nowhere = 1;
		if (seen != SIGSEGV || seen_address != (void *)16)
			return 1;
		seen = 0;
		if (mimic_probe_gather64(addresses, 1, values) != 0 || seen)
			return 2;
	}
	return 0;
}

static int child_with_one_shot_handler(void)
{
	struct sigaction action = { .sa_handler = note, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGBUS, &action, NULL);
	mimic_probe_install_handlers();
	raise(SIGBUS);
	if (seen != SIGBUS)
		return 1;
	raise(SIGBUS);
	return 2;
}

static int child_that_ignores(void)
{
	signal(SIGSEGV, SIG_IGN);
	mimic_probe_install_handlers();
	raise(SIGSEGV);
	return 0;
}

static int child_that_faults(void)
{
	mimic_probe_install_handlers();
	*nowhere = 1;
	return SURVIVED;
}

static int child_that_is_sent_one(void)
{
	mimic_probe_install_handlers();
	kill(getpid(), SIGSEGV);
	return SURVIVED;
}

static int child_that_handles_faults_itself(void)
{
	struct sigaction before, after;

	sigaction(SIGSEGV, NULL, &before);
	mimic_faults_are_handled();
	mimic_probe_install_handlers();
	sigaction(SIGSEGV, NULL, &after);
	return before.sa_handler == after.sa_handler ? 0 : 1;
}

static const struct {
	const char *name;
	int (*run)(void);
} children[] = {
	{ "handler", child_with_handler },
	{ "one-shot", child_with_one_shot_handler },
	{ "ignore", child_that_ignores },
	{ "fault", child_that_faults },
	{ "sent", child_that_is_sent_one },
	{ "own", child_that_handles_faults_itself },
};

static void the_program_s_handler_gets_the_program_s_faults(void **state)
{
	(void)state;
	assert_int_equal(run_child("handler"), 0);
}

static void a_one_shot_handler_runs_once(void **state)
{
	int status = run_child("one-shot");

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

static void an_ignored_signal_stays_ignored(void **state)
{
	(void)state;
	assert_int_equal(run_child("ignore"), 0);
}

/* A sanitizer's own handler reports the fault and exits; without one the signal kills. */
static void expect_death(int status)
{
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGSEGV);
	else
		assert_true(WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != SURVIVED);
}

static void a_fault_without_a_handler_kills(void **state)
{
	(void)state;
	expect_death(run_child("fault"));
	expect_death(run_child("sent"));
}

static void handlers_stay_away_where_the_program_asked_for_it(void **state)
{
	(void)state;
	assert_int_equal(run_child("own"), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gather_reads_what_plain_loads_read),
		cmocka_unit_test(a_gather_stops_before_the_first_bad_address),
		cmocka_unit_test(a_copy_reads_every_size_at_every_alignment),
		cmocka_unit_test(a_copy_into_a_bad_page_gives_the_good_bytes_then_zeros),
		cmocka_unit_test(a_copy_from_nowhere_gives_zeros),
		cmocka_unit_test(atomics_do_what_their_names_say),
		cmocka_unit_test(atomics_on_bad_memory_are_an_error),
		cmocka_unit_test(atomics_lose_nothing_beside_the_program_s_own),
		cmocka_unit_test(a_prefetch_takes_any_address),
		cmocka_unit_test(blocked_fault_signals_can_be_let_through),
		cmocka_unit_test(an_unknown_instruction_has_no_fixup),
		cmocka_unit_test(the_program_s_handler_gets_the_program_s_faults),
		cmocka_unit_test(a_one_shot_handler_runs_once),
		cmocka_unit_test(an_ignored_signal_stays_ignored),
		cmocka_unit_test(a_fault_without_a_handler_kills),
		cmocka_unit_test(handlers_stay_away_where_the_program_asked_for_it),
	};

	for (size_t i = 0; argc > 1 && i < sizeof(children) / sizeof(children[0]); i++) {
		if (!strcmp(argv[1], children[i].name))
			return children[i].run();
	}
	if (install_handlers())
		return 1;
	return cmocka_run_group_tests(tests, make_memory, NULL);
}
