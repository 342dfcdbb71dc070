/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Takes the window, the devices and the engine's part of clients over from the daemon before.
 *
 *   mimicd_recover_begin()     before the engine has devices
 *   mimicd_recover_devices()   in place of the settings' devices
 *   mimicd_recover_client()    for each client, by the front end that has it
 *   mimicd_recover_models()    when all clients are there: models ask for their memory
 *   mimicd_recover_end()
 *
 * Until the first commit after that nothing is changed that a further successor needs, if this one is
 * killed as well.
 */
#ifndef MIMICD_RECOVER_H
#define MIMICD_RECOVER_H

#include "daemon/engine/record.h"

struct mimicd_engine;
struct mimicd_stored;
struct mimic_settings;

/* Of the predecessor. */
struct mimicd_predecessor {
	struct mimicd_journal_left left;
	struct mimicd_root_record *root;	/* NULL: there was none, or it left nothing that can be used */
	uint64_t generation;
	uint64_t newest;	/* of all windows, complete or not */
	bool has_lost_programs;	/* some that it had are not taken over */
};

/* A window for this daemon; `stored` are the descriptors of the one before, which are taken over. 0 or -errno, with a log line. */
int mimicd_recover_begin(struct mimicd_engine *engine, const struct mimic_settings *settings,
			 struct mimicd_stored *stored, size_t count);
/* false: there is no predecessor. */
bool mimicd_recover_is_on(const struct mimicd_engine *engine);
/* 0 or -errno, with a log line. */
int mimicd_recover_devices(struct mimicd_engine *engine);
/* Its devices, threads, lanes and ranges. 0 or -errno: the client cannot go on. */
int mimicd_recover_client(struct mimicd_client *client, struct mimicd_client_record *record);
/* The state of each device; one that cannot be restored is lost to its programs, with a log line. 0 or -ENOMEM. */
int mimicd_recover_models(struct mimicd_engine *engine);
/* The predecessor's window is of no use any more, and the next step is this daemon's first. */
void mimicd_recover_end(struct mimicd_engine *engine);

#endif
