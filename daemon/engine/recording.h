/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The recording of all devices (mimicd --record, docs/record.md): a stream for each, from its making
 * to its end, for all programs that have it, by any front end.
 */
#ifndef MIMICD_RECORDING_H
#define MIMICD_RECORDING_H

#include "libmimic/record/record.h"

struct mimicd_engine;
struct mimicd_instance;

/* Before the first device is made. 0 or -errno, with a log line. */
int mimicd_recording_start(struct mimicd_engine *engine, const char *path);
/* After the last device. */
void mimicd_recording_end(struct mimicd_engine *engine);
/* If the recording could not be written, the log says so, once. */
void mimicd_recording_check(struct mimicd_engine *engine);

/* The kind, but for recorded models if devices are recorded. */
const struct mimic_kind *mimicd_recording_kind(const struct mimicd_engine *engine, const struct mimic_kind *kind);
/* The model of a device that has its kind, its name and its memory. NULL with errno. */
struct mimic_model *mimicd_recording_make_model(const struct mimicd_instance *instance, const void *parameters,
						const struct mimic_host *host);
/* Where the events of the device's model go. */
struct mimic_trace_source *mimicd_recording_trace(const struct mimicd_instance *instance);

#endif
