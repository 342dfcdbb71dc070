/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/landlock.h"
#include "daemon/loop/call_filter.h"
#include "daemon/loop/log.h"
#include "daemon/loop/new_calls.h"
#include "daemon/sandbox_calls.h"

static const struct {
	const char *name;
	bool is_default;
} parts[] = {
#define _(name, is_default, meaning) { #name, is_default },
	MIMICD_SANDBOX(_)
#undef _
};

/* --- the option ------------------------------------------------------------------------- */

void mimicd_sandbox_default(struct mimicd_sandbox *sandbox)
{
	*sandbox = (struct mimicd_sandbox){ .was_named = false };
	for (unsigned int i = 0; i < MIMICD_SANDBOX_PARTS; i++)
		sandbox->parts[i] = parts[i].is_default;
	if (!MIMICD_CALLS_ARE_KNOWN)
		sandbox->parts[MIMICD_SANDBOX_seccomp] = false;
}

static int parse_name(struct mimicd_sandbox *sandbox, const char *name, size_t length)
{
	for (unsigned int i = 0; i < MIMICD_SANDBOX_PARTS; i++) {
		if (strlen(parts[i].name) != length || strncmp(name, parts[i].name, length))
			continue;
		sandbox->parts[i] = true;
		return 0;
	}
	return -EINVAL;
}

int mimicd_sandbox_parse(struct mimicd_sandbox *sandbox, const char *text)
{
	bool all = !strcmp(text, "all");

	sandbox->was_named = true;
	for (unsigned int i = 0; i < MIMICD_SANDBOX_PARTS; i++)
		sandbox->parts[i] = all;
	if (all || !strcmp(text, "none"))
		return 0;
	for (;;) {
		size_t length = strcspn(text, ",");

		if (parse_name(sandbox, text, length))
			return -EINVAL;
		if (!text[length])
			return 0;
		text += length + 1;
	}
}

/* --- its parts ---------------------------------------------------------------------------- */

/* A mimicd that is not root's mounts and unmounts by a command that is root's (setuid). */
static int give_up_privileges(const struct mimicd_sandbox *sandbox)
{
	if (sandbox->mounts && geteuid())
		return -EOPNOTSUPP;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
}

/* Keeps CAP_SYS_PTRACE, to read programs of root. A mimicd that is not root's has no capabilities. */
static int drop_capabilities(const struct mimicd_sandbox *sandbox)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };
	uint32_t kept = 1u << CAP_SYS_PTRACE;

	/* To unmount; and a driver may ask for it. */
	if (sandbox->mounts || sandbox->has_bus)
		kept |= 1u << CAP_SYS_ADMIN;
	/* Memory of other users becomes immutable. */
	if (sandbox->fixes_memory)
		kept |= 1u << CAP_LINUX_IMMUTABLE | 1u << CAP_FOWNER;
	if (syscall(SYS_capget, &header, data))
		return -errno;
	data[0].effective &= kept;
	data[0].permitted &= kept;
	data[0].inheritable = 0;
	data[1] = (struct __user_cap_data_struct){ 0 };
	for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability++) {
		if (capability >= 32 || !(kept >> capability & 1))
			prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
	}
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	return syscall(SYS_capset, &header, data) ? -errno : 0;
}

static int allow_path(int rules, const char *path, uint64_t access)
{
	struct landlock_path_beneath_attr attribute = { .allowed_access = access };
	int error;

	attribute.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (attribute.parent_fd < 0)
		return -errno;
	error = syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &attribute, 0) ? -errno : 0;
	close(attribute.parent_fd);
	return error;
}

static int allow_paths(int rules, const char *socket_path)
{
	char copy[PATH_MAX];
	int error = allow_path(rules, "/proc", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR);

	if (!error)
		error = allow_path(rules, "/dev/null", LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE);
	if (error || !socket_path)
		return error;
	snprintf(copy, sizeof(copy), "%s", socket_path);
	return allow_path(rules, dirname(copy), LANDLOCK_ACCESS_FS_REMOVE_FILE);
}

/* Reading the memory of a program that is not within the same walls is forbidden by it, too. */
static int enter_landlock(const struct mimicd_sandbox *sandbox)
{
	/* All rights of the first version, which every kernel with Landlock knows. */
	const struct landlock_ruleset_attr attribute = {
		.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1,
	};
	int rules, error;

	if (sandbox->mounts)
		return -EOPNOTSUPP;	/* nothing can be unmounted from within */
	rules = (int)syscall(SYS_landlock_create_ruleset, &attribute, sizeof(attribute), 0);
	if (rules < 0)
		return -errno;
	error = allow_paths(rules, sandbox->socket_path);
	if (!error && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		error = -errno;
	if (!error && syscall(SYS_landlock_restrict_self, rules, 0))
		error = -errno;
	close(rules);
	return error;
}

static int enter_part(const struct mimicd_sandbox *sandbox, unsigned int part)
{
	switch ((enum mimicd_sandbox_part)part) {
	case MIMICD_SANDBOX_privileges:
		return give_up_privileges(sandbox);
	case MIMICD_SANDBOX_capabilities:
		return drop_capabilities(sandbox);
	case MIMICD_SANDBOX_seccomp:
		return mimicd_sandbox_filter_calls(sandbox->mounts);
	case MIMICD_SANDBOX_landlock:
		return enter_landlock(sandbox);
	case MIMICD_SANDBOX_PARTS:
		break;
	}
	return -EINVAL;
}

/* --- the whole ---------------------------------------------------------------------------------- */

int mimicd_sandbox_enter(const struct mimicd_sandbox *sandbox)
{
	/* The filter last: the others need calls that it forbids. */
	static const unsigned int order[] = {
		MIMICD_SANDBOX_privileges, MIMICD_SANDBOX_landlock, MIMICD_SANDBOX_capabilities, MIMICD_SANDBOX_seccomp,
	};
	char off[128] = "";
	size_t length = 0;

	for (unsigned int i = 0; i < MIMICD_SANDBOX_PARTS; i++) {
		const char *name = parts[order[i]].name;
		int error = sandbox->parts[order[i]] ? enter_part(sandbox, order[i]) : 0;

		if (error && sandbox->was_named) {
			mimicd_log(MIMICD_LOG_ERROR, "--sandbox: %s: %s%s", name, strerror(-error),
				   error == -EOPNOTSUPP ? " with --state" : "");
			return error;
		}
		/* A part that is off by default needs no line. */
		if (parts[order[i]].is_default && (error || !sandbox->parts[order[i]]))
			length += (size_t)snprintf(off + length, sizeof(off) - length, "%s%s", length ? ", " : "", name);
	}
	if (length)
		mimicd_log(MIMICD_LOG_INFO, "the sandbox is without %s", off);
	return 0;
}
