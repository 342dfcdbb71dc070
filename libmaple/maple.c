/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Finding a device, its queues and their roles. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#define DEFAULT_QUEUE_WORDS 32
#define ARTIFACT_QUEUES 4
#define ARTIFACT_DEPTH 64	/* words; the RTL's head and tail have six bits */
#define INIT_ATTEMPTS 1000

static const unsigned int size_codes[] = MAPLE_SIZE_CODES;
#define SIZE_CODES (sizeof(size_codes) / sizeof(size_codes[0]))

static const struct mimic_library_kind kind = { .name = "maple", .title = "MAPLE" };

static pthread_mutex_t instances_lock = PTHREAD_MUTEX_INITIALIZER;
static struct maple *instances;

int maple_error(int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	mimic_library_set_text(format, arguments);
	va_end(arguments);
	return error;
}

const char *maple_error_text(void)
{
	return mimic_library_text();
}

uint64_t maple_self(void)
{
	/* Not gettid(): a thread that starts after another ended may get its number, and must not get its roles. */
	static __thread uint64_t self;
	static _Atomic uint64_t last;

	if (unlikely(self == 0))
		self = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
	return self;
}

int maple_load_register(struct maple *maple, unsigned int page, unsigned int operation,
			unsigned int field, unsigned int size, uint64_t *value)
{
	return mimic_library_load(maple->device, page, MAPLE_OFFSET(operation, field), size, value);
}

int maple_store_register(struct maple *maple, unsigned int operation, unsigned int field,
			 uint64_t value)
{
	return mimic_library_store(maple->device, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, field),
				   value);
}

ssize_t maple_post(struct maple *maple, unsigned int operation, unsigned int queue,
		   const uint64_t *values, size_t count)
{
	return mimic_library_post(maple->device, MAPLE_PAGE_MAPLE, MAPLE_OFFSET(operation, queue), values,
				  count);
}

static int find_size_code(unsigned int words, unsigned int *code)
{
	for (unsigned int i = 0; i < SIZE_CODES; i++) {
		if (size_codes[i] != words)
			continue;
		*code = i;
		return 0;
	}
	return maple_error(-EINVAL, "queue_words %u: not one of 8, 16, 32, 48, 64, 80, 96, 128",
			   words);
}

/*
 * Two handles on one instance would reset each other's queues. libmimic gives a
 * process the same instance again, because two mappings of one page are one
 * device; for the library it is a mistake.
 */
static int add_instance(struct maple *maple)
{
	const char *name = mimic_device_name(maple->device);

	pthread_mutex_lock(&instances_lock);
	for (struct maple *other = instances; other; other = other->next) {
		if (other->process != maple->process ||
		    strcmp(mimic_device_name(other->device), name) != 0)
			continue;
		pthread_mutex_unlock(&instances_lock);
		return maple_error(-EBUSY, "%s: this process uses it already", name);
	}
	maple->next = instances;
	instances = maple;
	pthread_mutex_unlock(&instances_lock);
	return 0;
}

static void remove_instance(struct maple *maple)
{
	struct maple **link = &instances;

	pthread_mutex_lock(&instances_lock);
	while (*link && *link != maple)
		link = &(*link)->next;
	if (*link)
		*link = maple->next;
	pthread_mutex_unlock(&instances_lock);
}

/*
 * INIT answers 2 when there was no queue and 0 when there are some. Right after
 * RESET the artifact may answer 2 and allocate nothing, for as long as loads of
 * before are on their way (contract A2); so it is asked until it answers 0.
 */
static int allocate_queues(struct maple *maple, unsigned int code)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	uint64_t answer;
	int error;

	for (int i = 0; i < INIT_ATTEMPTS; i++) {
		error = maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_INIT, code, 4,
					    &answer);
		if (error)
			return error;
		if ((uint32_t)answer == 0)
			return 0;
		if (i > 1)
			nanosleep(&pause, NULL);
	}
	return maple_error(-EIO, "%s: INIT allocated no queue of %u words",
			   mimic_device_name(maple->device), maple->queue_words);
}

