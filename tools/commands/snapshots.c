/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/commands/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/tools.h"

/* More than the states of as many devices as mimicd can have. */
#define FILE_MAX (16ull << 30)

/* --- read ---------------------------------------------------------------------------------- */

/* All of it, also of a pipe. 0 or -errno. */
static int read_all(int fd, struct snapshots *file)
{
	size_t room = 0;

	for (;;) {
		ssize_t got;

		if (file->size == room) {
			void *larger = room < FILE_MAX ? realloc(file->bytes, room ? room * 2 : 1u << 16) : NULL;

			if (!larger)
				return room < FILE_MAX ? -ENOMEM : -EFBIG;
			file->bytes = larger;
			room = room ? room * 2 : 1u << 16;
		}
		got = read(fd, (char *)file->bytes + file->size, room - file->size);
		if (got < 0 && errno != EINTR)
			return -errno;
		if (!got)
			return 0;
		file->size += got > 0 ? (size_t)got : 0;
	}
}

/* The file is sound: its records are one behind the other. */
static int find_devices(struct snapshots *file)
{
	size_t at = sizeof(struct mimic_snapshot_file);
	struct mimic_text none;

	file->devices = calloc(file->count, sizeof(*file->devices));
	if (!file->devices)
		return -ENOMEM;
	mimic_text_begin(&none, NULL, 0);
	for (size_t i = 0; i < file->count; i++) {
		mimic_record_snapshot_read((const char *)file->bytes + at, file->size - at, &file->devices[i], &none);
		at += file->devices[i].record->size;
	}
	return 0;
}

int tool_snapshots_read(const char *command, const char *path, struct snapshots *file)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), error, count;
	struct mimic_text reason;
	char text[256];

	if (fd < 0)
		return tool_error(EXIT_BAD_INPUT, "%s: %s: %s", command, path, strerror(errno));
	error = read_all(fd, file);
	close(fd);
	if (error)
		return tool_error(EXIT_FAILURE, "%s: %s: %s", command, path, strerror(-error));
	mimic_text_begin(&reason, text, sizeof(text));
	count = mimic_record_snapshot_file_check(file->bytes, file->size, &reason);
	if (count < 0)
		return tool_error(EXIT_BAD_INPUT, "%s: %s: %s", command, path, text);
	file->count = (size_t)count;
	error = find_devices(file);
	return error ? tool_error(EXIT_FAILURE, "%s: %s: %s", command, path, strerror(-error)) : 0;
}

void tool_snapshots_free(struct snapshots *file)
{
	free(file->devices);
	free(file->bytes);
}

/* --- shown --------------------------------------------------------------------------------- */

static struct json_object *describe(const struct mimic_snapshot *snapshot)
{
	const struct mimic_snapshot_record *record = snapshot->record;
	struct json_object *object = json_object_new_object(), *parameters = json_object_new_object();

	json_object_object_add(object, "name", json_object_new_string(record->device));
	json_object_object_add(object, "kind", json_object_new_string(record->kind));
	json_object_object_add(object, "release", json_object_new_string(record->release));
	json_object_object_add(object, "machine", json_object_new_string(record->machine));
	json_object_object_add(object, "image_bytes", json_object_new_int64((int64_t)record->image_size));
	json_object_object_add(object, "threads", json_object_new_int64(record->owners));
	for (uint32_t i = 0; i < record->parameters; i++)
		json_object_object_add(parameters, snapshot->parameters[i].name,
				       json_object_new_int64(snapshot->parameters[i].value));
	json_object_object_add(object, "parameters", parameters);
	return object;
}

static void show_json(const struct snapshots *file)
{
	struct json_object *root = json_object_new_object(), *devices = json_object_new_array();

	for (size_t i = 0; i < file->count; i++)
		json_object_array_add(devices, describe(&file->devices[i]));
	json_object_object_add(root, "bytes", json_object_new_int64((int64_t)file->size));
	json_object_object_add(root, "devices", devices);
	puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PLAIN));
	json_object_put(root);
}

static void show_line(const struct mimic_snapshot *snapshot)
{
	const struct mimic_snapshot_record *record = snapshot->record;

	printf("%-10s %-10s %10" PRIu64 " bytes, saved by mimic %s on %s\n", record->device, record->kind,
	       record->image_size, record->release, record->machine);
	for (uint32_t i = 0; i < record->parameters; i++)
		printf("%s%s = %" PRIu32, i ? ", " : "           ", snapshot->parameters[i].name,
		       snapshot->parameters[i].value);
	if (record->parameters)
		putchar('\n');
}

void tool_snapshots_show(const struct snapshots *file, bool json)
{
	if (json) {
		show_json(file);
		return;
	}
	for (size_t i = 0; i < file->count; i++)
		show_line(&file->devices[i]);
}

/* --- written ------------------------------------------------------------------------------- */

static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t written = write(fd, bytes, size);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written <= 0)
			continue;
		bytes += written;
		size -= (size_t)written;
	}
	return 0;
}

/* A file that is not regular, such as a pipe, is not taken away. */
static int write_into(const char *path, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), error;

	if (fd < 0)
		return -errno;
	error = write_all(fd, bytes, size);
	return close(fd) && !error ? -errno : error;
}

/* The state may have data of the program: the file is for its owner, as mkstemp() makes it. */
static int replace(const char *path, const void *bytes, size_t size)
{
	char temporary[PATH_MAX];
	int fd, error;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= (int)sizeof(temporary))
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	error = write_all(fd, bytes, size);
	if (close(fd) && !error)
		error = -errno;
	if (!error && rename(temporary, path))
		error = -errno;
	if (error)
		unlink(temporary);
	return error;
}

int tool_snapshots_write(const char *path, const void *bytes, size_t size)
{
	struct stat status;
	char *target;
	int error;

	if (stat(path, &status))
		return errno == ENOENT ? replace(path, bytes, size) : -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (!S_ISREG(status.st_mode))
		return write_into(path, bytes, size);
	/* A link stays one. */
	target = realpath(path, NULL);
	if (!target)
		return -errno;
	error = replace(target, bytes, size);
	free(target);
	return error;
}
