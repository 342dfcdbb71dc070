/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The files of the state filesystem, compared with the models and with the clients' actions. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/engine/instance.h"
#include "libmimic/base/config.h"
#include "libmimic/daemon/client.h"
#include "libmimic/mimic.h"
#include "mimic/dare_registers.h"
#include "mimic/maple_registers.h"
#include "mimic/virgo_registers.h"
#include "tests/lib/state_mounted.h"

/* --- files and folders --------------------------------------------------------------------- */

static struct mimic_device *open_device(const char *name)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = mounted.socket };
	struct mimic_device *device;

	assert_int_equal(mimic_device_open(&device, name, &options), 0);
	return device;
}

/* A value may have grown between: it lies between the model's values before and after. */
static void check_number(const char *text, const struct state_entry *before, const struct state_entry *after)
{
	uint64_t value;
	char *end, again[32];

	errno = 0;
	value = strtoull(text, &end, 0);
	switch (before->format) {
	case MIMIC_STATE_HEX:
		snprintf(again, sizeof(again), "0x%llx\n", (unsigned long long)value);
		break;
	case MIMIC_STATE_SIGNED:
		snprintf(again, sizeof(again), "%lld\n", (long long)value);
		break;
	default:
		snprintf(again, sizeof(again), "%llu\n", (unsigned long long)value);
	}
	if (errno || strcmp(again, text) || *end != '\n')
		fail_msg("%s: '%s'", before->path, text);
	if (value < before->value || value > after->value)
		fail_msg("%s: %s, and the model says %llu to %llu", before->path, text,
			 (unsigned long long)before->value, (unsigned long long)after->value);
}

static void check_entry(const char *device, const struct state_entry *before, const struct state_entry *after)
{
	size_t size;
	char *text = state_mount_read(&mounted, &size, "devices/%s/%s", device, before->path);

	if (!text)
		fail_msg("%s/%s: %s", device, before->path, strerror(errno));
	if (before->type == STATE_NUMBER)
		check_number(text, before, after);
	else if (before->type == STATE_BYTES && (size != before->value || memcmp(text, before->bytes, size)))
		fail_msg("%s/%s: %zu bytes, others than the model's", device, before->path, size);
	else if (before->type == STATE_TEXT && (strncmp(text, before->text, size - 1) || text[size - 1] != '\n'))
		fail_msg("%s/%s: '%s', not '%s'", device, before->path, text, before->text);
	free(text);
}

static unsigned int plain_files;

static int count_file(const char *path, const struct stat *status, int type, struct FTW *at)
{
	(void)status;
	if (type == FTW_DNR || type == FTW_NS)
		fail_msg("%s cannot be looked at", path);
	if (type == FTW_F && strcmp(path + at->base, ".state") && !strstr(path, "/control/"))
		plain_files++;
	return 0;
}

static void check_device(const char *device)
{
	struct state_tree *before = state_mount_tree(&mounted, device);
	struct state_tree *after = state_mount_tree(&mounted, device);
	char path[160];

	/* The second tree of the model must be newer than all values that are read. */
	for (size_t i = 0; i < before->count; i++) {
		if (before->entries[i].type == STATE_NUMBER && before->entries[i].value != after->entries[i].value)
			after->entries[i].value = UINT64_MAX;
		check_entry(device, &before->entries[i], &after->entries[i]);
	}
	plain_files = 0;
	snprintf(path, sizeof(path), "%s/devices/%s", mounted.path, device);
	assert_int_equal(nftw(path, count_file, 16, FTW_PHYS), 0);
	assert_int_equal(plain_files, before->count);
	state_tree_free(before);
	state_tree_free(after);
}

static void store(struct mimic_device *device, uint16_t offset, uint64_t value)
{
	struct mimic_access access = { .offset = offset, .size = 8, .is_write = 1, .data = value };

	assert_int_equal(mimic_device_access(device, &access), 0);
}

