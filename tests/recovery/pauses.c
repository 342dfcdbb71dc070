/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that stops in the middle of one behaviour, so that its daemon can be killed there:
 *
 *   pauses NAME   prints "ready" when it is there, goes on at a line of standard input, and prints the result
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libdare/dare.h"
#include "libmaple/maple.h"
#include "libvirgo/virgo.h"

#define WORDS 100u	/* more than a queue holds */
#define PAUSE_US 20000u	/* so long that another thread's access waits in the device */
#define WAIT_MS 20000
#define LATE_US 50000u	/* longer than the daemon waits for a page before it puts an access off */
#define PAGE 4096u
#define ROWS 16u
#define HANGS_S 60	/* SIGALRM ends it then */

static long check(long result, const char *call)
{
	if (result >= 0)
		return result;
	printf("%s: %s\n", call, strerror((int)-result));
	fflush(stdout);
	_Exit(EXIT_FAILURE);
}

#define CHECK(call) check((long)(call), #call)

static void pause_here(void)
{
	char line[16];

	puts("ready");
	fflush(stdout);
	(void)!fgets(line, sizeof(line), stdin);
}

static struct maple *open_maple(void)
{
	const struct maple_options options = { .device = "maple1", .transport = "daemon" };
	struct maple *maple;

	CHECK(maple_init(&maple, &options));
	return maple;
}

static void *consume_one(void *maple)
{
	uint32_t word = 0;

	CHECK(maple_open(maple, 0, MAPLE_CONSUMER));
	CHECK(maple_consume32(maple, 0, &word));
	printf("word %u\n", word);
	return NULL;
}

/* A thread waits for a word. */
static void wait_for_word(void)
{
	struct maple *maple = open_maple();
	pthread_t thread;

	CHECK(-pthread_create(&thread, NULL, consume_one, maple));
	usleep(PAUSE_US);
	pause_here();
	CHECK(maple_open(maple, 0, MAPLE_PRODUCER));
	CHECK(maple_produce32(maple, 0, 4711));
	pthread_join(thread, NULL);
	maple_fini(maple);
}

static void *post_and_end(void *maple)
{
	uint32_t words[WORDS];

	for (uint32_t i = 0; i < WORDS; i++)
		words[i] = 1000 + i;
	CHECK(maple_open(maple, 1, MAPLE_PRODUCER));
	CHECK(maple_produce32_batch(maple, 1, words, WORDS));
	return NULL;
}

/* A thread has ended, and its last words wait for room. */
static void leave_posts(void)
{
	struct maple *maple = open_maple();
	uint32_t words[WORDS];
	pthread_t thread;

	CHECK(maple_open(maple, 1, MAPLE_CONSUMER));
	CHECK(-pthread_create(&thread, NULL, post_and_end, maple));
	pthread_join(thread, NULL);
	usleep(PAUSE_US);
	pause_here();
	CHECK(maple_consume32_batch(maple, 1, words, WORDS));
	for (uint32_t i = 0; i < WORDS; i++)
		CHECK(words[i] == 1000 + i ? 0 : -EILSEQ);
	printf("%u words\n", WORDS);
	maple_fini(maple);
}

static void *meet(void *virgo)
{
	CHECK(virgo_barrier(virgo, 0));
	puts("met");
	return NULL;
}

/* One thread waits at a barrier, another one will sleep until an event. */
static void wait_for_event(void)
{
	const struct virgo_options options = { .transport = "daemon" };
	struct virgo *virgo;
	struct pollfd entry = { .events = POLLIN };
	static char memory[4096];
	pthread_t thread;

	CHECK(virgo_open(&virgo, &options));
	CHECK(virgo_barrier_participants(virgo, 0, 2));
	CHECK(-pthread_create(&thread, NULL, meet, virgo));
	entry.fd = (int)CHECK(virgo_event_fd(virgo, VIRGO_EVENT_IDLE(0)));
	usleep(PAUSE_US);
	pause_here();
	CHECK(virgo_config_load(virgo, 0, 0, 16, 1, 0));
	CHECK(virgo_mvin(virgo, 0, 0, memory, 0, 4, 4));
	CHECK(virgo_flush(virgo, 0));
	CHECK(poll(&entry, 1, WAIT_MS) == 1 ? 0 : -ETIMEDOUT);
	puts("event");
	CHECK(virgo_barrier(virgo, 0));
	pthread_join(thread, NULL);
	virgo_close(virgo);
}

