/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The use of a restored state for the programs of a daemon, and the states that it refuses. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <json-c/json.h>

#include "devices/dare/dare_model.h"
#include "devices/maple/maple_model.h"
#include "libmimic/daemon/client.h"
#include "libmimic/record/snapshot.h"
#include "tests/lib/daemon_device.h"
#include "tests/lib/dare_context.h"
#include "tests/lib/saved_states.h"

/* More of MAPLE's operations and sizes than daemon_device.h has. */
enum {
	WORDS_8 = 0, LIMA_PRODUCE = 50, QUEUE_LIMA_A = 21, QUEUE_LIMA_B = 22, QUEUE_LOOP_POINTER32 = 24,
	QUEUE_LOOP_PREFETCH32 = 28,
};

static int setup(void **state)
{
	memset(&served, 0, sizeof(served));
	served.dares = served.virgos = 2;
	return daemon_device_setup(state);
}

static struct mimic_device *open_named(const struct served *daemon, const char *name)
{
	const struct mimic_options options = { .transport = MIMIC_TRANSPORT_DAEMON, .socket_path = daemon->socket };
	struct mimic_device *device;

	assert_int_equal(mimic_device_open(&device, name, &options), 0);
	return device;
}

/* register_load() and the like are of that one from now on. */
static void use(const char *name)
{
	mimic_device_close(served_device);
	served_device = open_named(&served, name);
}

static void expect_refused(const char *name, const struct saved_state *saved, int error, const char *part)
{
	struct saved_state before;

	saved_take(&served, name, &before);
	assert_int_equal(saved_restore(&served, name, saved), error);
	if (!strstr(mimic_error_text(), part))
		fail_msg("'%s' has no '%s'", mimic_error_text(), part);
	saved_expect_same(&served, name, &before);
	saved_free(&before);
}

/* maple0 with some words in queue 0. */
static void save_words(struct saved_state *saved, unsigned int count)
{
	served_init(WORDS_32);
	served_open_both(0);
	for (unsigned int i = 0; i < count; i++)
		register_store(PRODUCE, 0, 4, 100 + i);
	saved_take(&served, "maple0", saved);
}

static void restore(const char *name, const struct saved_state *saved)
{
	if (saved_restore(&served, name, saved))
		fail_msg("%s", mimic_error_text());
}

/* --- a state that waits, and the program that gets it ------------------------------------------ */

static void a_state_is_there_for_one_open(void **state)
{
	struct saved_state saved;

	(void)state;
	save_words(&saved, 3);
	restore("maple1", &saved);
	use("maple1");
	served_open_both(0);
	assert_int_equal(register_load(CONSUME, 0, 4), 100);
	mimic_device_close(served_device);
	assert_int_equal(saved_number(&served, "maple1", "counters/produced"), 0);
	served_device = open_named(&served, "maple1");
	assert_int_equal(register_load(OPEN_CONSUMER, 0, 4), 0);
	saved_free(&saved);
}

/* Not the thread that had the roles when the state was saved. */
static void *consume_64(void *argument)
{
	(void)argument;
	served_open_both(0);
	for (unsigned int i = 0; i < 64; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), 0);
	return NULL;
}

static void a_state_that_nobody_takes_stays_as_it_was_saved(void **state)
{
	static uint32_t words[64];
	struct saved_state saved;
	pthread_t thread;

	(void)state;
	/* Most of this loop waits for room, and would go on by itself once words are lost. */
	served_init(WORDS_8);
	served_open_both(0);
	register_store(SET_BASE32, 0, 8, (uintptr_t)words);
	register_store(LIMA_PRODUCE, 0, 8, (uintptr_t)words);
	register_store(LOOP, 0, 8, 64);
	saved_take(&served, "maple0", &saved);
	restore("maple1", &saved);
	test_sleep_ms(100);
	saved_expect_same(&served, "maple1", &saved);
	/* Saved once more and restored: the same, and its threads are still known. */
	saved_free(&saved);
	saved_take(&served, "maple1", &saved);
	mimic_device_close(served_device);
	restore("maple0", &saved);
	saved_expect_same(&served, "maple0", &saved);
	served_device = open_named(&served, "maple0");
	pthread_create(&thread, NULL, consume_64, NULL);
	pthread_join(thread, NULL);
	saved_free(&saved);
}

