/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "libmimic/base/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "libmimic/base/thread.h"
#include "libmimic/mimic.h"

int mimic_error(int error, const char *format, ...)
{
	struct mimic_thread *self = mimic_thread_self();
	va_list arguments;

	if (!self)
		return error;
	va_start(arguments, format);
	vsnprintf(self->error_text, sizeof(self->error_text), format, arguments);
	va_end(arguments);
	return error;
}

const char *mimic_error_text(void)
{
	struct mimic_thread *self = mimic_thread_peek();

	return self ? self->error_text : "";
}
