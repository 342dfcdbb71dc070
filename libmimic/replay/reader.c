/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/replay/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- blocks -------------------------------------------------------------------------------- */

static int damage(struct mimic_replay_damage *to, uint64_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int damage(struct mimic_replay_damage *to, uint64_t offset, const char *format, ...)
{
	va_list arguments;

	to->exists = true;
	to->offset = offset;
	va_start(arguments, format);
	vsnprintf(to->text, sizeof(to->text), format, arguments);
	va_end(arguments);
	return -EINVAL;
}

/* How many bytes there are of those that are wanted. */
static size_t read_at(int fd, void *bytes, size_t size, uint64_t offset)
{
	size_t done = 0;
	ssize_t got;

	while (done < size) {
		got = pread(fd, (char *)bytes + done, size - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

/* 1; 0: there is no more; or -EINVAL with the damage. */
static int read_header(int fd, uint64_t offset, struct record_block_header *header,
		       struct mimic_replay_damage *bad)
{
	size_t got = read_at(fd, header, sizeof(*header), offset);

	if (!got)
		return 0;
	if (got < sizeof(*header))
		return damage(bad, offset + got, "cut off inside of the header of the block at offset %llu",
			      (unsigned long long)offset);
	if (header->magic != RECORD_BLOCK_MAGIC)
		return damage(bad, offset, "no block begins at offset %llu", (unsigned long long)offset);
	if (!header->length || header->length > RECORD_BLOCK_MAX)
		return damage(bad, offset, "block at offset %llu: a length of %u is not possible",
			      (unsigned long long)offset, header->length);
	if (header->stream >= RECORD_STREAMS_MAX)
		return damage(bad, offset, "block at offset %llu: a stream %u is not possible",
			      (unsigned long long)offset, header->stream);
	return 1;
}

static int read_payload(int fd, uint64_t offset, const struct record_block_header *header,
			void *payload, struct mimic_replay_damage *bad)
{
	size_t got = read_at(fd, payload, header->length, offset + sizeof(*header));
	uint32_t checksum;

	if (got < header->length)
		return damage(bad, offset + sizeof(*header) + got, "cut off inside of the block at offset %llu",
			      (unsigned long long)offset);
	checksum = mimic_record_crc32c(0, header, offsetof(struct record_block_header, checksum));
	if (mimic_record_crc32c(checksum, payload, header->length) != header->checksum)
		return damage(bad, offset, "block at offset %llu: checksum does not match",
			      (unsigned long long)offset);
	return 0;
}

/* --- the file -------------------------------------------------------------------------------- */

static int check_file_header(int fd, char *text, size_t size)
{
	struct record_file_header header;
	size_t got = read_at(fd, &header, sizeof(header), 0);
	uint32_t checksum = mimic_record_crc32c(0, &header, offsetof(struct record_file_header, checksum));

	if (got < sizeof(header.magic) || (memcmp(header.magic, RECORD_MAGIC, sizeof(header.magic)) &&
					   memcmp(header.magic, RECORD_MAGIC_CUT, sizeof(header.magic)))) {
		snprintf(text, size, "not a recording of mimic");
		return -EINVAL;
	}
	if (got < sizeof(header)) {
		snprintf(text, size, "cut off at offset %zu, inside of its header", got);
		return -EINVAL;
	}
	if (checksum != header.checksum) {
		snprintf(text, size, "the checksum of its header does not match");
		return -EINVAL;
	}
	if (header.version < RECORD_VERSION_OLDEST || header.version > RECORD_VERSION) {
		snprintf(text, size, "a recording of version %u; this mimic reads versions %u to %u",
			 header.version, RECORD_VERSION_OLDEST, RECORD_VERSION);
		return -ENOTSUP;
	}
	return 0;
}

bool mimic_replay_is_cut(const char *path)
{
	struct record_file_header header;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_cut;

	if (fd < 0)
		return false;
	is_cut = read_at(fd, &header, sizeof(header), 0) == sizeof(header) &&
		 !memcmp(header.magic, RECORD_MAGIC_CUT, sizeof(header.magic));
	close(fd);
	return is_cut;
}

struct scan_stream {
	uint32_t sequence;	/* of its next block */
	size_t last;		/* its block before that */
};

struct scan {
	struct scan_stream *streams;
	size_t room;
	size_t block_room;
};

static int make_room(struct replay_file *file, struct scan *scan, uint32_t stream)
{
	size_t room = scan->room ? scan->room : 64;
	void *first, *streams;

	while (room <= stream)
		room *= 2;
	if (room == scan->room)
		return 0;
	first = realloc(file->first, room * sizeof(*file->first));
	if (first)
		file->first = first;
	streams = realloc(scan->streams, room * sizeof(*scan->streams));
	if (streams)
		scan->streams = streams;
	if (!first || !streams)
		return -ENOMEM;
	memset(scan->streams + scan->room, 0, (room - scan->room) * sizeof(*scan->streams));
	scan->room = room;
	return 0;
}

/* Each leads to the next of its stream: files with many streams would else be read once for each. */
static int add_block(struct replay_file *file, struct scan *scan, uint32_t stream)
{
	size_t room = scan->block_room ? 2 * scan->block_room : 64, number = file->block_count;
	struct replay_block *blocks;

	if (number == scan->block_room) {
		blocks = realloc(file->blocks, room * sizeof(*blocks));
		if (!blocks)
			return -ENOMEM;
		file->blocks = blocks;
		scan->block_room = room;
	}
	file->blocks[number] = (struct replay_block){ .offset = file->end };
	if (stream == file->streams)
		file->first[file->streams++] = number;
	else
		file->blocks[scan->streams[stream].last].next = number;
	scan->streams[stream].last = number;
	scan->streams[stream].sequence++;
	file->block_count++;
	return 0;
}

static int note_block(struct replay_file *file, struct scan *scan,
		      const struct record_block_header *header)
{
	int error = make_room(file, scan, header->stream);

	if (error)
		return error;
	/* Streams are made one after the other, and each writes its first block at once. */
	if (header->stream > file->streams)
		return damage(&file->damage, file->end, "block at offset %llu: stream %u where %u is due",
			      (unsigned long long)file->end, header->stream, file->streams);
	if (header->sequence != scan->streams[header->stream].sequence)
		return damage(&file->damage, file->end,
			      "block at offset %llu: number %u of stream %u, where %u is due",
			      (unsigned long long)file->end, header->sequence, header->stream,
			      scan->streams[header->stream].sequence);
	return add_block(file, scan, header->stream);
}

/* All blocks up to the first that is not whole. */
static int scan_blocks(struct replay_file *file)
{
	unsigned char *payload = malloc(RECORD_BLOCK_MAX);
	struct record_block_header header;
	struct scan scan = { .streams = NULL };
	int error = payload ? 0 : -ENOMEM;

	file->end = sizeof(struct record_file_header);
	while (!error && read_header(file->fd, file->end, &header, &file->damage) > 0) {
		error = read_payload(file->fd, file->end, &header, payload, &file->damage);
		if (!error)
			error = note_block(file, &scan, &header);
		if (!error)
			file->end += sizeof(header) + header.length;
	}
	free(scan.streams);
	free(payload);
	return error == -ENOMEM ? error : 0;
}

static int open_regular(const char *path)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int error = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		error = -errno;
	else if (S_ISDIR(status.st_mode))
		error = -EISDIR;
	else if (!S_ISREG(status.st_mode))
		error = -ESPIPE;
	if (!error)
		return fd;
	close(fd);
	return error;
}

int mimic_replay_file_open(struct replay_file *file, const char *path, char *text, size_t size)
{
	int error;

	*file = (struct replay_file){ .fd = open_regular(path) };
	if (file->fd < 0) {
		snprintf(text, size, "%s", file->fd == -ESPIPE ? "not a regular file" : strerror(-file->fd));
		return file->fd;
	}
	mimic_record_crc32c_prepare();
	error = check_file_header(file->fd, text, size);
	if (!error) {
		error = scan_blocks(file);
		if (error)
			snprintf(text, size, "%s", strerror(-error));
	}
	if (error)
		mimic_replay_file_close(file);
	return error;
}

void mimic_replay_file_close(struct replay_file *file)
{
	close(file->fd);
	free(file->blocks);
	free(file->first);
}

/* --- records ------------------------------------------------------------------------------------ */

void mimic_replay_reader_start(struct replay_reader *reader, const struct replay_file *file,
			       uint32_t stream)
{
	reader->file = file;
	reader->stream = stream;
	reader->next = &file->blocks[file->first[stream]];
	reader->at = 0;
	reader->length = 0;
	reader->is_over = false;
	reader->damage.exists = false;
}

/* They were whole when the file was opened; another process may have written to it since. */
static bool load_block(struct replay_reader *reader)
{
	const struct replay_block *block = reader->next;
	const struct replay_file *file = reader->file;
	struct record_block_header header;

	if (!block)
		return false;
	reader->next = block->next ? &file->blocks[block->next] : NULL;
	if (read_header(file->fd, block->offset, &header, &reader->damage) <= 0 ||
	    header.stream != reader->stream ||
	    read_payload(file->fd, block->offset, &header, reader->payload, &reader->damage))
		return false;
	reader->position = block->offset + sizeof(header);
	reader->at = 0;
	reader->length = header.length;
	return true;
}

bool mimic_replay_reader_more(struct replay_reader *reader)
{
	if (reader->is_over)
		return false;
	if (reader->at < reader->length)
		return true;
	if (load_block(reader))
		return true;
	reader->is_over = true;
	return false;
}

unsigned int mimic_replay_byte(struct replay_reader *reader)
{
	return mimic_replay_reader_more(reader) ? reader->payload[reader->at++] : 0;
}

uint64_t mimic_replay_number(struct replay_reader *reader)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		unsigned int byte = mimic_replay_byte(reader);

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 127) << shift;
		if (!(byte & 128))
			return value;
	}
	mimic_replay_bad(reader, "a number of more than 64 bits");
	return 0;
}

