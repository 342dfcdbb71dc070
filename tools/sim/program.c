/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The program of mimic sim and its shared libraries: how they were compiled, their functions, and the
 * lines of their code.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/openmp.h"
#include "tools/common/machine.h"
#include "tools/sim/sim.h"

struct line {
	uint64_t address;
	const char *file;	/* without its folder; NULL: the code ends here */
	uint64_t number;
	size_t order;		/* in the file */
};

struct symbol {
	uint64_t begin, end;
	const char *name;
};

struct reader {
	const char *path;
	const char *name;	/* as the loader will name it */
	char interpreter[256];	/* "": none */
	int file;
	Elf *elf;
	Dwarf *dwarf;
	struct line *lines;
	size_t line_count;
	struct symbol *symbols;
	size_t symbol_count;
	bool is_program, is_other_machine, is_dynamic, is_instrumented, has_run_time, has_thread_sanitizer, has_other_openmp,
		has_openmp_first, has_c11_threads;
	const char *openmp_function;	/* that virtual time does not support */
};

static bool add(void **array, size_t *count, size_t size, const void *item)
{
	/* Twice as much at each power of two. */
	if (!(*count & (*count - 1))) {
		void *larger = reallocarray(*array, *count ? 2 * *count : 1, size);

		if (!larger)
			return false;
		*array = larger;
	}
	memcpy((char *)*array + *count * size, item, size);
	++*count;
	return true;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- compiler and linker ----------------------------------------------------------------------- */

static void note_library(struct reader *reader, const char *name)
{
	reader->has_run_time |= !strncmp(name, "libmimic-sim.so", 15);
	reader->has_thread_sanitizer |= !strncmp(name, "libtsan.so", 10);
	reader->has_other_openmp |= !strncmp(name, "libomp.so", 9) || !strncmp(name, "libiomp5.so", 11);
	reader->has_openmp_first |= !reader->has_run_time && !strncmp(name, "libgomp.so", 10);
}

static void read_dynamic(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	reader->is_dynamic = true;
	for (int i = 0; data && gelf_getdyn(data, i, &entry); i++) {
		const char *name;

		if (entry.d_tag == DT_NULL)
			return;
		name = entry.d_tag == DT_NEEDED ? elf_strptr(reader->elf, header->sh_link, entry.d_un.d_val) : NULL;
		if (name)
			note_library(reader, name);
	}
}

/* Does libmimic-sim come before it in the link order? */
static bool is_timed_openmp(const char *name)
{
	static const char *const names[] = {
#define _(name) #name,
		SIM_OPENMP_FUNCTIONS(_)
#undef _
#define LOOPS(name) "GOMP_loop_" #name "_start", "GOMP_loop_" #name "_next", "GOMP_loop_ull_" #name "_start", \
		"GOMP_loop_ull_" #name "_next", "GOMP_parallel_loop_" #name,
#define _(name, schedule) LOOPS(name)
		SIM_OPENMP_SCHEDULES(_)
#undef _
		SIM_OPENMP_RUNTIME_SCHEDULES(LOOPS)
#undef LOOPS
	};
	/* Of .symtab it may have a version behind it. */
	size_t length = strcspn(name, "@");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(names[i], name, length) && !names[i][length])
			return true;
	return false;
}

static bool is_openmp(const char *name)
{
	return !strncmp(name, "GOMP_", 5) || !strncmp(name, "omp_", 4) || !strncmp(name, "GOACC_", 6);
}

static bool is_function(const GElf_Sym *symbol)
{
	return GELF_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx != SHN_UNDEF && symbol->st_size;
}

