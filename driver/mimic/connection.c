// SPDX-License-Identifier: GPL-2.0
/*
 * A connection, which is one open of /dev/mimic, and the daemon that serves it. When that dies
 * the connection ends, unless the daemon has asked for a successor (KEEP): then requests and
 * bindings stay as they are until one takes over, the time is over, or the last file is closed.
 *
 * Lifetimes. A process that serves is a struct mimic_server, as long as its memory has our
 * notifier. The server leaves the connection when its memory ends or the file is closed, whichever
 * is first; a work item then takes the notifier away, which waits for notifiers of all processes.
 * File and server each have a reference to the connection.
 */
#include <linux/pid_namespace.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include <linux/vmalloc.h>

#include "internal.h"

/* --- the process that serves ------------------------------------------------- */

struct mimic_server {
	struct mmu_notifier notifier;	/* its end */
	struct mm_struct *mm;	/* the notifier has it grabbed */
	struct mimic_connection *connection;	/* counted */
	struct work_struct retire;
};

static void mimic_server_retire(struct work_struct *work)
{
	struct mimic_server *server = container_of(work, struct mimic_server, retire);

	mmu_notifier_unregister(&server->notifier, server->mm);
	mimic_connection_put(server->connection);
	kfree(server);
}

/*
 * connection->lock is held. The work is queued under it: the module's end finds no server that
 * has left and is not in the queue, and the work waits for the notifier that may run now.
 */
static void mimic_server_leave(struct mimic_connection *connection)
{
	struct mimic_server *server = connection->server;

	if (!server)
		return;
	WRITE_ONCE(connection->server, NULL);
	WRITE_ONCE(connection->mm, NULL);
	queue_work(mimic_workqueue, &server->retire);
}

/* The daemon's memory ends. Another process may have the file still, such as a child of it. */
static void mimic_server_process_ended(struct mmu_notifier *notifier, struct mm_struct *mm)
{
	struct mimic_server *server = container_of(notifier, struct mimic_server, notifier);

	mimic_connection_lose_server(server->connection, server);
}

static const struct mmu_notifier_ops notifier_ops = {
	.release = mimic_server_process_ended,
};

/* Of the calling process, and not yet the connection's. */
static struct mimic_server *mimic_server_create(struct mimic_connection *connection)
{
	struct mimic_server *server = kzalloc(sizeof(*server), GFP_KERNEL_ACCOUNT);
	int error;

	if (!server)
		return ERR_PTR(-ENOMEM);
	kref_get(&connection->kref);
	server->connection = connection;
	server->mm = current->mm;
	server->notifier.ops = &notifier_ops;
	INIT_WORK(&server->retire, mimic_server_retire);
	error = mmu_notifier_register(&server->notifier, server->mm);
	if (!error)
		return server;
	mimic_connection_put(connection);
	kfree(server);
	/* A signal: nothing has been done, the call is made again. */
	return ERR_PTR(error == -EINTR ? -ERESTARTNOINTR : error);
}

/* connection->lock is held. */
static void mimic_server_enter(struct mimic_connection *connection, struct mimic_server *server)
{
	connection->server = server;
	WRITE_ONCE(connection->mm, server->mm);
}

struct mm_struct *mimic_connection_get_mm(struct mimic_connection *connection)
{
	struct mm_struct *mm;

	spin_lock(&connection->lock);
	mm = connection->mm;
	if (mm && !mmget_not_zero(mm))
		mm = NULL;
	spin_unlock(&connection->lock);
	return mm;
}

/* --- without one ---------------------------------------------------------------- */

/* No process has taken over in time. */
static void mimic_connection_expire(struct work_struct *work)
{
	struct mimic_connection *connection =
		container_of(to_delayed_work(work), struct mimic_connection, expiry);
	bool is_over;

	spin_lock(&connection->lock);
	/* Another daemon's death may have armed it anew while this waited for the lock. */
	is_over = connection->is_unserved && time_after_eq(jiffies, connection->expires);
	/* From here on none takes over. */
	if (is_over)
		WRITE_ONCE(connection->dead, true);
	spin_unlock(&connection->lock);
	if (is_over)
		mimic_connection_end(connection);
}