void mimic_replay_bytes(struct replay_reader *reader, void *bytes, size_t size)
{
	unsigned char *to = bytes;

	while (size && mimic_replay_reader_more(reader)) {
		size_t there = reader->length - reader->at;
		size_t piece = size < there ? size : there;

		memcpy(to, reader->payload + reader->at, piece);
		reader->at += piece;
		to += piece;
		size -= piece;
	}
	memset(to, 0, size);
}

void mimic_replay_text(struct replay_reader *reader, char *text, size_t size)
{
	size_t length = (size_t)mimic_replay_limited(reader, "a text's length", size - 1);

	mimic_replay_bytes(reader, text, length);
	text[length] = '\0';
	/* They are printed, and a terminal would obey them. */
	for (size_t i = 0; i < length; i++) {
		if (text[i] != '\n' && (text[i] < ' ' || text[i] > '~'))
			mimic_replay_bad(reader, "a text with a character %d in it", text[i]);
	}
}

uint64_t mimic_replay_limited(struct replay_reader *reader, const char *name, uint64_t most)
{
	uint64_t value = mimic_replay_number(reader);

	if (value <= most)
		return value;
	mimic_replay_bad(reader, "%s of %llu is not possible", name, (unsigned long long)value);
	return 0;
}

void mimic_replay_bad(struct replay_reader *reader, const char *format, ...)
{
	struct mimic_replay_damage *bad = &reader->damage;
	va_list arguments;

	/* Only the first mistake is reported, and none after the end. */
	if (reader->is_over)
		return;
	reader->is_over = true;
	bad->exists = true;
	bad->offset = reader->position + (reader->at ? reader->at - 1 : 0);
	va_start(arguments, format);
	vsnprintf(bad->text, sizeof(bad->text), format, arguments);
	va_end(arguments);
}
