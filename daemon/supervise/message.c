/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/supervise/message.h"

#include <errno.h>
#include <string.h>

static bool is_line(const char *text, size_t length, const char *line)
{
	return length == strlen(line) && !memcmp(text, line, length);
}

static int take_name(struct mimicd_manager_message *message, const char *name, size_t length)
{
	if (message->name[0] || length >= sizeof(message->name))
		return -EINVAL;
	memcpy(message->name, name, length);
	message->name[length] = 0;
	return mimicd_store_name_is_good(message->name) ? 0 : -EINVAL;
}

static int take_line(struct mimicd_manager_message *message, const char *text, size_t length)
{
	static const char name[] = "FDNAME=";
	const size_t begin = sizeof(name) - 1;

	if (length >= begin && !memcmp(text, name, begin))
		return take_name(message, text + begin, length - begin);
	message->is_ready |= is_line(text, length, "READY=1");
	message->is_stopping |= is_line(text, length, "STOPPING=1");
	message->is_alive |= is_line(text, length, "WATCHDOG=1");
	message->is_fit |= is_line(text, length, MIMICD_MESSAGE_FITS);
	message->is_put |= is_line(text, length, "FDSTORE=1");
	message->is_drop |= is_line(text, length, "FDSTOREREMOVE=1");
	return 0;
}

int mimicd_message_parse(struct mimicd_manager_message *message, const char *text, size_t length)
{
	*message = (struct mimicd_manager_message){ .is_put = false };
	if (memchr(text, 0, length))
		return -EINVAL;
	while (length) {
		const char *end = memchr(text, '\n', length);
		size_t line = end ? (size_t)(end - text) : length;

		if (take_line(message, text, line))
			return -EINVAL;
		line += end != NULL;
		text += line;
		length -= line;
	}
	if (message->is_put && message->is_drop)
		return -EINVAL;
	return (message->is_put || message->is_drop) && !message->name[0] ? -EINVAL : 0;
}
