/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "program.h"

static void run(struct program *program, const struct fake_daemon *daemon, size_t size,
		program_main main)
{
	int fd = open(daemon->node, O_RDWR);
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd < 0)
		_exit(1);
	for (i = 0; i < size / PAGE; i++)
		program->memory[i * 512] = i + 1;
	program->shared->is_ready = 1;
	if (main)
		main(program->shared, program->memory, fd);
	for (;;)
		pause();
}

bool program_start(struct program *program, const struct fake_daemon *daemon, size_t size,
		   program_main main)
{
	program->shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	/* Not touched before the fork: the pages are the program's alone. */
	program->memory = memory_map(size);
	program->pid = fork();
	if (!program->pid)
		run(program, daemon, size, main);
	return program->pid > 0 && fake_wait(&program->shared->is_ready, 1);
}

void program_stop(struct program *program)
{
	if (program->pid <= 0)
		return;
	kill(program->pid, SIGKILL);
	waitpid(program->pid, NULL, 0);
	program->pid = 0;
}
