/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shared memory whose pages let the daemon sleep holds up the programs of the user that shares it, and nobody else. */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/clients/internal.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "tests/lib/dare_context.h"
#include "tests/lib/turns_fixture.h"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

#define PAGE 4096u
#define PAGES 4096u
#define SHARED 0x100000u	/* the program's address of it */
#define SLEEP_US 10000u
#define AT(operation, field) ((operation) << 3 | (field) << 9)
#define WORDS_32 2u
#define FETCH_WORDS 3
#define BURST 4u	/* the queue has some more words */

/*
 * The program's memory as the daemon has it: each page comes a moment after it is touched. It stands for one that is being
 * punched out, which cannot be had for a certain time.
 */
static struct {
	int fd, stop[2];
	char *start;
	pthread_t pager;
	unsigned int sleep_us;
	atomic_uint served;
} slow;

/* The test's thread has the lock. */
static sem_t is_held;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Each word of a page is the page's number. */
static void serve_page(uint64_t address)
{
	static _Alignas(4096) uint32_t contents[PAGE / 4];
	struct uffdio_copy copy = { .dst = address & ~(uint64_t)(PAGE - 1), .src = (uintptr_t)contents, .len = PAGE };

	usleep(slow.sleep_us);
	for (unsigned int i = 0; i < PAGE / 4; i++)
		contents[i] = (uint32_t)((copy.dst - (uintptr_t)slow.start) / PAGE);
	/* Before the daemon goes on. */
	atomic_fetch_add(&slow.served, 1);
	ioctl(slow.fd, UFFDIO_COPY, &copy);
}

static void *serve_pages(void *argument)
{
	struct pollfd entries[2] = { { .fd = slow.fd, .events = POLLIN }, { .fd = slow.stop[0], .events = POLLIN } };
	struct uffd_msg message;

	while (poll(entries, 2, -1) > 0 && !entries[1].revents) {
		if (read(slow.fd, &message, sizeof(message)) == sizeof(message))
			serve_page(message.arg.pagefault.address);
	}
	return argument;
}

static bool make_pager(void)
{
	struct uffdio_api api = { .api = UFFD_API };

	slow.fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
	if (slow.fd < 0)
		print_message("skipped: there is no userfaultfd\n");
	return slow.fd >= 0 && !ioctl(slow.fd, UFFDIO_API, &api);
}