/* connection->lock is held. The daemon has left no more than what is in its slots. */
static void mimic_connection_begin_to_wait(struct mimic_connection *connection)
{
	unsigned long time = msecs_to_jiffies(connection->keep_ms);

	WRITE_ONCE(connection->is_unserved, true);
	/* A thread that spins for an answer sleeps instead. */
	WRITE_ONCE(connection->header->sleeping, 1);
	WRITE_ONCE(connection->header->cpu, -1);
	connection->expires = jiffies + time;
	mod_delayed_work(mimic_workqueue, &connection->expiry, time);
}

void mimic_connection_lose_server(struct mimic_connection *connection, struct mimic_server *server)
{
	bool is_kept;

	/* A dead process parks none after this; later they could be those of its successor. */
	if (READ_ONCE(connection->server) == server)
		mimic_uring_flush(connection, NULL);
	spin_lock(&connection->lock);
	if (connection->server != server) {
		spin_unlock(&connection->lock);
		return;
	}
	mimic_server_leave(connection);
	is_kept = connection->keep_ms && !connection->dead;
	if (is_kept)
		mimic_connection_begin_to_wait(connection);
	spin_unlock(&connection->lock);
	if (!is_kept)
		mimic_connection_end(connection);
}

int mimic_connection_wait_for_server(struct mimic_connection *connection)
{
	return wait_event_state(connection->successor_wait,
				!READ_ONCE(connection->is_unserved) || READ_ONCE(connection->dead),
				(TASK_KILLABLE | TASK_FREEZABLE)) ? -EINTR : 0;
}

/* --- a successor ------------------------------------------------------------------ */

int mimic_connection_keep(struct mimic_connection *connection, const struct mimic_bus_keep *wanted)
{
	int error = -EPERM;

	if (wanted->milliseconds > MIMIC_BUS_KEEP_MAX)
		return -EINVAL;
	spin_lock(&connection->lock);
	if (connection->mm == current->mm) {
		connection->keep_ms = wanted->milliseconds;
		memcpy(connection->token, wanted->token, sizeof(connection->token));
		error = 0;
	}
	spin_unlock(&connection->lock);
	return error;
}

/* In a time that does not tell how much of it is right. */
static bool mimic_connection_is_token(const struct mimic_connection *connection, const u8 *token)
{
	unsigned int difference = 0;
	unsigned int i;

	for (i = 0; i < MIMIC_BUS_TOKEN_SIZE; i++) {
		difference |= connection->token[i] ^ token[i];
		OPTIMIZER_HIDE_VAR(difference);
	}
	return !difference;
}

/* connection->lock is held. */
static int mimic_connection_may_take_over(const struct mimic_connection *connection,
					  const u8 *token)
{
	if (connection->dead)
		return -ENODEV;
	if (!connection->is_unserved)
		return -EBUSY;
	return mimic_connection_is_token(connection, token) ? 0 : -EACCES;
}

static int mimic_connection_enter(struct mimic_connection *connection, struct mimic_server *server,
				  const u8 *token)
{
	int error;

	spin_lock(&connection->lock);
	error = mimic_connection_may_take_over(connection, token);
	if (!error) {
		mimic_server_enter(connection, server);
		WRITE_ONCE(connection->is_unserved, false);
		WRITE_ONCE(connection->successors, connection->successors + 1);
		/* The one before may have been too slow for a change of memory. */
		WRITE_ONCE(connection->quiet_until, jiffies);
		mimic_requests_deliver_again(connection);
		/* After it: what it takes are answers of the one before. */
		WRITE_ONCE(connection->is_starting, true);
	}
	spin_unlock(&connection->lock);
	return error;
}