static void a_reset_forgets_a_restored_state(void **state)
{
	struct saved_state saved;

	(void)state;
	save_words(&saved, 3);
	restore("maple1", &saved);
	assert_int_equal(mimic_daemon_reset(served.socket, "maple1"), 0);
	assert_int_equal(saved_number(&served, "maple1", "counters/produced"), 0);
	use("maple1");
	assert_int_equal(register_load(OPEN_CONSUMER, 0, 4), 0);
	saved_free(&saved);
}

static void a_reset_forgets_a_restored_memory(void **state)
{
	struct mimic_device *device = open_named(&served, "virgo0");
	struct saved_state saved;
	void *memory;
	size_t size;

	(void)state;
	assert_int_equal(mimic_device_memory(device, &memory, &size), 0);
	memset(memory, 0x5a, 100);
	saved_take(&served, "virgo0", &saved);
	restore("virgo1", &saved);
	assert_int_equal(mimic_daemon_reset(served.socket, "virgo1"), 0);
	mimic_device_close(device);
	device = open_named(&served, "virgo1");
	assert_int_equal(mimic_device_memory(device, &memory, &size), 0);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(((unsigned char *)memory)[i], 0);
	mimic_device_close(device);
	saved_free(&saved);
}

static void a_restored_device_can_be_removed(void **state)
{
	struct saved_state saved;

	(void)state;
	save_words(&saved, 3);
	restore("maple1", &saved);
	assert_int_equal(mimic_daemon_remove(served.socket, "maple1"), 0);
	assert_int_equal(saved_restore(&served, "maple1", &saved), -ENODEV);
	saved_free(&saved);
}

static void *store_nine(void *argument)
{
	(void)argument;
	assert_true(register_load(OPEN_PRODUCER, 0, 4) & 2);
	for (unsigned int i = 0; i < 9; i++)
		register_store(PRODUCE, 0, 4, i);
	return NULL;
}

/* The access is its thread's, which makes it, if it still wants to, in the program that it is in. */
static void an_access_that_waits_is_not_the_states(void **state)
{
	struct saved_state saved;
	struct mimic_device *other;
	pthread_t thread;

	(void)state;
	served_init(WORDS_8);
	assert_true(register_load(OPEN_CONSUMER, 0, 4) & 1);
	pthread_create(&thread, NULL, store_nine, NULL);
	while (saved_number(&served, "maple0", "counters/store_waits") < 1)
		test_sleep_ms(1);
	saved_take(&served, "maple0", &saved);
	restore("maple1", &saved);
	saved_expect_same(&served, "maple1", &saved);
	/* The program that was saved has not noticed. */
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), i);
	pthread_join(thread, NULL);
	other = served_device;
	served_device = open_named(&served, "maple1");
	served_open_both(0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), i);
	/* The store that waited is not there: there is room, and the queue is empty. */
	register_store(PRODUCE, 0, 4, 5);
	assert_int_equal(register_load(CONSUME, 0, 4), 5);
	mimic_device_close(other);
	saved_free(&saved);
}

/* --- a fault that waited ---------------------------------------------------------------------- */

static long no_words(void *context, const uint64_t *addresses, size_t count, unsigned int size, uint64_t tag,
		     uint64_t *values)
{
	(void)context, (void)addresses, (void)count, (void)size, (void)tag, (void)values;
	return 0;
}

static int no_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	(void)context, (void)address;
	memset(buffer, 0, size);
	return -EFAULT;
}

static int zero_bytes(void *context, uint64_t address, void *buffer, size_t size)
{
	(void)context, (void)address;
	memset(buffer, 0, size);
	return 0;
}

static enum mimic_fault_answer page_comes_later(void *context, uint64_t address, unsigned int source)
{
	(void)context, (void)address, (void)source;
	return MIMIC_FAULT_STALL;
}

static void nobody(void *context, uint64_t owner, uint64_t data)
{
	(void)context, (void)owner, (void)data;
}

