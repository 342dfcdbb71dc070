/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The sub-commands of mimic, and what they share. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#define EXIT_BAD_INPUT 2
#define EXIT_NOT_EXECUTABLE 126	/* as a shell says */
#define EXIT_NOT_FOUND 127

int tool_run(int argc, char **argv);
int tool_list(int argc, char **argv);
int tool_add(int argc, char **argv);
int tool_remove(int argc, char **argv);
int tool_inject(int argc, char **argv);

/* "mimic: ..." on stderr. Returns `status`. */
int tool_error(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* --- client.c: list, add, remove and inject ----------------------------------- */

struct client_options {
	const char *socket_path;
	bool json;
	char **words;
};

/* Options and exactly so many words. 0, or the exit status when all is said. */
int client_parse(int argc, char **argv, const char *usage, int words, struct client_options *options);
/* Says what the daemon answered. Returns the exit status. */
int client_error(const char *command, int error);

/* --- elf.c: what a program file is ------------------------------------------- */

#define ELF_SANITIZERS_MAX 4

struct elf_facts {
	bool is_elf;
	bool is_other_machine;	/* an ELF file, but not x86-64 */
	bool is_dynamic;	/* has an interpreter: the dynamic linker */
	unsigned int own_system_calls;	/* places in its code that look like one */
	unsigned int sanitizer_count;
	char sanitizers[ELF_SANITIZERS_MAX][64];	/* libraries that must be loaded first */
	char script_interpreter[256];	/* of a file that starts with #!, else "" */
};

/* 0, or -errno; -ENOEXEC: an ELF file that contradicts itself. */
int elf_inspect(const char *path, struct elf_facts *facts);

#endif
