/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Memory that outlives a process: what a successor finds when the one before ends between any two changes. */
#include <errno.h>
#include <fcntl.h>
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

#include "daemon/journal/journal.h"

#define WORDS 8
#define STEPS 8
#define THREADS 2
#define KILLS 60	/* of processes with several threads */
#define BUILD "a layout"

struct state {
	uint64_t step;
	uint64_t words[WORDS];
};

/* All words are the number of the step that wrote them, but for the step that is at work. */
static void do_step(struct state *state, uint64_t step)
{
	for (unsigned int i = 0; i < WORDS; i++) {
		mimicd_journal_note(&state->words[i], sizeof(state->words[i]));
		state->words[i] = step;
	}
	mimicd_journal_write(&state->step, &step, sizeof(step));
	mimicd_journal_commit();
}

/* One of several threads. */
struct stepper {
	unsigned int log;
	uint64_t steps;
	struct state *state;
};

static void *do_steps(void *context)
{
	const struct stepper *stepper = context;

	mimicd_journal_use_log(stepper->log);
	for (uint64_t step = 1; step <= stepper->steps; step++)
		do_step(stepper->state, step);
	return NULL;
}

/* The root has the states of all. */
static void run_alone(void)
{
	struct stepper alone = { .steps = STEPS, .state = mimicd_journal_root() };

	do_steps(&alone);
}