int mimic_connection_take_over(struct mimic_connection *connection, const u8 *token)
{
	struct mimic_server *server;
	int error;

	/* Numbers of processes and users mean what they meant. */
	if (connection->pid_namespace != task_active_pid_ns(current) ||
	    connection->user_namespace != current_user_ns())
		return -EPERM;
	spin_lock(&connection->lock);
	error = mimic_connection_may_take_over(connection, token);
	spin_unlock(&connection->lock);
	if (error)
		return error;
	server = mimic_server_create(connection);
	if (IS_ERR(server))
		return PTR_ERR(server);
	error = mimic_connection_enter(connection, server, token);
	if (error) {
		/* Another one was faster, or the time is over. */
		mimic_server_retire(&server->retire);
		return error;
	}
	cancel_delayed_work(&connection->expiry);
	wake_up_all(&connection->successor_wait);
	return 0;
}

/* --- coming and going ----------------------------------------------------------- */

void mimic_connection_end(struct mimic_connection *connection)
{
	/* First requests that wait, then those that would come: none is left to wait for ever. */
	mimic_requests_end(connection);
	mimic_uring_flush(connection, NULL);
	wake_up_poll(&connection->poll_wait, EPOLLERR | EPOLLHUP);
	wake_up_all(&connection->successor_wait);
	mimic_devices_abandon(connection);
}

/* A work item, as the time may be over just now, and then the connection is being ended. */
static void mimic_connection_retire(struct work_struct *work)
{
	struct mimic_connection *connection = container_of(work, struct mimic_connection, retire);

	cancel_delayed_work_sync(&connection->expiry);
	mimic_connection_put(connection);
}

void mimic_connection_close(struct mimic_connection *connection)
{
	mimic_connection_end(connection);
	spin_lock(&connection->lock);
	mimic_server_leave(connection);
	spin_unlock(&connection->lock);
	queue_work(mimic_workqueue, &connection->retire);
}

static void mimic_connection_init(struct mimic_connection *connection, struct file *file)
{
	u32 i;

	connection->slots = (void *)connection->header + MIMIC_BUS_HEADER_SIZE;
	connection->header->sleeping = 1;
	connection->header->cpu = -1;
	kref_init(&connection->kref);
	connection->inode = file_inode(file);
	ihold(connection->inode);
	connection->quiet_until = jiffies;
	connection->pid_namespace = get_pid_ns(task_active_pid_ns(current));
	connection->user_namespace = get_user_ns(current_user_ns());
	spin_lock_init(&connection->lock);
	INIT_LIST_HEAD(&connection->lines);
	for (i = 0; i < MIMIC_LIMITS; i++) {
		INIT_LIST_HEAD(&connection->lines_of[i].link);
		INIT_LIST_HEAD(&connection->lines_of[i].requests);
	}
	INIT_LIST_HEAD(&connection->link);
	init_waitqueue_head(&connection->poll_wait);
	init_waitqueue_head(&connection->successor_wait);
	for (i = 0; i < MIMIC_BUS_SLOTS; i++)
		connection->slots[i].fd = -1;
	INIT_WORK(&connection->retire, mimic_connection_retire);
	INIT_DELAYED_WORK(&connection->expiry, mimic_connection_expire);
}

struct mimic_connection *mimic_connection_create(struct file *file)
{
	struct mimic_connection *connection = kvzalloc(sizeof(*connection), GFP_KERNEL_ACCOUNT);
	struct mimic_server *server;

	if (!connection)
		return ERR_PTR(-ENOMEM);
	connection->header = vmalloc_user(PAGE_ALIGN(MIMIC_BUS_SLOTS_SIZE));
	if (!connection->header) {
		kvfree(connection);
		return ERR_PTR(-ENOMEM);
	}
	mimic_connection_init(connection, file);
	server = mimic_server_create(connection);
	if (!IS_ERR(server)) {
		mimic_server_enter(connection, server);
		return connection;
	}
	mimic_connection_put(connection);
	return ERR_CAST(server);
}

static void mimic_connection_free(struct kref *kref)
{
	struct mimic_connection *connection = container_of(kref, struct mimic_connection, kref);

	iput(connection->inode);
	vfree(connection->header);
	put_pid_ns(connection->pid_namespace);
	put_user_ns(connection->user_namespace);
	kvfree(connection);
}

void mimic_connection_put(struct mimic_connection *connection)
{
	kref_put(&connection->kref, mimic_connection_free);
}