static void drive(struct mimic_model *model, bool is_write, unsigned int operation, unsigned int field,
		  unsigned int size, uint64_t data)
{
	struct mimic_access access = {
		.owner = 77, .offset = AT(operation, field), .size = (uint8_t)size, .is_write = is_write, .data = data,
	};

	model->ops->access(model, &access, 1);
}

static enum mimic_fault_answer page_of_context_comes_later(void *context, unsigned int device_context,
							  uint64_t address, bool writes)
{
	(void)context, (void)device_context, (void)address, (void)writes;
	return MIMIC_FAULT_STALL;
}

static long no_rows(void *context, const uint64_t *addresses, size_t count, size_t size, void *rows)
{
	(void)context, (void)addresses, (void)count, (void)size, (void)rows;
	return 0;
}

static long writes_no_rows(void *context, const uint64_t *addresses, size_t count, size_t size, const void *rows)
{
	(void)context, (void)addresses, (void)count, (void)size, (void)rows;
	return 0;
}

static const struct mimic_memory *same_for_all(void *context, uint64_t address_space)
{
	static const struct mimic_memory port = { .read_rows = no_rows, .write_rows = writes_no_rows };

	(void)context;
	return address_space ? &port : NULL;
}

/* The model as a daemon with the default settings would have saved it. */
static void save_model(struct mimic_model *model, const struct mimic_kind *kind, struct saved_state *saved)
{
	struct mimic_own_parameters parameters;
	struct mimic_snapshot_parts parts = {
		.device = "somewhere", .kind = kind, .parameters = &parameters,
		.owners = &(uint64_t){ 77 }, .owner_count = 1,
	};

	kind->defaults(&parameters);
	parts.image_size = model->ops->save(model, NULL, 0);
	saved->size = mimic_record_snapshot_size(&parts);
	saved->record = aligned_alloc(8, saved->size);
	model->ops->save(model, mimic_record_snapshot_begin(&parts, saved->record), parts.image_size);
	mimic_record_snapshot_end(saved->record);
}

/* Of another daemon, whose driver has not brought a page yet with words that LIMA is to push. */
static void save_stalled(struct saved_state *saved, const uint32_t *words)
{
	const struct mimic_host host = {
		.complete = nobody, .page_fault = page_comes_later,
		.memory = { .gather = no_words, .read = no_bytes },
	};
	struct mimic_own_parameters parameters;
	struct mimic_model *model;

	mimic_kind_maple.defaults(&parameters);
	model = mimic_kind_maple.create(&parameters, &host, NULL);
	assert_non_null(model);
	drive(model, false, INIT, WORDS_32, 4, 0);
	drive(model, false, OPEN_PRODUCER, 0, 4, 0);
	drive(model, true, QUEUE_LIMA_B, 0, 8, (uintptr_t)words);
	drive(model, true, QUEUE_LOOP_POINTER32, 0, 8, 3);
	save_model(model, &mimic_kind_maple, saved);
	mimic_kind_maple.destroy(model);
}

/* A loop of prefetches takes many steps, of which this model has done one. */
static void work_that_goes_on_by_itself_waits_for_a_program(void **state)
{
	static uint32_t indices[1u << 20];
	const struct mimic_host host = {
		.complete = nobody, .memory = { .gather = no_words, .read = zero_bytes },
	};
	struct saved_state saved = { .record = NULL };
	struct mimic_own_parameters parameters;
	struct mimic_model *model;
	uint64_t chunks;

	(void)state;
	mimic_kind_maple.defaults(&parameters);
	model = mimic_kind_maple.create(&parameters, &host, NULL);
	drive(model, false, INIT, WORDS_32, 4, 0);
	drive(model, false, OPEN_PRODUCER, 0, 4, 0);
	drive(model, true, QUEUE_LIMA_A, 0, 8, (uintptr_t)indices);
	drive(model, true, QUEUE_LIMA_B, 0, 8, (uintptr_t)indices);
	drive(model, true, QUEUE_LOOP_PREFETCH32, 0, 8, sizeof(indices) / sizeof(indices[0]));
	assert_true(model->ops->busy(model));
	save_model(model, &mimic_kind_maple, &saved);
	mimic_kind_maple.destroy(model);
	restore("maple1", &saved);
	chunks = saved_number(&served, "maple1", "counters/lima_chunks");
	/* The engine looks for work of devices while one has some. */
	served_init(WORDS_32);
	served_open_both(0);
	register_store(QUEUE_LIMA_A, 0, 8, (uintptr_t)indices);
	register_store(QUEUE_LIMA_B, 0, 8, (uintptr_t)indices);
	register_store(QUEUE_LOOP_PREFETCH32, 0, 8, 100000);
	while (saved_number(&served, "maple0", "counters/prefetched") < 100000)
		test_sleep_ms(1);
	assert_int_equal(saved_number(&served, "maple1", "counters/lima_chunks"), chunks);
	use("maple1");
	while (saved_number(&served, "maple1", "counters/prefetched") < sizeof(indices) / sizeof(indices[0]))
		test_sleep_ms(1);
	assert_int_equal(saved_number(&served, "maple1", "counters/faults"), 0);
	free(saved.record);
}

