/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Files of `mimic save` from anybody: the reader of files, and the models that get their images. A state that is
 * taken is one that a device can go on from, with any accesses.
 *
 * The first byte chooses. Even: the rest is a file; checksums are made right, as far as its lengths lead to
 * them. Odd: of the kind that the rest of the byte numbers, a device does some accesses, its state is saved,
 * bytes of the image are changed, and another device is to go on from it. There the input is
 * the number of first accesses, of changes (offset of three bytes, value), then accesses to the end: flags (bit 0: a
 * store, 1 and 2: size, 3 and 4: owner), page, offset (two bytes), value (eight).
 */
#include <string.h>

#include "devices/kind.h"
#include "libmimic/base/kinds.h"
#include "libmimic/record/format.h"
#include "libmimic/record/snapshot.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/memory_port.h"

#define OWNERS 4u
#define TICKS 64u
#define STEPS_MAX 200u

struct device {
	const struct mimic_kind *kind;
	struct mimic_model *model;
	void *memory;
	struct mimic_own_parameters parameters;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- devices --------------------------------------------------------------------------------- */

/* Images name owners that nobody knows. */
static void complete(void *context, uint64_t owner, uint64_t data)
{
	(void)context, (void)owner, (void)data;
}

static const struct mimic_memory *memory_of(void *context, uint64_t address_space)
{
	(void)context;
	return address_space ? &fuzz_memory_port : NULL;
}

static enum mimic_fault_answer page_fault(void *context, uint64_t address, unsigned int source)
{
	(void)context, (void)source;
	return address & 4096 ? MIMIC_FAULT_STALL : MIMIC_FAULT_BAD;
}

static enum mimic_fault_answer context_fault(void *context, unsigned int device_context, uint64_t address,
					     bool writes)
{
	(void)device_context, (void)writes;
	return page_fault(context, address, 0);
}

static void device_begin(struct device *device, const struct mimic_kind *kind)
{
	const struct mimic_host host = {
		.complete = complete, .memory = fuzz_memory_port, .memory_of = memory_of,
		.page_fault = page_fault, .context_fault = context_fault,
	};
	size_t size;

	*device = (struct device){ .kind = kind };
	kind->defaults(&device->parameters);
	size = kind->memory_size ? kind->memory_size(&device->parameters) : 0;
	if (size) {
		device->memory = aligned_alloc(4096, size);
		CHECK(device->memory);
		memset(device->memory, 0, size);
	}
	device->model = kind->create(&device->parameters, &host, device->memory);
	CHECK(device->model);
	for (unsigned int i = 0; kind->contexts && i < kind->contexts->count(&device->parameters); i += 2)
		kind->contexts->attach(device->model, i, 1 + i, 1);
}

static void device_end(struct device *device)
{
	device->model->ops->power_on(device->model, UINT64_MAX);
	device->kind->destroy(device->model);
	free(device->memory);
}

static void tick(struct device *device, uint64_t now)
{
	for (unsigned int i = 0; i < TICKS && device->model->ops->busy(device->model); i++)
		device->model->ops->tick(device->model, now);
}

static void step(struct device *device, struct input *input, uint64_t now)
{
	unsigned int flags = byte(input);
	struct mimic_access access = {
		.page = (uint8_t)(byte(input) % device->kind->device_pages),
		.offset = (uint32_t)bytes(input, 2) % 4096,
		.size = (uint8_t)(1u << (flags >> 1 & 3)),
		.is_write = flags & 1,
		.owner = 1 + (flags >> 3 & (OWNERS - 1)),
	};
	uint64_t value = bytes(input, 8);

	access.offset -= access.offset % access.size;
	if (access.is_write)
		access.data = access.size == 8 ? value : value & ((1ull << 8 * access.size) - 1);
	/* A thread that waits does nothing else. */
	device->model->ops->cancel(device->model, access.owner, now);
	device->model->ops->access(device->model, &access, now);
	tick(device, now);
}

static void ignore_folder(void *context, const char *name)
{
	(void)context;
	CHECK(name);
}

static void ignore_number(void *context, const char *name, uint64_t value, enum mimic_state_format format,
			  const char *meaning)
{
	(void)context, (void)value, (void)meaning;
	CHECK(name && format <= MIMIC_STATE_BOOLEAN);
}

static void ignore_text(void *context, const char *name, const char *value, const char *meaning)
{
	(void)context, (void)meaning;
	CHECK(name && value && strlen(value) < 4096);
}

static void ignore_bytes(void *context, const char *name, const void *values, size_t size, const char *meaning)
{
	(void)context, (void)meaning;
	CHECK(name && (values || !size));
}

/* --- a state from anybody ---------------------------------------------------------------------- */

/* As daemon/engine/snapshot.c and restored.c do it. */
static void restore(const struct mimic_snapshot *snapshot, const struct mimic_kind *kind, struct input *input)
{
	const struct mimic_state_visitor visitor = {
		.enter = ignore_folder, .leave = ignore_folder, .number = ignore_number,
		.text = ignore_text, .bytes = ignore_bytes,
	};
	struct mimic_text none;
	struct device device;
	const struct mimic_model_ops *ops;
	uint64_t now = 1000;

	device_begin(&device, kind);
	ops = device.model->ops;
	mimic_text_begin(&none, NULL, 0);
	if (!mimic_record_snapshot_fits(snapshot, kind, &device.parameters, &none) &&
	    snapshot->record->image_size == ops->save(device.model, NULL, 0) &&
	    !ops->restore(device.model, snapshot->image, snapshot->record->image_size)) {
		for (unsigned int i = 0; kind->contexts && i < kind->contexts->count(&device.parameters); i++)
			kind->contexts->adopt(device.model, i, 100 + i);
		kind->resume(device.model, now);
		kind->state(device.model, now, &visitor);
		for (uint32_t i = 0; i < snapshot->record->owners && i < OWNERS; i++)
			ops->owner_gone(device.model, snapshot->owners[i], now);
		kind->retry(device.model, now);
		tick(&device, now);
		for (unsigned int i = 0; i < STEPS_MAX && input->size; i++)
			step(&device, input, ++now);
		kind->state(device.model, now, &visitor);
		CHECK(ops->save(device.model, NULL, 0) == snapshot->record->image_size);
	}
	device_end(&device);
}

static const struct mimic_kind *kind_of(const struct mimic_snapshot *snapshot)
{
	return mimic_kind_find(snapshot->record->kind, strlen(snapshot->record->kind));
}

/* Checksums are right wherever the lengths before them are. */
static void sign(unsigned char *bytes, size_t size)
{
	struct mimic_snapshot_file *file = (struct mimic_snapshot_file *)bytes;
	size_t at = sizeof(*file);

	if (size < sizeof(*file))
		return;
	mimic_record_crc32c_prepare();
	file->checksum = mimic_record_crc32c(0, file, offsetof(struct mimic_snapshot_file, checksum));
	while (size - at >= sizeof(struct mimic_snapshot_record)) {
		struct mimic_snapshot_record *record = (struct mimic_snapshot_record *)(bytes + at);

		if (record->size < sizeof(*record) || record->size > size - at || record->size % 8)
			return;
		mimic_record_snapshot_end(record);
		at += record->size;
	}
}

static void run_file(const struct input *input)
{
	unsigned char *bytes = malloc(input->size + 1);
	struct input none = { NULL, 0 };
	size_t at = sizeof(struct mimic_snapshot_file);
	struct mimic_text reason;
	char text[256];
	int count;

	CHECK(bytes);
	memcpy(bytes, input->data, input->size);
	sign(bytes, input->size);
	mimic_text_begin(&reason, text, sizeof(text));
	count = mimic_record_snapshot_file_check(bytes, input->size, &reason);
	CHECK(count > 0 ? !*text : *text);
	for (int i = 0; i < count; i++) {
		struct mimic_snapshot snapshot;

		CHECK(!mimic_record_snapshot_read(bytes + at, input->size - at, &snapshot, &reason));
		if (kind_of(&snapshot))
			restore(&snapshot, kind_of(&snapshot), &none);
		at += snapshot.record->size;
	}
	free(bytes);
}

/* --- a state of a device, with some changes ------------------------------------------------------- */

static void change(unsigned char *image, size_t size, struct input *input, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		size_t at = bytes(input, 3) % size;

		image[at] = (unsigned char)byte(input);
	}
}