static int read_symbols(struct reader *reader, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Sym entry;

	for (int i = 0; data && gelf_getsym(data, i, &entry); i++) {
		const char *name = elf_strptr(reader->elf, header->sh_link, entry.st_name);
		struct symbol symbol = { entry.st_value, entry.st_value + entry.st_size, name };

		if (!name)
			continue;
		reader->has_c11_threads |= !strcmp(name, "thrd_create") || !strncmp(name, "thrd_create@", 12);
		if (entry.st_shndx == SHN_UNDEF && is_openmp(name) && !is_timed_openmp(name))
			reader->openmp_function = name;
		reader->is_instrumented |= !strncmp(name, "__tsan_", 7) && strcmp(name, "__tsan_init");
		/* Those of .dynsym are in .symtab, too. */
		if (header->sh_type == SHT_SYMTAB && is_function(&entry) &&
		    !add((void **)&reader->symbols, &reader->symbol_count, sizeof(symbol), &symbol))
			return -ENOMEM;
	}
	return 0;
}

static void read_interpreter(struct reader *reader)
{
	GElf_Phdr segment;
	size_t count;

	if (elf_getphdrnum(reader->elf, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		ssize_t length;

		if (!gelf_getphdr(reader->elf, (int)i, &segment) || segment.p_type != PT_INTERP)
			continue;
		length = segment.p_filesz < sizeof(reader->interpreter) ?
			 pread(reader->file, reader->interpreter, segment.p_filesz, (off_t)segment.p_offset) : 0;
		if (length < 1)
			reader->interpreter[0] = '\0';
	}
}

static int read_sections(struct reader *reader)
{
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	int error = 0;

	reader->is_program = elf_kind(reader->elf) == ELF_K_ELF && gelf_getehdr(reader->elf, &file);
	if (!reader->is_program)
		return 0;
	read_interpreter(reader);
	reader->is_other_machine = file.e_machine != TOOL_MACHINE || file.e_ident[EI_CLASS] != ELFCLASS64;
	while (!error && (section = elf_nextscn(reader->elf, section)) != NULL) {
		GElf_Shdr header;

		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_DYNAMIC)
			read_dynamic(reader, section, &header);
		else if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
			error = read_symbols(reader, section, &header);
	}
	return error;
}

/* The purpose of the function, in OpenMP's words. */
static const char *openmp_construct(const char *function)
{
	static const struct { const char *part, *construct; } known[] = {
		{ "reduction", "reductions of tasks" }, { "task", "tasks" }, { "target", "target" }, { "teams", "teams" },
		{ "doacross", "doacross loops" }, { "ordered", "ordered" }, { "cancel", "cancellation" },
		{ "GOACC", "OpenACC" }, { "nest_lock", "nested locks" }, { "GOMP_scope", "scope" },
		{ "GOMP_loop_start", "tasks' reductions and scans in loops" }, { "GOMP_loop_ull_start", "tasks' reductions and scans in loops" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strstr(function, known[i].part))
			return known[i].construct;
	return "this function";
}

/* 0, or the exit status after a message. */
static int check_openmp(const struct reader *reader)
{
	if (reader->has_other_openmp)
		return tool_error(EXIT_BAD_INPUT, "%s: has OpenMP of another compiler, which waits outside of virtual time; "
				  "use gcc's", reader->path);
	if (reader->has_openmp_first)
		return tool_error(EXIT_BAD_INPUT, "%s: linked with -lgomp in front of the output of 'mimic cflags --libs'; gcc -fopenmp "
				  "puts it behind", reader->path);
	if (reader->openmp_function)
		return tool_error(EXIT_BAD_INPUT, "%s: calls %.*s(): OpenMP in virtual time does not have %s; docs/timing.md "
				  "lists what it has", reader->path, (int)strcspn(reader->openmp_function, "@"), reader->openmp_function,
				  openmp_construct(reader->openmp_function));
	return 0;
}

/* 0, or the exit status after a message. */
static int check(const struct reader *reader)
{
	const char *path = reader->path;

	if (!reader->is_program || reader->is_other_machine)
		return tool_error(EXIT_BAD_INPUT, "%s: not a " TOOL_MACHINE_NAME " program", path);
	if (reader->has_thread_sanitizer)
		return tool_error(EXIT_BAD_INPUT, "%s: linked with libtsan: link without -fsanitize=thread, and with "
				  "the output of 'mimic cflags --libs'", path);
	if (!reader->is_instrumented)
		return tool_error(EXIT_BAD_INPUT, "%s: has no instrumentation: compile with -fsanitize=thread and the other "
				  "flags that 'mimic cflags' prints, and link with those of 'mimic cflags --libs'", path);
	if (!reader->is_dynamic)
		return tool_error(EXIT_BAD_INPUT, "%s: statically linked; virtual time needs shared libraries", path);
	if (!reader->has_run_time)
		return tool_error(EXIT_BAD_INPUT, "%s: not linked with -lmimic-sim; see 'mimic cflags --libs'", path);
	if (reader->has_c11_threads)
		return tool_error(EXIT_BAD_INPUT, "%s: has threads of <threads.h>, which wait outside of virtual time; use pthreads",
				  path);
	return check_openmp(reader);
}

/* --- lines ---------------------------------------------------------------------------------------- */

static int read_unit(struct reader *reader, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t count;

	if (dwarf_getsrclines(unit, &lines, &count))
		return 0;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *entry = dwarf_onesrcline(lines, i);
		const char *file = dwarf_linesrc(entry, NULL, NULL);
		struct line line = { 0 };
		Dwarf_Addr address;
		bool is_end = false;
		int number = 0;

		if (dwarf_lineaddr(entry, &address) || dwarf_lineno(entry, &number))
			continue;
		dwarf_lineendsequence(entry, &is_end);
		line.address = address;
		line.file = is_end || !file ? NULL : base_name(file);
		line.number = (uint64_t)number;
		line.order = reader->line_count;
		if (!add((void **)&reader->lines, &reader->line_count, sizeof(line), &line))
			return -ENOMEM;
	}
	return 0;
}

