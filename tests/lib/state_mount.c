/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/state_mount.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/engine/instance.h"
#include "daemon/engine/jobs.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"
#include "tests/lib/daemon_fixture.h"
#include "tests/lib/kinds.h"

static const char *try_mount(void)
{
	char directory[] = "/tmp/mimic-fuse-XXXXXX", options[64];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	bool is_mounted;

	if (fd < 0)
		return "/dev/fuse cannot be opened";
	if (!mkdtemp(directory)) {
		close(fd);
		return "no directory can be made";
	}
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd,
		 (unsigned int)geteuid(), (unsigned int)getegid());
	is_mounted = !mount("test", directory, "fuse", MS_NOSUID | MS_NODEV, options);
	close(fd);
	if (is_mounted)
		umount2(directory, MNT_DETACH);
	rmdir(directory);
	return is_mounted ? NULL : "this process may not mount";
}

bool state_can_mount(void)
{
	static const char *why;
	static bool is_known;

	if (!is_known)
		why = try_mount();
	if (!is_known && why)
		printf("# no state filesystem here: %s\n", why);
	is_known = true;
	return !why;
}

static void *serve(void *argument)
{
	struct mimicd_server *server = argument;

	/* The thread that serves releases the engine's lock, which the one that made the server has taken. */
	mimicd_server_run(server);
	return NULL;
}

bool state_mount_start(struct state_mount *mount)
{
	struct mimicd_options options = { .clients.listen_fd = -1 };

	strcpy(mount->directory, "/tmp/mimic-state-XXXXXX");
	if (!mkdtemp(mount->directory) || chmod(mount->directory, 0755))
		return false;
	snprintf(mount->socket, sizeof(mount->socket), "%s/socket", mount->directory);
	snprintf(mount->path, sizeof(mount->path), "%s/state", mount->directory);
	options.clients.socket_path = mount->socket;
	options.filesystem.path = mount->path;
	options.filesystem.make_directory = true;
	mimic_config_default(&options.settings);
	*count_of(&options.settings, &mimic_kind_maple) = 2;
	*count_of(&options.settings, &mimic_kind_dare) = 1;
	*count_of(&options.settings, &mimic_kind_virgo) = 1;
	mimicd_log_set_level(MIMICD_LOG_WARNING);
	if (mimicd_server_create(&mount->server, &options))
		return false;
	return mount->server->filesystem && !pthread_create(&mount->thread, NULL, serve, mount->server);
}

void state_mount_end(struct state_mount *mount)
{
	mimicd_server_stop(mount->server);
	pthread_join(mount->thread, NULL);
	mimicd_server_destroy(mount->server);
	rmdir(mount->directory);
}

struct mimicd_instance *state_mount_take(struct state_mount *mount, const char *device)
{
	struct mimicd_instance *instance;

	while (!mimic_lock_try(&mount->server->engine.lock, MIMICD_LOCK_WORKER))
		test_sleep_ms(1);
	return mimicd_instance_find(&mount->server->engine, device, &instance) ? NULL : instance;
}

void state_mount_give_back(struct state_mount *mount)
{
	mimic_lock_release(&mount->server->engine.lock);
}

struct state_tree *state_mount_tree(struct state_mount *mount, const char *device)
{
	struct mimicd_instance *instance = state_mount_take(mount, device);
	struct state_tree *tree = state_tree_take(instance->kind, instance->model, mimic_now());

	state_mount_give_back(mount);
	return tree;
}

char *state_read_file(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t room = 2 << 20, done = 0;
	char *text;
	ssize_t got;

	if (fd < 0)
		return NULL;
	text = malloc(room + 1);
	while ((got = read(fd, text + done, room - done)) > 0)
		done += (size_t)got;
	close(fd);
	text[done] = 0;
	if (size)
		*size = done;
	if (!got)
		return text;
	free(text);
	return NULL;
}

char *state_mount_read(const struct state_mount *mount, size_t *size, const char *format, ...)
{
	char path[512];
	va_list arguments;
	int length = snprintf(path, sizeof(path), "%s/", mount->path);

	va_start(arguments, format);
	vsnprintf(path + length, sizeof(path) - (size_t)length, format, arguments);
	va_end(arguments);
	return state_read_file(path, size);
}

int state_mount_write(const struct state_mount *mount, const char *file, const char *text)
{
	char path[512];
	ssize_t written;
	int fd, error;

	snprintf(path, sizeof(path), "%s/%s", mount->path, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	written = write(fd, text, strlen(text));
	error = written < 0 ? -errno : 0;
	close(fd);
	return error;
}
