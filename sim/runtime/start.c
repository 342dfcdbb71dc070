/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Where virtual time begins and ends: around main(), if `mimic sim` has started the program. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libmimic/base/probe.h"
#include "libmimic/base/raw_syscall.h"
#include "sim/run.h"
#include "libmimic/transport.h"
#include "sim/runtime/internal.h"

#include <sys/syscall.h>

typedef int (*main_function)(int, char **, char **);
typedef int (*start_function)(main_function, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static struct sim_thread *first;

/* --- the file that `mimic sim` has made -------------------------------------------------------- */

static struct sim_setup *map_setup(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct sim_setup *setup = MAP_FAILED;
	struct stat status;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && status.st_size >= (off_t)sizeof(*setup))
		setup = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return setup == MAP_FAILED ? NULL : setup;
}

static bool is_ours(const struct sim_setup *setup)
{
	return setup->magic == SIM_SETUP_MAGIC && setup->version == SIM_SETUP_VERSION &&
	       setup->header_size == sizeof(*setup);
}

/* The first program that comes takes it; those that it starts run as always. */
static struct sim_setup *take_setup(void)
{
	const char *path = secure_getenv("MIMIC_SIM");
	struct sim_setup *setup = path ? map_setup(path) : NULL;

	if (!setup)
		return NULL;
	if (!is_ours(setup)) {
		sim_say("the command and libmimic-sim are of different versions");
		_exit(2);
	}
	return atomic_exchange(&setup->is_taken, 1) ? NULL : setup;
}

/* --- begin and end -------------------------------------------------------------------------------- */

static int begin(void)
{
	int error = sim_places_begin();

	if (!error)
		error = sim_frames_begin();
	if (error)
		return error;
	sim.soc = soc_create(&sim.setup->parameters);
	first = sim_thread_make();
	if (!sim.soc || !first)
		return -errno;
	first->is_first = true;
	first->native = pthread_self();
	first->native_id = (int)mimic_raw_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
	sim_schedule_begin();
	for (unsigned int core = 0; core < SIM_CORES; core++)
		sim_channel_arrives(core, SIM_NEVER);
	return mimic_probe_install_handlers();
}

/* A child of fork() runs as always. */
static void after_fork(void)
{
	sim_self = NULL;
	sim.setup = NULL;
	/* The devices that it opens are those of any program. */
	mimic_transport_register(NULL);
}

__attribute__((constructor))
static void on_load(void)
{
	int error;

	sim.setup = take_setup();
	if (!sim.setup)
		return;
	sim.cores = (unsigned int)sim.setup->parameters.core_count;
	sim.host_is_free = sim.setup->parameters.mpu_enabled;
	sim.stores_are_buffered = !sim.setup->parameters.core_mmio_acknowledged;
	sim.cycle_limit = sim.setup->cycle_limit ? sim.setup->cycle_limit : SIM_NEVER;
	error = begin();
	if (error) {
		sim_say("%s", strerror(-error));
		_exit(2);
	}
	pthread_atfork(NULL, NULL, after_fork);
	sim_device_pages_begin();
	sim_transport_begin();
	atomic_store(&sim.setup->end, SIM_BEGAN);
}

/* exit() may be called by any thread. */
__attribute__((destructor))
static void on_exit_of_program(void)
{
	if (!sim.setup || !sim_self)
		return;
	sim.is_busy = true;
	sim_phases_end();
	sim_self = NULL;
	atomic_store(&sim.setup->end, SIM_ENDED);
}

/* --- main() ---------------------------------------------------------------------------------------- */

struct main_call {
	main_function function;
	int argc;
	char **argv;
	char **environment;
};

/* Where its arguments lie depends on the environment's length: a copy does not. */
static char **copy_arguments(int argc, char **argv)
{
	size_t size = ((size_t)argc + 1) * sizeof(*argv);
	char **copy, *text;

	for (int i = 0; i < argc; i++)
		size += strlen(argv[i]) + 1;
	copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (copy == MAP_FAILED)
		return argv;
	text = (char *)(copy + argc + 1);
	for (int i = 0; i < argc; i++) {
		copy[i] = text;
		text = stpcpy(text, argv[i]) + 1;
	}
	return copy;
}

static int call_main(void *argument)
{
	const struct main_call *call = argument;

	sim_phases_begin();
	sim.current = first;
	sim_take_core(first, 0);
	sim.thread_count = 1;
	sim.limit = sim.cycle_limit < sim.next_interval ? sim.cycle_limit : sim.next_interval;
	sim_self = first;
	return call->function(call->argc, copy_arguments(call->argc, call->argv), call->environment);
}

static main_function program_main;

static int main_in_virtual_time(int argc, char **argv, char **environment)
{
	struct main_call call = { program_main, argc, argv, environment };

	return sim_coroutine_on_new_stack(call_main, &call);
}

SIM_EXPORT int __libc_start_main(main_function function, int argc, char **argv, void (*init)(void), void (*fini)(void),
				 void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_function function, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	start_function start = (start_function)dlsym(RTLD_NEXT, "__libc_start_main");

	program_main = function;
	if (sim.setup)
		function = main_in_virtual_time;
	return start(function, argc, argv, init, fini, rtld_fini, stack_end);
}

/* --- functions for programs --------------------------------------------------------------------------- */

static uint64_t translate(void *context, uint64_t address)
{
	(void)context;
	return sim_physical(address);
}

static uint32_t read_index(void *context, uint64_t address)
{
	uint32_t index;

	(void)context;
	return mimic_probe_read(address, &index, sizeof(index)) ? 0 : index;
}

SIM_EXPORT void mimic_sim_indirect(const uint32_t *indices, size_t count, const void *data, size_t element_size)
{
	static const struct soc_program program = { .translate = translate, .read_index = read_index };
	struct sim_thread *self = sim_enter();
	struct soc_indirect indirect = {
		.indices = (uintptr_t)indices,
		.count = count,
		.data = (uintptr_t)data,
		.element_size = (unsigned int)element_size,
	};

	if (!self)
		return;
	soc_droplet_watch(sim.soc, &program, &indirect);
	sim_leave();
}
