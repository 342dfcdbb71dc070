/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Open devices. The program gets a real descriptor: an empty memfd sealed
 * against growth, so that read() finds nothing, write() fails, and a mapping
 * made without our functions ends in SIGBUS instead of in memory that no device reads.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "libmimic/kernel/kernel.h"
#include "libmimic/transport.h"
#include "preload.h"

/* By kind, from here on: 240 to 254 are "for local and experimental use" in devices.txt. */
#define LOCAL_MAJOR 240
#define MEMORY_MAJOR 1
#define DESCRIPTOR_SCAN_MAX 65536

struct holder mimic_preload_holders[HOLDER_COUNT];

static int raw_fstat(int descriptor, struct stat *status)
{
	return (int)mimic_raw_syscall(SYS_fstat, descriptor, (long)status, 0, 0, 0, 0);
}

/* Holders with a descriptor: while there are none, no descriptor is checked. */
static atomic_uint open_files;
/* Holders of pages of the kernel's nodes. */
static atomic_uint kernels;

static struct holder *holder_of_inode(const struct stat *status)
{
	unsigned int i;

	if (!S_ISREG(status->st_mode) || status->st_size != 0)
		return NULL;
	for (i = HOLDER_TILES; i < HOLDER_COUNT; i++) {
		struct holder *holder = &mimic_preload_holders[i];

		if (holder->used && holder->has_descriptor &&
		    holder->file_device == status->st_dev && holder->file_inode == status->st_ino)
			return holder;
	}
	return NULL;
}

struct holder *mimic_preload_files_holder(int descriptor)
{
	struct stat status;

	if (!atomic_load(&open_files) || raw_fstat(descriptor, &status))
		return NULL;
	return holder_of_inode(&status);
}

bool mimic_preload_files_is_memory(int descriptor, int *error)
{
	struct holder *holder;
	struct stat status;

	*error = 0;
	if (descriptor < 0 || raw_fstat(descriptor, &status))
		return false;
	if (S_ISCHR(status.st_mode))
		return status.st_rdev == makedev(MEMORY_MAJOR, 1);
	holder = holder_of_inode(&status);
	if (!holder || holder->node.kind != NODE_MEMORY)
		return false;
	*error = holder->open_error;
	return true;
}

void mimic_preload_files_describe_node(const struct node *node, struct stat *status)
{
	unsigned int major_number = node->kind == NODE_MEMORY ? MEMORY_MAJOR :
				    LOCAL_MAJOR + mimic_kind_index(node->device_kind);

	memset(status, 0, sizeof(*status));
	status->st_mode = S_IFCHR | 0666;
	status->st_nlink = 1;
	status->st_rdev = makedev(major_number, node->minor);
	status->st_ino = 0x6d000000u + (major_number << 8) + node->minor;
	status->st_blksize = (blksize_t)PAGE_BYTES;
}

void mimic_preload_files_fix_stat(struct stat *status)
{
	struct mimic_preload_lock lock;
	struct holder *holder;

	if (!atomic_load(&open_files) || mimic_preload_is_inside() || !holder_of_inode(status))
		return;
	mimic_preload_lock(&lock);
	holder = holder_of_inode(status);
	if (holder)
		mimic_preload_files_describe_node(&holder->node, status);
	mimic_preload_unlock(&lock);
}

/* --- giving back ------------------------------------------------------------ */

static void holder_free(struct holder *holder)
{
	struct mimic_device *device = atomic_exchange(&holder->device, NULL);

	/* A handle of the parent is no business of the child's. */
	if (device && !atomic_load(&holder->inherited)) {
		/* Other opens of the device may stay. */
		if (holder->has_eventfd)
			mimic_device_eventfd(device, -1, 0);
		mimic_device_close(device);
	}
	holder->has_eventfd = false;
	atomic_store(&holder->inherited, false);
	if (holder->is_kernels)
		atomic_fetch_sub(&kernels, 1);
	holder->is_kernels = false;
	holder->is_not_inherited = false;
	holder->used = false;
}

/* Do both keep the same part of a device? INFO is asked of nothing that is no node of the kind. */
static bool is_same_file(const struct mimic_kind *kind, int descriptor, int other)
{
	struct stat here, there;

	return !raw_fstat(descriptor, &here) && !raw_fstat(other, &there) && S_ISCHR(here.st_mode) &&
	       S_ISCHR(there.st_mode) && major(here.st_rdev) == major(there.st_rdev) &&
	       mimic_kernel_is_same_part(kind, descriptor, other);
}

/* The one for a descriptor of the program's of a node of the kernel's; NULL: it has mapped nothing of it. */
static struct holder *holder_of_kernels(int descriptor)
{
	struct holder *found = NULL;
	struct stat status;
	unsigned int i;

