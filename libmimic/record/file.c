/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The file of a recording. It is opened for each block and closed again: a program may
 * close descriptors that are not its own, and open files of its own with their numbers.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "libmimic/base/error.h"
#include "libmimic/base/raw_syscall.h"
#include "libmimic/record/stream.h"

#define NAMES_MAX 1000	/* that are tried for one process */

struct record_file {
	char path[PATH_MAX];
	dev_t device;
	ino_t inode;
	_Atomic int64_t size;	/* that it has at least */
	atomic_bool is_over;	/* a block was not written whole: later ones would not be found */
	long kept;		/* a descriptor; -1: it is opened for each block */
	pid_t process;		/* a child of it writes nothing here */
	atomic_flag lock;	/* of the list */
	struct record_stream *streams;
	uint32_t stream_count;
};

/* This process's; NULL: not started. */
static struct record_file *process_file;

/* Not through libc, where the preload library stands, and which may be at a cancellation point. */
static long open_file(const char *path, int flags)
{
	return mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC | O_NOCTTY, 0666, 0, 0);
}

static pid_t this_process(void)
{
	return (pid_t)mimic_raw_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* A write that begins there is a signal that ends the program. */
static bool is_beyond_limit(int64_t at)
{
	struct rlimit limit;

	return !mimic_raw_syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) &&
	       limit.rlim_cur != RLIM_INFINITY && (uint64_t)at >= limit.rlim_cur;
}

static int write_all(long fd, int64_t at, const void *bytes, size_t size)
{
	long written;

	if (is_beyond_limit(at))
		return -EFBIG;
	do {
		written = mimic_raw_syscall(SYS_write, fd, (long)bytes, (long)size, 0, 0, 0);
	} while (written == -EINTR);
	if (written < 0)
		return (int)written;
	/* Half a block is none. */
	return (size_t)written == size ? 0 : -ENOSPC;
}

/* Is it still the file that we made? Another one may get its inode, but not its content. */
static bool is_ours(const struct record_file *file, long fd, int64_t *size)
{
	struct stat status;

	if (mimic_raw_syscall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0))
		return false;
	*size = status.st_size;
	return status.st_dev == file->device && status.st_ino == file->inode &&
	       status.st_size >= atomic_load(&file->size);
}

static struct record_file_header make_header(const char *magic)
{
	struct record_file_header header = { .version = RECORD_VERSION };

	memcpy(header.magic, magic, sizeof(header.magic));
	header.checksum = mimic_record_crc32c(0, &header, offsetof(struct record_file_header, checksum));
	return header;
}

/* A descriptor, or -errno. */
static long borrow_file(const struct record_file *file, int flags)
{
	return file->kept < 0 ? open_file(file->path, flags | O_NONBLOCK) : file->kept;
}

