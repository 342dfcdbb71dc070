/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/record/snapshot.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "libmimic/record/format.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers of a file lie as the processor has them");
_Static_assert(sizeof(struct mimic_snapshot_file) == 32, "the file's header has no gaps");
_Static_assert(sizeof(struct mimic_snapshot_record) == 144, "a record's header has no gaps");
_Static_assert(sizeof(struct mimic_snapshot_parameter) == 56, "a parameter has no gaps");

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#elif defined(__riscv)
#define MACHINE "riscv64"
#else
#define MACHINE "unknown"
#endif

uint32_t mimic_record_snapshot_layout(void)
{
	struct wide {
		char first;
		uint64_t second;
	};
	enum small { NONE };

	return (uint32_t)(sizeof(void *) | sizeof(long) << 4 | sizeof(size_t) << 8 | sizeof(enum small) << 12 |
			  sizeof(bool) << 16 | offsetof(struct wide, second) << 20);
}

/* --- written ---------------------------------------------------------------------------- */

size_t mimic_record_snapshot_size(const struct mimic_snapshot_parts *parts)
{
	size_t size = sizeof(struct mimic_snapshot_record) +
		      parts->kind->key_count * sizeof(struct mimic_snapshot_parameter) +
		      parts->owner_count * sizeof(*parts->owners);

	if (parts->owner_count > MIMIC_SNAPSHOT_OWNERS_MAX || parts->image_size > MIMIC_SNAPSHOT_DEVICE_MAX - size)
		return 0;
	return (size + parts->image_size + 7) / 8 * 8;
}

static void put_text(char *to, size_t size, const char *text)
{
	size_t length = strlen(text);

	memset(to, 0, size);
	memcpy(to, text, length < size ? length : size - 1);
}

static uint32_t value_of(const struct mimic_key *key, const void *parameters)
{
	uint32_t value;

	memcpy(&value, (const char *)parameters + key->offset, sizeof(value));
	return key->bit ? (value & key->bit) != 0 : value;
}

static void put_parameters(const struct mimic_snapshot_parts *parts, struct mimic_snapshot_parameter *to)
{
	for (size_t i = 0; i < parts->kind->key_count; i++) {
		put_text(to[i].name, sizeof(to[i].name), parts->kind->keys[i].name);
		to[i].value = value_of(&parts->kind->keys[i], parts->parameters);
	}
}

void *mimic_record_snapshot_begin(const struct mimic_snapshot_parts *parts, void *bytes)
{
	struct mimic_snapshot_record *record = bytes;
	struct mimic_snapshot_parameter *parameters = (struct mimic_snapshot_parameter *)(record + 1);
	uint64_t *owners = (uint64_t *)(parameters + parts->kind->key_count);

	memset(bytes, 0, mimic_record_snapshot_size(parts));
	memcpy(record->magic, MIMIC_SNAPSHOT_DEVICE_MAGIC, sizeof(record->magic));
	record->version = MIMIC_SNAPSHOT_VERSION;
	record->size = mimic_record_snapshot_size(parts);
	put_text(record->device, sizeof(record->device), parts->device);
	put_text(record->kind, sizeof(record->kind), parts->kind->name);
	put_text(record->release, sizeof(record->release), MIMIC_VERSION);
	put_text(record->machine, sizeof(record->machine), MACHINE);
	record->layout = mimic_record_snapshot_layout();
	record->parameters = (uint32_t)parts->kind->key_count;
	record->owners = (uint32_t)parts->owner_count;
	record->image_size = parts->image_size;
	put_parameters(parts, parameters);
	if (parts->owner_count)
		memcpy(owners, parts->owners, parts->owner_count * sizeof(*owners));
	return owners + parts->owner_count;
}

/* Of the record with 0 for its checksum. */
static uint32_t checksum_of(const struct mimic_snapshot_record *record)
{
	size_t before = offsetof(struct mimic_snapshot_record, checksum);
	size_t behind = before + sizeof(record->checksum);
	static const uint32_t none;
	uint32_t crc;

	mimic_record_crc32c_prepare();
	crc = mimic_record_crc32c(0, record, before);
	crc = mimic_record_crc32c(crc, &none, sizeof(none));
	return mimic_record_crc32c(crc, (const char *)record + behind, record->size - behind);
}