static void every_value_that_a_model_shows_is_a_file_and_no_other_is_there(void **unused)
{
	struct mimic_device *dare = open_device("dare0"), *virgo = open_device("virgo0");
	uint32_t *table = mimic_memory_alloc(served_device, 4096);

	(void)unused;
	for (unsigned int i = 0; i < 1024; i++)
		table[i] = i;
	served_init(WORDS_32);
	served_open_both(1);
	register_store(SET_BASE32, 1, 8, (uintptr_t)table);
	register_store(POINTER32, 1, 8, 7);
	register_store(PRODUCE, 1, 4, 77);
	store(dare, 0x000, 0x1234567890abcdef);
	store(dare, 0x010, 0xffffffff);	/* no instruction: an error is latched */
	store(virgo, VIRGO_CONTROL_EVENT_ENABLE, 0);
	check_device("maple0");
	check_device("maple1");
	check_device("dare0");
	check_device("virgo0");
	assert_file("devices/dare0/contexts/0/registers/RS1", "0x1234567890abcdef\n");
	mimic_memory_free(served_device, table);
	mimic_device_close(dare);
	mimic_device_close(virgo);
}

static void every_register_of_the_lists_that_can_be_loaded_is_there(void **unused)
{
	unsigned int count = 0;

	(void)unused;
#define REGISTER(folder, name) \
	count++; \
	if (!is_there(folder "/" #name)) \
		fail_msg("%s is not there", folder "/" #name);
#define _(code, name, role, shows, meaning) REGISTER("maple0/registers/MAPLE", name)
	MAPLE_LOADS(_)
#undef _
#define _(code, name, role, shows, meaning) \
	if (strcmp(#name, "FAULT_STATUS")) { \
		REGISTER("maple0/registers/MAPLE", name) \
	} else { \
		REGISTER("maple0/registers/MMU", name) \
	}
	MAPLE_EXTENSION_LOADS(_)
#undef _
#define LOADED(folder, name, access) \
	if (#access[0] == 'R') { \
		REGISTER(folder, name) \
	}
#define _(offset, name, access, reset, role, format, meaning) LOADED("dare0/registers", name, access)
	DARE_CONTROL_REGISTERS(_)
#undef _
#define _(offset, name, access, reset, role, format, meaning) LOADED("dare0/contexts/7/registers", name, access)
	DARE_CONTEXT_REGISTERS(_)
#undef _
#define _(offset, name, access, reset, role, format, meaning) LOADED("virgo0/registers", name, access)
	VIRGO_CONTROL_REGISTERS(_)
#undef _
#define _(offset, name, access, reset, role, format, meaning) LOADED("virgo0/units/3/registers", name, access)
	VIRGO_UNIT_REGISTERS(_)
#undef _
	assert_true(count > 40);
}

static void a_memory_is_a_file_of_exactly_its_bytes(void **unused)
{
	struct mimic_device *virgo = open_device("virgo0");
	unsigned char *memory;
	struct stat status;
	size_t size, got;
	char path[160], *bytes;

	(void)unused;
	assert_int_equal(mimic_device_memory(virgo, (void **)&memory, &size), 0);
	for (size_t i = 0; i < size; i++)
		memory[i] = (unsigned char)(i * 7 + (i >> 8));
	bytes = state_mount_read(&mounted, &got, "devices/virgo0/shared_memory");
	assert_non_null(bytes);
	assert_int_equal(got, 128 << 10);
	assert_int_equal(size, got);
	for (size_t i = 0; i < size; i++)
		assert_int_equal((unsigned char)bytes[i], (unsigned char)(i * 7 + (i >> 8)));
	snprintf(path, sizeof(path), "%s/devices/virgo0/shared_memory", mounted.path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_size, size);
	free(bytes);
	mimic_device_close(virgo);
}

static void a_table_says_what_the_files_below_it_say(void **unused)
{
	char *table = state_mount_read(&mounted, NULL, "devices/dare0/.state"), *rest;
	unsigned int lines = 0;

	(void)unused;
	assert_non_null(table);
	for (char *line = strtok_r(table, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *value = strchr(line, '\t'), *meaning = value ? strchr(value + 1, '\t') : NULL, *text;

		assert_non_null(meaning);
		assert_true(strlen(meaning) > 2);
		*value++ = 0;
		*meaning = 0;
		lines++;
		if (strstr(value, " bytes"))
			continue;
		text = state_mount_read(&mounted, NULL, "devices/dare0/%s", line);
		assert_non_null(text);
		text[strlen(text) - 1] = 0;
		assert_string_equal(text, value);
		free(text);
	}
	free(table);
	assert_true(lines > 300);
}

static void the_configuration_is_a_file_that_mimicd_takes(void **unused)
{
	char path[] = "/tmp/mimic-config-XXXXXX", *text = state_mount_read(&mounted, NULL, "config");
	struct mimic_settings settings;
	int fd = mkstemp(path);

	(void)unused;
	assert_non_null(text);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	memset(&settings, 0xff, sizeof(settings));
	assert_int_equal(mimic_config_load(path, &settings), 0);
	assert_memory_equal(&settings, &mounted.server->engine.settings, sizeof(settings));
	unlink(path);
	free(text);
}

static void a_client_is_a_folder_with_what_it_has_and_has_done(void **unused)
{
	struct mimic_device *private_one = open_device("maple@3");
	char file[80], expected[64];

	(void)unused;
	served_init(WORDS_32);
	served_open_both(0);
	register_store(PRODUCE, 0, 4, 5);
	snprintf(file, sizeof(file), "clients/%d/devices", (int)getpid());
	assert_file(file, "maple0\nmaple@3\n");
	snprintf(file, sizeof(file), "clients/%d/uid", (int)getpid());
	snprintf(expected, sizeof(expected), "%d\n", (int)getuid());
	assert_file(file, expected);
	snprintf(file, sizeof(file), "clients/%d/program", (int)getpid());
	assert_file(file, "test_filesystem\n");
	snprintf(file, sizeof(file), "clients/%d/commands", (int)getpid());
	assert_file(file, "5\n");
	snprintf(file, sizeof(file), "maple@3:%d/config/queues", (int)getpid());
	assert_true(is_there("%s", file));
	assert_false(is_there("maple@3:1/config/queues"));
	mimic_device_close(private_one);
	assert_false(is_there("%s", file));
}

static void a_queue_has_a_thread_of_a_client_as_its_producer(void **unused)
{
	char file[80], *producer;

	(void)unused;
	served_init(WORDS_32);
	served_open_both(0);
	producer = state_mount_read(&mounted, NULL, "devices/maple0/queues/0/producer");
	assert_non_null(producer);
	snprintf(file, sizeof(file), "clients/%d/owners/%lu", (int)getpid(), strtoul(producer, NULL, 10));
	/* The first thread of this program. */
	assert_file(file, "1\n");
	assert_int_equal(strtoul(producer, NULL, 10) % 4096, 1);
	free(producer);
}

static void the_root_says_who_it_is(void **unused)
{
	char expected[32];

	(void)unused;
	assert_file("version", MIMIC_VERSION "\n");
	assert_file("transport", "daemon\n");
	snprintf(expected, sizeof(expected), "%d\n", (int)getpid());
	assert_file("pid", expected);
}

static void inode_numbers_belong_to_paths(void **unused)
{
	struct stat first, again, other;
	char path[200];

	(void)unused;
	snprintf(path, sizeof(path), "%s/devices/maple0/counters/produced", mounted.path);
	assert_int_equal(stat(path, &first), 0);
	assert_int_equal(stat(path, &again), 0);
	snprintf(path, sizeof(path), "%s/devices/maple1/counters/produced", mounted.path);
	assert_int_equal(stat(path, &other), 0);
	assert_int_equal(first.st_ino, again.st_ino);
	assert_int_not_equal(first.st_ino, other.st_ino);
}

static void a_folder_lists_each_name_once_however_it_is_read(void **unused)
{
	char path[200];
	DIR *folder;
	unsigned int names = 0;
	struct dirent *entry;

	(void)unused;
	snprintf(path, sizeof(path), "%s/devices/virgo0/counters", mounted.path);
	folder = opendir(path);
	assert_non_null(folder);
	while ((entry = readdir(folder))) {
		long at = telldir(folder);

		names++;
		if (names % 3 == 0)
			seekdir(folder, at);
	}
	closedir(folder);
	/* ".", "..", ".state" and the counters of the list. */
#define _(name, meaning) names--;
	VIRGO_COUNTERS(_)
#undef _
	assert_int_equal(names, 3);
}

/* --- moments ---------------------------------------------------------------------------------- */

static char *read_from_start(int fd)
{
	static char text[64];
	ssize_t size = pread(fd, text, sizeof(text) - 1, 0);

	assert_true(size >= 0);
	text[size] = 0;
	return text;
}

static void an_open_file_keeps_what_it_showed_when_it_was_opened(void **unused)
{
	int fd;

	(void)unused;
	served_init(WORDS_32);
	served_open_both(0);
	fd = open_file("devices/maple0/queues/0/level", O_RDONLY);
	assert_true(fd >= 0);
	register_store(PRODUCE, 0, 4, 5);
	assert_file("devices/maple0/queues/0/level", "1\n");
	assert_string_equal(read_from_start(fd), "0\n");
	assert_string_equal(read_from_start(fd), "0\n");
	close(fd);
}

static bool is_readable(int fd, int timeout)
{
	struct pollfd entry = { .fd = fd, .events = POLLIN };

	return poll(&entry, 1, timeout) == 1 && entry.revents & POLLIN;
}

static void *produce_soon(void *unused)
{
	(void)unused;
	test_sleep_ms(300);
	assert_true(register_load(OPEN_PRODUCER, 0, 4) & 2);
	register_store(PRODUCE, 0, 4, 5);
	return NULL;
}

static void a_file_polls_readable_when_its_device_has_changed(void **unused)
{
	pthread_t thread;
	int fd;

	(void)unused;
	served_init(WORDS_32);
	fd = open_file("devices/maple0/queues/0/level", O_RDONLY);
	assert_true(is_readable(fd, 0));	/* it was not read yet */
	assert_string_equal(read_from_start(fd), "0\n");
	assert_false(is_readable(fd, 250));
	pthread_create(&thread, NULL, produce_soon, NULL);
	assert_true(is_readable(fd, 5000));
	pthread_join(thread, NULL);
	test_sleep_ms(150);	/* the role, then the word */
	is_readable(fd, 0);
	assert_string_equal(read_from_start(fd), "1\n");
	assert_false(is_readable(fd, 250));
	close(fd);
}

static void *remove_soon(void *unused)
{
	(void)unused;
	test_sleep_ms(300);
	assert_int_equal(mimic_daemon_remove(mounted.socket, "maple1"), 0);
	return NULL;
}

static void files_of_a_device_that_was_removed_show_what_they_did_and_then_an_error(void **unused)
{
	int fd = open_file("devices/maple1/counters/produced", O_RDONLY);
	int other = open_file("devices/maple1/counters/consumed", O_RDONLY);
	char byte, name[32];
	pthread_t thread;

	(void)unused;
	assert_string_equal(read_from_start(fd), "0\n");
	pthread_create(&thread, NULL, remove_soon, NULL);
	assert_true(is_readable(fd, 5000));
	pthread_join(thread, NULL);
	assert_false(is_there("maple1"));
	assert_string_equal(read_from_start(other), "0\n");
	close(other);
	assert_int_equal(pread(fd, &byte, 1, 0), -1);
	assert_int_equal(errno, ENODEV);
	close(fd);
	assert_int_equal(mimic_daemon_add(mounted.socket, "maple", name), 0);
	assert_file("devices/maple1/counters/produced", "0\n");
}

static void time_alone_is_no_change(void **unused)
{
	int fd;

	(void)unused;
	served_init(WORDS_32);
	served_open_both(0);	/* the clocks of its sides run */
	fd = open_file("devices/maple0/queues/0/producer_idle", O_RDONLY);
	assert_true(fd >= 0);
	read_from_start(fd);
	assert_false(is_readable(fd, 250));
	close(fd);
}

#define TESTS(_) \
	_(every_value_that_a_model_shows_is_a_file_and_no_other_is_there) \
	_(every_register_of_the_lists_that_can_be_loaded_is_there) \
	_(a_memory_is_a_file_of_exactly_its_bytes) \
	_(a_table_says_what_the_files_below_it_say) \
	_(the_configuration_is_a_file_that_mimicd_takes) \
	_(a_client_is_a_folder_with_what_it_has_and_has_done) \
	_(a_queue_has_a_thread_of_a_client_as_its_producer) \
	_(the_root_says_who_it_is) \
	_(an_open_file_keeps_what_it_showed_when_it_was_opened) \
	_(a_file_polls_readable_when_its_device_has_changed) \
	_(files_of_a_device_that_was_removed_show_what_they_did_and_then_an_error) \
	_(time_alone_is_no_change) \
	_(inode_numbers_belong_to_paths) \
	_(a_folder_lists_each_name_once_however_it_is_read)
TESTS(STATE_TEST)

int main(void)
{
	const struct CMUnitTest tests[] = {
TESTS(STATE_ENTRY)
	};

	return cmocka_run_group_tests_name("filesystem", tests, NULL, NULL);
}
