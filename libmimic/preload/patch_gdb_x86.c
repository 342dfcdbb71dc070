/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * For gdb: where a trampoline's frames are. Its JIT interface takes an object file in memory; ours has a
 * symbol and an unwind table, by which a backtrace leads from each instruction of the trampoline to
 * the program's own. A debugger that is there is told of each file, which costs it a stop; one that comes later, or reads
 * a core, finds them in a list.
 */
#include <elf.h>
#include <string.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#if defined(__x86_64__) && !defined(__ILP32__)

/* --- the interface, whose names are gdb's ------------------------------------------ */

struct jit_code_entry {
	struct jit_code_entry *next, *previous;
	const void *file;
	uint64_t size;
};

struct jit_descriptor {
	uint32_t version;
	uint32_t action; /* 1: an entry is new */
	struct jit_code_entry *entry, *first;
};

/* gdb finds them though no linker can: a program's own JIT compiler has such, too. */
static struct jit_descriptor __jit_debug_descriptor = { .version = 1 };

/* gdb has a breakpoint here. */
static __attribute__((noinline, used)) void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::"r"(&__jit_debug_descriptor) : "memory");
}

/* --- the unwind table ---------------------------------------------------------------- */

#define FRAME_MAX 640u
/* gdb goes through all files at each: two thousand take it some seconds, ten times as many some minutes. */
#define TOLD_MAX 2048u
#define NUMBER_OF_RCX 2u /* DWARF's */
#define NUMBER_OF_RIP 16u

enum {
	CFA_ADVANCE = 0x02,
	CFA_SAME_VALUE = 0x08,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_OFFSET = 0x80,
	OP_CONST8U = 0x0e,
};

_Static_assert(PATCH_ROOM == 0x100 && PATCH_ROOM - PATCH_RCX_OFFSET == 31 * 8, "as the bytes below say");

static uint8_t *put(uint8_t *at, const void *bytes, size_t count)
{
	memcpy(at, bytes, count);
	return at + count;
}

/* The rest of an entry, which is a multiple of 8 bytes, is 0: no operation. */
static uint8_t *end_entry(uint8_t *start, uint8_t *at)
{
	uint32_t length;

	while ((size_t)(at - start) % 8)
		*at++ = 0;
	length = (uint32_t)(at - start) - 4;
	memcpy(start, &length, sizeof(length));
	return at;
}

static uint8_t *put_common_entry(uint8_t *at)
{
	/* Version 1; addresses of 8 bytes (R), of frames that a signal may have interrupted anywhere (S). */
	static const uint8_t bytes[] = { 0, 0,	 0,	      0,   0, 0, 0,    0,
					 1, 'z', 'R',	      'S', 0, 1, 0x78, NUMBER_OF_RIP,
					 1, 0,	 CFA_DEF_CFA, 7,   0 };

	return end_entry(at, put(at, bytes, sizeof(bytes)));
}

/* From here on: where the program's stack pointer was, its rcx, and its instruction. */
static uint8_t *put_row(uint8_t *at, const struct patch_site *site, struct patch_moment moment)
{
	uint64_t rip = site->target.address + (moment.is_after ? site->target.instruction.length : 0);
	const uint8_t expression[] = { CFA_VAL_EXPRESSION, NUMBER_OF_RIP, 9, OP_CONST8U };

	at = moment.has_frame ? put(at, (const uint8_t[]){ CFA_DEF_CFA_OFFSET, 0x80, 0x02 }, 3)
			      : put(at, (const uint8_t[]){ CFA_DEF_CFA_OFFSET, 0 }, 2);
	/* 31 words below the program's stack pointer. */
	at = put(at,
		 moment.has_saved ? (const uint8_t[]){ CFA_OFFSET | NUMBER_OF_RCX, 31 }
				  : (const uint8_t[]){ CFA_SAME_VALUE, NUMBER_OF_RCX },
		 2);
	at = put(at, expression, sizeof(expression));
	return put(at, &rip, sizeof(rip));
}

static uint8_t *put_rows(uint8_t *at, const struct patch_site *site)
{
	struct patch_moment before = { 0 };
	unsigned int offset, last = 0;

	for (offset = 0; offset < site->size; offset++) {
		struct patch_moment moment = mimic_preload_patch_moment_of(site, offset, 1);

		if (offset && !memcmp(&moment, &before, sizeof(moment)))
			continue;
		if (offset)
			at = put(at, (const uint8_t[]){ CFA_ADVANCE, (uint8_t)(offset - last) }, 2);
		at = put_row(at, site, moment);
		before = moment;
		last = offset;
	}
	return at;
}

static size_t make_frame(uint8_t *frame, const struct patch_site *site)
{
	uint8_t *start = put_common_entry(frame);
	uint32_t back = (uint32_t)(start + 4 - frame);
	uint64_t range[2] = { site->place, site->size };
	uint8_t *at = put(start + 4, &back, sizeof(back));

	at = put(at, range, sizeof(range));
	*at++ = 0;
	at = end_entry(start, put_rows(at, site));
	memset(at, 0, 4);
	return (size_t)(at + 4 - frame);
}

