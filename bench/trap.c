/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The cost of a trapped load, beside a handler that only decodes one mov and skips it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench/bench.h"
#include "mimic/maple_registers.h"

#define LOADS 200

/* mov r, [r/m] with an optional REX prefix and no SIB: enough for the one load below. */
static void skip_load(int signal_number, siginfo_t *info, void *opaque)
{
	static const int gpr[16] = { REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI,
				     REG_RDI, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13,
				     REG_R14, REG_R15 };
	ucontext_t *context = opaque;
	greg_t *registers = context->uc_mcontext.gregs;
	const unsigned char *code = (const unsigned char *)registers[REG_RIP];
	unsigned int length = 2, rex = 0, modrm;

	(void)signal_number;
	(void)info;
	if ((*code & 0xf0) == 0x40) {
		rex = *code++;
		length++;
	}
	if (*code != 0x8b)
		_exit(3);
	modrm = code[1];
	if (modrm >> 6 == 1)
		length += 1;
	if (modrm >> 6 == 2)
		length += 4;
	registers[gpr[(modrm >> 3 & 7) + (rex & 4 ? 8 : 0)]] = 0;
	registers[REG_RIP] += length;
}

static void load_once(void *context)
{
	const volatile uint32_t *word = context;

	(void)*word;
}

static double time_loads(volatile uint32_t *word)
{
	return bench_windows(load_once, (void *)word, LOADS);
}

double bench_bare_load(void)
{
	struct sigaction action = { .sa_sigaction = skip_load, .sa_flags = SA_SIGINFO }, old;
	volatile uint32_t *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	double value;

	if (page == MAP_FAILED)
		bench_fail("mmap: %s", strerror(errno));
	sigaction(SIGSEGV, &action, &old);
	value = time_loads(page);
	sigaction(SIGSEGV, &old, NULL);
	munmap((void *)page, 4096);
	return value;
}

int bench_trap_child(void)
{
	int fd = open("/dev/maple0", O_RDWR);
	volatile uint32_t *page;

	if (fd < 0)
		bench_fail("/dev/maple0: %s", strerror(errno));
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		bench_fail("mmap of /dev/maple0: %s", strerror(errno));
	bench_pin(0);
	/* an operation without effect: debug word 2 */
	printf("%.1f\n", time_loads(page + MAPLE_OFFSET(MAPLE_LOAD_DEBUG, 2) / 4));
	return 0;
}

static double trapped_load(const struct bench_options *options, const char *transport)
{
	char command[9000], line[64] = "";
	FILE *child;

	snprintf(command, sizeof(command),
		 "'%s/bin/mimic' run --no-patch --transport %s %s%s '%s' --trap-child", options->build,
		 transport, strcmp(transport, "daemon") ? "" : "--socket ",
		 strcmp(transport, "daemon") ? "" : options->socket, options->self);
	child = popen(command, "r");
	if (!child || !fgets(line, sizeof(line), child) || pclose(child))
		bench_fail("this failed: %s", command);
	return atof(line);
}

void bench_trap(const struct bench_options *options)
{
	double bare[BENCH_RUNS], embedded[BENCH_RUNS], daemon[BENCH_RUNS], mailbox[BENCH_RUNS];
	double ratio[BENCH_RUNS], over[BENCH_RUNS];
	double reference, trip, value;
	struct bench_row row;

	bench_pin(0);
	for (int run = 0; run < BENCH_RUNS; run++) {
		bench_pin(0);
		bare[run] = bench_bare_load();
		embedded[run] = trapped_load(options, "embedded");
		daemon[run] = trapped_load(options, "daemon");
		mailbox[run] = bench_ping_pong();
		ratio[run] = embedded[run] / bare[run];
		over[run] = daemon[run] / (1.3 * bare[run] + mailbox[run]);
	}
	reference = bench_median(bare, BENCH_RUNS);
	trip = bench_median(mailbox, BENCH_RUNS);
	row = (struct bench_row){ "trapped_load_embedded",
				  bench_median(ratio, BENCH_RUNS) * reference, "ns",
				  "bare SIGSEGV decode-and-skip handler", reference,
				  1.15 * reference };
	bench_report(&row);
	value = bench_median(over, BENCH_RUNS) * (1.3 * reference + trip);
	row = (struct bench_row){ "trapped_load_daemon", value, "ns",
				  "1.3 x bare handler + one spinning mailbox round trip",
				  1.3 * reference + trip, 1.3 * reference + trip };
	bench_report(&row);
}