static void a_page_that_was_waited_for_is_the_next_programs(void **state)
{
	static const uint32_t words[] = { 1234567, 89, 10 };
	struct saved_state saved = { .record = NULL };

	(void)state;
	save_stalled(&saved, words);
	restore("maple1", &saved);
	test_sleep_ms(20);
	assert_int_equal(saved_number(&served, "maple1", "counters/page_faults"), 1);
	assert_int_equal(saved_number(&served, "maple1", "counters/faults"), 0);
	use("maple1");
	served_open_both(0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(register_load(CONSUME, 0, 4), words[i]);
	assert_int_equal(saved_number(&served, "maple1", "counters/faults"), 0);
	free(saved.record);
}

/* --- DARE: programs of its contexts ------------------------------------------------------------ */

/* Contexts 0 and 2 wait for a page of a tile, of M rows. */
static void save_stalled_contexts(struct saved_state *saved, const struct tile *tile)
{
	const struct mimic_host host = {
		.complete = nobody, .memory_of = same_for_all, .context_fault = page_of_context_comes_later,
	};
	struct mimic_own_parameters parameters;
	struct mimic_model *model;

	mimic_kind_dare.defaults(&parameters);
	model = mimic_kind_dare.create(&parameters, &host, NULL);
	assert_non_null(model);
	for (unsigned int i = 0; i < 3; i += 2) {
		const uint64_t words[] = { WORD_MCFG, CSR_M, 5 + i, WORD_MLD(0), address_of(tile), 64 };

		mimic_kind_dare.contexts->attach(model, i, 900 + i, 1);
		for (unsigned int n = 0; n < 6; n++) {
			struct mimic_access access = {
				.owner = 77, .page = (uint8_t)mimic_kind_dare.contexts->first_page(i), .offset = DARE_STREAM,
				.size = 8, .is_write = 1, .data = words[n],
			};

			model->ops->access(model, &access, 1);
		}
	}
	while (model->ops->busy(model))
		model->ops->tick(model, 1);
	save_model(model, &mimic_kind_dare, saved);
	mimic_kind_dare.destroy(model);
}

/* The work of one waits until its program comes, though the device has another. */
static void a_context_that_waits_for_a_page_gets_it_from_its_program(void **state)
{
	static struct tile tile;
	struct mimic_device *device[2];
	struct saved_state saved = { .record = NULL };

	(void)state;
	save_stalled_contexts(&saved, &tile);
	restore("dare1", &saved);
	for (unsigned int i = 0; i < 3; i += 2) {
		char path[64];

		snprintf(path, sizeof(path), "contexts/%u/counters/rows_loaded", i);
		assert_int_equal(saved_number(&served, "dare1", path), 0);
		device[i / 2] = open_named(&served, "dare1");
		context_fence(device[i / 2]);
		assert_int_equal(saved_number(&served, "dare1", path), 5 + i);
		assert_int_equal(context_load(device[i / 2], DARE_ERROR), DARE_ERROR_NONE);
	}
	for (unsigned int i = 0; i < 2; i++)
		mimic_device_close(device[i]);
	free(saved.record);
}

static void contexts_wait_for_their_programs(void **state)
{
	static struct tile tiles[2];
	struct mimic_device *device[2];
	struct saved_state saved;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		device[i] = open_named(&served, "dare0");
		context_dispatch(device[i], WORD_MCFG, CSR_M, 3 + i);
	}
	saved_take(&served, "dare0", &saved);
	for (unsigned int i = 0; i < 2; i++)
		mimic_device_close(device[i]);
	restore("dare1", &saved);
	assert_int_equal(saved_number(&served, "dare1", "contexts/0/registers/MATRIX_M"), 3);
	for (unsigned int i = 0; i < 2; i++) {
		device[i] = open_named(&served, "dare1");
		assert_int_equal(saved_number(&served, "dare1", "contexts/1/registers/MATRIX_M"), 4);
		context_dispatch(device[i], WORD_MLD(0), address_of(&tiles[i]), 64);
		context_fence(device[i]);
		assert_int_equal(context_counter(device[i], DARE_COUNTER_rows_loaded), 3 + i);
	}
	/* The next one has a context of its own, as after power-on. */
	mimic_device_close(device[0]);
	device[0] = open_named(&served, "dare1");
	assert_int_equal(saved_number(&served, "dare1", "contexts/0/registers/MATRIX_M"), 16);
	for (unsigned int i = 0; i < 2; i++)
		mimic_device_close(device[i]);
	saved_free(&saved);
}

