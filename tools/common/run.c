/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A program with devices: all mistakes in options and files are found before it starts; then this
 * process becomes the program, so that its exit status, its output and its signals are its own.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "libmimic/base/config.h"
#include "libmimic/daemon/client.h"
#include "libmimic/embedded/state_socket.h"
#include "libmimic/kernel/kernel.h"
#include "libmimic/mimic.h"
#include "tools/common/machine.h"
#include "tools/common/tools.h"

#define PRELOAD_NAME "libmimic-preload.so"
#define LIBRARY_PATH_MAX (PATH_MAX + sizeof("/" PRELOAD_NAME))
#define SCRIPT_DEPTH 4
#define DEFAULT_PATIENCE "10" /* seconds, until a thread prints why it waits */

static const char *option_or_environment(const char *option, const char *name)
{
	const char *value = option ? option : getenv(name);

	return value && value[0] ? value : NULL;
}

static int check_daemon(const char *socket_path)
{
	char *json = NULL;
	int error = mimic_daemon_list(socket_path, &json);

	free(json);
	if (!error)
		return 0;
	return tool_error(EXIT_BAD_INPUT, "the daemon does not answer%s%s: %s", socket_path ? " at " : "",
			  socket_path ? socket_path : "",
			  mimic_error_text()[0] ? mimic_error_text() : strerror(-error));
}

static bool is_word(const char *transport, const char *word)
{
	return transport && strcmp(transport, word) == 0;
}

/* The program gets all this by its environment, which the other transports ignore: so it is checked here. */
static int settle_transport(struct run_options *options)
{
	const char *transport = option_or_environment(options->transport, "MIMIC_TRANSPORT");
	bool is_auto = !transport || is_word(transport, "auto");

	if (!options->config_path && !options->devices && !options->synchronous) {
		/* The preload library chooses the transport itself. */
		options->on_kernel = is_auto ? mimic_kernel_is_there(NULL) : is_word(transport, "kernel");
		return 0;
	}
	if ((is_word(transport, "daemon") || is_word(transport, "kernel")) && options->synchronous)
		return tool_error(EXIT_BAD_INPUT, "--synchronous belongs to the embedded transport; "
				  "it is a key of mimicd's configuration, too");
	if (is_word(transport, "daemon") || is_word(transport, "kernel"))
		return tool_error(EXIT_BAD_INPUT, "--config and --devices belong to the embedded transport; "
				  "the daemon has its own: start mimicd with them");
	if (is_auto)
		options->transport = "embedded";
	return 0;
}

static int check_options(const struct run_options *options)
{
	const char *transport = option_or_environment(options->transport, "MIMIC_TRANSPORT");
	const char *devices = option_or_environment(options->devices, "MIMIC_DEVICES");
	struct mimic_settings settings;

	if (!TOOL_IS_X86 && (options->shows_traps || options->names_for_perf))
		return tool_error(EXIT_BAD_INPUT, "--%s tells of instructions that were replaced, which is done on x86-64 "
				  "alone: here each access is a trap", options->shows_traps ? "stat" : "perf-map");
	if (transport && !is_word(transport, "auto") && !is_word(transport, "embedded") &&
	    !is_word(transport, "daemon") && !is_word(transport, "kernel"))
		return tool_error(EXIT_BAD_INPUT, "no transport is called '%s': auto, kernel, daemon or embedded",
				  transport);
	if (is_word(transport, "daemon"))
		return check_daemon(option_or_environment(options->socket_path, "MIMIC_SOCKET"));
	if (is_word(transport, "kernel") && !mimic_kernel_is_there(NULL))
		return tool_error(EXIT_BAD_INPUT, "no kernel devices: is mimic.ko loaded and mimicd running?");
	if (mimic_config_load(option_or_environment(options->config_path, "MIMIC_CONFIG"), &settings))
		return tool_error(EXIT_BAD_INPUT, "%s", mimic_error_text());
	if (mimic_config_devices(devices, &settings))
		return tool_error(EXIT_BAD_INPUT, "%s", mimic_error_text());
	return 0;
}

/* --- the program --------------------------------------------------------------- */