/* In the place of what the daemon has mapped. */
static void make_slow(const struct mimicd_range *range)
{
	struct uffdio_register region = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	slow.start = mmap(range->base, range->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(slow.start, range->base);
	region.range.start = (uintptr_t)slow.start;
	region.range.len = range->size;
	assert_int_equal(ioctl(slow.fd, UFFDIO_REGISTER, &region), 0);
	assert_int_equal(pipe(slow.stop), 0);
	atomic_store(&slow.served, 0);
	assert_int_equal(pthread_create(&slow.pager, NULL, serve_pages, NULL), 0);
}

static void end_slow(void)
{
	close(slow.stop[1]);
	pthread_join(slow.pager, NULL);
	close(slow.stop[0]);
	close(slow.fd);
}

static int ask_for_memory(struct turns_program *program, enum mimic_message_type type, int fd)
{
	struct mimic_memory_request message = { .address = SHARED, .size = PAGES * PAGE };
	struct mimic_message reply;

	return raw_request(program->socket, &message, sizeof(message), type, fd, &reply, sizeof(reply), NULL);
}

static void share(struct turns_program *program)
{
	int fd = memfd_create("program", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, PAGES * PAGE), 0);
	assert_int_equal(fallocate(fd, 0, 0, PAGES * PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	turns_go_on();
	assert_int_equal(ask_for_memory(program, MIMIC_MESSAGE_MEMORY_ADD, fd), 0);
	turns_pause();
	close(fd);
}

static void load(struct turns_program *program, unsigned int lane, unsigned int offset)
{
	uint64_t word = turns_word(MIMIC_COMMAND_LOAD, program->device, offset, 1);

	raw_post(&program->lanes[lane], &word, 1);
}

static void open_queue(struct turns_program *program)
{
	load(program, 0, AT(MAPLE_LOAD_INIT, WORDS_32));
	load(program, 0, AT(MAPLE_LOAD_OPEN_PRODUCER, 0));
	load(program, 0, AT(MAPLE_LOAD_OPEN_CONSUMER, 0));
}

static void fetch(struct turns_program *program, unsigned int page)
{
	const uint64_t words[] = {
		turns_word(MIMIC_COMMAND_STORE, program->device, AT(MAPLE_STORE_FULL_POINTER64, 0), 1), SHARED + page * PAGE,
	};

	raw_post(&program->lanes[0], words, 2);
	load(program, 0, AT(MAPLE_LOAD_CONSUME, 0));
}

/* Some answers are there: of what it is for and what it is. */
static void take_answers(struct raw_lane *lane, uint64_t *last, unsigned int *count)
{
	while (mimic_ring_level(&lane->responses, 1) > 0) {
		*last = mimic_ring_get(&lane->responses, 0);
		mimic_ring_release(&lane->responses, 1);
		++*count;
	}
}

static struct turns_program *start_hog(unsigned int sleep_us)
{
	struct turns_program *hog = turns_program(TURNS_STRANGER, "maple@0", 1);

	slow.sleep_us = sleep_us;
	share(hog);
	make_slow(&hog->session->client.memory.ranges[0]);
	open_queue(hog);
	return hog;
}

/* Did it come late? By the wall's clock: the daemon does not work while it sleeps. */
static bool is_late(struct turns_program *victim)
{
	unsigned int before = atomic_load(&slow.served), answers = 0;
	uint64_t last;

	load(victim, 0, AT(MAPLE_LOAD_IDENTIFY, 0));
	while (!answers) {
		turns_step();
		take_answers(&victim->lanes[0], &last, &answers);
	}
	return atomic_load(&slow.served) != before;
}

static void a_user_whose_pages_are_slow_holds_up_others_seldom(void **state)
{
	struct turns_program *hog, *victim;
	unsigned int late = 0, answers = 0;
	uint64_t last, begun;

	(void)state;
	if (!make_pager())
		skip();
	hog = start_hog(SLEEP_US);
	begun = now_ns();
	victim = turns_program(getuid(), "maple0", 1);
	for (unsigned int i = 0; i < 200; i++) {
		if (mimic_ring_room(&hog->lanes[0].commands, FETCH_WORDS) >= FETCH_WORDS)
			fetch(hog, i);
		late += is_late(victim);
		take_answers(&hog->lanes[0], &last, &answers);
		test_sleep_ms(4);
	}
	print_message("%u of 200 answers came late\n", late);
	/* The first that nobody expects, one that makes its user suspect, one that is measured; and one behind each pause. */
	assert_in_range(late, 1, 3 + (now_ns() - begun) / (100000ull * SLEEP_US));
	end_slow();
}

static void accesses_of_a_user_that_is_throttled_are_made_later(void **state)
{
	struct turns_program *hog;
	unsigned int answers = 0, page = 0;
	uint64_t begun, last = ~0ull;

	(void)state;
	if (!make_pager())
		skip();
	hog = start_hog(SLEEP_US);
	begun = now_ns();
	/* Three answers of open_queue(), then the words that were fetched. */
	for (; page < 5; page++) {
		fetch(hog, page);
		while (answers < 4 + page) {
			turns_step();
			take_answers(&hog->lanes[0], &last, &answers);
		}
		assert_int_equal((uint32_t)last, page);
	}
	/* The fourth at the latest is throttled. */
	assert_true(now_ns() - begun > SLEEP_US * 1000ull * 90);
	end_slow();
}

static void fetch_tile(struct turns_program *program, unsigned int page, struct tile *to)
{
	const uint64_t words[] = {
		turns_word(MIMIC_COMMAND_STORE, program->device, DARE_STREAM, 6),
		WORD_MLD(0), SHARED + page * PAGE, PAGE, WORD_MST(0), address_of(to), sizeof(to->at[0]),
	};

	raw_post(&program->lanes[0], words, 7);
	load(program, 0, DARE_FENCE);
}

/* Each row lies in a page of its own. */
static void tiles_of_a_context_come_later_and_whole(void **state)
{
	struct turns_program *hog;
	unsigned int answers = 0;
	uint64_t begun, last;
	struct tile tile;
	uint32_t word;

	(void)state;
	if (!make_pager())
		skip();
	hog = turns_program(TURNS_STRANGER, "dare0", 1);
	slow.sleep_us = 1000;
	share(hog);
	make_slow(&hog->session->client.memory.ranges[0]);
	begun = now_ns();
	for (unsigned int i = 0; i < 5; i++) {
		fetch_tile(hog, 16 * i, &tile);
		while (answers <= i) {
			turns_step();
			take_answers(&hog->lanes[0], &last, &answers);
		}
		for (unsigned int row = 0; row < 16; row++) {
			memcpy(&word, &tile.at[row][15], sizeof(word));
			assert_int_equal(word, 16 * i + row);
		}
	}
	assert_true(now_ns() - begun > 1000000000);
	end_slow();
}

/* Of one command many, each shorter than what others may wait. */
static void short_sleeps_count_together(void **state)
{
	uint64_t words[1 + BURST] = { 0 }, last, begun;
	struct turns_program *hog;
	unsigned int answers = 0, page = 0;

	(void)state;
	if (!make_pager())
		skip();
	hog = start_hog(300);
	begun = now_ns();
	for (unsigned int i = 0; i < 200; i++) {
		words[0] = turns_word(MIMIC_COMMAND_STORE, hog->device, AT(MAPLE_STORE_FULL_POINTER64, 0), BURST);
		for (unsigned int n = 1; n <= BURST; n++)
			words[n] = SHARED + (page + n - 1) * PAGE;
		if (mimic_ring_room(&hog->lanes[0].commands, 1 + 2 * BURST) >= 1 + 2 * (int)BURST) {
			raw_post(&hog->lanes[0], words, 1 + BURST);
			for (unsigned int n = 0; n < BURST; n++)
				load(hog, 0, AT(MAPLE_LOAD_CONSUME, 0));
			page += BURST;
		}
		turns_step();
		take_answers(&hog->lanes[0], &last, &answers);
		test_sleep_ms(2);
	}
	print_message("%u pages were waited for\n", atomic_load(&slow.served));
	/* Some bursts until it is known, and one behind each pause, which is more than 100 ms; else 800 of them. */
	assert_in_range(atomic_load(&slow.served), BURST, BURST * (12 + (now_ns() - begun) / 100000000));
	end_slow();
}

static void *hold_lock(void *lock)
{
	pthread_rwlock_rdlock(lock);
	sem_post(&is_held);
	test_sleep_ms(10);
	pthread_rwlock_unlock(lock);
	return NULL;
}

/* A job has it that sleeps in a page. */
static void a_user_whose_job_was_waited_for_is_answered_later(void **state)
{
	struct turns_program *owner = turns_program(TURNS_STRANGER, "maple@0", 1);
	pthread_t job;
	uint64_t begun;

	(void)state;
	share(owner);
	sem_init(&is_held, 0, 0);
	assert_int_equal(pthread_create(&job, NULL, hold_lock, &owner->session->client.memory.lock), 0);
	sem_wait(&is_held);
	turns_go_on();
	assert_int_equal(ask_for_memory(owner, MIMIC_MESSAGE_MEMORY_REMOVE, -1), 0);
	begun = now_ns();
	assert_int_equal(ask_for_memory(owner, MIMIC_MESSAGE_MEMORY_REMOVE, -1), -ENOENT);
	assert_true(now_ns() - begun > 300000000);
	turns_pause();
	pthread_join(job, NULL);
	sem_destroy(&is_held);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, turns_start, turns_end)
	const struct CMUnitTest tests[] = {
		TEST(a_user_whose_pages_are_slow_holds_up_others_seldom),
		TEST(accesses_of_a_user_that_is_throttled_are_made_later),
		TEST(tiles_of_a_context_come_later_and_whole),
		TEST(short_sleeps_count_together),
		TEST(a_user_whose_job_was_waited_for_is_answered_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
