/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A connection of a machine: its messages are served, until it ends. */
#include "daemon/vfio/connection.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/hang_up.h"
#include "daemon/loop/keeper.h"
#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"

#define MESSAGES_A_TURN 64u	/* then others have theirs */

/* --- served -------------------------------------------------------------------------- */

static void end_for(struct mimicd_connection *connection, int error, const char *why)
{
	if (why)
		mimicd_log_of(connection->uid, MIMICD_LOG_WARNING,
			      "%s: a virtual machine (pid %d): %s; it is cut off", connection->path,
			      (int)connection->pid, why);
	else
		mimicd_log(MIMICD_LOG_DEBUG, "%s: a virtual machine (pid %d) has gone: %s", connection->path,
			   (int)connection->pid, strerror(-error));
	connection->ops->end(connection);
}

static void hear(void *context)
{
	struct mimicd_connection *connection = context;

	for (unsigned int i = 0; i < MESSAGES_A_TURN; i++) {
		const char *why = NULL;
		int got;

		if (connection->has_ended || connection->is_paused)
			return;
		got = mimicd_vfio_receive(connection, &why);
		if (!got)
			return;
		if (got < 0) {
			end_for(connection, got, why);
			return;
		}
		mimicd_vfio_serve(connection);
		if (connection->is_lost)
			connection->ops->end(connection);
		else if (!connection->is_paused)
			mimicd_vfio_packet_close(connection);
	}
}

/* --- begun --------------------------------------------------------------------------- */

void mimicd_connection_init(struct mimicd_connection *connection, const struct mimicd_connection_ops *ops,
			    struct mimicd_loop *loop, const char *path, int fd)
{
	struct ucred peer = { .uid = UINT32_MAX };
	socklen_t size = sizeof(peer);

	getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size);
	*connection = (struct mimicd_connection){
		.ops = ops, .loop = loop, .path = path, .fd = fd, .uid = peer.uid, .pid = peer.pid,
		.note = &connection->own_note,
	};
}

/* Root may do everything. */
int mimicd_connection_check_user(const struct mimicd_connection *connection)
{
	return connection->uid == geteuid() || connection->uid == 0 ? 0 : -EPERM;
}

bool mimicd_connection_is_dead(const struct mimicd_connection *connection)
{
	struct pollfd end = { .fd = connection->fd, .events = POLLRDHUP };

	/* POLLRDHUP: no byte is read, because bytes that it has sent may lie there. */
	return poll(&end, 1, 0) > 0 && end.revents & (POLLHUP | POLLRDHUP);
}

static void keep(struct mimicd_connection *connection, struct mimicd_keeper *keeper)
{
	_Static_assert(sizeof(struct mimicd_vfio_note) <= MIMICD_KEEPING_NOTE, "a note is as large as the keeper's");
	void *note = mimicd_keeper_keep(keeper, connection->fd);

	if (!note)
		return;
	connection->note = note;
	connection->keeper = keeper;
}

int mimicd_connection_start(struct mimicd_connection *connection, struct mimicd_keeper *keeper)
{
	keep(connection, keeper);
	connection->source = (struct mimicd_source){ hear, connection };
	return mimicd_loop_watch(connection->loop, connection->fd, EPOLLIN, &connection->source);
}

/* --- ended --------------------------------------------------------------------------- */

/* Descriptors that come with the last bytes may take long to close. */
static void close_later(void *context, int fd)
{
	struct mimicd_connection *connection = context;

	mimicd_closer_close(connection->loop->closer, connection->uid, fd);
}

/* QEMU aborts at ECONNRESET, and stands still for a time if a message is not answered. */
void mimicd_connection_close(struct mimicd_connection *connection)
{
	connection->has_ended = true;
	if (connection->source.ready && !connection->is_paused)
		mimicd_loop_forget(connection->loop, connection->fd);
	mimicd_hang_up(connection->fd, mimicd_vfio_last_replies, connection->note, close_later, connection);
	mimicd_vfio_packet_close(connection);
	mimicd_keeper_forget(connection->keeper, connection->note);
	connection->note = &connection->own_note;
}

void mimicd_connection_turn_away(struct mimicd_loop *loop, int fd)
{
	struct mimicd_connection connection;

	mimicd_connection_init(&connection, NULL, loop, NULL, fd);
	mimicd_hang_up(fd, mimicd_vfio_last_replies, connection.note, close_later, &connection);
}
