/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Snapshots: files of `mimic save`, with the states of one or more devices (docs/save.md).
 *
 * A file is a header and a record for each device, all little endian. A record is what mimicd gives and takes
 * (SAVE and RESTORE of mimic/protocol.h): whose state it is, the kind's parameters, the threads that had roles
 * in it, and the image of the model (struct mimic_model_ops), which is the memory of its structures. So an
 * image fits devices of the same configuration, of a mimic with the same structures; the record says what is
 * needed to name the difference.
 *
 * Trust boundary: files come from anybody. Nothing of one is used before all lengths and the checksum are
 * right, and the model checks its image itself.
 */
#ifndef MIMIC_RECORD_SNAPSHOT_H
#define MIMIC_RECORD_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "devices/kind.h"
#include "devices/text.h"
#include "mimic/protocol.h"

#define MIMIC_SNAPSHOT_MAGIC "MIMICSAV"
#define MIMIC_SNAPSHOT_DEVICE_MAGIC "MIMICDEV"
#define MIMIC_SNAPSHOT_VERSION 1u
#define MIMIC_SNAPSHOT_DEVICES_MAX (MIMIC_KIND_DEVICES_MAX * MIMIC_KINDS_MAX)
#define MIMIC_SNAPSHOT_DEVICE_MAX (64u << 20)	/* bytes of a record */
#define MIMIC_SNAPSHOT_OWNERS_MAX 16384u
#define MIMIC_SNAPSHOT_KEY_MAX 48u		/* of a parameter's name, the final 0 included */
#define MIMIC_SNAPSHOT_RELEASE_MAX 32u
#define MIMIC_SNAPSHOT_MACHINE_MAX 16u

/* The beginning of a file. Texts are padded with 0. */
struct mimic_snapshot_file {
	char magic[8];
	uint32_t version;
	uint32_t devices;	/* how many records follow */
	uint64_t size;		/* of the whole file */
	uint32_t reserved;	/* 0 */
	uint32_t checksum;	/* CRC-32C of the bytes before */
};

/* The beginning of a record. Parameters, owners and the image follow, then zeros up to a multiple of 8 bytes. */
struct mimic_snapshot_record {
	char magic[8];
	uint32_t version;
	uint32_t checksum;	/* CRC-32C of the whole record, with 0 here */
	uint64_t size;		/* of the record, with all that follows */
	char device[MIMIC_NAME_MAX];
	char kind[MIMIC_KIND_MAX];
	char release[MIMIC_SNAPSHOT_RELEASE_MAX];	/* of the mimic that saved it */
	char machine[MIMIC_SNAPSHOT_MACHINE_MAX];	/* "x86_64": the processor of that */
	uint32_t layout;	/* mimic_record_snapshot_layout() */
	uint32_t parameters;
	uint32_t owners;
	uint32_t reserved;	/* 0 */
	uint64_t image_size;
};

/* A key of the kind's configuration. */
struct mimic_snapshot_parameter {
	char name[MIMIC_SNAPSHOT_KEY_MAX];
	uint32_t value;
	uint32_t reserved;	/* 0 */
};

/* A record that is sound, in the reader's memory. */
struct mimic_snapshot {
	const struct mimic_snapshot_record *record;
	const struct mimic_snapshot_parameter *parameters;
	const uint64_t *owners;
	const void *image;
};

/* The parts of a record; all but the image. */
struct mimic_snapshot_parts {
	const char *device;
	const struct mimic_kind *kind;
	const void *parameters;		/* the kind's */
	const uint64_t *owners;
	size_t owner_count;
	size_t image_size;
};

/* How this program lays structures out: sizes and alignments of types. */
uint32_t mimic_record_snapshot_layout(void);

/* Bytes of such a record; 0: more than a record can have. */
size_t mimic_record_snapshot_size(const struct mimic_snapshot_parts *parts);
/* Writes all but the image, into so many bytes, aligned to 8. Answers where the image goes. */
void *mimic_record_snapshot_begin(const struct mimic_snapshot_parts *parts, void *bytes);
/* The image is there. */
void mimic_record_snapshot_end(void *bytes);

/*
 * The record at the beginning of these bytes (aligned to 8), which may be followed by others. 0; -EINVAL: none,
 * with the reason.
 */
int mimic_record_snapshot_read(const void *bytes, size_t size, struct mimic_snapshot *snapshot, struct mimic_text *reason);
/* Does it fit a device of this kind and these parameters? 0; -EINVAL: no, with the reason. */
int mimic_record_snapshot_fits(const struct mimic_snapshot *snapshot, const struct mimic_kind *kind, const void *parameters,
			struct mimic_text *reason);

/* The header of a file of so many records, of so many bytes in all. */
void mimic_record_snapshot_file_begin(struct mimic_snapshot_file *file, unsigned int devices, uint64_t size);
/*
 * A whole file (aligned to 8): how many devices it has, each of them sound; records begin behind its header, each
 * `record->size` bytes. -EINVAL with the reason.
 */
int mimic_record_snapshot_file_check(const void *bytes, size_t size, struct mimic_text *reason);

#endif