/* --- refused ---------------------------------------------------------------------------------- */

static void a_device_that_a_program_has_is_refused_with_its_name(void **state)
{
	struct mimic_device *device = open_named(&served, "dare1");
	struct saved_state maple, dare;
	char text[64];

	(void)state;
	save_words(&maple, 2);
	saved_take(&served, "dare0", &dare);
	snprintf(text, sizeof(text), "%.15s (process %d) has it", program_invocation_short_name, (int)getpid());
	expect_refused("maple0", &maple, -EBUSY, text);
	expect_refused("dare1", &dare, -EBUSY, text);
	mimic_device_close(device);
	saved_free(&maple);
	saved_free(&dare);
}

static void other_kinds_and_names_are_refused(void **state)
{
	struct saved_state saved;

	(void)state;
	save_words(&saved, 2);
	expect_refused("dare0", &saved, -EINVAL, "dare0: it is a state of kind maple");
	assert_int_equal(saved_restore(&served, "maple9", &saved), -ENODEV);
	assert_int_equal(saved_restore(&served, "maple@0", &saved), -ENOENT);
	assert_int_equal(saved_restore(&served, "toaster0", &saved), -ENOENT);
	saved_free(&saved);
}

/* A daemon of other settings says which of them. */
static void another_configuration_is_refused_by_name(void **state)
{
	struct saved_state saved, cluster;

	(void)state;
	save_words(&saved, 2);
	saved_take(&served, "virgo0", &cluster);
	mimic_device_close(served_device);
	assert_int_equal(served_end(&served, SIGTERM), 0);
	served.maple_profile = "artifact";
	served.virgo_profile = "gemmini";
	assert_true(served_restart(&served, 2));
	expect_refused("maple1", &saved, -EINVAL, "saved with queues = 8, and here it is 4");
	expect_refused("virgo0", &cluster, -EINVAL, "saved with units = 4, and here it is 1");
	served_device = open_named(&served, "maple0");
	saved_free(&saved);
	saved_free(&cluster);
}

static void a_daemon_that_records_is_refused(void **state)
{
	struct saved_state saved;
	char path[160];

	(void)state;
	save_words(&saved, 2);
	mimic_device_close(served_device);
	assert_int_equal(served_end(&served, SIGTERM), 0);
	served.recording = "recording";
	assert_true(served_restart(&served, 2));
	expect_refused("maple1", &saved, -EOPNOTSUPP, "records its devices");
	saved_free(&saved);
	/* Saving changes nothing, and is there. */
	served_device = open_named(&served, "maple0");
	save_words(&saved, 2);
	snprintf(path, sizeof(path), "%s/recording", served.directory);
	unlink(path);
	saved_free(&saved);
}