/* Without IDENTIFY the queues are counted by opening them; [10:9] name them, so there are four at most. */
static int count_artifact_queues(struct maple *maple)
{
	unsigned int queue;
	uint64_t flags;
	int error;

	for (queue = 0; queue < ARTIFACT_QUEUES; queue++) {
		error = maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_OPEN_CONSUMER,
					    queue, 8, &flags);
		if (error)
			return error;
		if (((uint32_t)flags & MAPLE_FLAG_CONSUMER) == 0)
			break;
		error = maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_CLOSE_CONSUMER,
					    queue, 8, &flags);
		if (error)
			return error;
	}
	maple->queue_count = queue;
	if (maple->queue_words > ARTIFACT_DEPTH)
		maple->queue_words = ARTIFACT_DEPTH;
	if (queue == 0)
		return maple_error(-EIO, "%s: no queue after INIT", mimic_device_name(maple->device));
	return 0;
}

static int count_paper_queues(struct maple *maple, uint64_t identity)
{
	unsigned int version = (identity >> 24) & 0xff;
	unsigned int queues = (identity >> 16) & 0xff;
	unsigned int words = identity & 0xffff;

	if (version != MAPLE_IDENTIFY_VERSION)
		return maple_error(-EPROTO, "%s: register version %u, this library knows %u",
				   mimic_device_name(maple->device), version,
				   MAPLE_IDENTIFY_VERSION);
	if (words < maple->queue_words)
		return maple_error(-EINVAL, "queue_words %u: %s has %u words for all its queues",
				   maple->queue_words, mimic_device_name(maple->device), words);
	maple->queue_count = words / maple->queue_words;
	if (maple->queue_count > queues)
		maple->queue_count = queues;
	if (maple->queue_count > MAPLE_QUEUES_MAX)
		maple->queue_count = MAPLE_QUEUES_MAX;
	return 0;
}

static int start_device(struct maple *maple, unsigned int code)
{
	uint64_t counters[MAPLE_COUNTER_COUNT] = { 0 };
	uint64_t ignored, identity;
	bool is_paper;
	ssize_t got;
	int error;

	error = maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_RESET, 0, 4, &ignored);
	if (error)
		return error;
	error = maple_load_register(maple, MAPLE_PAGE_MAPLE, MAPLE_LOAD_IDENTIFY, 0, 8, &identity);
	if (error)
		return error;
	is_paper = identity >> 32 == MAPLE_IDENTIFY_MAGIC;
	maple->encoding = is_paper ? &maple_paper_encoding : &maple_artifact_encoding;
	if (is_paper)
		error = count_paper_queues(maple, identity);
	if (!error)
		error = allocate_queues(maple, code);
	if (!error && !is_paper)
		error = count_artifact_queues(maple);
	if (error)
		return error;
	got = mimic_device_counters(maple->device, counters, MAPLE_COUNTER_COUNT);
	if (got < 0)
		return mimic_library_error((int)got);
	maple->faults_before = counters[MAPLE_COUNTER_faults];
	return 0;
}

static void destroy(struct maple *maple)
{
	if (maple->device)
		mimic_device_close(maple->device);
	pthread_mutex_destroy(&maple->statistics_lock);
	pthread_mutex_destroy(&maple->tile_lock);
	free(maple);
}

static struct maple *create(unsigned int queue_words)
{
	struct maple *maple = aligned_alloc(_Alignof(struct maple), sizeof(*maple));

	if (!maple)
		return NULL;
	memset(maple, 0, sizeof(*maple));
	maple->queue_words = queue_words;
	maple->process = getpid();
	pthread_mutex_init(&maple->statistics_lock, NULL);
	pthread_mutex_init(&maple->tile_lock, NULL);
	return maple;
}

int maple_init(struct maple **result, const struct maple_options *options)
{
	const struct maple_options defaults = { 0 };
	unsigned int words, code = 0;
	struct maple *maple;
	int error;

	if (!result)
		return maple_error(-EINVAL, "maple_init: no place for the handle");
	*result = NULL;
	if (!options)
		options = &defaults;
	words = options->queue_words ? options->queue_words : DEFAULT_QUEUE_WORDS;
	error = find_size_code(words, &code);
	if (error)
		return error;
	maple = create(words);
	if (!maple)
		return maple_error(-ENOMEM, "maple_init: out of memory");
	error = mimic_library_open(&maple->device, &kind, &(struct mimic_library_options){
		options->device, options->transport, options->socket_path, options->config_path,
	});
	if (error) {
		maple->device = NULL;
		destroy(maple);
		return error;
	}
	maple->is_embedded = strcmp(mimic_device_transport(maple->device), "embedded") == 0;
	error = add_instance(maple);
	if (error) {
		destroy(maple);
		return error;
	}
	error = start_device(maple, code);
	if (error) {
		remove_instance(maple);
		destroy(maple);
		return error;
	}
	*result = maple;
	return 0;
}