static bool is_program(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

int tool_run_find_program(const char *name, char *path)
{
	const char *directories = getenv("PATH");
	struct stat status;
	bool found = false;

	if (!directories)
		directories = "/usr/local/bin:/usr/bin:/bin";
	if (strchr(name, '/'))
		directories = NULL;
	while (directories) {
		size_t length = strcspn(directories, ":");

		snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1, length ? directories : ".", name);
		if (is_program(path))
			return 0;
		found = found || stat(path, &status) == 0;
		directories = directories[length] ? directories + length + 1 : NULL;
	}
	if (strchr(name, '/')) {
		snprintf(path, PATH_MAX, "%s", name);
		if (is_program(path))
			return 0;
		found = stat(path, &status) == 0;
		if (!found && errno != ENOENT && errno != ENOTDIR)
			return tool_error(EXIT_NOT_EXECUTABLE, "%s: %s", name, strerror(errno));
	}
	if (found)
		return tool_error(EXIT_NOT_EXECUTABLE, "%s: not an executable file", name);
	return tool_error(EXIT_NOT_FOUND, "%s: there is no such program", name);
}

static void warn_of_set_id(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)))
		tool_error(0, "warning: %s is set-user-ID or set-group-ID: the dynamic linker ignores "
			   "LD_PRELOAD for it, unless you are that user", path);
}

static void say_verbose(const char *path, const struct elf_facts *facts)
{
	if (facts->own_system_calls)
		tool_error(0, "%s has %u places that look like system calls of its own: if it opens or maps "
			   "devices by them, they do not reach mimic", path, facts->own_system_calls);
}

/*
 * Our library cannot be loaded into a static program, nor into one of musl, whose dynamic linker would report
 * each missing symbol. They can use the kernel's nodes, and nothing else.
 */
static int check_without_library(const char *path, const struct run_options *options, const char *how)
{
	if (!options->on_kernel)
		return tool_error(EXIT_BAD_INPUT, "%s: %s, so no library can be loaded into it; "
				  "such a program needs the kernel transport", path, how);
	if (options->verbose)
		tool_error(0, "%s is %s: it has the kernel's nodes, and no physical addresses", path, how);
	return 0;
}

/* Checks the program, or the interpreter of a script. 0 or an exit status. */
static int inspect_program(const char *program, const struct run_options *options, struct elf_facts *facts)
{
	char path[PATH_MAX];
	unsigned int depth;

	snprintf(path, sizeof(path), "%s", program);
	for (depth = 0; depth <= SCRIPT_DEPTH; depth++) {
		int error = tool_elf_inspect(path, facts);

		/* Executable but not readable: it cannot be checked, and may run. */
		if (error == -EACCES)
			return 0;
		if (error == -ENOEXEC)
			return tool_error(EXIT_NOT_EXECUTABLE, "%s: a damaged ELF file", path);
		if (error)
			return tool_error(EXIT_NOT_EXECUTABLE, "%s: %s", path, strerror(-error));
		warn_of_set_id(path);
		if (!facts->script_interpreter[0])
			break;
		snprintf(path, sizeof(path), "%s", facts->script_interpreter);
	}
	if (facts->is_other_machine)
		return tool_error(EXIT_BAD_INPUT, "%s: not a " TOOL_MACHINE_NAME " program", path);
	if (facts->is_elf && !facts->is_dynamic)
		return check_without_library(path, options, "statically linked");
	if (facts->is_musl)
		return check_without_library(path, options, "linked with musl and not with glibc");
	if (options->verbose)
		say_verbose(path, facts);
	return 0;
}

