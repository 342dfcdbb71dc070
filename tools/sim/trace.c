/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The trace of mimic sim: the device's events, as mimic trace shows them. */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tools/sim/sim.h"
#include "tools/trace/trace.h"

#define TRACE_BYTES (1ull << 30)	/* of memory, at most; only written pages take memory */

int tool_sim_trace_begin(struct sim_trace *trace, const char *path, struct sim_setup *setup)
{
	const uint32_t clock = MIMIC_SPOOL_CYCLES;
	const uint64_t zero = 0;

	trace->path = path;
	trace->spool = memfd_create("mimic-sim-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	/* The program writes it. Of a file that has become shorter, the end cannot be read. */
	if (trace->spool < 0 || mimic_spool_create(trace->spool, TRACE_BYTES) ||
	    fcntl(trace->spool, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    pwrite(trace->spool, &clock, sizeof(clock), offsetof(struct mimic_spool_header, clock)) < 0 ||
	    pwrite(trace->spool, &zero, sizeof(zero), offsetof(struct mimic_spool_header, start_ticks)) < 0)
		return tool_error(EXIT_FAILURE, "sim: no memory for the trace: %s", strerror(errno));
	trace->output = fopen(path, "we");
	if (!trace->output)
		return tool_error(EXIT_BAD_INPUT, "%s: %s", path, strerror(errno));
	snprintf(setup->trace, sizeof(setup->trace), "/proc/%d/fd/%d", (int)getpid(), trace->spool);
	return 0;
}

int tool_sim_trace_end(struct sim_trace *trace, const char *program)
{
	struct trace_input input;
	int error = trace_read(&input, trace->spool);

	if (!error)
		error = trace_write_json(&input, trace->output, program);
	if (!error && input.lost)
		tool_error(0, "%s: %llu events were not kept, %zu were", trace->path, (unsigned long long)input.lost,
			   input.count);
	trace_free(&input);
	if (fclose(trace->output) && !error)
		error = -errno;
	return error ? tool_error(EXIT_FAILURE, "%s: %s", trace->path, strerror(-error)) : 0;
}