void maple_fini(struct maple *maple)
{
	if (!maple)
		return;
	remove_instance(maple);
	destroy(maple);
}

const char *maple_transport(const struct maple *maple)
{
	return mimic_device_transport(maple->device);
}

const char *maple_device_name(const struct maple *maple)
{
	return mimic_device_name(maple->device);
}

unsigned int maple_queue_count(const struct maple *maple)
{
	return maple->queue_count;
}

unsigned int maple_queue_words(const struct maple *maple)
{
	return maple->queue_words;
}

static const char *role_name(enum maple_role role)
{
	return role == MAPLE_PRODUCER ? "producer" : "consumer";
}

static _Atomic uint64_t *role_owner(struct maple *maple, unsigned int queue, enum maple_role role)
{
	struct maple_queue *state = &maple->queues[queue];

	return role == MAPLE_PRODUCER ? &state->producer : &state->consumer;
}

static int check_queue(struct maple *maple, unsigned int queue)
{
	if (!maple)
		return maple_error(-EINVAL, "the handle is NULL");
	if (queue >= maple->queue_count)
		return maple_error(-EINVAL, "queue %u: %s has %u queues of %u words", queue,
				   maple_device_name(maple), maple->queue_count,
				   maple->queue_words);
	return 0;
}

int maple_check_role(struct maple *maple, unsigned int queue, enum maple_role role)
{
	if (unlikely(!maple || queue >= maple->queue_count))
		return check_queue(maple, queue);
	if (unlikely(atomic_load_explicit(role_owner(maple, queue, role), memory_order_relaxed) !=
		     maple_self()))
		return maple_error(-EPERM, "queue %u: this thread has not opened it as %s", queue,
				   role_name(role));
	return 0;
}

static int check_role_argument(struct maple *maple, unsigned int queue, enum maple_role role)
{
	int error = check_queue(maple, queue);

	if (error)
		return error;
	if (role != MAPLE_PRODUCER && role != MAPLE_CONSUMER)
		return maple_error(-EINVAL, "role %d: neither producer nor consumer", (int)role);
	return 0;
}

/*
 * The device's answer has the roles of the caller now. The artifact's own
 * programs only test whether it is 0, which is wrong for a caller that has the
 * other role (contract A2).
 */
int maple_open_role(struct maple *maple, unsigned int queue, enum maple_role role)
{
	unsigned int operation = role == MAPLE_PRODUCER ? MAPLE_LOAD_OPEN_PRODUCER
							: MAPLE_LOAD_OPEN_CONSUMER;
	unsigned int flag = role == MAPLE_PRODUCER ? MAPLE_FLAG_PRODUCER : MAPLE_FLAG_CONSUMER;
	uint64_t flags;
	int error;

	error = maple_load_register(maple, MAPLE_PAGE_MAPLE, operation, queue, 8, &flags);
	if (error)
		return error;
	if (((uint32_t)flags & flag) == 0)
		return maple_error(-EBUSY, "queue %u: another thread is its %s", queue,
				   role_name(role));
	/* acquire: makes the last owner's writes to struct maple_queue visible */
	atomic_exchange_explicit(role_owner(maple, queue, role), maple_self(),
				 memory_order_acq_rel);
	return 0;
}

int maple_open(struct maple *maple, unsigned int queue, enum maple_role role)
{
	int error = check_role_argument(maple, queue, role);

	if (error)
		return error;
	if (atomic_load(&maple->queues[queue].is_claimed))
		return maple_error(-EBUSY, "queue %u: a kernel of the library uses it", queue);
	return maple_open_role(maple, queue, role);
}

int maple_close(struct maple *maple, unsigned int queue, enum maple_role role)
{
	unsigned int operation = role == MAPLE_PRODUCER ? MAPLE_LOAD_CLOSE_PRODUCER
							: MAPLE_LOAD_CLOSE_CONSUMER;
	uint64_t flags;
	int error;

	error = check_role_argument(maple, queue, role);
	if (error)
		return error;
	error = maple_check_role(maple, queue, role);
	if (error)
		return error;
	/* Before the device lets the next owner in, whose maple_open() must not be undone here. */
	atomic_store_explicit(role_owner(maple, queue, role), 0, memory_order_release);
	return maple_load_register(maple, MAPLE_PAGE_MAPLE, operation, queue, 8, &flags);
}
