/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Files that are written: devices/NAME/control/. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/engine/instance.h"
#include "daemon/engine/manage.h"
#include "daemon/filesystem/internal.h"
#include "daemon/loop/log.h"
#include "mimic/protocol.h"

#define TEXT_MAX 64

static const struct {
	const char *name;
	enum mimic_injection what;
} injections[] = {
#define _(number, name, text, meaning) { text, MIMIC_INJECT_##name },
	MIMIC_INJECTIONS(_)
#undef _
};

static int inject(struct mimicd_instance *instance, const char *text)
{
	for (size_t i = 0; i < sizeof(injections) / sizeof(injections[0]); i++) {
		if (strcmp(injections[i].name, text))
			continue;
		return mimicd_device_inject(instance, injections[i].what);
	}
	return -EINVAL;
}

static int control(struct mimicd_instance *instance, const char *name, const char *text)
{
	if (!strcmp(name, "inject"))
		return inject(instance, text);
	if (strcmp(text, "1"))
		return -EINVAL;
	if (!strcmp(name, "reset"))
		mimicd_device_reset(instance);
	else
		mimicd_device_clear_counters(instance);
	return 0;
}

/* Without the newline of `echo`. Control characters are not logged as they are. */
static void take_text(char text[TEXT_MAX], const char *bytes, size_t size)
{
	size_t length = size < TEXT_MAX ? size : TEXT_MAX - 1;

	if (length && bytes[length - 1] == '\n')
		length--;
	for (size_t i = 0; i < length; i++)
		text[i] = bytes[i] >= ' ' && bytes[i] <= '~' ? bytes[i] : '?';
	text[length] = 0;
}

void mimicd_file_write(fuse_req_t request, fuse_ino_t number, const char *bytes, size_t size,
		       off_t offset, struct fuse_file_info *info)
{
	struct mimicd_filesystem *filesystem = mimicd_filesystem_of(request);
	const struct mimicd_node *node = mimicd_filesystem_node(request, number);
	struct mimicd_instance *instance;
	char text[TEXT_MAX];
	const char *name;
	int error;

	(void)offset, (void)info;
	if (!node)
		return;
	take_text(text, bytes, size);
	/* The descriptor may have been passed on to another user. */
	error = mimicd_may_manage(mimicd_asks(request)) ? 0 : -EACCES;
	if (!error)
		error = mimicd_tree_control(filesystem->engine, node->path, mimicd_asks(request), &instance,
					    &name);
	if (!error)
		error = control(instance, name, text);
	if (error == -EINVAL)
		mimicd_log(MIMICD_LOG_WARNING, "%s: '%s' is nothing to write there", node->path, text);
	filesystem->is_due = true;
	if (error)
		fuse_reply_err(request, error == -ENOENT ? ENODEV : -error);
	else
		fuse_reply_write(request, size);
}