static void give_back(const struct record_file *file, long fd)
{
	if (fd != file->kept)
		mimic_raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

/* The header has its place on the disk, also where that is full: mimic record reads it when the program has ended. */
static void mark_as_cut(const struct record_file *file)
{
	const struct record_file_header header = make_header(RECORD_MAGIC_CUT);
	long fd = borrow_file(file, O_WRONLY);
	int64_t size;

	if (fd < 0)
		return;
	/* One that is kept was opened with O_APPEND, which would count for this write, too. */
	if (fd == file->kept)
		mimic_raw_syscall(SYS_fcntl, fd, F_SETFL, 0, 0, 0, 0);
	if (is_ours(file, fd, &size))
		mimic_raw_syscall(SYS_pwrite64, fd, (long)&header, sizeof(header), 0, 0, 0);
	give_back(file, fd);
}

int mimic_record_file_append(struct record_file *file, const void *bytes, size_t size)
{
	long fd;
	int64_t at;
	int error = -ESTALE;

	if (file->process != this_process())
		return -ECHILD;
	if (atomic_load(&file->is_over))
		return -ENOSPC;
	fd = borrow_file(file, O_WRONLY | O_APPEND);
	if (fd < 0)
		return (int)fd;
	if (is_ours(file, fd, &at))
		error = write_all(fd, at, bytes, size);
	/* Another file in the place of ours may make room for it again, but a kept descriptor is of ours. */
	if (error && (error != -ESTALE || file->kept >= 0) && !atomic_exchange(&file->is_over, true))
		mark_as_cut(file);
	if (!error)
		atomic_fetch_add(&file->size, (int64_t)size);
	give_back(file, fd);
	return error;
}

static int begin_file(struct record_file *file, long fd)
{
	const struct record_file_header header = make_header(RECORD_MAGIC);
	struct stat status;
	int error;

	error = write_all(fd, 0, &header, sizeof(header));
	if (!error && mimic_raw_syscall(SYS_fstat, fd, (long)&status, 0, 0, 0, 0))
		error = -EIO;
	if (error)
		return error;
	file->device = status.st_dev;
	file->inode = status.st_ino;
	file->size = sizeof(header);
	return 0;
}

struct record_file *mimic_record_file_make(const char *path)
{
	struct record_file *file = calloc(1, sizeof(*file));
	int error = -ENAMETOOLONG;
	long fd;

	if (!file)
		return NULL;
	mimic_record_crc32c_prepare();
	file->process = this_process();
	file->kept = -1;
	if (snprintf(file->path, sizeof(file->path), "%s", path) < (int)sizeof(file->path)) {
		fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
		error = fd < 0 ? (int)fd : begin_file(file, fd);
		if (fd >= 0)
			mimic_raw_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	}
	if (!error)
		return file;
	free(file);
	errno = -error;
	return NULL;
}

int mimic_record_file_keep_open(struct record_file *file)
{
	long fd = open_file(file->path, O_WRONLY | O_APPEND | O_NONBLOCK);

	if (fd < 0)
		return (int)fd;
	file->kept = fd;
	return 0;
}

bool mimic_record_file_is_cut(const struct record_file *file)
{
	return atomic_load(&file->is_over);
}

void mimic_record_file_free(struct record_file *file)
{
	if (file && file->kept >= 0)
		mimic_raw_syscall(SYS_close, file->kept, 0, 0, 0, 0, 0);
	free(file);
}

/* --- its streams ------------------------------------------------------------------------ */

static void lock(struct record_file *file)
{
	while (atomic_flag_test_and_set_explicit(&file->lock, memory_order_acquire))
		sched_yield();
}

static void unlock(struct record_file *file)
{
	atomic_flag_clear_explicit(&file->lock, memory_order_release);
}

int mimic_record_file_add(struct record_file *file, struct record_stream *stream)
{
	int error = -EMFILE;

	lock(file);
	if (file->stream_count < RECORD_STREAMS_MAX) {
		stream->number = file->stream_count++;
		stream->file = file;
		stream->next = file->streams;
		file->streams = stream;
		error = 0;
	}
	unlock(file);
	return error;
}

void mimic_record_file_take_back(struct record_file *file)
{
	lock(file);
	file->stream_count--;
	unlock(file);
}

void mimic_record_file_remove(struct record_file *file, struct record_stream *stream)
{
	struct record_stream **place;

	lock(file);
	for (place = &file->streams; *place && *place != stream; place = &(*place)->next)
		;
	if (*place)
		*place = stream->next;
	unlock(file);
}

/* --- of this process ---------------------------------------------------------------------- */

/* "run.mimic", then "run.PID.mimic", "run.PID.1.mimic": several processes may be told the same name. */
static void other_name(char *path, size_t size, const char *wanted, unsigned int number)
{
	const char *slash = strrchr(wanted, '/');
	const char *dot = strrchr(slash ? slash : wanted, '.');
	size_t stem = dot ? (size_t)(dot - wanted) : strlen(wanted);
	char middle[32] = "";

	if (number > 1)
		snprintf(middle, sizeof(middle), ".%u", number - 1);
	snprintf(path, size, "%.*s.%d%s%s", (int)stem, wanted, (int)this_process(), middle,
		 dot ? dot : "");
}

static struct record_file *make_one_of(const char *wanted)
{
	char path[PATH_MAX];
	struct record_file *file = mimic_record_file_make(wanted);

	for (unsigned int i = 1; !file && errno == EEXIST && i < NAMES_MAX; i++) {
		other_name(path, sizeof(path), wanted, i);
		file = mimic_record_file_make(path);
	}
	return file;
}

int mimic_record_start(void)
{
	const char *path = secure_getenv("MIMIC_RECORD");

	if (!path || !*path)
		return 0;
	if (process_file && process_file->process == this_process())
		return 1;
	process_file = make_one_of(path);
	if (process_file)
		return 1;
	return mimic_error(-errno, "MIMIC_RECORD: %.200s: %s", path, strerror(errno));
}

void mimic_record_after_fork(void)
{
	/* Its streams are the forgotten devices'. */
	process_file = NULL;
}

const struct mimic_kind *mimic_record_kind(const struct mimic_kind *kind)
{
	return process_file ? mimic_record_kind_of(kind) : kind;
}

struct mimic_model *mimic_record_create(const struct mimic_kind *kind, const char *name,
					const void *parameters,
					const struct mimic_host *host, void *memory)
{
	const struct record_model what = {
		.kind = kind,
		.name = name,
		.parameters = parameters,
		.host = host,
		.memory = memory,
		.memory_size = kind->memory_size ? kind->memory_size(parameters) : 0,
	};

	return mimic_record_model_make(process_file, &what);
}

/* Devices that are open when the program ends. */
__attribute__((destructor)) static void end_all(void)
{
	struct record_file *file = process_file;

	if (!file || file->process != this_process())
		return;
	lock(file);
	for (struct record_stream *stream = file->streams; stream; stream = stream->next)
		mimic_record_model_end(&stream->model);
	unlock(file);
}