static int read_lines(struct reader *reader)
{
	Dwarf_Off offset = 0, next;
	size_t header_size;
	int error = 0;

	reader->dwarf = dwarf_begin_elf(reader->elf, DWARF_C_READ, NULL);
	if (!reader->dwarf)
		return 0;
	while (!error && !dwarf_nextcu(reader->dwarf, offset, &next, &header_size, NULL, NULL, NULL)) {
		Dwarf_Die unit;

		if (dwarf_offdie(reader->dwarf, offset + header_size, &unit))
			error = read_unit(reader, &unit);
		offset = next;
	}
	return error;
}

/* The end of one function's code comes before the begin of the next at the same address. */
static int compare_lines(const void *one, const void *other)
{
	const struct line *a = one, *b = other;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (!a->file != !b->file)
		return a->file ? 1 : -1;
	return a->order < b->order ? -1 : 1;
}

static int compare_symbols(const void *one, const void *other)
{
	const struct symbol *a = one, *b = other;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* --- places ----------------------------------------------------------------------------------------- */

/* Where it is; the first is not at 0, which is: no memory. */
static uint64_t add_name(struct sim_program *program, const char *name, size_t length)
{
	uint64_t place = program->names_size ? program->names_size : 1;
	char *names = realloc(program->names, place + length + 1);

	if (!names)
		return 0;
	program->names = names;
	names[0] = '\0';
	memcpy(names + place, name, length);
	names[place + length] = '\0';
	program->names_size = place + length + 1;
	return place;
}

static int add_function(struct sim_program *program, const char *name)
{
	/* gcc's clones and parts of a function: foo.isra.0, foo.cold */
	const struct sim_function function = { .name = add_name(program, name, strcspn(name, ".")) };

	return function.name && add((void **)&program->functions, &program->function_count, sizeof(function), &function) ?
	       0 : -ENOMEM;
}

/* -ENOMEM, or its number. */
static int find_source(struct sim_program *program, const char *name)
{
	struct sim_source source = { 0 };

	for (size_t i = program->source_count; i-- > 0; )
		if (!strcmp(program->names + program->sources[i].name, name))
			return (int)i;
	source.name = add_name(program, name, strlen(name));
	if (!source.name ||
	    !add((void **)&program->sources, &program->source_count, sizeof(source), &source))
		return -ENOMEM;
	return (int)program->source_count - 1;
}

static int add_place(struct sim_program *program, uint64_t begin, uint32_t function, uint32_t loop, uint32_t source)
{
	const struct sim_place place = { begin, function, loop, loop ? 0 : source };
	struct sim_object *object = &program->objects[program->object_count - 1];
	struct sim_place *last = object->place_count ? &program->places[program->place_count - 1] : NULL;

	if (last && last->function == function && last->loop == loop && last->source == place.source)
		return 0;
	/* Of several lines at one address the last one has the code. */
	if (last && last->begin == begin) {
		*last = place;
		return 0;
	}
	object->place_count++;
	return add((void **)&program->places, &program->place_count, sizeof(place), &place) ? 0 : -ENOMEM;
}

/* The part of a function's costs that belongs to no line that was found. */
static void add_costs(struct sim_function *function, const char *name, const char *file, const struct sim_costs *costs)
{
	uint64_t highest = 0;

	for (size_t i = 0; i < costs->row_count && file; i++) {
		const struct sim_cost_row *row = &costs->rows[i];
		const struct sim_loop *loop = &costs->loops[row->index];

		if (strcmp(row->function, name) || strcmp(row->file, file))
			continue;
		if (loop->mmio && row->loop >= highest) {
			highest = row->loop;
			function->mmio_loop = row->index;
		}
		if (!row->loop && !loop->accesses)
			function->entry_instructions = (uint32_t)loop->instructions;
	}
}

/* From *line on those of a function. */
static int add_symbol(struct sim_program *program, const struct reader *reader, const struct symbol *symbol,
		      size_t *line, const struct sim_costs *costs, int program_source)
{
	uint32_t number = (uint32_t)program->function_count;
	int error = add_function(program, symbol->name), source = program_source;
	const char *name, *file = NULL;

	if (error)
		return error;
	error = add_place(program, symbol->begin, number, 0, (uint32_t)source);
	while (*line < reader->line_count && reader->lines[*line].address < symbol->begin)
		++*line;
	for (; !error && *line < reader->line_count && reader->lines[*line].address < symbol->end; ++*line) {
		const struct line *entry = &reader->lines[*line];
		const struct sim_cost_row *row;

		if (!entry->file)
			continue;
		name = program->names + program->functions[number].name;
		if (!file)
			file = entry->file;
		row = tool_sim_costs_find(costs, entry->file, name, entry->number);
		/* The code that calls of memcpy() have become is the caller's. */
		source = find_source(program, strcmp(entry->file, "sim_string.h") ? entry->file : file);
		if (source < 0)
			return source;
		error = add_place(program, entry->address, number, row ? row->index : 0, (uint32_t)source);
	}
	program->functions[number].source = (uint32_t)(file ? find_source(program, file) : program_source);
	add_costs(&program->functions[number], program->names + program->functions[number].name, file, costs);
	return error ? error : add_place(program, symbol->end, SIM_NO_FUNCTION, 0, (uint32_t)program_source);
}

static int add_object(struct sim_program *program, const char *name)
{
	const struct sim_object object = {
		.path = add_name(program, name, strlen(name)),
		.first_place = program->place_count,
	};

	return object.path && add((void **)&program->objects, &program->object_count, sizeof(object), &object) ? 0 : -ENOMEM;
}

static int make_places(struct sim_program *program, struct reader *reader, const struct sim_costs *costs)
{
	/* Of code that no source is known for. */
	int other = find_source(program, "other code"), own = other < 0 ? other : find_source(program, base_name(reader->path));
	int error = own < 0 ? own : add_object(program, reader->name);
	uint64_t end = 0;
	size_t line = 0;

	if (reader->line_count)
		qsort(reader->lines, reader->line_count, sizeof(*reader->lines), compare_lines);
	if (reader->symbol_count)
		qsort(reader->symbols, reader->symbol_count, sizeof(*reader->symbols), compare_symbols);
	for (size_t i = 0; i < reader->symbol_count && !error; i++) {
		/* A second name of the same code. */
		if (reader->symbols[i].begin < end)
			continue;
		error = add_symbol(program, reader, &reader->symbols[i], &line, costs, own);
		end = reader->symbols[i].end;
	}
	program->has_lines |= reader->line_count > 0;
	return error;
}

static void close_reader(struct reader *reader)
{
	free(reader->lines);
	free(reader->symbols);
	if (reader->dwarf)
		dwarf_end(reader->dwarf);
	elf_end(reader->elf);
	if (reader->file >= 0)
		close(reader->file);
}

/* Reads the header of the file. 0, or -errno. */
static int open_reader(struct reader *reader, const char *path, const char *name)
{
	*reader = (struct reader){ .path = path, .name = name, .file = open(path, O_RDONLY | O_CLOEXEC) };
	if (reader->file < 0)
		return -errno;
	elf_version(EV_CURRENT);
	reader->elf = elf_begin(reader->file, ELF_C_READ, NULL);
	return read_sections(reader);
}

static int read_code(struct sim_program *program, struct reader *reader, const struct sim_costs *costs)
{
	int error = read_lines(reader);

	return error ? error : make_places(program, reader, costs);
}

/* Only those that have hooks count; the run-time, which answers the hooks, has none. 0, or -errno. */
static int read_library(struct sim_program *program, const char *path, const struct sim_costs *costs, bool *is_instrumented,
			int *status)
{
	struct reader reader;
	int error = open_reader(&reader, path, path);

	/* The loader's own, such as linux-vdso.so, have no file. */
	if (error == -ENOENT)
		error = 0;
	else if (!error && reader.is_instrumented && strncmp(base_name(path), "libmimic-sim.so", 15)) {
		*is_instrumented = true;
		/* Where it comes in the order is the program's. */
		reader.has_openmp_first = false;
		if (program)
			*status = check_openmp(&reader);
		if (program && !*status)
			error = read_code(program, &reader, costs);
	}
	close_reader(&reader);
	return error;
}

static int read_libraries(struct sim_program *program, char **libraries, size_t count, const struct sim_costs *costs,
			  bool *is_instrumented, int *status)
{
	int error = 0;

	for (size_t i = 0; i < count && !error && !*status; i++)
		error = read_library(program, libraries[i], costs, is_instrumented, status);
	return error;
}

int tool_sim_program_read(struct sim_program *program, const char *path, const struct sim_costs *costs)
{
	struct reader reader;
	char **libraries = NULL;
	size_t count = 0;
	int error = open_reader(&reader, path, ""), status = 0;

	memset(program, 0, sizeof(*program));
	if (reader.file < 0)
		return tool_error(EXIT_NOT_EXECUTABLE, "%s: %s", path, strerror(-error));
	if (!error && reader.interpreter[0])
		status = tool_sim_libraries(reader.interpreter, path, &libraries, &count);
	/* Hooks that are in a library only are enough. */
	if (!error && !status && !reader.is_instrumented)
		error = read_libraries(NULL, libraries, count, costs, &reader.is_instrumented, &status);
	if (!error && !status)
		status = check(&reader);
	if (!error && !status)
		error = read_code(program, &reader, costs);
	if (!error && !status)
		error = read_libraries(program, libraries, count, costs, &reader.is_instrumented, &status);
	close_reader(&reader);
	tool_sim_libraries_free(libraries, count);
	return error ? tool_error(EXIT_FAILURE, "%s: %s", path, strerror(-error)) : status;
}

int tool_sim_program_add(struct sim_program *program, const char *path, const struct sim_costs *costs)
{
	bool is_instrumented = false;
	int status = 0, error = read_library(program, path, costs, &is_instrumented, &status);

	/* So that it is found in a table, and not looked up for each access. */
	if (!error && !status && !is_instrumented)
		error = add_object(program, path);
	return error ? tool_error(EXIT_FAILURE, "%s: %s", path, strerror(-error)) : status;
}

void tool_sim_program_free(struct sim_program *program)
{
	free(program->objects);
	free(program->places);
	free(program->functions);
	free(program->sources);
	free(program->names);
}