static void run_device(const struct mimic_kind *kind, struct input *input)
{
	static const uint64_t owners[OWNERS] = { 1, 2, 3, 4 };
	unsigned int first = byte(input) % 64, changes = byte(input) % 32;
	struct mimic_snapshot snapshot;
	struct mimic_text none;
	struct device device;
	struct mimic_snapshot_parts parts = {
		.device = "device0", .kind = kind, .parameters = &device.parameters, .owners = owners, .owner_count = OWNERS,
	};
	void *record, *image;

	device_begin(&device, kind);
	for (unsigned int i = 0; i < first; i++)
		step(&device, input, 1 + i);
	parts.image_size = device.model->ops->save(device.model, NULL, 0);
	record = aligned_alloc(8, mimic_record_snapshot_size(&parts));
	CHECK(record);
	image = mimic_record_snapshot_begin(&parts, record);
	device.model->ops->save(device.model, image, parts.image_size);
	device_end(&device);
	change(image, parts.image_size, input, changes);
	mimic_record_snapshot_end(record);
	mimic_text_begin(&none, NULL, 0);
	CHECK(!mimic_record_snapshot_read(record, mimic_record_snapshot_size(&parts), &snapshot, &none));
	restore(&snapshot, kind, input);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	unsigned int choice = byte(&input);

	fuzz_memory_reset();
	if (choice & 1)
		run_device(mimic_kinds[(choice >> 1) % mimic_kind_count()], &input);
	else
		run_file(&input);
	return 0;
}