/* Until they are killed, or each has done so many that the kill does not come. */
static void run_threads(void)
{
	struct state *const *states = mimicd_journal_root();
	struct stepper steppers[THREADS];
	pthread_t threads[THREADS];

	for (unsigned int i = 0; i < THREADS; i++) {
		steppers[i] = (struct stepper){ .log = i, .steps = 1000000, .state = states[i] };
		pthread_create(&threads[i], NULL, do_steps, &steppers[i]);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void make_state(void)
{
	mimicd_journal_set_root(mimicd_journal_alloc(sizeof(struct state)));
}

static void make_states(void)
{
	struct state **states = mimicd_journal_alloc(THREADS * sizeof(*states));

	for (unsigned int i = 0; i < THREADS; i++)
		states[i] = mimicd_journal_alloc(sizeof(**states));
	mimicd_journal_set_root(states);
}

struct work {
	void (*make)(void);
	void (*run)(void);
};

static const struct work one_thread = { make_state, run_alone };
static const struct work some_threads = { make_states, run_threads };

/*
 * A process with a window of that generation works until it is killed at a place. Its status; *fd is the window.
 */
static int run(const struct work *work, uint64_t generation, const char *place, int *fd)
{
	int passed[2], status;
	pid_t child;

	assert_int_equal(pipe(passed), 0);
	child = fork();
	if (!child) {
		int window;

		if (mimicd_journal_create(generation, BUILD, &window))
			_exit(1);
		/* The memfd is in /proc/PID/fd until the parent has opened it. */
		(void)!write(passed[1], &window, sizeof(window));
		raise(SIGSTOP);
		work->make();
		mimicd_journal_commit();
		setenv("MIMIC_TEST_KILL_AT", place, 1);
		mimicd_journal_count_places(false);
		work->run();
		_exit(0);
	}
	assert_int_equal(read(passed[0], fd, sizeof(*fd)), sizeof(*fd));
	assert_int_equal(waitpid(child, &status, WUNTRACED), child);
	{
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)child, *fd);
		*fd = open(path, O_RDWR);
	}
	assert_true(*fd >= 0);
	kill(child, SIGCONT);
	assert_int_equal(waitpid(child, &status, 0), child);
	close(passed[0]);
	close(passed[1]);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void check_whole(const struct state *state)
{
	for (unsigned int i = 0; i < WORDS; i++)
		assert_int_equal(state->words[i], state->step);
}

static void a_process_that_ends_anywhere_leaves_whole_steps(void **unused)
{
	uint64_t seen = 0;
	int status = 1;

	(void)unused;
	for (unsigned int place = 1; status; place++) {
		struct mimicd_journal_left left;
		char text[16];
		int fd;

		snprintf(text, sizeof(text), "%u", place);
		status = run(&one_thread, 1, text, &fd);
		assert_int_equal(mimicd_journal_open(fd, BUILD, &left), 0);
		mimicd_journal_undo(&left);
		check_whole(left.root);
		seen |= 1ull << ((struct state *)left.root)->step;
		mimicd_journal_close(&left);
		close(fd);
	}
	/* Processes were killed in each step, and the last one was not. */
	assert_int_equal(seen, (1ull << (STEPS + 1)) - 1);
}

static void a_process_of_two_threads_that_ends_anywhere_leaves_whole_steps_of_both(void **unused)
{
	(void)unused;
	for (unsigned int i = 1; i <= KILLS; i++) {
		struct mimicd_journal_left left;
		struct state **states;
		char text[16];
		int fd;

		/* The further it is, the more likely both are at work. */
		snprintf(text, sizeof(text), "%u", i * 997);
		assert_int_equal(run(&some_threads, 1, text, &fd), 137);
		assert_int_equal(mimicd_journal_open(fd, BUILD, &left), 0);
		mimicd_journal_undo(&left);
		states = left.root;
		for (unsigned int k = 0; k < THREADS; k++)
			check_whole(states[k]);
		mimicd_journal_close(&left);
		close(fd);
	}
}

/* Each log's thread changes a word of its own, and none, one or both of them commit. */
static void the_steps_of_other_threads_are_not_undone_with_one(void **unused)
{
	struct mimicd_journal_left left;
	uint64_t **words, two = 2;
	int fd;

	(void)unused;
	for (unsigned int committed = 0; committed < 4; committed++) {
		assert_int_equal(mimicd_journal_create(1, BUILD, &fd), 0);
		words = mimicd_journal_alloc(2 * sizeof(*words));
		for (unsigned int i = 0; i < 2; i++) {
			words[i] = mimicd_journal_alloc(sizeof(**words));
			*words[i] = 1;
		}
		mimicd_journal_set_root(words);
		mimicd_journal_commit();
		for (unsigned int i = 0; i < 2; i++) {
			mimicd_journal_use_log(i);
			mimicd_journal_write(words[i], &two, sizeof(two));
		}
		for (unsigned int i = 0; i < 2; i++) {
			mimicd_journal_use_log(i);
			if (committed & 1u << i)
				mimicd_journal_commit();
		}
		mimicd_journal_end();
		assert_int_equal(mimicd_journal_open(fd, BUILD, &left), 0);
		mimicd_journal_undo(&left);
		words = left.root;
		assert_int_equal(*words[0], committed & 1 ? 2 : 1);
		assert_int_equal(*words[1], committed & 2 ? 2 : 1);
		mimicd_journal_close(&left);
		close(fd);
	}
}

static void a_block_that_a_step_has_freed_is_given_away_after_its_commit(void **unused)
{
	void *freed, *second, *third;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(1, BUILD, &fd), 0);
	freed = mimicd_journal_alloc(500);
	mimicd_journal_commit();
	mimicd_journal_free(freed);
	mimicd_journal_use_log(1);
	second = mimicd_journal_alloc(500);
	assert_ptr_not_equal(second, freed);
	mimicd_journal_commit();
	third = mimicd_journal_alloc(500);
	assert_ptr_not_equal(third, freed);
	mimicd_journal_use_log(0);
	mimicd_journal_commit();
	mimicd_journal_use_log(1);
	assert_ptr_equal(mimicd_journal_alloc(500), freed);
	mimicd_journal_use_log(0);
	mimicd_journal_end();
	close(fd);
}

static void a_successor_that_ends_leaves_the_same_behind(void **unused)
{
	struct mimicd_journal_left left;
	int fd;

	(void)unused;
	assert_int_equal(run(&one_thread, 1, "20", &fd), 137);
	for (int i = 0; i < 3; i++) {
		struct state *state;

		assert_int_equal(mimicd_journal_open(fd, BUILD, &left), 0);
		mimicd_journal_undo(&left);
		state = left.root;
		check_whole(state);
		memset(state, 0xff, sizeof(*state));
		mimicd_journal_close(&left);
	}
	close(fd);
}

static void a_window_of_another_layout_is_refused(void **unused)
{
	struct mimicd_journal_left left;
	int fd;

	(void)unused;
	assert_int_equal(run(&one_thread, 1, "20", &fd), 137);
	assert_int_equal(mimicd_journal_open(fd, "another layout", &left), -EINVAL);
	close(fd);
}

