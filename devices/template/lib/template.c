/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/template/lib/template.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "devices/template/template_registers.h"
#include "libmimic/mimic.h"

/* A handle is the device's of libmimic: there is nothing more to keep. */
static struct mimic_device *device_of(struct template *template)
{
	return (struct mimic_device *)template;
}

int template_open(struct template **template, const char *name)
{
	struct mimic_device *device = NULL;
	int error;

	if (!template)
		return -EINVAL;
	*template = NULL;
	if (name && strncmp(name, "template", strlen("template")))
		return -ENOENT;
	error = mimic_device_open(&device, name ? name : "template", NULL);
	*template = (struct template *)device;
	return error;
}

void template_close(struct template *template)
{
	if (template)
		mimic_device_close(device_of(template));
}

static int store(struct template *template, unsigned int offset, uint64_t value)
{
	struct mimic_access access = {
		.page = TEMPLATE_PAGE_USER, .offset = (uint16_t)offset, .size = 8, .is_write = 1, .data = value,
	};

	return template ? mimic_device_access(device_of(template), &access) : -EINVAL;
}

static int load(struct template *template, unsigned int offset, uint64_t *value)
{
	struct mimic_access access = { .page = TEMPLATE_PAGE_USER, .offset = (uint16_t)offset, .size = 8 };
	int error = template && value ? mimic_device_access(device_of(template), &access) : -EINVAL;

	if (!error)
		*value = access.data;
	return error;
}

int template_add(struct template *template, uint64_t a, uint64_t b, uint64_t *sum)
{
	int error = store(template, TEMPLATE_A, a);

	if (!error)
		error = store(template, TEMPLATE_B, b);
	if (!error)
		error = store(template, TEMPLATE_START, 1);
	return error ? error : load(template, TEMPLATE_SUM, sum);
}

int template_count(struct template *template, uint64_t *count)
{
	return load(template, TEMPLATE_COUNT, count);
}