	if (!atomic_load(&kernels) || raw_fstat(descriptor, &status) || !S_ISCHR(status.st_mode))
		return NULL;
	for (i = HOLDER_TILES; i < HOLDER_COUNT; i++) {
		struct holder *holder = &mimic_preload_holders[i];

		if (!holder->used || !holder->is_kernels || atomic_load(&holder->inherited))
			continue;
		if (holder->own_descriptor == descriptor)
			return NULL;
		if (is_same_file(holder->node.device_kind, descriptor, holder->own_descriptor))
			found = holder;
	}
	return found;
}

bool mimic_preload_files_keeps(int descriptor)
{
	return mimic_preload_files_holder(descriptor) || holder_of_kernels(descriptor);
}

static void mark_descriptor(int descriptor, bool *seen)
{
	struct holder *holder = mimic_preload_files_holder(descriptor);

	if (!holder)
		holder = holder_of_kernels(descriptor);
	if (holder)	/* "." and ".." read as 0, which does no harm */
		seen[holder - mimic_preload_holders] = true;
}

struct directory_entry {	/* of getdents64(2) */
	uint64_t inode;
	int64_t next;
	uint16_t length;
	uint8_t type;
	char name[];
};

/* getdents, not readdir: close() may be called from a handler, where malloc() may not. */
static void find_descriptors(bool *seen)
{
	_Alignas(struct directory_entry) char buffer[2048];
	int directory = (int)mimic_raw_syscall(SYS_openat, AT_FDCWD, (long)"/proc/self/fd",
					     O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0, 0);
	int descriptor;
	long length;
	long at;

	if (directory < 0) {
		for (descriptor = 0; descriptor < DESCRIPTOR_SCAN_MAX; descriptor++)
			mark_descriptor(descriptor, seen);
		return;
	}
	while ((length = mimic_raw_syscall(SYS_getdents64, directory, (long)buffer, sizeof(buffer), 0, 0, 0)) > 0)
		for (at = 0; at < length; at += ((struct directory_entry *)(buffer + at))->length)
			mark_descriptor(atoi(((struct directory_entry *)(buffer + at))->name), seen);
	mimic_raw_syscall(SYS_close, directory, 0, 0, 0, 0, 0);
}

void mimic_preload_files_release_unused(bool scan)
{
	bool seen[HOLDER_COUNT] = { false };
	unsigned int i;

	if (scan)
		find_descriptors(seen);
	for (i = HOLDER_TILES; i < HOLDER_COUNT; i++) {
		struct holder *holder = &mimic_preload_holders[i];

		if (!holder->used)
			continue;
		if (scan && !seen[i] && atomic_exchange(&holder->has_descriptor, false))
			atomic_fetch_sub(&open_files, 1);
		/*
		 * The pages left the table before this look: a handler that counts
		 * itself later finds no page and leaves the device alone.
		 */
		if (!holder->has_descriptor && holder->pages == 0 && mimic_preload_access_is_none(holder))
			holder_free(holder);
	}
}

void mimic_preload_files_reap(void)
{
	struct mimic_preload_lock lock;
	int saved_errno = errno;

	if (mimic_preload_is_inside() || !atomic_load(&open_files))
		return;
	mimic_preload_lock(&lock);
	mimic_preload_files_release_unused(true);
	mimic_preload_unlock(&lock);
	errno = saved_errno;
}

void mimic_preload_files_after_fork(void)
{
	unsigned int i;

	for (i = 0; i < HOLDER_COUNT; i++) {
		struct holder *holder = &mimic_preload_holders[i];

		atomic_store(&holder->accesses, 0);
		if (i < HOLDER_TILES)
			atomic_store(&holder->device, NULL);	/* a fresh one on first touch */
		else if (holder->used)
			atomic_store(&holder->inherited, true);
	}
}

/* --- opening ------------------------------------------------------------------ */

static void explain_open(const char *name, int error)
{
	struct text text;

	mimic_preload_text_start(&text);
	mimic_preload_text_add(&text, "cannot open device ");
	mimic_preload_text_add(&text, name);
	mimic_preload_text_add(&text, ": ");
	mimic_preload_text_add(&text, mimic_error_text()[0] ? mimic_error_text() : strerror(-error));
	mimic_preload_text_write_line(&text);
}

static struct holder *holder_find_unused(void)
{
	unsigned int i;

	for (i = HOLDER_TILES; i < HOLDER_COUNT; i++)
		if (!mimic_preload_holders[i].used)
			return &mimic_preload_holders[i];
	return NULL;
}

static struct holder *holder_new(void)
{
	struct holder *holder = holder_find_unused();

	if (holder)
		return holder;
	mimic_preload_files_release_unused(true);
	return holder_find_unused();
}