static void a_window_without_a_commit_is_refused(void **unused)
{
	struct mimicd_journal_left left;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(1, BUILD, &fd), 0);
	assert_int_equal(mimicd_journal_open(fd, BUILD, &left), -ENODATA);
	mimicd_journal_end();
	close(fd);
}

/* The states of all devices are made there, which would be logged line by line. */
static void what_a_window_is_made_of_is_not_logged(void **unused)
{
	uint64_t *words;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(1, BUILD, &fd), 0);
	words = mimicd_journal_alloc(sizeof(*words) * WORDS);
	mimicd_journal_note(words, sizeof(*words) * WORDS);
	assert_int_equal(mimicd_journal_level(), 0);
	mimicd_journal_commit();
	mimicd_journal_note(words, sizeof(*words) * WORDS);
	assert_int_not_equal(mimicd_journal_level(), 0);
	mimicd_journal_end();
	close(fd);
}

/* As a program does that may take over, while the window's own daemon runs. */
static void a_look_at_a_window_tells_its_origin(void **unused)
{
	struct mimicd_journal_seen seen;
	int fd, other = memfd_create("short", MFD_CLOEXEC);

	(void)unused;
	assert_int_equal(mimicd_journal_create(3, BUILD, &fd), 0);
	mimicd_journal_set_origin("1.2.3", 77);
	assert_int_equal(mimicd_journal_look(fd, &seen), -ENODATA);
	mimicd_journal_commit();
	assert_int_equal(mimicd_journal_look(fd, &seen), 0);
	assert_int_equal(seen.generation, 3);
	assert_string_equal(seen.build, BUILD);
	assert_string_equal(seen.origin.version, "1.2.3");
	assert_int_equal(seen.origin.settings, 77);
	assert_int_equal(mimicd_journal_look(other, &seen), -EINVAL);
	mimicd_journal_end();
	close(other);
	close(fd);
}

static void a_file_that_is_no_window_is_refused(void **unused)
{
	struct mimicd_journal_left left;
	int fd = memfd_create("short", MFD_CLOEXEC);

	(void)unused;
	assert_true(fd >= 0);
	assert_int_equal(mimicd_journal_open(fd, BUILD, &left), -EINVAL);
	close(fd);
}

static void a_step_that_is_too_large_is_known(void **unused)
{
	const size_t size = MIMICD_JOURNAL_LOG_BYTES;
	struct mimicd_journal_left left;
	void *memory;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(2, BUILD, &fd), 0);
	memory = mimicd_journal_alloc(size);
	mimicd_journal_set_root(memory);
	mimicd_journal_commit();
	assert_non_null(memory);
	mimicd_journal_note(memory, size);
	mimicd_journal_end();
	assert_int_equal(mimicd_journal_open(fd, BUILD, &left), -EOVERFLOW);
	close(fd);
}

static void a_step_that_is_too_large_is_known_of_each_thread(void **unused)
{
	const size_t size = MIMICD_JOURNAL_FURTHER_LOG_BYTES;
	struct mimicd_journal_left left;
	void *memory;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(2, BUILD, &fd), 0);
	memory = mimicd_journal_alloc(size);
	assert_non_null(memory);
	mimicd_journal_set_root(memory);
	mimicd_journal_commit();
	mimicd_journal_use_log(MIMICD_JOURNAL_LOGS - 1);
	mimicd_journal_note(memory, size);
	mimicd_journal_use_log(0);
	mimicd_journal_end();
	assert_int_equal(mimicd_journal_open(fd, BUILD, &left), -EOVERFLOW);
	close(fd);
}

/* The last log's entry is the last thing in front of the heap. */
static void the_log_of_the_last_thread_ends_where_the_heap_begins(void **unused)
{
	const size_t size = MIMICD_JOURNAL_FURTHER_LOG_BYTES - sizeof(struct mimicd_undo_entry);
	struct mimicd_journal_left left;
	uint64_t *memory;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(2, BUILD, &fd), 0);
	memory = mimicd_journal_alloc(size);
	assert_non_null(memory);
	memory[0] = 1;
	mimicd_journal_set_root(memory);
	mimicd_journal_commit();
	mimicd_journal_use_log(MIMICD_JOURNAL_LOGS - 1);
	mimicd_journal_note(memory, size);
	memory[0] = 2;
	mimicd_journal_use_log(0);
	mimicd_journal_end();
	assert_int_equal(mimicd_journal_open(fd, BUILD, &left), 0);
	mimicd_journal_undo(&left);
	assert_int_equal(*(uint64_t *)left.root, 1);
	mimicd_journal_close(&left);
	close(fd);
}

