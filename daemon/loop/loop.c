/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/loop/loop.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"

/* Few, because each may take a turn (daemon/engine/turn.h), and there is other work. epoll gives the others next. */
#define EVENTS_MAX 8

static void note_stop(void *context)
{
	struct mimicd_loop *loop = context;

	loop->is_stopping = true;
}

int mimicd_loop_create(struct mimicd_loop *loop)
{
	*loop = (struct mimicd_loop){
		.epoll_fd = epoll_create1(EPOLL_CLOEXEC),
		.stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
		.closer = mimicd_closer_create(),
		.stop_source = { note_stop, loop },
	};
	if (loop->epoll_fd < 0 || loop->stop_fd < 0) {
		mimicd_log(MIMICD_LOG_ERROR, "no descriptors: %s", strerror(errno));
		return -EMFILE;
	}
	if (!loop->closer)
		return -ENOMEM;
	return mimicd_loop_watch(loop, loop->stop_fd, EPOLLIN, &loop->stop_source);
}

void mimicd_loop_destroy(struct mimicd_loop *loop)
{
	mimicd_closer_destroy(loop->closer);
	loop->closer = NULL;
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	if (loop->stop_fd >= 0)
		close(loop->stop_fd);
	loop->epoll_fd = loop->stop_fd = -1;
}

void mimicd_loop_stop(struct mimicd_loop *loop)
{
	const uint64_t one = 1;
	int saved = errno;

	(void)!write(loop->stop_fd, &one, sizeof(one));
	errno = saved;
}

int mimicd_loop_watch(struct mimicd_loop *loop, int fd, uint32_t events, struct mimicd_source *source)
{
	struct epoll_event event = { .events = events, .data.ptr = source };

	return epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void mimicd_loop_forget(struct mimicd_loop *loop, int fd)
{
	epoll_ctl(loop->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

static void handle(struct mimicd_loop *loop, const struct epoll_event *events, int count)
{
	bool has_begun = false;

	loop->polls++;
	for (int i = 0; i < count; i++) {
		const struct mimicd_source *source = events[i].data.ptr;

		loop->events++;
		if (!source->ready)
			continue;
		if (!has_begun && loop->work)
			loop->work->begin(loop->work_context);
		has_begun = true;
		source->ready(source->context);
	}
	if (has_begun && loop->work)
		loop->work->end(loop->work_context);
}

int mimicd_loop_poll(struct mimicd_loop *loop)
{
	struct epoll_event events[EVENTS_MAX];
	int count = epoll_wait(loop->epoll_fd, events, EVENTS_MAX, 0);

	if (count < 0)
		return -errno;
	handle(loop, events, count);
	return count;
}

static int wait_for_events(struct mimicd_loop *loop)
{
	struct epoll_event events[EVENTS_MAX];
	int count;

	if (!loop->work->sleep(loop->work_context))
		return 0;
	count = epoll_wait(loop->epoll_fd, events, EVENTS_MAX, -1);
	if (count < 0)
		count = -errno;
	loop->work->wake(loop->work_context);
	handle(loop, events, count);
	return count;
}

int mimicd_loop_run(struct mimicd_loop *loop)
{
	while (!loop->is_stopping) {
		bool is_idle = loop->work->run(loop->work_context);
		int count;

		loop->work->prepare(loop->work_context);
		count = is_idle ? wait_for_events(loop) : mimicd_loop_poll(loop);
		if (count < 0 && count != -EINTR) {
			mimicd_log(MIMICD_LOG_ERROR, "epoll: %s", strerror(-count));
			return count;
		}
	}
	return 0;
}