/* --- the object file ------------------------------------------------------------------- */

enum { SECTION_NONE, SECTION_TEXT, SECTION_FRAME, SECTION_SYMBOLS, SECTION_NAMES, SECTION_COUNT };

static const char section_names[] = "\0.text\0.eh_frame\0.symtab\0.strtab";
enum {
	NAME_TEXT = 1,
	NAME_FRAME = 7,
	NAME_SYMBOLS = 17,
	NAME_NAMES = 25,
	NAME_SYMBOL = sizeof(section_names)
};

struct object {
	struct jit_code_entry entry;
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTION_COUNT];
	Elf64_Sym symbols[2];
	char names[NAME_SYMBOL + 32];
	_Alignas(8) uint8_t frame[FRAME_MAX];
};

#define OFFSET(member) (offsetof(struct object, member) - offsetof(struct object, header))

static void make_header(Elf64_Ehdr *header)
{
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = ET_REL;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_ehsize = sizeof(Elf64_Ehdr);
	header->e_shoff = OFFSET(sections);
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shnum = SECTION_COUNT;
	header->e_shstrndx = SECTION_NAMES;
}

static void make_section(struct object *object, unsigned int number, unsigned int name, unsigned int type,
			 size_t offset, size_t size)
{
	Elf64_Shdr *section = &object->sections[number];

	section->sh_name = name;
	section->sh_type = type;
	section->sh_offset = offset;
	section->sh_size = size;
	section->sh_addralign = 8;
}

static void make_sections(struct object *object, const struct patch_site *site)
{
	Elf64_Shdr *sections = object->sections;

	make_section(object, SECTION_TEXT, NAME_TEXT, SHT_NOBITS, 0, site->size);
	sections[SECTION_TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	sections[SECTION_TEXT].sh_addr = site->place;
	sections[SECTION_TEXT].sh_addralign = 1;
	make_section(object, SECTION_FRAME, NAME_FRAME, SHT_PROGBITS, OFFSET(frame),
		     make_frame(object->frame, site));
	sections[SECTION_FRAME].sh_flags = SHF_ALLOC;
	sections[SECTION_FRAME].sh_addr = (uintptr_t)object->frame;
	make_section(object, SECTION_SYMBOLS, NAME_SYMBOLS, SHT_SYMTAB, OFFSET(symbols),
		     sizeof(object->symbols));
	sections[SECTION_SYMBOLS].sh_link = SECTION_NAMES;
	sections[SECTION_SYMBOLS].sh_info = 1;
	sections[SECTION_SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
	make_section(object, SECTION_NAMES, NAME_NAMES, SHT_STRTAB, OFFSET(names), sizeof(object->names));
	sections[SECTION_NAMES].sh_addralign = 1;
}

static void make_symbol(struct object *object, const struct patch_site *site)
{
	struct mimic_text name;

	memcpy(object->names, section_names, sizeof(section_names));
	mimic_text_begin(&name, object->names + NAME_SYMBOL, sizeof(object->names) - NAME_SYMBOL);
	mimic_text_add(&name, "mimic_trampoline_");
	mimic_text_add_hex(&name, site->target.address, 1);
	object->symbols[1].st_name = NAME_SYMBOL;
	object->symbols[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	object->symbols[1].st_shndx = SECTION_TEXT;
	object->symbols[1].st_size = site->size;
}

/*
 * All this happens in a handler, so memory cannot be allocated. Nor mapped: it would come where the program has just
 * unmapped something, which should fault by now. Objects that are not used take no memory.
 */
static struct object objects[TOLD_MAX];

/* The breakpoint is a SIGTRAP. Where that is blocked, the kernel takes the program's handler of it away. */
static void tell(void)
{
	uint64_t trap = 1ull << (SIGTRAP - 1);
	uint64_t old;

	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&trap, (long)&old, sizeof(trap), 0, 0);
	__jit_debug_register_code();
	mimic_raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&old, 0, sizeof(old), 0, 0);
}

void mimic_preload_patch_tell_gdb(const struct patch_site *site, bool is_traced)
{
	static unsigned int told;
	struct object *object;
	struct jit_code_entry *entry;

	if (told == TOLD_MAX)
		return;
	object = &objects[told++];
	make_header(&object->header);
	make_sections(object, site);
	make_symbol(object, site);
	entry = &object->entry;
	entry->file = &object->header;
	entry->size = sizeof(*object) - offsetof(struct object, header);
	entry->next = __jit_debug_descriptor.first;
	if (entry->next)
		entry->next->previous = entry;
	__jit_debug_descriptor.first = entry;
	if (!is_traced)
		return;
	__jit_debug_descriptor.entry = entry;
	__jit_debug_descriptor.action = 1;
	tell();
	__jit_debug_descriptor.action = 0;
}

#else

void mimic_preload_patch_tell_gdb(const struct patch_site *site, bool is_traced)
{
	(void)site;
	(void)is_traced;
}

#endif
