/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/saved.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Sizes of arrays stay far below 2^64. */
#define ELEMENTS_MAX (1ull << 40)

static const char magic[16] = "mimic matrix 1\n";

struct header {
	char magic[16];
	uint32_t kind;
	uint32_t is_graph;
	uint64_t rows, columns, nonzeros;
};

/* Where each array begins, and where the last one ends. */
struct layout {
	uint64_t row_start, column, value, end;
};

static struct layout layout_of(uint64_t rows, uint64_t nonzeros)
{
	struct layout layout = { .row_start = sizeof(struct header) };

	layout.column = layout.row_start + (rows + 1) * sizeof(uint64_t);
	layout.value = layout.column + nonzeros * sizeof(uint32_t);
	layout.end = layout.value + nonzeros * sizeof(union csr_value);
	return layout;
}

static int write_at(int descriptor, const void *data, uint64_t size, uint64_t offset)
{
	const char *at = data;

	while (size > 0) {
		ssize_t done = pwrite(descriptor, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		at += done;
		offset += (uint64_t)done;
		size -= (uint64_t)done;
	}
	return 0;
}

/* The header comes last: a file that is not whole is none. */
static int write_all(int descriptor, const struct csr *csr)
{
	struct layout layout = layout_of(csr->rows, csr->nonzeros);
	struct header header = {
		.kind = csr->kind, .is_graph = csr->is_graph,
		.rows = csr->rows, .columns = csr->columns, .nonzeros = csr->nonzeros,
	};
	int error = write_at(descriptor, csr->row_start, (csr->rows + 1) * sizeof(*csr->row_start), layout.row_start);

	memcpy(header.magic, magic, sizeof(magic));
	if (!error)
		error = write_at(descriptor, csr->column, csr->nonzeros * sizeof(*csr->column), layout.column);
	if (!error)
		error = write_at(descriptor, csr->value, csr->nonzeros * sizeof(*csr->value), layout.value);
	return error ? error : write_at(descriptor, &header, sizeof(header), 0);
}

int saved_write(const struct csr *csr, const char *path, struct message *message)
{
	int descriptor, error;

	/* Not written over: a program may read the file that is there. */
	unlink(path);
	descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	error = descriptor < 0 ? -errno : write_all(descriptor, csr);
	if (descriptor >= 0 && close(descriptor) && !error)
		error = -errno;
	if (!error)
		return 0;
	if (descriptor >= 0)
		unlink(path);
	return message_set(message, error, "%s: %s", path, strerror(-error));
}

static bool read_header(int descriptor, struct header *header)
{
	return pread(descriptor, header, sizeof(*header), 0) == (ssize_t)sizeof(*header) &&
	       memcmp(header->magic, magic, sizeof(magic)) == 0;
}

bool saved_is(int descriptor)
{
	struct header header;

	return read_header(descriptor, &header);
}

/* 0, or -errno; -EINVAL: the file has become shorter. */
static int read_at(int descriptor, void *data, uint64_t size, uint64_t offset)
{
	char *at = data;

	while (size > 0) {
		ssize_t done = pread(descriptor, at, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EINVAL;
		at += done;
		offset += (uint64_t)done;
		size -= (uint64_t)done;
	}
	return 0;
}

/* Indices of loops must lie in the arrays. */
static const char *find_fault(const struct csr *csr)
{
	if (csr->row_start[0] != 0 || csr->row_start[csr->rows] != csr->nonzeros)
		return "its rows do not hold its elements";
	for (uint64_t row = 0; row < csr->rows; row++) {
		if (csr->row_start[row] > csr->row_start[row + 1])
			return "a row ends before it begins";
	}
	for (uint64_t j = 0; j < csr->nonzeros; j++) {
		if (csr->column[j] >= csr->columns)
			return "an element is in a column that there is not";
	}
	return NULL;
}

static int read_arrays(struct csr *csr, int descriptor, const struct layout *layout)
{
	int error = read_at(descriptor, csr->row_start, (csr->rows + 1) * sizeof(*csr->row_start), layout->row_start);

	if (!error)
		error = read_at(descriptor, csr->column, csr->nonzeros * sizeof(*csr->column), layout->column);
	if (!error)
		error = read_at(descriptor, csr->value, csr->nonzeros * sizeof(*csr->value), layout->value);
	return error;
}

int saved_read(struct csr *csr, const char *name, int descriptor, struct message *message)
{
	struct header header;
	struct layout layout;
	struct stat status;
	const char *fault;
	int error;

	memset(csr, 0, sizeof(*csr));
	if (!read_header(descriptor, &header) || fstat(descriptor, &status))
		return message_set(message, -EINVAL, "%s: not a saved matrix", name);
	if (header.rows > ELEMENTS_MAX || header.columns > ELEMENTS_MAX || header.nonzeros > ELEMENTS_MAX ||
	    header.kind > CSR_REAL || header.is_graph > 1)
		return message_set(message, -EINVAL, "%s: a saved matrix with a bad header", name);
	layout = layout_of(header.rows, header.nonzeros);
	if ((uint64_t)status.st_size != layout.end)
		return message_set(message, -EINVAL, "%s: a saved matrix of %" PRIu64 " bytes that has %" PRIu64, name,
				   layout.end, (uint64_t)status.st_size);
	error = csr_alloc(csr, header.rows, header.columns, header.nonzeros, (enum csr_values)header.kind);
	if (error)
		return message_set(message, error, "%s: out of memory", name);
	error = read_arrays(csr, descriptor, &layout);
	if (error) {
		csr_free(csr);
		return message_set(message, error, "%s: %s", name, strerror(-error));
	}
	csr->is_graph = header.is_graph;
	fault = find_fault(csr);
	if (!fault)
		return 0;
	csr_free(csr);
	return message_set(message, -EINVAL, "%s: a saved matrix with an error: %s", name, fault);
}
