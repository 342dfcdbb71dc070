/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "examples/common/message.h"

#include <stdarg.h>
#include <stdio.h>

int message_set(struct message *message, int error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message->text, sizeof(message->text), format, arguments);
	va_end(arguments);
	return error;
}
