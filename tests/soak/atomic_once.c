/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Atomic operations of a MAPLE while mimicd may be killed: each is done at most once, and the program is told if one
 * may not have been done. usage: atomic_once SOCKET COUNT; prints "all" or "lost", and fails if a word was added twice.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libmimic/mimic.h"
#include "mimic/maple_registers.h"

#define AT(operation, queue) \
	((uint16_t)((unsigned int)(operation) << MAPLE_OPERATION_SHIFT | (unsigned int)(queue) << MAPLE_QUEUE_SHIFT))

static int do_access(struct mimic_device *device, struct mimic_access access)
{
	return mimic_device_access(device, &access);
}

static int do_load(struct mimic_device *device, unsigned int operation)
{
	return do_access(device, (struct mimic_access){ .offset = AT(operation, 0), .size = 4 });
}

static int do_store(struct mimic_device *device, unsigned int operation, uint64_t value)
{
	return do_access(device, (struct mimic_access){
		.offset = AT(operation, 0), .size = 8, .is_write = 1, .data = value });
}

static int begin(struct mimic_device *device, uint32_t *word)
{
	int error = do_load(device, MAPLE_LOAD_INIT);

	if (!error)
		error = do_load(device, MAPLE_LOAD_OPEN_PRODUCER);
	if (!error)
		error = do_load(device, MAPLE_LOAD_OPEN_CONSUMER);
	if (!error)
		error = do_store(device, MAPLE_STORE_SET_BASE32, (uint64_t)(uintptr_t)word);
	return error;
}

/* One to the word, and the old value out of the queue. */
static int add(struct mimic_device *device)
{
	int error = do_store(device, MAPLE_STORE_ATOMIC_ADD, 1);

	return error ? error : do_load(device, MAPLE_LOAD_CONSUME);
}

static int check(uint32_t word, uint32_t done, uint32_t count, int error)
{
	/* Of the operation that failed nothing is known but that it was not done twice. */
	if (word != done && (!error || word != done + 1)) {
		printf("%u additions were answered, and the word is %u (%s)\n", done, word, strerror(-error));
		return EXIT_FAILURE;
	}
	if (error && error != -ENODEV) {
		printf("an error of another kind: %s\n", strerror(-error));
		return EXIT_FAILURE;
	}
	puts(done == count ? "all" : "lost");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	const struct mimic_options options = {
		.transport = MIMIC_TRANSPORT_DAEMON, .socket_path = argc == 3 ? argv[1] : "",
	};
	uint32_t count = argc == 3 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0, done = 0;
	struct mimic_device *device;
	uint32_t *word;
	int error;

	if (!count || mimic_device_open(&device, "maple", &options))
		return 2;
	word = mimic_memory_alloc(device, 4096);
	error = word ? begin(device, word) : -ENOMEM;
	while (!error && done < count) {
		error = add(device);
		done += !error;
	}
	return word ? check(*word, done, count, error) : 2;
}
