/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * exec and posix_spawn: a program that is started with an environment of its
 * own still gets its devices. Everything is on the stack or was made at start:
 * these functions are called between vfork() and exec, and from handlers.
 */
#include <alloca.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload.h"

#define PRELOAD_VARIABLE "LD_PRELOAD="

/* Kept as they were at start: the library itself, and our own variables. */
static const char *const kept_names[] = {
	"MIMIC_TRANSPORT",   "MIMIC_SOCKET", "MIMIC_CONFIG",	 "MIMIC_DEVICES",
	"MIMIC_SYNCHRONOUS", "MIMIC_PATCH",  "MIMIC_PATCH_STAT", "MIMIC_PERF_MAP",
	"MIMIC_POST",
};
#define KEPT (sizeof(kept_names) / sizeof(kept_names[0]))
static const char *kept[KEPT];
static const char *whole_preload;	/* "LD_PRELOAD=..." as we were started */

/* In pages of its own: leak checkers track malloc(), and programs overwrite their environment. */
static const char *keep(const char *name, const char *value)
{
	size_t size = strlen(name) + 1 + strlen(value) + 1;
	char *text = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text == MAP_FAILED)
		return NULL;
	snprintf(text, size, "%s=%s", name, value);
	return text;
}

/* Is one of the paths our library? */
static bool names_us(const char *preload)
{
	return strstr(preload, "libmimic-preload.so") != NULL;
}

void mimic_preload_exec_remember_environment(void)
{
	const char *preload = getenv("LD_PRELOAD");
	const char *value;
	Dl_info information;
	size_t i;

	/* Not in LD_PRELOAD if we were loaded by other means (/etc/ld.so.preload). */
	if (!preload || !names_us(preload))
		preload = dladdr((void *)mimic_preload_exec_remember_environment, &information)
				  ? information.dli_fname
				  : NULL;
	if (preload)
		whole_preload = keep("LD_PRELOAD", preload);
	for (i = 0; i < KEPT; i++) {
		value = getenv(kept_names[i]);
		if (value)
			kept[i] = keep(kept_names[i], value);
	}
}

static bool has_name(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

static const char *find(char *const *environment, const char *name)
{
	for (; environment && *environment; environment++)
		if (has_name(*environment, name))
			return *environment;
	return NULL;
}

static size_t count_entries(char *const *environment)
{
	size_t count = 0;

	while (environment && environment[count])
		count++;
	return count;
}

static size_t merged_preload_size(char *const *environment)
{
	const char *entry = find(environment, "LD_PRELOAD");

	return (entry ? strlen(entry) : 0) + (whole_preload ? strlen(whole_preload) : 0) + 2;
}

/* `target` has room for count_entries() + KEPT + 2 entries, `text` for merged_preload_size(). */
static void merge(char *const *environment, char **target, char *text)
{
	const char *preload = find(environment, "LD_PRELOAD");
	size_t at = 0;
	size_t i;

	for (i = 0; environment && environment[i]; i++)
		if (environment[i] != preload)
			target[at++] = environment[i];
	for (i = 0; i < KEPT; i++)
		if (kept[i] && !find(environment, kept_names[i]))
			target[at++] = (char *)kept[i];
	if (preload && names_us(preload)) {
		target[at++] = (char *)preload;
	} else if (whole_preload) {
		strcpy(text, whole_preload);
		if (preload && preload[strlen(PRELOAD_VARIABLE)]) {
			strcat(text, ":");
			strcat(text, preload + strlen(PRELOAD_VARIABLE));
		}
		target[at++] = text;
	}
	target[at] = NULL;
}

/* On the caller's own stack, so this must be a macro. */
#define MERGED(environment) __extension__({ \
	char **target_ = alloca((count_entries(environment) + KEPT + 2) * sizeof(char *)); \
	merge(environment, target_, alloca(merged_preload_size(environment))); \
	target_; })

EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
	return NEXT(execve)(path, arguments, MERGED(environment));
}

EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	return NEXT(execvpe)(file, arguments, MERGED(environment));
}

EXPORT int execveat(int directory, const char *path, char *const arguments[],
		    char *const environment[], int flags)
{
	return NEXT(execveat)(directory, path, arguments, MERGED(environment), flags);
}

EXPORT int fexecve(int file, char *const arguments[], char *const environment[])
{
	return NEXT(fexecve)(file, arguments, MERGED(environment));
}

EXPORT int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

EXPORT int execvp(const char *file, char *const arguments[])
{
	return execvpe(file, arguments, environ);
}

EXPORT int posix_spawn(pid_t *restrict child, const char *restrict path,
		       const posix_spawn_file_actions_t *restrict actions,
		       const posix_spawnattr_t *restrict attributes,
		       char *const arguments[restrict], char *const environment[restrict])
{
	return NEXT(posix_spawn)(child, path, actions, attributes, arguments, MERGED(environment));
}

EXPORT int posix_spawnp(pid_t *restrict child, const char *restrict file,
			const posix_spawn_file_actions_t *restrict actions,
			const posix_spawnattr_t *restrict attributes,
			char *const arguments[restrict], char *const environment[restrict])
{
	return NEXT(posix_spawnp)(child, file, actions, attributes, arguments, MERGED(environment));
}

/* --- the forms with a list of arguments ------------------------------------------ */

static size_t count_list(va_list list)
{
	size_t count = 1;

	while (va_arg(list, char *))
		count++;
	return count;
}

/* Counts, then copies the list from the caller's own stack; `list` ends behind the NULL. */
#define ARGUMENTS(list, first) __extension__({ \
	va_list copy_; \
	size_t count_, i_; \
	char **arguments_; \
	va_copy(copy_, list); \
	count_ = count_list(copy_); \
	va_end(copy_); \
	arguments_ = alloca((count_ + 1) * sizeof(char *)); \
	arguments_[0] = (char *)(first); \
	for (i_ = 1; i_ <= count_; i_++) \
		arguments_[i_] = va_arg(list, char *); \
	arguments_; })

EXPORT int execl(const char *path, const char *first, ...)
{
	char **arguments;
	va_list list;

	va_start(list, first);
	arguments = ARGUMENTS(list, first);
	va_end(list);
	return execve(path, arguments, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	char **arguments;
	va_list list;

	va_start(list, first);
	arguments = ARGUMENTS(list, first);
	va_end(list);
	return execvpe(file, arguments, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char **arguments;
	char **environment;
	va_list list;

	va_start(list, first);
	arguments = ARGUMENTS(list, first);
	environment = va_arg(list, char **);
	va_end(list);
	return execve(path, arguments, environment);
}