void mimic_record_snapshot_end(void *bytes)
{
	struct mimic_snapshot_record *record = bytes;

	record->checksum = checksum_of(record);
}

/* --- read ------------------------------------------------------------------------------- */

static int refuse(struct mimic_text *reason, const char *text)
{
	mimic_text_add(reason, text);
	return -EINVAL;
}

/* "TEXT ONE, not OTHER" */
static int refuse_number(struct mimic_text *reason, const char *text, uint64_t one, const char *between, uint64_t other)
{
	mimic_text_add(reason, text);
	mimic_text_add_decimal(reason, one);
	mimic_text_add(reason, between);
	mimic_text_add_decimal(reason, other);
	return -EINVAL;
}

/* One word, which ends and has nothing behind its end: it is printed. */
static bool is_word(const char *text, size_t size)
{
	size_t length = strnlen(text, size);

	for (size_t i = 0; i < length; i++) {
		if (text[i] <= ' ' || text[i] > '~' || text[i] == '"' || text[i] == '\\')
			return false;
	}
	for (size_t i = length; i < size; i++) {
		if (text[i])
			return false;
	}
	return length && length < size;
}

static bool texts_are_sound(const struct mimic_snapshot *snapshot)
{
	const struct mimic_snapshot_record *record = snapshot->record;

	if (!is_word(record->device, sizeof(record->device)) || !is_word(record->kind, sizeof(record->kind)) ||
	    !is_word(record->release, sizeof(record->release)) || !is_word(record->machine, sizeof(record->machine)))
		return false;
	for (uint32_t i = 0; i < record->parameters; i++) {
		if (!is_word(snapshot->parameters[i].name, sizeof(snapshot->parameters[i].name)) ||
		    snapshot->parameters[i].reserved)
			return false;
	}
	return !record->reserved;
}

/* Do the parts that the header tells of make up the record? */
static bool lengths_are_sound(const struct mimic_snapshot_record *record)
{
	uint64_t size = sizeof(*record);

	if (record->parameters > MIMIC_KIND_KEYS_MAX || record->owners > MIMIC_SNAPSHOT_OWNERS_MAX ||
	    record->image_size > MIMIC_SNAPSHOT_DEVICE_MAX)
		return false;
	size += record->parameters * sizeof(struct mimic_snapshot_parameter) + record->owners * sizeof(uint64_t);
	return record->size == (size + record->image_size + 7) / 8 * 8 && record->size <= MIMIC_SNAPSHOT_DEVICE_MAX;
}

int mimic_record_snapshot_read(const void *bytes, size_t size, struct mimic_snapshot *snapshot, struct mimic_text *reason)
{
	const struct mimic_snapshot_record *record = bytes;

	if (size < sizeof(*record))
		return refuse_number(reason, "a device's record is cut off: ", size, " bytes of at least ", sizeof(*record));
	if (memcmp(record->magic, MIMIC_SNAPSHOT_DEVICE_MAGIC, sizeof(record->magic)))
		return refuse(reason, "there is no device's record where one should begin");
	if (record->version != MIMIC_SNAPSHOT_VERSION)
		return refuse_number(reason, "a device's record has version ", record->version,
				     "; this mimic reads version ", MIMIC_SNAPSHOT_VERSION);
	if (!lengths_are_sound(record))
		return refuse(reason, "the lengths in a device's record do not add up");
	if (record->size > size)
		return refuse_number(reason, "a device's record is cut off: ", size, " bytes of ", record->size);
	if (record->checksum != checksum_of(record))
		return refuse(reason, "the checksum of a device's record is wrong: bytes of it have changed");
	snapshot->record = record;
	snapshot->parameters = (const struct mimic_snapshot_parameter *)(record + 1);
	snapshot->owners = (const uint64_t *)(snapshot->parameters + record->parameters);
	snapshot->image = snapshot->owners + record->owners;
	if (!texts_are_sound(snapshot))
		return refuse(reason, "a text in a device's record is none that mimic writes");
	return 0;
}

/* --- fits ------------------------------------------------------------------------------- */

static const struct mimic_snapshot_parameter *find(const struct mimic_snapshot *snapshot, const char *name)
{
	for (uint32_t i = 0; i < snapshot->record->parameters; i++) {
		if (!strcmp(snapshot->parameters[i].name, name))
			return &snapshot->parameters[i];
	}
	return NULL;
}

