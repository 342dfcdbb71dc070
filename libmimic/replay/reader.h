/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Reads a recording: its blocks, and the records of a stream. Nothing in it is believed. */
#ifndef LIBMIMIC_REPLAY_READER_H
#define LIBMIMIC_REPLAY_READER_H

#include "libmimic/record/format.h"
#include "libmimic/replay/replay.h"

struct replay_block {
	uint64_t offset;
	size_t next;		/* of its stream; 0: none */
};

struct replay_file {
	int fd;
	uint64_t end;		/* of the blocks that are whole */
	struct replay_block *blocks;
	size_t block_count;
	size_t *first;		/* by stream: its first block */
	unsigned int streams;
	struct mimic_replay_damage damage;
};

struct replay_reader {
	const struct replay_file *file;
	uint32_t stream;
	const struct replay_block *next;	/* NULL: none */
	uint64_t position;	/* of the payload in the file */
	size_t at, length;
	bool is_over;		/* nothing more; numbers are 0 */
	struct mimic_replay_damage damage;	/* a record that cannot be */
	unsigned char payload[RECORD_BLOCK_MAX];
};

/* 0, or -errno with a text. */
int mimic_replay_file_open(struct replay_file *file, const char *path, char *text, size_t size);
void mimic_replay_file_close(struct replay_file *file);

void mimic_replay_reader_start(struct replay_reader *reader, const struct replay_file *file,
			       uint32_t stream);
/* false: there are none left, or it is over. */
bool mimic_replay_reader_more(struct replay_reader *reader);
unsigned int mimic_replay_byte(struct replay_reader *reader);
uint64_t mimic_replay_number(struct replay_reader *reader);
/* Bytes that the file lacks are 0. */
void mimic_replay_bytes(struct replay_reader *reader, void *bytes, size_t size);
/* A text of at most size - 1 bytes; a longer one is no record. */
void mimic_replay_text(struct replay_reader *reader, char *text, size_t size);
/* A number that is at most `most`; else `name` is in the message. */
uint64_t mimic_replay_limited(struct replay_reader *reader, const char *name, uint64_t most);
/* Reports that the item that was read last is wrong. */
void mimic_replay_bad(struct replay_reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
