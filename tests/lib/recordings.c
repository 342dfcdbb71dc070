/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/recordings.h"

#include <setjmp.h>
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

#include "libdare/dare.h"
#include "libmaple/maple.h"
#include "libmimic/record/format.h"
#include "libvirgo/virgo.h"

#define VALUES 12

/* --- the programs --------------------------------------------------------------------------- */

/* Pointers, words, a loop, and an address where nothing is. */
static int use_maple(void)
{
	static double x[64];
	uint32_t index[VALUES];
	uint64_t got[VALUES];
	struct maple *maple;

	for (uint32_t i = 0; i < 64; i++)
		x[i] = i;
	for (uint32_t i = 0; i < VALUES; i++)
		index[i] = i * 7 % 64;
	if (maple_init(&maple, NULL) || maple_open(maple, 0, MAPLE_PRODUCER) ||
	    maple_open(maple, 0, MAPLE_CONSUMER))
		return 1;
	maple_produce_ptr64_batch(maple, 0, x, index, VALUES, MAPLE_DRAM);
	maple_consume64_batch(maple, 0, got, VALUES);
	maple_lima_produce64(maple, 0, x, index, 0, VALUES, MAPLE_DRAM);
	maple_consume64_batch(maple, 0, got, VALUES);
	maple_produce_ptr64(maple, 0, (const void *)8, MAPLE_DRAM);
	maple_consume64(maple, 0, got);
	maple_fini(maple);
	return 0;
}

static int use_dare(void)
{
	static float a[16 * 16], b[16 * 16], c[16 * 16];
	struct dare *dare;

	for (unsigned int i = 0; i < 16 * 16; i++)
		a[i] = b[i] = (float)i;
	if (dare_open(&dare, NULL))
		return 1;
	dare_mld(dare, 0, c, 64);
	dare_mld(dare, 1, a, 64);
	dare_mld(dare, 2, b, 64);
	dare_mma(dare, 0, 1, 2);
	dare_mst(dare, 0, c, 64);
	dare_fence(dare);
	dare_close(dare);
	return 0;
}

static int use_virgo(void)
{
	static float a[16 * 16], b[16 * 16], c[16 * 16];
	struct virgo *virgo;
	int error;

	for (unsigned int i = 0; i < 16 * 16; i++)
		a[i] = b[i] = (float)i;
	if (virgo_open(&virgo, NULL))
		return 1;
	error = virgo_gemm(virgo, (unsigned int)virgo_find_unit(virgo, VIRGO_FP32, 0),
			   &(struct virgo_product){
		.type = VIRGO_FP32, .m = 16, .n = 16, .k = 16,
		.a = a, .lda = 16, .b = b, .ldb = 16, .c = c, .ldc = 16,
	});
	virgo_close(virgo);
	return error != 0;
}

static int use_all(void)
{
	return use_maple() || use_dare() || use_virgo() || use_maple();
}

/* --- files ------------------------------------------------------------------------------------ */

static void read_file(struct recording *recording)
{
	FILE *file = fopen(recording->path, "re");
	long size;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	assert_true(size > 0);
	recording->size = (size_t)size;
	recording->bytes = malloc(recording->size);
	assert_non_null(recording->bytes);
	assert_int_equal(fread(recording->bytes, 1, recording->size, file), recording->size);
	fclose(file);
}

void recording_make(struct recording *recording, enum recorded_program program)
{
	static int (*const programs[RECORDED_COUNT])(void) = {
		[RECORDED_MAPLE] = use_maple,
		[RECORDED_DARE] = use_dare,
		[RECORDED_VIRGO] = use_virgo,
		[RECORDED_ALL] = use_all,
	};
	pid_t child;
	int status;

	snprintf(recording->path, sizeof(recording->path), "/tmp/mimic-recording-%d-%d.mimic",
		 (int)getpid(), (int)program);
	unlink(recording->path);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		setenv("MIMIC_TRANSPORT", "embedded", 1);
		setenv("MIMIC_RECORD", recording->path, 1);
		exit(programs[program]());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	read_file(recording);
}

void recording_free(struct recording *recording)
{
	unlink(recording->path);
	free(recording->bytes);
}

int recording_file(const void *bytes, size_t size, char *path, size_t path_size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	snprintf(path, path_size, "/proc/self/fd/%d", fd);
	return fd;
}

static bool has_block(const unsigned char *bytes, size_t size, size_t at)
{
	struct record_block_header header;

	if (at > size || size - at < sizeof(header))
		return false;
	memcpy(&header, bytes + at, sizeof(header));
	return header.magic == RECORD_BLOCK_MAGIC && header.length &&
	       header.length <= size - at - sizeof(header);
}

static size_t next_block(const unsigned char *bytes, size_t at)
{
	struct record_block_header header;

	memcpy(&header, bytes + at, sizeof(header));
	return at + sizeof(header) + header.length;
}

size_t recording_block(const unsigned char *bytes, size_t size, unsigned int number)
{
	size_t at = sizeof(struct record_file_header);

	for (; number && has_block(bytes, size, at); number--)
		at = next_block(bytes, at);
	return has_block(bytes, size, at) ? at : size;
}

void recording_mend(unsigned char *bytes, size_t size)
{
	struct record_block_header header;

	for (size_t at = sizeof(struct record_file_header); has_block(bytes, size, at);
	     at = next_block(bytes, at)) {
		memcpy(&header, bytes + at, sizeof(header));
		header.checksum = mimic_record_crc32c(0, &header,
						      offsetof(struct record_block_header, checksum));
		header.checksum = mimic_record_crc32c(header.checksum, bytes + at + sizeof(header),
						      header.length);
		memcpy(bytes + at, &header, sizeof(header));
	}
}