/* Not as a whole: a handler on its way out may still count down `accesses`. */
static void holder_start(struct holder *holder, const struct node *node, const struct stat *status)
{
	holder->pages = 0;
	holder->node = *node;
	holder->file_device = status->st_dev;
	holder->file_inode = status->st_ino;
	holder->used = true;
	holder->has_descriptor = true;
	atomic_fetch_add(&open_files, 1);
}

/* An empty file that cannot grow, open as the program asked. Returns it or -errno. */
static int sealed_file(const char *name, int flags, struct stat *status)
{
	int wanted = flags & (O_ACCMODE | O_CLOEXEC | O_NONBLOCK);
	int file = memfd_create(name, MFD_ALLOW_SEALING | (flags & O_CLOEXEC ? MFD_CLOEXEC : 0));
	char path[32];
	int again;

	if (file < 0)
		return -errno;
	if (fcntl(file, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) || raw_fstat(file, status)) {
		int error = -errno;

		close(file);
		return error;
	}
	if ((wanted & O_ACCMODE) == O_RDWR)
		return file;
	/* A memfd is always read-write; another open of it gets the mode that was asked for. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	again = NEXT(open)(path, wanted);
	if (again < 0)
		return file;
	if (dup3(again, file, flags & O_CLOEXEC) == file) {
		close(again);
		return file;
	}
	close(file);
	return again;
}

static int check_open_flags(int flags)
{
	if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	if (flags & O_DIRECTORY)
		return -ENOTDIR;
	return 0;
}

static int open_device(int flags, const struct node *node)
{
	struct holder *holder = holder_new();
	struct mimic_device *device;
	struct stat status;
	int file;
	int error;

	if (!holder)
		return -ENFILE;
	file = sealed_file(node->device, flags, &status);
	if (file < 0)
		return file;
	error = mimic_device_open(&device, node->device, NULL);
	if (error == -EBUSY) {
		mimic_preload_files_release_unused(true);
		error = mimic_device_open(&device, node->device, NULL);
	}
	if (error) {
		close(file);
		if (error == -ENODEV)
			return -ENOENT;
		if (error != -EBUSY)
			explain_open(node->device, error);
		return error;
	}
	holder_start(holder, node, &status);
	atomic_store(&holder->device, device);
	return file;
}

static int open_absent_memory(int flags, const struct node *node, int why)
{
	struct holder *holder = holder_new();
	struct stat status;
	int file;

	if (!holder)
		return -ENFILE;
	file = sealed_file("mem", flags, &status);
	if (file < 0)
		return file;
	holder_start(holder, node, &status);
	holder->open_error = why;
	return file;
}

int mimic_preload_files_open(int directory, const char *path, int flags, const struct node *node)
{
	struct mimic_preload_lock lock;
	int result = check_open_flags(flags);
	int memory_error = 0;

	if (result < 0)
		goto out;
	if (node->kind == NODE_MEMORY) {
		result = NEXT(openat)(directory, path, flags & ~(O_CREAT | O_TRUNC));
		if (result >= 0)
			return result;
		memory_error = -errno;
	}
	mimic_preload_lock(&lock);
	if (node->kind == NODE_MEMORY)
		result = open_absent_memory(flags, node, memory_error);
	else
		result = open_device(flags, node);
	mimic_preload_unlock(&lock);
out:
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

struct holder *mimic_preload_files_hold_node(const struct mimic_kind *kind, int descriptor)
{
	struct holder *holder = holder_of_kernels(descriptor);
	struct mimic_device *device;
	struct stat none = { 0 };
	struct node node = { .kind = NODE_DEVICE, .device_kind = kind };
	bool is_inherited;
	int own;

	if (holder)
		return holder;
	holder = holder_new();
	if (!holder || mimic_device_open_node(&device, kind, descriptor, &own, &is_inherited))
		return NULL;
	snprintf(node.device, sizeof(node.device), "%s", mimic_device_name(device));
	holder_start(holder, &node, &none);
	holder->is_kernels = true;
	atomic_fetch_add(&kernels, 1);
	holder->is_not_inherited = !is_inherited;
	holder->own_descriptor = own;
	atomic_store(&holder->device, device);
	return holder;
}

int mimic_preload_holder_open_tile(unsigned int tile, struct holder **holder)
{
	struct holder *found = &mimic_preload_holders[tile];
	struct mimic_device *device;
	int error;

	*holder = found;
	if (atomic_load(&found->device))
		return 0;
	found->used = true;
	snprintf(found->node.device, sizeof(found->node.device), "%s@%u", mimic_preload_physical_kind->name,
		 tile);
	error = mimic_device_open(&device, found->node.device, NULL);
	if (error == 0)
		atomic_store(&found->device, device);
	return error;
}