/* The image is checked by its checksum first, and by the model. */
static void a_damaged_state_is_refused_or_harmless(void **state)
{
	struct saved_state saved;
	struct mimic_snapshot_record *record;
	unsigned int accepted = 0;
	unsigned char *bytes;

	(void)state;
	save_words(&saved, 5);
	record = saved.record;
	bytes = saved.record;
	for (size_t at = 0; at < saved.size; at += saved.size / 300) {
		bytes[at] ^= 0x10;
		expect_refused("maple1", &saved, -EINVAL, "maple1: ");
		if (at >= sizeof(*record)) {
			mimic_record_snapshot_end(record);
			accepted += !saved_restore(&served, "maple1", &saved);
		}
		bytes[at] ^= 0x10;
		mimic_record_snapshot_end(record);
	}
	assert_true(accepted > 0);
	use("maple1");
	served_open_both(0);
	register_load(CONSUME, 0, 4);
	saved_free(&saved);
}

/* --- messages by hand ---------------------------------------------------------------------------- */

static int send_restore(int socket, const char *name, uint32_t flags, int fd, struct mimic_restore_reply *reply)
{
	struct mimic_restore message = { .flags = flags };

	strcpy(message.name, name);
	memset(reply, 0, sizeof(*reply));
	return raw_request(socket, &message, sizeof(message), MIMIC_MESSAGE_RESTORE, fd, reply, sizeof(*reply), NULL);
}

static int file_of(const void *bytes, size_t size, int seals)
{
	int fd = memfd_create("record", MFD_ALLOW_SEALING | MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void only_sealed_memory_is_read(void **state)
{
	struct mimic_restore_reply reply;
	struct saved_state saved;
	int socket, ends[2], fds[6];

	(void)state;
	save_words(&saved, 2);
	socket = raw_client(served.socket);
	assert_int_equal(pipe(ends), 0);
	fds[0] = ends[0];
	fds[1] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	fds[2] = file_of(saved.record, saved.size, F_SEAL_SHRINK);
	fds[3] = file_of(saved.record, saved.size, F_SEAL_WRITE);
	fds[4] = file_of(saved.record, 0, F_SEAL_WRITE | F_SEAL_SHRINK);
	fds[5] = file_of(saved.record, saved.size, F_SEAL_WRITE | F_SEAL_SHRINK);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(send_restore(socket, "maple1", 0, fds[i], &reply), -EINVAL);
	assert_int_equal(send_restore(socket, "maple1", 2, fds[5], &reply), -EINVAL);
	assert_int_equal(send_restore(socket, "maple1", 0, -1, &reply), -EINVAL);
	/* A check changes nothing. */
	assert_int_equal(send_restore(socket, "maple1", MIMIC_RESTORE_CHECK, fds[5], &reply), 0);
	assert_int_equal(reply.error, 0);
	assert_int_equal(saved_number(&served, "maple1", "counters/produced"), 0);
	assert_int_equal(send_restore(socket, "maple0", MIMIC_RESTORE_CHECK, fds[5], &reply), 0);
	assert_int_equal(reply.error, -EBUSY);
	assert_int_equal(send_restore(socket, "maple1", 0, fds[5], &reply), 0);
	assert_int_equal(reply.error, 0);
	assert_int_equal(saved_number(&served, "maple1", "counters/produced"), 2);
	for (unsigned int i = 0; i < 6; i++)
		close(fds[i]);
	close(ends[1]);
	close(socket);
	saved_free(&saved);
}

#define _(test) cmocka_unit_test_setup_teardown(test, setup, daemon_device_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		_(a_state_is_there_for_one_open),
		_(a_state_that_nobody_takes_stays_as_it_was_saved),
		_(a_reset_forgets_a_restored_state),
		_(a_reset_forgets_a_restored_memory),
		_(work_that_goes_on_by_itself_waits_for_a_program),
		_(a_restored_device_can_be_removed),
		_(an_access_that_waits_is_not_the_states),
		_(a_page_that_was_waited_for_is_the_next_programs),
		_(a_context_that_waits_for_a_page_gets_it_from_its_program),
		_(contexts_wait_for_their_programs),
		_(a_device_that_a_program_has_is_refused_with_its_name),
		_(other_kinds_and_names_are_refused),
		_(another_configuration_is_refused_by_name),
		_(a_daemon_that_records_is_refused),
		_(a_damaged_state_is_refused_or_harmless),
		_(only_sealed_memory_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
