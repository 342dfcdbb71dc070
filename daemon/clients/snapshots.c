/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/clients/snapshots.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "daemon/clients/internal.h"
#include "daemon/clients/packet.h"
#include "daemon/clients/texts.h"
#include "daemon/engine/engine.h"
#include "daemon/engine/manage.h"
#include "daemon/engine/snapshot.h"

/* A job that has not come back by then waits for memory of its program's. */
#define PATIENCE_NS 3000000000u

/* --- SAVE ---------------------------------------------------------------------------------- */

static int take(struct mimicd_session *session, const struct mimicd_packet *packet, void **bytes, size_t *size)
{
	struct mimicd_engine *engine = session->clients->engine;
	struct mimicd_instance *instance;
	int error = mimicd_device_find(engine, packet->open.name, session->client.program.uid, &instance);

	return error ? error : mimicd_snapshot_take(instance, bytes, size);
}

static void save(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	uint64_t begun = mimicd_wakes_work_now();
	void *bytes = NULL;
	size_t size = 0;
	int error;

	if (!mimicd_may_have_text(session, packet))
		return;
	error = take(session, packet, &bytes, &size);
	if (error == -EINPROGRESS && mimicd_packet_waited(session) < PATIENCE_NS) {
		mimicd_packet_put_off_for_job(session, packet);
		return;
	}
	if (error == -EINPROGRESS)
		mimicd_jobs_release(&session->clients->engine->jobs);
	if (error)
		mimicd_reply_plain(session, packet, error == -EINPROGRESS ? -EBUSY : error);
	else
		mimicd_reply_file(session, packet, bytes, size);
	free(bytes);
	mimicd_wakes_note_work(session->client.user, MIMICD_WAKE_MESSAGE, mimicd_wakes_work_now() - begun);
}

/* --- RESTORE ------------------------------------------------------------------------------- */

/* A file in memory that nobody changes: reading it waits for nobody. NULL: it is none, or there is no memory. */
static void *read_record(int fd, size_t *size)
{
	int wanted = F_SEAL_SHRINK | F_SEAL_WRITE, seals = fcntl(fd, F_GET_SEALS);
	struct statfs filesystem;
	struct stat status;
	void *bytes;

	if (seals < 0 || (seals & wanted) != wanted || fstatfs(fd, &filesystem) || filesystem.f_type != TMPFS_MAGIC ||
	    fstat(fd, &status) || status.st_size <= 0 || status.st_size > MIMICD_SNAPSHOT_MAX)
		return NULL;
	*size = (size_t)status.st_size;
	bytes = malloc(*size);
	if (bytes && pread(fd, bytes, *size, 0) == (ssize_t)*size)
		return bytes;
	free(bytes);
	return NULL;
}

/* false: the message is put off. */
static bool restore_from(struct mimicd_session *session, const struct mimicd_packet *packet, const void *bytes,
			 size_t size, struct mimic_restore_reply *reply)
{
	const struct mimic_restore *request = &packet->restore;
	struct mimic_text reason;

	mimic_text_begin(&reason, reply->text, sizeof(reply->text));
	reply->error = mimicd_snapshot_restore(session->clients->engine, request->name, bytes, size,
					       request->flags & MIMIC_RESTORE_CHECK, &reason);
	if (reply->error == -EINPROGRESS && mimicd_packet_waited(session) < PATIENCE_NS) {
		mimicd_packet_put_off_for_job(session, packet);
		return false;
	}
	if (reply->error == -EINPROGRESS)
		reply->error = -EBUSY;
	return true;
}

static void restore(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	struct mimic_restore_reply reply = { 0 };
	uint64_t begun = mimicd_wakes_work_now();
	size_t size;
	void *bytes;

	if (packet->restore.flags & ~(uint32_t)MIMIC_RESTORE_CHECK) {
		mimicd_complain(session, packet, -EINVAL, "no such flags");
		return;
	}
	bytes = read_record(packet->fds[0], &size);
	if (!bytes)
		mimicd_complain(session, packet, -EINVAL, "no memfd with a record, sealed against shrinking and writing");
	else if (restore_from(session, packet, bytes, size, &reply))
		mimicd_reply(session, packet, &reply, sizeof(reply), 0, -1);
	free(bytes);
	mimicd_wakes_note_work(session->client.user, MIMICD_WAKE_MESSAGE, mimicd_wakes_work_now() - begun);
}

void mimicd_do_snapshot(struct mimicd_session *session, const struct mimicd_packet *packet)
{
	bool is_save = packet->header.type == MIMIC_MESSAGE_SAVE;
	const char *name = is_save ? packet->open.name : packet->restore.name;

	if (!mimicd_may_manage(session->client.program.uid))
		mimicd_complain(session, packet, -EPERM, "it is neither root's nor the daemon's user's");
	else if (name[MIMIC_NAME_MAX - 1])
		mimicd_complain(session, packet, -EINVAL, "the name does not end");
	else if (is_save)
		save(session, packet);
	else
		restore(session, packet);
}
