/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "examples/common/edge_list.h"
#include "examples/common/generate.h"
#include "examples/common/matrix_market.h"
#include "examples/common/saved.h"
#include "examples/common/subgraph.h"

struct contents {
	char *text;
	size_t size;
	size_t room;
};

static int grow(struct contents *contents)
{
	size_t room = contents->room ? 2 * contents->room : 1 << 16;
	char *text = realloc(contents->text, room);

	if (!text)
		return -ENOMEM;
	contents->text = text;
	contents->room = room;
	return 0;
}

/* Reads to the end rather than trusting st_size, so that a pipe works and a file that grows or shrinks meanwhile does no harm. */
static int read_all(int descriptor, struct contents *contents)
{
	for (;;) {
		ssize_t got;

		if (contents->size == contents->room) {
			int error = grow(contents);

			if (error)
				return error;
		}
		got = read(descriptor, contents->text + contents->size, contents->room - contents->size);
		if (got == 0)
			return 0;
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		contents->size += (size_t)got;
	}
}

/* A terminal or /dev/zero would never end. */
static int check_kind(int descriptor, const char *path, struct message *message)
{
	struct stat status;

	if (fstat(descriptor, &status))
		return message_set(message, -errno, "%s: %s", path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return message_set(message, -EISDIR, "%s: it is a directory, not a file", path);
	if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
		return message_set(message, -EINVAL, "%s: it is a device, not a file", path);
	return 0;
}

int input_parse(struct csr *csr, const char *name, const char *text, size_t size,
		struct message *message)
{
	memset(csr, 0, sizeof(*csr));
	if (size == 0)
		return message_set(message, -EINVAL, "%s: the file is empty", name);
	if (matrix_market_is(text, size))
		return matrix_market_parse(csr, name, text, size, message);
	return edge_list_parse(csr, name, text, size, message);
}

static int load_text(struct csr *csr, const char *path, int descriptor, struct message *message)
{
	struct contents contents = { 0 };
	int error = read_all(descriptor, &contents);

	if (error)
		message_set(message, error, "%s: %s", path, strerror(-error));
	else
		error = input_parse(csr, path, contents.text, contents.size, message);
	free(contents.text);
	return error;
}

static int load_file(struct csr *csr, const char *path, struct message *message)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	int error;

	if (descriptor < 0) {
		error = -errno;
		return message_set(message, error, "%s: %s", path, strerror(-error));
	}
	error = check_kind(descriptor, path, message);
	if (!error)
		error = saved_is(descriptor) ? saved_read(csr, path, descriptor, message) :
					       load_text(csr, path, descriptor, message);
	close(descriptor);
	return error;
}

static int generate(struct csr *csr, const struct input *input, struct message *message)
{
	if (input->kronecker_scale)
		return generate_kronecker_edges(csr, input->kronecker_scale,
						input->kronecker_edge_factor ? input->kronecker_edge_factor :
									       KRONECKER_EDGE_FACTOR,
						input->seed, message);
	if (input->power_law_vertices)
		return generate_power_law(csr, input->power_law_vertices, input->power_law_edges,
					  input->power_law_largest, input->seed, message);
	if (input->collab_vertices)
		return generate_collaboration(csr, input->collab_vertices, input->collab_degree, input->seed, message);
	if (input->proteins_vertices)
		return generate_communities(csr, input->proteins_vertices, input->proteins_degree, input->seed,
					    message);
	if (input->attention_tokens)
		return generate_attention(csr, input->attention_tokens, input->seed, message);
	return generate_uniform_columns(csr, input->uniform_rows,
					input->uniform_columns ? input->uniform_columns : input->uniform_rows,
					input->uniform_per_row, input->seed, message);
}

/* Puts the part in place of the whole. */
static int take_part(struct csr *csr, const struct input *input, struct message *message)
{
	struct csr part;
	int error = subgraph_breadth_first(&part, csr, input->bfs_vertices, message);

	csr_free(csr);
	if (!error)
		*csr = part;
	return error;
}

static int expand(struct csr *csr, const struct input *input, struct message *message)
{
	struct csr expanded;
	int error = csr_expand(&expanded, csr, input->expand);

	csr_free(csr);
	if (error)
		return message_set(message, error, "--expand %u: the matrix is too large for it", input->expand);
	*csr = expanded;
	return 0;
}

int input_load(struct csr *csr, const struct input *input, struct message *message)
{
	int error;

	memset(csr, 0, sizeof(*csr));
	error = input->path ? load_file(csr, input->path, message) : generate(csr, input, message);
	if (!error && input->bfs_vertices)
		error = take_part(csr, input, message);
	if (!error && input->expand)
		error = expand(csr, input, message);
	return error;
}

static void name_whole(const struct input *input, char *name, size_t size)
{
	const char *slash = input->path ? strrchr(input->path, '/') : NULL;

	if (input->path)
		snprintf(name, size, "%s", slash ? slash + 1 : input->path);
	else if (input->kronecker_edge_factor)
		snprintf(name, size, "kronecker %ux%u", input->kronecker_scale, input->kronecker_edge_factor);
	else if (input->kronecker_scale)
		snprintf(name, size, "kronecker %u", input->kronecker_scale);
	else if (input->power_law_vertices)
		snprintf(name, size, "power law %" PRIu64 "x%" PRIu64 "x%" PRIu64, input->power_law_vertices,
			 input->power_law_edges, input->power_law_largest);
	else if (input->collab_vertices)
		snprintf(name, size, "collab %" PRIu64 "x%" PRIu64, input->collab_vertices, input->collab_degree);
	else if (input->proteins_vertices)
		snprintf(name, size, "proteins %" PRIu64 "x%" PRIu64, input->proteins_vertices, input->proteins_degree);
	else if (input->attention_tokens)
		snprintf(name, size, "attention %" PRIu64, input->attention_tokens);
	else if (input->uniform_columns)
		snprintf(name, size, "uniform %" PRIu64 "x%" PRIu64 "x%" PRIu64, input->uniform_rows,
			 input->uniform_columns, input->uniform_per_row);
	else
		snprintf(name, size, "uniform %" PRIu64 "x%" PRIu64, input->uniform_rows, input->uniform_per_row);
}

void input_name(const struct input *input, char *name, size_t size)
{
	size_t length;

	name_whole(input, name, size);
	length = strlen(name);
	if (input->bfs_vertices)
		snprintf(name + length, size - length, ", %" PRIu64 " vertices", input->bfs_vertices);
	length = strlen(name);
	if (input->expand)
		snprintf(name + length, size - length, ", in blocks of %u", input->expand);
}
