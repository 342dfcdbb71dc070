/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The sub-commands of mimic, and the functions that they share. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options/options.h"

#define EXIT_BAD_INPUT 2
#define EXIT_NOT_EXECUTABLE 126	/* as a shell says */
#define EXIT_NOT_FOUND 127

int tool_run(int argc, char **argv);
int tool_trace(int argc, char **argv);
int tool_sim(int argc, char **argv);
int tool_cflags(int argc, char **argv);
int tool_costs(int argc, char **argv);
int tool_sweep(int argc, char **argv);
int tool_compare(int argc, char **argv);
int tool_record(int argc, char **argv);
int tool_replay(int argc, char **argv);
int tool_list(int argc, char **argv);
int tool_add(int argc, char **argv);
int tool_remove(int argc, char **argv);
int tool_inject(int argc, char **argv);
int tool_save(int argc, char **argv);
int tool_restore(int argc, char **argv);
int tool_dump(int argc, char **argv);
int tool_stat(int argc, char **argv);
int tool_top(int argc, char **argv);
int tool_reset(int argc, char **argv);
int tool_report(int argc, char **argv);
int tool_vm(int argc, char **argv);

/* --- command.c ------------------------------------------------------------------- */

/* A file of tools/DEVICE registers the device's commands before main(). In the order of these calls. */
struct tool_command {
	const char *name;
	int (*main)(int argc, char **argv);
	const char *meaning;
	struct tool_command *next;
};
void tool_add_command(struct tool_command *command);
const struct tool_command *tool_first_command(void);	/* NULL: there is none */

/* "mimic: ..." on stderr. Returns `status`. */
int tool_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- folder.c -------------------------------------------------------------------- */

/* The folder `name` with `file`, beside the command's: PATH_MAX bytes. 0, or an exit status, with a message. */
int tool_find_folder(const char *name, const char *file, char *folder);
/* The same of a library: in lib, lib64 or Debian's folder of this architecture. */
int tool_find_library(const char *file, char *folder);

/* --- preload_link.c ----------------------------------------------------------------- */

/*
 * A folder of a library, of PATH_MAX bytes: in its place a name that LD_PRELOAD can have. 0, or the exit status
 * after a message.
 */
int tool_preload_folder(char *folder);

/* --- options.c ------------------------------------------------------------------- */

/* Stands in a usage for the names of the kinds that are built in. */
#define USAGE_KINDS "{kinds}"

/* "mimic VERSION" on standard output. */
void tool_print_version(void);
/* Options, and --help and --version, which end the process. 0, or the exit status after a message. */
int tool_options(int argc, char **argv, const char *usage, enum mimic_option_order order,
		 const struct mimic_option *options, size_t count);
/* A number of seconds, of an option. 0, or the exit status after a message. */
int tool_seconds(const char *command, const char *option, const char *text, double least, double most,
		 double *seconds);
/* Are so many words left from argv[optind] on? 0, or the exit status after a message. */
int tool_words(int argc, char **argv, int least, int most);

/* --- plugins.c ------------------------------------------------------------------- */

/*
 * Tries and loads the plugins of MIMIC_PLUGINS, of --plugin and of a configuration file. 0, or
 * the exit status after a message.
 */
int tool_plugins_load(const struct mimic_option_values *files, const char *config_path);
/* To a program that is about to run. */
void tool_plugins_hand_over(void);

/* --- run.c: shared by run, record, trace and sim ------------------------------------------------- */

struct run_options {
	const char *transport;
	const char *devices;
	const char *socket_path;
	const char *config_path;
	struct mimic_option_values plugins;
	bool verbose;
	bool synchronous;	/* kinds that have such a mode: a command is over before its store is answered */
	bool shows_state;	/* the devices in the program */
	bool only_traps; /* no instruction of the program is replaced */
	bool no_posts;	/* each store waits for the daemon's answer */
	bool shows_traps; /* at the end: which instructions trapped */
	bool names_for_perf; /* at the end: a file with the names of the code that replaces instructions */
	bool on_kernel;		/* the nodes are the kernel's own */
};

/* Of a list of struct mimic_option. */
#define RUN_OPTIONS(options) \
	{ .name = "transport", .value = &(options)->transport }, \
	{ .name = "devices", .value = &(options)->devices }, \
	{ .name = "socket", .value = &(options)->socket_path }, \
	{ .name = "config", .value = &(options)->config_path }, \
	{ .name = "plugin", .values = &(options)->plugins }, \
	{ .name = "verbose", .letter = 'v', .flag = &(options)->verbose }, \
	{ .name = "synchronous", .flag = &(options)->synchronous }, \
	{ .name = "state", .flag = &(options)->shows_state }