static void count_client(void *context, const struct mimicd_undo_entry *entry, const void *bytes)
{
	uint64_t *sum = context;

	if (entry->kind == MIMICD_UNDO_CLIENT)
		*sum = *sum * 16 + entry->client + entry->address + *(const unsigned char *)bytes;
	else if (entry->kind == MIMICD_UNDO_ATOMIC)
		*sum = *sum * 16 + (strcmp(bytes, "maple0") ? 0 : 15);
}

static void writes_to_clients_come_in_the_opposite_order(void **unused)
{
	struct mimicd_journal_left left;
	uint64_t sum = 0;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(2, BUILD, &fd), 0);
	mimicd_journal_set_root(mimicd_journal_alloc(64));
	mimicd_journal_commit();
	mimicd_journal_note_client(1, 2, "\3", 1);
	mimicd_journal_note_atomic(1, 2, "maple0");
	mimicd_journal_note_client(4, 5, "\0", 1);
	mimicd_journal_end();
	assert_int_equal(mimicd_journal_open(fd, BUILD, &left), 0);
	mimicd_journal_each(&left, count_client, &sum);
	assert_int_equal(sum, 9 * 256 + 15 * 16 + 6);
	mimicd_journal_close(&left);
	close(fd);
}

static void freed_memory_comes_back_as_zeros(void **unused)
{
	unsigned char *first, *second;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(1, BUILD, &fd), 0);
	first = mimicd_journal_alloc(1500);
	assert_int_equal((uintptr_t)first % 64, 0);
	memset(first, 0xff, 1500);
	mimicd_journal_free(first);
	mimicd_journal_commit();
	second = mimicd_journal_alloc(1200);
	assert_ptr_equal(first, second);
	for (int i = 0; i < 1200; i++)
		assert_int_equal(second[i], 0);
	mimicd_journal_end();
	close(fd);
}

static void places_of_files_do_not_overlap(void **unused)
{
	char *first, *second;
	int fd;

	(void)unused;
	assert_int_equal(mimicd_journal_create(1, BUILD, &fd), 0);
	first = mimicd_journal_place_take(16u << 20);
	second = mimicd_journal_place_take(4096);
	assert_true(second >= first + (16u << 20));
	assert_true(mimicd_journal_holds(first) && mimicd_journal_holds(second));
	assert_null(mimicd_journal_place_take((16u << 20) + 1));
	mimicd_journal_place_give_back(first);
	assert_ptr_equal(mimicd_journal_place_take(4096), first);
	mimicd_journal_end();
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_ends_anywhere_leaves_whole_steps),
		cmocka_unit_test(a_process_of_two_threads_that_ends_anywhere_leaves_whole_steps_of_both),
		cmocka_unit_test(the_steps_of_other_threads_are_not_undone_with_one),
		cmocka_unit_test(a_block_that_a_step_has_freed_is_given_away_after_its_commit),
		cmocka_unit_test(a_successor_that_ends_leaves_the_same_behind),
		cmocka_unit_test(a_window_of_another_layout_is_refused),
		cmocka_unit_test(a_window_without_a_commit_is_refused),
		cmocka_unit_test(what_a_window_is_made_of_is_not_logged),
		cmocka_unit_test(a_look_at_a_window_tells_its_origin),
		cmocka_unit_test(a_file_that_is_no_window_is_refused),
		cmocka_unit_test(a_step_that_is_too_large_is_known),
		cmocka_unit_test(a_step_that_is_too_large_is_known_of_each_thread),
		cmocka_unit_test(the_log_of_the_last_thread_ends_where_the_heap_begins),
		cmocka_unit_test(writes_to_clients_come_in_the_opposite_order),
		cmocka_unit_test(freed_memory_comes_back_as_zeros),
		cmocka_unit_test(places_of_files_do_not_overlap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
