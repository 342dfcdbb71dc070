/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How the lanes of a client and its threads (client.h) come and go. */
#ifndef MIMICD_LANE_H
#define MIMICD_LANE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mimicd_client;
struct mimicd_lane;

/*
 * A lane of the thread of that number, or (0) of a new one, whose number among the
 * kernel's threads is `tid` (0: not known). *fd is the lane's memory, for the client.
 * -EINVAL, -ENOENT, -EMFILE, -ENOMEM, -EDQUOT, -ENOSPC.
 */
int mimicd_lane_create(struct mimicd_client *client, uint32_t thread, uint32_t level, pid_t tid,
		       struct mimicd_lane **lane, int *fd);
/* Memory of a front end's own for a lane: zeros, aligned to a page, there until the lane is gone. */
struct mimicd_lane_place {
	struct mimic_lane *memory;
	size_t command_words, response_words;
};

/* The same in such memory. */
int mimicd_lane_create_in(struct mimicd_client *client, uint32_t thread, uint32_t level,
			  const struct mimicd_lane_place *place, struct mimicd_lane **lane);
/* A thread, and a lane in that file, as the daemon before had them (recover.h). The file is the lane's afterwards. */
struct mimicd_thread_record;
int mimicd_thread_adopt(struct mimicd_client *client, const struct mimicd_thread_record *record);
struct mimicd_lane_record;
int mimicd_lane_adopt(struct mimicd_client *client, uint32_t thread, uint32_t level, uint32_t number, int fd,
		      const struct mimicd_lane_record *record);
/* The program goes on: its answers that are in the ring, and room, are shown by the next commit. */
void mimicd_lane_resume(struct mimicd_lane *lane);
struct mimicd_lane *mimicd_lane_find(struct mimicd_client *client, uint32_t number);
/* No more commands come. It is freed when its posts are done. */
void mimicd_lane_retire(struct mimicd_lane *lane);
void mimicd_lane_destroy(struct mimicd_lane *lane);
/* The client ends. Its lanes are gone, its devices are still there. */
void mimicd_threads_leave(struct mimicd_client *client);
/* -ENOENT, or 0; the thread's roles are free when its posts are done. */
int mimicd_thread_end(struct mimicd_client *client, uint32_t number);
/* Frees lanes that are retired and done. */
void mimicd_lanes_reap(struct mimicd_client *client);

#endif