/*
 * Checks the options and the program, argv[optind] and on, and sets the environment that it
 * needs. 0, or the exit status after a message.
 */
int tool_run_prepare(struct run_options *options, int argc, char **argv);
/* The path that execvp() finds for a program, into PATH_MAX bytes. 0, or an exit status after a message. */
int tool_run_find_program(const char *name, char *path);
/*
 * Sets LD_PRELOAD so that `program`, a path, gets emulated devices by open(), mmap() and physical
 * addresses. 0, or an exit status after a message.
 */
int tool_run_preload(const char *program);
/* This process becomes the program. Returns an exit status if it cannot. */
int tool_run_become(char **argv);
/* A variable of the environment: a path, made absolute. NULL: nothing. */
void tool_run_set_path(const char *name, const char *path);

/* --- child.c: a program that the command stays with ------------------------------------ */

/* Runs `prepare` (NULL: nothing) in the new process. The wait status; -1: not started, with a message. */
int tool_child_run(char **argv, void (*prepare)(void));
/*
 * The same, for so long at most: then its threads print why they wait, it is ended with its
 * children, and *is_late is set.
 */
int tool_child_run_for(char **argv, double seconds, bool *is_late);
/* Ends as a program of that wait status did: its exit status, or the same signal. */
int tool_child_end_as(int status);

/* --- client.c: list, add, remove and inject ----------------------------------- */

struct client_options {
	const char *socket_path;
	bool json;
	char **words;
};

/* Options and exactly so many words. 0, or the exit status after a message. */
int tool_client_parse(int argc, char **argv, const char *usage, int words, struct client_options *options);
/* Prints the daemon's answer. Returns the exit status. */
int tool_client_error(const char *command, int error);

/* --- show.c: JSON of a daemon ------------------------------------------------------ */

struct json_object;

/* "-": it has none. */
const char *tool_show_text(struct json_object *object, const char *key);
/* How many the array has; 0: there is none. */
size_t tool_show_array(struct json_object *object, const char *key, struct json_object **array);
/* Without control characters: those of a program's name would reach the terminal. */
void tool_show_clean(FILE *file, const char *text);

/* --- peer.c: the process that list, dump, stat, top and reset ask --------------------- */

struct peer {
	const char *socket_path;
	const char *pid;	/* of a process with embedded devices; NULL: mimicd */
	char path[108];
};

#define PEER_OPTIONS(peer) \
	{ .name = "socket", .value = &(peer).socket_path }, { .name = "pid", .value = &(peer).pid }
#define PEER_USAGE \
	"  --pid PID      ask process PID, which has embedded devices (mimic run --state)\n" \
	"  --socket PATH  where mimicd listens (default: MIMIC_SOCKET, then mimicd's own default)\n"

/* After the options: where to ask. 0, or the exit status after a message. */
int tool_peer_find(const char *command, struct peer *peer);
/* The reason why a request failed, with the process in place of mimicd if it was one. Until the next call. */
const char *tool_peer_error_text(const struct peer *peer, int error);
/* Prints it. Returns the exit status. */
int tool_peer_error(const char *command, const struct peer *peer, int error);
/* NULL: *status is the exit status, errno the reason (ECONNREFUSED: no daemon is there), and all was reported. */
struct json_object *tool_peer_list(const char *command, const struct peer *peer, int *status);
struct json_object *tool_peer_state(const char *command, const struct peer *peer, const char *device,
				    uint32_t flags, int *status);
/* Of a device of the list: its name, as the other commands take it. */
void tool_peer_device_name(struct json_object *device, char *name, size_t size);

/* --- embedded.c ------------------------------------------------------------------------- */

/* An array of processes ("pid", "program") that show embedded devices. Sockets of dead ones are removed. */
struct json_object *tool_embedded_processes(void);

/* --- program_file.c: the kind of a program file ------------------------------ */

#define ELF_SANITIZERS_MAX 4

struct elf_facts {
	bool is_elf;
	bool is_other_machine;	/* an ELF file, but of another processor */
	bool is_dynamic;	/* has an interpreter: the dynamic linker */
	bool is_musl;		/* that of musl, which cannot load libraries of glibc */
	unsigned int own_system_calls;	/* places in its code that look like one */
	unsigned int sanitizer_count;
	char sanitizers[ELF_SANITIZERS_MAX][64];	/* libraries that must be loaded first */
	char script_interpreter[256];	/* of a file that starts with #!, else "" */
};

/* 0, or -errno; -ENOEXEC: an ELF file that contradicts itself. */
int tool_elf_inspect(const char *path, struct elf_facts *facts);

#endif
