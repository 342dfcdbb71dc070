/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The kind of a program file. The file is not trusted: libelf checks where its parts lie. */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/machine.h"
#include "tools/common/tools.h"

static bool is_sanitizer(const char *library)
{
	static const char *const names[] = {
		"libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libhwasan.so", "libclang_rt.",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(library, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void note_library(const char *library, struct elf_facts *facts)
{
	if (!is_sanitizer(library) || facts->sanitizer_count == ELF_SANITIZERS_MAX)
		return;
	snprintf(facts->sanitizers[facts->sanitizer_count], sizeof(facts->sanitizers[0]), "%s", library);
	facts->sanitizer_count++;
}

/* The file from the byte of a virtual address on, up to where its segment ends; NULL: it has none. */
static Elf_Data *data_at(Elf *elf, uint64_t address)
{
	GElf_Phdr segment;
	size_t count, i;

	if (elf_getphdrnum(elf, &count))
		return NULL;
	for (i = 0; i < count; i++) {
		uint64_t offset;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || address < segment.p_vaddr)
			continue;
		offset = address - segment.p_vaddr;
		if (offset < segment.p_filesz)
			return elf_getdata_rawchunk(elf, (int64_t)(segment.p_offset + offset), segment.p_filesz - offset,
						    ELF_T_BYTE);
	}
	return NULL;
}

static const char *string_at(const Elf_Data *strings, uint64_t offset)
{
	if (!strings || offset >= strings->d_size)
		return NULL;
	return memchr((const char *)strings->d_buf + offset, '\0', strings->d_size - offset) ?
	       (const char *)strings->d_buf + offset : NULL;
}

/* By its segment: a program needs no sections. */
static void read_dynamic(Elf *elf, const GElf_Phdr *segment, struct elf_facts *facts)
{
	Elf_Data *entries = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_DYN);
	Elf_Data *strings = NULL;
	GElf_Dyn entry;
	int i;

	for (i = 0; entries && gelf_getdyn(entries, i, &entry); i++)
		if (entry.d_tag == DT_STRTAB)
			strings = data_at(elf, entry.d_un.d_ptr);
	for (i = 0; entries && gelf_getdyn(entries, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *library = entry.d_tag == DT_NEEDED ? string_at(strings, entry.d_un.d_val) : NULL;

		if (library)
			note_library(library, facts);
	}
}

#if defined(__x86_64__)
static const uint8_t system_call[] = { 0x0f, 0x05 }; /* syscall */
#elif defined(__aarch64__)
static const uint8_t system_call[] = { 0x01, 0x00, 0x00, 0xd4 }; /* svc #0 */
#elif defined(__riscv)
static const uint8_t system_call[] = { 0x73, 0x00, 0x00, 0x00 }; /* ecall */
#endif

/* The bytes may also be part of another instruction: a hint, not a proof. */
static unsigned int count_system_calls(Elf *elf, const GElf_Phdr *segment)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_BYTE);
	const uint8_t *bytes = data ? data->d_buf : NULL;
	unsigned int count = 0;
	uint64_t i;

	for (i = 0; bytes && i + sizeof(system_call) <= data->d_size; i++)
		count += memcmp(bytes + i, system_call, sizeof(system_call)) == 0;
	return count;
}

static void note_interpreter(Elf *elf, const GElf_Phdr *segment, struct elf_facts *facts)
{
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment->p_offset, segment->p_filesz, ELF_T_BYTE);
	const char *path = string_at(data, 0), *name = path ? strrchr(path, '/') : NULL;

	facts->is_dynamic = true;
	facts->is_musl = path && strncmp(name ? name + 1 : path, "ld-musl-", strlen("ld-musl-")) == 0;
}

static int inspect_segments(Elf *elf, struct elf_facts *facts)
{
	GElf_Phdr segment;
	GElf_Ehdr header;
	size_t count, i;

	if (!gelf_getehdr(elf, &header))
		return -ENOEXEC;
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != TOOL_MACHINE) {
		facts->is_other_machine = true;
		return 0;
	}
	if (elf_getphdrnum(elf, &count) || count < header.e_phnum)
		return -ENOEXEC;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment))
			return -ENOEXEC;
		if (segment.p_type == PT_INTERP)
			note_interpreter(elf, &segment, facts);
		else if (segment.p_type == PT_DYNAMIC)
			read_dynamic(elf, &segment, facts);
		else if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
			facts->own_system_calls += count_system_calls(elf, &segment);
	}
	return 0;
}

static int inspect_elf(int file, struct elf_facts *facts)
{
	Elf *elf;
	int error;

	facts->is_elf = true;
	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ_MMAP, NULL);
	error = elf && elf_kind(elf) == ELF_K_ELF ? inspect_segments(elf, facts) : -ENOEXEC;
	elf_end(elf);
	return error;
}

/* line: the text behind "#!". */
static void read_script(char *line, struct elf_facts *facts)
{
	line[strcspn(line, "\n")] = '\0';
	line += strspn(line, " \t");
	line[strcspn(line, " \t\r")] = '\0';
	snprintf(facts->script_interpreter, sizeof(facts->script_interpreter), "%s", line);
}

int tool_elf_inspect(const char *path, struct elf_facts *facts)
{
	char start[2 + sizeof(facts->script_interpreter)];
	int file = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	ssize_t length;

	memset(facts, 0, sizeof(*facts));
	if (file < 0)
		return -errno;
	length = read(file, start, sizeof(start) - 1);
	if (length < 0)
		error = -errno;
	start[length < 0 ? 0 : length] = '\0';
	if (length >= SELFMAG && !memcmp(start, ELFMAG, SELFMAG))
		error = inspect_elf(file, facts);
	else if (length >= 2 && !memcmp(start, "#!", 2))
		read_script(start + 2, facts);
	close(file);
	return error;
}
