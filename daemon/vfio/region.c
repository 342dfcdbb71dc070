/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Loads and stores of a machine, by the region that they go to: a BAR or the configuration space. */
#include <errno.h>
#include <string.h>

#include "daemon/vfio/connection.h"
#include "mimic/access.h"
#include "mimic/pci.h"

/* --- the message that is served ---------------------------------------------------------- */

const struct mimicd_vfio_region_access *mimicd_region_asked(const struct mimicd_connection *connection)
{
	return (const void *)connection->packet.payload;
}

static bool wants_reply(const struct mimicd_connection *connection)
{
	return !(connection->packet.header.flags & MIMICD_VFIO_NO_REPLY);
}

void mimicd_region_answer_load(struct mimicd_connection *connection, const void *data, size_t size)
{
	struct {
		struct mimicd_vfio_region_access access;
		char data[MIMICD_VFIO_TRANSFER];
	} body;

	body.access = *mimicd_region_asked(connection);
	memcpy(body.data, data, size);
	mimicd_vfio_reply(connection, &body, sizeof(body.access) + size, -1);
}

void mimicd_region_answer_store(struct mimicd_connection *connection)
{
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(connection);

	if (wants_reply(connection))
		mimicd_vfio_reply(connection, access, sizeof(*access), -1);
}

void mimicd_region_refuse(struct mimicd_connection *connection, int error)
{
	if (connection->packet.header.command == MIMICD_VFIO_REGION_READ || wants_reply(connection))
		mimicd_vfio_reply_error(connection, error);
}

/* --- the regions ------------------------------------------------------------------------- */

void mimicd_region_info(const struct mimicd_connection *connection, unsigned int region,
			struct mimicd_vfio_region_info *info)
{
	struct mimicd_config_description description;

	connection->ops->describe(connection, &description);
	*info = (struct mimicd_vfio_region_info){ .argsz = sizeof(*info), .index = region };
	if (region == MIMICD_VFIO_REGION_CONFIG)
		info->size = MIMICD_CONFIG_SIZE;
	else if (region < MIMICD_BARS)
		info->size = description.bar_sizes[region];
	if (info->size)
		info->flags = MIMICD_VFIO_REGION_MAY_READ | MIMICD_VFIO_REGION_MAY_WRITE;
	if (info->size && connection->ops->bar_memory(connection, region).base)
		info->flags |= MIMICD_VFIO_REGION_MAY_MAP;
}

static void serve_registers(struct mimicd_connection *connection, bool is_write, const void *data)
{
	unsigned int size = mimicd_region_asked(connection)->count;
	uint64_t value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		mimicd_region_refuse(connection, EINVAL);
		return;
	}
	if (is_write)
		memcpy(&value, data, size);
	connection->ops->access_registers(connection, is_write, value);
}

static void serve_config(struct mimicd_connection *connection, bool is_write, const void *data)
{
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(connection);
	char bytes[MIMICD_CONFIG_SIZE];

	if (is_write) {
		mimicd_config_write(&connection->config, access->offset, data, access->count);
		connection->ops->placed(connection);
		mimicd_region_answer_store(connection);
	} else {
		mimicd_config_read(&connection->config, access->offset, bytes, access->count);
		mimicd_region_answer_load(connection, bytes, access->count);
	}
}

/* Memory that the machine has not mapped; behind its end, as in the table of MSI-X, zeros. */
static void serve_memory(struct mimicd_connection *connection, bool is_write, const void *data)
{
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(connection);
	struct mimicd_bar_memory memory = connection->ops->bar_memory(connection, access->region);
	char bytes[MIMICD_VFIO_TRANSFER] = { 0 };
	size_t size = access->count;

	if (access->offset >= memory.size)
		size = 0;
	else if (size > memory.size - access->offset)
		size = memory.size - access->offset;
	if (is_write) {
		if (size)
			memcpy(memory.base + access->offset, data, size);
		mimicd_region_answer_store(connection);
		return;
	}
	if (size)
		memcpy(bytes, memory.base + access->offset, size);
	mimicd_region_answer_load(connection, bytes, access->count);
}

/* 0, or the errno that the machine is to see. */
static int check(const struct mimicd_connection *connection, const struct mimicd_vfio_region_access *access)
{
	struct mimicd_vfio_region_info info;

	if (access->region >= MIMICD_VFIO_REGIONS)
		return EINVAL;
	mimicd_region_info(connection, access->region, &info);
	if (!access->count || access->count > MIMICD_VFIO_TRANSFER || access->offset > info.size ||
	    access->count > info.size - access->offset)
		return EINVAL;
	return 0;
}

static void serve(struct mimicd_connection *connection, bool is_write)
{
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(connection);
	int error = check(connection, access);

	if (error)
		mimicd_region_refuse(connection, error);
	else if (access->region == MIMIC_PCI_BAR_REGISTERS)
		serve_registers(connection, is_write, access + 1);
	else if (access->region == MIMICD_VFIO_REGION_CONFIG)
		serve_config(connection, is_write, access + 1);
	else
		serve_memory(connection, is_write, access + 1);
}

void mimicd_region_load(struct mimicd_connection *connection)
{
	size_t size = connection->packet.header.size - sizeof(struct mimicd_vfio_header);

	if (size == sizeof(struct mimicd_vfio_region_access))
		serve(connection, false);
	else
		mimicd_region_refuse(connection, EINVAL);
}

void mimicd_region_store(struct mimicd_connection *connection)
{
	size_t size = connection->packet.header.size - sizeof(struct mimicd_vfio_header);
	const struct mimicd_vfio_region_access *access = mimicd_region_asked(connection);

	if (size > sizeof(*access) && size == sizeof(*access) + access->count)
		serve(connection, true);
	else
		mimicd_region_refuse(connection, EINVAL);
}
