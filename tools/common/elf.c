/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * What a program file is. The file is anybody's: every offset is checked
 * against its size before it is followed.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/common/machine.h"
#include "tools/common/tools.h"

struct image {
	const uint8_t *bytes;
	size_t size;
};

static const void *part(const struct image *image, uint64_t offset, uint64_t size)
{
	if (offset > image->size || size > image->size - offset)
		return NULL;
	return image->bytes + offset;
}

/* Copies a string of the file; cut at `size`. */
static void copy_string(const struct image *image, uint64_t offset, char *text, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && offset + i < image->size && image->bytes[offset + i]; i++)
		text[i] = (char)image->bytes[offset + i];
	text[i] = '\0';
}

static int program_header(const struct image *image, const Elf64_Ehdr *header, unsigned int i,
			  Elf64_Phdr *result)
{
	const void *bytes = part(image, header->e_phoff + (uint64_t)i * sizeof(*result), sizeof(*result));

	if (!bytes)
		return -ENOEXEC;
	memcpy(result, bytes, sizeof(*result));
	return 0;
}

/* Where in the file the byte of a virtual address is; the file's size if nowhere. */
static uint64_t file_offset(const struct image *image, const Elf64_Ehdr *header, uint64_t address)
{
	Elf64_Phdr segment;
	unsigned int i;

	for (i = 0; i < header->e_phnum; i++) {
		if (program_header(image, header, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz)
			return segment.p_offset + (address - segment.p_vaddr);
	}
	return image->size;
}

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

static void read_dynamic(const struct image *image, const Elf64_Ehdr *header, const Elf64_Phdr *segment,
			 struct elf_facts *facts)
{
	uint64_t count = segment->p_filesz / sizeof(Elf64_Dyn);
	const uint8_t *bytes = part(image, segment->p_offset, count * sizeof(Elf64_Dyn));
	uint64_t strings = image->size;
	Elf64_Dyn entry;
	char library[64];
	uint64_t i;

	for (i = 0; bytes && i < count; i++) {
		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_STRTAB)
			strings = file_offset(image, header, entry.d_un.d_ptr);
	}
	for (i = 0; bytes && i < count; i++) {
		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		if (entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag != DT_NEEDED || entry.d_un.d_val > image->size)
			continue;
		copy_string(image, strings + entry.d_un.d_val, library, sizeof(library));
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
static unsigned int count_system_calls(const struct image *image, const Elf64_Phdr *segment)
{
	const uint8_t *bytes = part(image, segment->p_offset, segment->p_filesz);
	unsigned int count = 0;
	uint64_t i;

	for (i = 0; bytes && i + sizeof(system_call) <= segment->p_filesz; i++)
		count += memcmp(bytes + i, system_call, sizeof(system_call)) == 0;
	return count;
}

static void note_interpreter(const struct image *image, const Elf64_Phdr *segment, struct elf_facts *facts)
{
	char path[256];
	const char *name;

	copy_string(image, segment->p_offset, path, sizeof(path));
	name = strrchr(path, '/');
	facts->is_dynamic = true;
	facts->is_musl = strncmp(name ? name + 1 : path, "ld-musl-", strlen("ld-musl-")) == 0;
}

static int inspect_segments(const struct image *image, struct elf_facts *facts)
{
	const void *start = part(image, 0, sizeof(Elf64_Ehdr));
	Elf64_Phdr segment;
	Elf64_Ehdr header;
	unsigned int i;

	if (!start)
		return -ENOEXEC;
	memcpy(&header, start, sizeof(header));
	if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != TOOL_MACHINE) {
		facts->is_other_machine = true;
		return 0;
	}
	if (header.e_phentsize != sizeof(Elf64_Phdr))
		return -ENOEXEC;
	for (i = 0; i < header.e_phnum; i++) {
		int error = program_header(image, &header, i, &segment);

		if (error)
			return error;
		if (segment.p_type == PT_INTERP)
			note_interpreter(image, &segment, facts);
		else if (segment.p_type == PT_DYNAMIC)
			read_dynamic(image, &header, &segment, facts);
		else if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
			facts->own_system_calls += count_system_calls(image, &segment);
	}
	return 0;
}

static void read_script(const struct image *image, struct elf_facts *facts)
{
	char line[sizeof(facts->script_interpreter)];
	char *start = line;

	copy_string(image, 2, line, sizeof(line));
	line[strcspn(line, "\n")] = '\0';
	start += strspn(start, " \t");
	start[strcspn(start, " \t\r")] = '\0';
	memmove(facts->script_interpreter, start, strlen(start) + 1);
}

static int inspect(const struct image *image, struct elf_facts *facts)
{
	if (image->size >= 2 && memcmp(image->bytes, "#!", 2) == 0) {
		read_script(image, facts);
		return 0;
	}
	if (image->size < SELFMAG || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
		return 0;
	facts->is_elf = true;
	return inspect_segments(image, facts);
}

int tool_elf_inspect(const char *path, struct elf_facts *facts)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct image image;
	struct stat status;
	void *bytes;
	int error;

	memset(facts, 0, sizeof(*facts));
	if (file < 0)
		return -errno;
	if (fstat(file, &status)) {
		error = -errno;
		close(file);
		return error;
	}
	if (status.st_size == 0) {
		close(file);
		return 0;
	}
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	error = -errno;
	close(file);
	if (bytes == MAP_FAILED)
		return error;
	image = (struct image){ bytes, (size_t)status.st_size };
	error = inspect(&image, facts);
	munmap(bytes, image.size);
	return error;
}