/* The program reports nothing if it cannot make its socket. Its process number is ours, or as long. */
static int check_state_directory(void)
{
	char path[PATH_MAX], socket[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	int error = mimic_embedded_socket_directory(path, sizeof(path));

	if (!error)
		error = mimic_embedded_socket_path(getpid(), socket, sizeof(socket));
	if (!error)
		error = mimic_embedded_socket_make_directory(path);
	if (error == -EPERM)
		return tool_error(EXIT_BAD_INPUT, "--state: %s: it belongs to another user, or others may write to it", path);
	if (!error && access(path, W_OK | X_OK))
		error = -errno;
	return error ? tool_error(EXIT_BAD_INPUT, "--state: %s: %s", path, strerror(-error)) : 0;
}

/* --- the environment --------------------------------------------------------------- */

static int find_library(char path[LIBRARY_PATH_MAX])
{
	char folder[PATH_MAX];

	if (tool_find_library(PRELOAD_NAME, folder))
		return EXIT_BAD_INPUT;
	if (tool_preload_folder(folder))
		return EXIT_BAD_INPUT;
	snprintf(path, LIBRARY_PATH_MAX, "%s/" PRELOAD_NAME, folder);
	return 0;
}

static void append(char *list, size_t size, const char *name)
{
	size_t length = strlen(list);

	if (!strstr(list, name))
		snprintf(list + length, size - length, "%s%s", length ? ":" : "", name);
}

/* A sanitizer's run-time must be loaded first; our library needs it, too, if it was built with it. */
static void set_preload(const char *library, const struct elf_facts *program)
{
	const char *before = getenv("LD_PRELOAD");
	struct elf_facts own;
	static char list[1 << 17];	/* the kernel takes no longer variable */
	unsigned int i;

	for (i = 0; i < program->sanitizer_count; i++)
		append(list, sizeof(list), program->sanitizers[i]);
	if (tool_elf_inspect(library, &own) == 0)
		for (i = 0; i < own.sanitizer_count; i++)
			append(list, sizeof(list), own.sanitizers[i]);
	append(list, sizeof(list), library);
	if (before && before[0])
		append(list, sizeof(list), before);
	setenv("LD_PRELOAD", list, 1);
}

int tool_run_preload(const char *program)
{
	char library[LIBRARY_PATH_MAX];
	struct elf_facts facts;
	int status = find_library(library);

	if (status)
		return status;
	if (tool_elf_inspect(program, &facts))
		facts.sanitizer_count = 0;
	set_preload(library, &facts);
	return 0;
}

/* Paths are made absolute: the program may change its directory before it opens a device. */
void tool_run_set_path(const char *name, const char *path)
{
	char directory[PATH_MAX];
	char absolute[2 * PATH_MAX];

	if (!path)
		return;
	if (path[0] != '/' && getcwd(directory, sizeof(directory))) {
		snprintf(absolute, sizeof(absolute), "%s/%s", directory, path);
		path = absolute;
	}
	setenv(name, path, 1);
}

static void set_environment(const struct run_options *options, const char *library,
			    const struct elf_facts *facts)
{
	const char *state = getenv("MIMIC_STATE");

	setenv("MIMIC_PATIENCE", DEFAULT_PATIENCE, 0);
	if (!facts->is_musl)
		set_preload(library, facts);
	if (options->transport)
		setenv("MIMIC_TRANSPORT", options->transport, 1);
	if (options->devices)
		setenv("MIMIC_DEVICES", options->devices, 1);
	if (options->synchronous)
		setenv("MIMIC_SYNCHRONOUS", "1", 1);
	if (options->no_posts)
		setenv("MIMIC_POST", "0", 1);
	if (options->only_traps)
		setenv("MIMIC_PATCH", "0", 1);
	if (options->shows_traps)
		setenv("MIMIC_PATCH_STAT", "1", 1);
	if (options->names_for_perf)
		setenv("MIMIC_PERF_MAP", "1", 1);
	/* It may name a folder already. */
	if (options->shows_state && (!state || state[0] != '/'))
		setenv("MIMIC_STATE", "1", 1);
	tool_plugins_hand_over();
	tool_run_set_path("MIMIC_SOCKET", options->socket_path);
	if (mimic_config_is_profile(options->config_path))
		setenv("MIMIC_CONFIG", options->config_path, 1);
	else
		tool_run_set_path("MIMIC_CONFIG", options->config_path);
}

int tool_run_prepare(struct run_options *options, int argc, char **argv)
{
	struct elf_facts facts;
	char library[LIBRARY_PATH_MAX];
	char program[PATH_MAX];
	int status = 0;

	if (optind >= argc)
		status = tool_error(EXIT_BAD_INPUT, "%s: which program? See mimic %s --help", argv[0], argv[0]);
	if (!status)
		status = tool_plugins_load(&options->plugins,
					   option_or_environment(options->config_path, "MIMIC_CONFIG"));
	if (!status)
		status = settle_transport(options);
	if (!status)
		status = check_options(options);
	if (!status)
		status = find_library(library);
	if (!status)
		status = tool_run_find_program(argv[optind], program);
	if (!status)
		status = inspect_program(program, options, &facts);
	if (!status && options->shows_state)
		status = check_state_directory();
	if (status)
		return status;
	set_environment(options, library, &facts);
	if (options->verbose)
		tool_error(0, "LD_PRELOAD=%s", facts.is_musl ? "" : getenv("LD_PRELOAD"));
	return 0;
}

int tool_run_become(char **argv)
{
	execvp(argv[0], argv);
	return tool_error(errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, "%s: %s", argv[0],
			  strerror(errno));
}