/* "it was saved with queue_words 32, and maple devices here have 64" */
static int compare_parameters(const struct mimic_snapshot *snapshot, const struct mimic_kind *kind,
			      const void *parameters, struct mimic_text *reason)
{
	for (size_t i = 0; i < kind->key_count; i++) {
		const struct mimic_snapshot_parameter *saved = find(snapshot, kind->keys[i].name);
		uint32_t here = value_of(&kind->keys[i], parameters);

		if (saved && saved->value == here)
			continue;
		mimic_text_add(reason, saved ? "it was saved with " : "it was saved by a mimic without ");
		mimic_text_add(reason, kind->keys[i].name);
		if (saved)
			refuse_number(reason, " = ", saved->value, ", and here it is ", here);
		return -EINVAL;
	}
	if (snapshot->record->parameters != kind->key_count)
		return refuse_number(reason, "it was saved with ", snapshot->record->parameters,
				     " parameters, and the kind has here ", kind->key_count);
	return 0;
}

int mimic_record_snapshot_fits(const struct mimic_snapshot *snapshot, const struct mimic_kind *kind, const void *parameters,
			struct mimic_text *reason)
{
	const struct mimic_snapshot_record *record = snapshot->record;

	if (strcmp(record->kind, kind->name)) {
		mimic_text_add(reason, "it is a state of kind ");
		mimic_text_add(reason, record->kind);
		return refuse(reason, ", and the device is of another");
	}
	if (record->layout != mimic_record_snapshot_layout()) {
		mimic_text_add(reason, "it was saved on ");
		mimic_text_add(reason, record->machine);
		return refuse(reason, ", which lays data out in another way than " MACHINE);
	}
	return compare_parameters(snapshot, kind, parameters, reason);
}

/* --- files ------------------------------------------------------------------------------ */

void mimic_record_snapshot_file_begin(struct mimic_snapshot_file *file, unsigned int devices, uint64_t size)
{
	*file = (struct mimic_snapshot_file){
		.version = MIMIC_SNAPSHOT_VERSION, .devices = devices, .size = size,
	};
	memcpy(file->magic, MIMIC_SNAPSHOT_MAGIC, sizeof(file->magic));
	mimic_record_crc32c_prepare();
	file->checksum = mimic_record_crc32c(0, file, offsetof(struct mimic_snapshot_file, checksum));
}

static int check_header(const struct mimic_snapshot_file *file, size_t size, struct mimic_text *reason)
{
	size_t known = size < sizeof(file->magic) ? size : sizeof(file->magic);

	if (!size)
		return refuse(reason, "it is empty");
	if (memcmp(file->magic, MIMIC_SNAPSHOT_MAGIC, known))
		return refuse(reason, "it is no file of mimic save");
	if (size < sizeof(*file))
		return refuse_number(reason, "it is cut off: ", size, " bytes of at least ", sizeof(*file));
	if (file->version != MIMIC_SNAPSHOT_VERSION)
		return refuse_number(reason, "it has version ", file->version, "; this mimic reads version ",
				     MIMIC_SNAPSHOT_VERSION);
	mimic_record_crc32c_prepare();
	if (file->checksum != mimic_record_crc32c(0, file, offsetof(struct mimic_snapshot_file, checksum)))
		return refuse(reason, "the checksum of its header is wrong: bytes of it have changed");
	if (file->size != size)
		return refuse_number(reason, file->size > size ? "it is cut off: " : "it is longer than it says: ",
				     size, " bytes of ", file->size);
	if (!file->devices || file->devices > MIMIC_SNAPSHOT_DEVICES_MAX)
		return refuse(reason, "it has no devices, or more than there can be");
	return file->reserved ? refuse(reason, "its header is none that mimic writes") : 0;
}

int mimic_record_snapshot_file_check(const void *bytes, size_t size, struct mimic_text *reason)
{
	const struct mimic_snapshot_file *file = bytes;
	size_t at = sizeof(*file);
	int error = check_header(file, size, reason);

	if (error)
		return error;
	for (uint32_t i = 0; i < file->devices; i++) {
		struct mimic_snapshot snapshot;

		error = mimic_record_snapshot_read((const char *)bytes + at, size - at, &snapshot, reason);
		if (error)
			return error;
		at += snapshot.record->size;
	}
	return at == size ? (int)file->devices : refuse(reason, "there are bytes behind its last device");
}
