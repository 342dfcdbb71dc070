/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program that forbids itself memory that can be written and executed (PR_SET_MDWE): its accesses go on, be
 * it before the first of them, when one instruction has been replaced already, or before its start.
 *
 *   closed first|later|started     exit status 77: this kernel does not know PR_SET_MDWE
 */
#include "contract.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static volatile char *device;

/* Instructions of its own: a store of a word, then a load of it. */
#define EXCHANGE(name, bytes) \
	static __attribute__((noinline)) uint32_t name(uint32_t value) \
	{ \
		uint32_t result; \
		__asm__ volatile("movl %2, %c3(%1)\n" \
				 "	movl %c4(%1), %0" \
				 : "=&r"(result) \
				 : "r"(device - (bytes)), "r"(value), "i"((PRODUCE << 3) + (bytes)), \
				   "i"((CONSUME << 3) + (bytes)) \
				 : "memory"); \
		return result; \
	}
EXCHANGE(exchange, 0x1000)
EXCHANGE(exchange_later, 0x2000)
EXCHANGE(exchange_short, 0)

static void check_accesses(uint32_t (*function)(uint32_t value))
{
	uint32_t i;

	for (i = 0; i < 50; i++)
		CHECK(function(i ^ 0x5a5a5a5a) == (i ^ 0x5a5a5a5a));
}

static int forbid(void)
{
	if (!prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0))
		return 0;
	CHECK(errno == EINVAL);
	return 77;
}

int main(int argc, char **argv)
{
	int status;

	CHECK(argc == 2);
	if (!strcmp(argv[1], "started")) {
		status = forbid();
		if (!status)
			execl("/proc/self/exe", "closed", "already", (char *)NULL);
		return status;
	}
	device = map_node("/dev/maple0", WORDS_16);
	open_both((void *)device, 0);
	if (!strcmp(argv[1], "later"))
		check_accesses(exchange);
	status = strcmp(argv[1], "already") ? forbid() : 0;
	if (status)
		return status;
	check_accesses(exchange);
	check_accesses(exchange_later);
	check_accesses(exchange_short);
	return 0;
}