/* Of a page that comes late. */
struct late {
	char *page;
	int fd;		/* userfaultfd */
};

static struct late make_late(char *page)
{
	struct late late = { page, (int)syscall(SYS_userfaultfd, O_CLOEXEC) };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { .start = (uintptr_t)page, .len = PAGE }, .mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (late.fd < 0 || ioctl(late.fd, UFFDIO_API, &api) || ioctl(late.fd, UFFDIO_REGISTER, &range)) {
		puts("there is no userfaultfd that the kernel's own accesses wait for");
		exit(EXIT_SUCCESS);
	}
	return late;
}

static void *bring_page(void *context)
{
	const struct late *late = context;
	struct uffdio_zeropage zero = { .range = { .start = (uintptr_t)late->page, .len = PAGE } };
	struct uffd_msg message;

	if (read(late->fd, &message, sizeof(message)) != sizeof(message))
		return NULL;
	usleep(LATE_US);
	CHECK(ioctl(late->fd, UFFDIO_ZEROPAGE, &zero) ? -errno : 0);
	return NULL;
}

/* Rows are scattered: the first ones to memory that mimicd shares, the others to a page that comes late. */
static void store_rows(void)
{
	static float rows[ROWS][ROWS];
	static uint64_t addresses[ROWS][8];
	struct dare_options options = { .device = "dare0", .transport = "daemon" };
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *shared;
	bool is_same = true;
	struct late late;
	struct dare *dare;
	pthread_t pager;

	CHECK(page == MAP_FAILED ? -errno : 0);
	late = make_late(page);
	CHECK(dare_open(&dare, &options));
	shared = dare_alloc(dare, sizeof(rows));
	CHECK(shared ? 0 : -errno);
	for (unsigned int i = 0; i < ROWS; i++) {
		for (unsigned int k = 0; k < ROWS; k++)
			rows[i][k] = (float)(i * ROWS + k);
		addresses[i][0] = (uintptr_t)((i < ROWS / 2 ? shared : page) + i * sizeof(rows[0]));
	}
	CHECK(-pthread_create(&pager, NULL, bring_page, &late));
	pause_here();
	CHECK(dare_mcfg(dare, DARE_CSR_MATRIX_M, ROWS));
	CHECK(dare_mcfg(dare, DARE_CSR_MATRIX_K, 8));
	CHECK(dare_mld(dare, 1, addresses, sizeof(addresses[0])));
	CHECK(dare_mcfg(dare, DARE_CSR_MATRIX_K, sizeof(rows[0])));
	CHECK(dare_mld(dare, 0, rows, sizeof(rows[0])));
	CHECK(dare_mscatter(dare, 0, 1));
	CHECK(dare_fence(dare));
	pthread_join(pager, NULL);
	for (unsigned int i = 0; i < ROWS; i++)
		is_same &= !memcmp((const void *)(uintptr_t)addresses[i][0], rows[i], sizeof(rows[i]));
	puts(is_same ? "rows" : "other rows");
	CHECK(dare_free(dare, shared));
	dare_close(dare);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{ "word", wait_for_word }, { "posts", leave_posts }, { "event", wait_for_event },
		{ "rows", store_rows },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (argc != 2 || strcmp(argv[1], all[i].name))
			continue;
		alarm(HANGS_S);
		all[i].run();
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	fputs("usage: pauses word|posts|event|rows\n", stderr);
	return 2;
}
