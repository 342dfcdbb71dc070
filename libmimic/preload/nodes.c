/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Which paths are device nodes of ours: /dev/KIND and /dev/KINDn of each kind, and /dev/mem. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libmimic/kernel/kernel.h"
#include "patch.h"
#include "preload.h"

#define NODE_MINOR_ANY 255

/* Drops "//", "/./" and "/../" by the text alone, as far as a path of /dev needs it. */
static void normalise(char *path)
{
	char *from = path;
	char *to = path;

	while (*from) {
		size_t length;

		while (*from == '/')
			from++;
		length = strcspn(from, "/");
		if (length == 0)
			break;
		if (length == 1 && from[0] == '.') {
			from += length;
			continue;
		}
		if (length == 2 && from[0] == '.' && from[1] == '.') {
			while (to > path && *--to != '/')
				;
			from += length;
			continue;
		}
		*to++ = '/';
		memmove(to, from, length);
		to += length;
		from += length;
	}
	*to = '\0';
}

static bool directory_of(int directory, char *path, size_t size)
{
	char link[32];
	ssize_t length;

	if (directory == AT_FDCWD)
		return getcwd(path, size) != NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", directory);
	length = readlink(link, path, size - 1);
	if (length < 0)
		return false;
	path[length] = '\0';
	return true;
}

const struct mimic_kind *mimic_preload_physical_kind;

/* By kind: its nodes are the kernel's. */
static bool kernel_has[MIMIC_KINDS_MAX];
static bool is_any_of_kernel;

void mimic_preload_nodes_start(void)
{
	const char *transport = getenv("MIMIC_TRANSPORT");
	bool is_auto = !transport || !transport[0] || strcmp(transport, "auto") == 0;
	size_t i;

	for (i = 0; i < mimic_kind_count() && !mimic_preload_physical_kind; i++)
		mimic_preload_physical_kind = mimic_kinds[i]->physical ? mimic_kinds[i] : NULL;
	for (i = 0; i < mimic_kind_count(); i++) {
		kernel_has[i] = is_auto ? mimic_kernel_is_there(mimic_kinds[i]->name) :
					  strcmp(transport, "kernel") == 0;
		is_any_of_kernel = is_any_of_kernel || kernel_has[i];
	}
}

const struct mimic_kind *mimic_preload_nodes_of_kernel(int descriptor)
{
	const struct mimic_kind *kind;
	char link[40], path[64];
	struct stat status;
	const char *number;
	long length;

	if (!is_any_of_kernel || !mimic_preload_patch_is_on() ||
	    mimic_raw_syscall(SYS_fstat, descriptor, (long)&status, 0, 0, 0, 0) || !S_ISCHR(status.st_mode))
		return NULL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", descriptor);
	length = mimic_raw_syscall(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, sizeof(path) - 1, 0, 0);
	if (length <= 0)
		return NULL;
	path[length] = '\0';
	/* Under another name it is the kernel's alone. */
	if (strncmp(path, "/dev/", 5) != 0)
		return NULL;
	kind = mimic_kind_of_device(path + 5, &number);
	return kind && kernel_has[mimic_kind_index(kind)] ? kind : NULL;
}

static struct node node_of_name(const char *name)
{
	const char *number;
	const struct mimic_kind *kind = mimic_kind_of_device(name, &number);
	struct node node = { .kind = NODE_NONE };

	if (strcmp(name, "mem") == 0) {
		node.kind = NODE_MEMORY;
		node.minor = 1;
		return node;
	}
	if (!kind || kernel_has[mimic_kind_index(kind)] || strlen(name) >= sizeof(node.device))
		return node;
	node.minor = NODE_MINOR_ANY;
	if (*number && (!mimic_kind_number(number, &node.minor) || node.minor >= NODE_MINOR_ANY))
		return node;
	node.kind = NODE_DEVICE;
	node.device_kind = kind;
	strcpy(node.device, name);
	return node;
}

struct node mimic_preload_node_of_path(int directory, const char *path)
{
	struct node none = { .kind = NODE_NONE };
	int saved_errno = errno;
	char whole[PATH_MAX];
	const char *name;
	size_t length;

	/* Cheap first: nearly every path is none of ours. */
	if (!path || mimic_preload_is_inside())
		return none;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	if (node_of_name(name).kind == NODE_NONE)
		return none;
	length = 0;
	if (path[0] != '/') {
		if (!directory_of(directory, whole, sizeof(whole))) {
			errno = saved_errno;
			return none;
		}
		length = strlen(whole);
	}
	if (length + 1 + strlen(path) >= sizeof(whole))
		return none;
	whole[length] = '/';
	strcpy(whole + length + 1, path);
	normalise(whole);
	if (strncmp(whole, "/dev/", 5) != 0 || strchr(whole + 5, '/'))
		return none;
	return node_of_name(whole + 5);
}

int mimic_preload_node_exists(const struct node *node)
{
	struct mimic_preload_lock lock;
	struct mimic_device *device;
	int error;

	if (node->kind != NODE_DEVICE || node->minor == NODE_MINOR_ANY)
		return 0;
	mimic_preload_lock(&lock);
	error = mimic_device_open(&device, node->device, NULL);
	if (error == 0)
		mimic_device_close(device);
	mimic_preload_unlock(&lock);
	return error == -ENODEV || error == -ENOENT ? -ENOENT : 0;
}
