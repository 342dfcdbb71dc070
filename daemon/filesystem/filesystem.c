/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/filesystem/filesystem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "daemon/engine/inspection.h"
#include "daemon/filesystem/internal.h"
#include "daemon/loop/log.h"
#include "libmimic/base/clock.h"

/* --- the connection ------------------------------------------------------------------------- */

/* Forgets the nodes that the kernel knew and the files that it had open. */
static void forget_all(struct mimicd_filesystem *filesystem)
{
	while (filesystem->files)
		mimicd_file_destroy(filesystem, filesystem->files);
	mimicd_nodes_destroy(&filesystem->nodes);
}

static void disconnect(struct mimicd_filesystem *filesystem)
{
	if (!filesystem->session)
		return;
	mimicd_guard_stop(&filesystem->guard);
	mimicd_loop_forget(filesystem->engine->loop, fuse_session_fd(filesystem->session));
	/* Poll handles know the session. */
	forget_all(filesystem);
	mimicd_filesystem_unmount(filesystem);
}

static int watch(struct mimicd_filesystem *filesystem)
{
	int fd = fuse_session_fd(filesystem->session);
	int error = mimicd_loop_watch(filesystem->engine->loop, fd, EPOLLIN, &filesystem->source);

	return error ? error : mimicd_guard_start(&filesystem->guard, fd, &filesystem->timer);
}

static int connect_kernel(struct mimicd_filesystem *filesystem)
{
	struct mimicd_node *root = mimicd_nodes_create(&filesystem->nodes);
	int error;

	if (!root)
		return -ENOMEM;
	root->entry.kind = MIMICD_ENTRY_FOLDER;
	clock_gettime(CLOCK_REALTIME, &filesystem->since);
	atomic_store(&filesystem->guard.has_cut, false);
	filesystem->is_over = false;
	error = mimicd_filesystem_mount(filesystem);
	if (error) {
		forget_all(filesystem);
		return error;
	}
	error = watch(filesystem);
	if (!error) {
		mimicd_log(MIMICD_LOG_INFO, "%s: the state filesystem", filesystem->path);
		return 0;
	}
	mimicd_log(MIMICD_LOG_WARNING, "%s: no state filesystem: %s", filesystem->path, strerror(-error));
	disconnect(filesystem);
	return error;
}

/* --- requests --------------------------------------------------------------------------------- */

/* A person has unmounted it, or the kernel has ended it. */
static void end(struct mimicd_filesystem *filesystem)
{
	if (!filesystem->is_over)
		mimicd_log(MIMICD_LOG_INFO, "%s: the state filesystem was unmounted", filesystem->path);
	filesystem->is_over = true;
	mimicd_loop_forget(filesystem->engine->loop, fuse_session_fd(filesystem->session));
}

/* One request. */
static void serve(void *context)
{
	struct mimicd_filesystem *filesystem = context;
	struct fuse_session *session = filesystem->session;
	uint64_t begun = mimic_now();
	int size;

	filesystem->requests++;
	if (!session || filesystem->is_over)
		return;
	atomic_fetch_add(&filesystem->guard.turns, 1);
	/* The event may be older than the cut, and nobody has unmounted it. */
	if (atomic_load(&filesystem->guard.has_cut))
		return;
	if (!mimicd_inspection_may_begin(filesystem->engine, begun))
		return;
	size = fuse_session_receive_buf(session, &filesystem->buffer);
	if (size > 0)
		fuse_session_process_buf(session, &filesystem->buffer);
	mimicd_inspection_ended(filesystem->engine, begun);
	if (fuse_session_exited(session) || (size < 0 && size != -EAGAIN && size != -EINTR))
		end(filesystem);
}

/* Again with a new mount: programs that used the old one have got errors. */
static void begin_anew(struct mimicd_filesystem *filesystem)
{
	int error;

	disconnect(filesystem);
	error = connect_kernel(filesystem);
	mimicd_log(MIMICD_LOG_WARNING,
		   "%s: the state filesystem had no answer for 3 s (a program has mapped a file of it for a device, or "
		   "memory of a program or the log could not be reached): it is %s", filesystem->path,
		   error ? "gone" : "mounted anew");
}

/* The timer: has anything changed that a program polls for? */
static void tick(void *context)
{
	struct mimicd_filesystem *filesystem = context;

	if (atomic_load(&filesystem->guard.has_cut))
		begin_anew(filesystem);
	mimicd_filesystem_check_changes(filesystem);
}

/* --- its life ------------------------------------------------------------------------------------ */

static void prepare(void *context)
{
	mimicd_filesystem_prepare(context);
}

static const struct mimicd_front_end_ops front_end_ops = {
	.prepare = prepare,
};

struct mimicd_filesystem *mimicd_filesystem_create(struct mimicd_engine *engine,
						   const struct mimicd_filesystem_options *options)
{
	struct mimicd_filesystem *filesystem;

	if (!options->path)
		return NULL;
	filesystem = calloc(1, sizeof(*filesystem));
	if (!filesystem) {
		mimicd_log(MIMICD_LOG_WARNING, "no state filesystem: %s", strerror(ENOMEM));
		return NULL;
	}
	filesystem->engine = engine;
	filesystem->options = *options;
	filesystem->source = (struct mimicd_source){ serve, filesystem };
	filesystem->timer.expired = tick;
	filesystem->timer.context = filesystem;
	filesystem->front_end = (struct mimicd_front_end){ .ops = &front_end_ops, .context = filesystem };
	mimicd_front_end_add(engine, &filesystem->front_end);
	if (mimicd_timer_create(&filesystem->timer, engine->loop))
		mimicd_log(MIMICD_LOG_WARNING, "no state filesystem: no descriptors");
	else if (!connect_kernel(filesystem))
		return filesystem;
	mimicd_filesystem_destroy(filesystem);
	return NULL;
}

void mimicd_filesystem_destroy(struct mimicd_filesystem *filesystem)
{
	if (!filesystem)
		return;
	disconnect(filesystem);
	mimicd_front_end_remove(filesystem->engine, &filesystem->front_end);
	mimicd_timer_destroy(&filesystem->timer);
	free(filesystem->buffer.mem);
	free(filesystem->path);
	free(filesystem);
}
