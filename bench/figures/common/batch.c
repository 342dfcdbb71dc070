/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Points: each a command of its own that writes a report, of which a result is taken. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/figures/common/common.h"

int batch_begin(struct point_batch *batch, const char *output, size_t room, batch_take *take)
{
	*batch = (struct point_batch){ .output = output, .room = room, .take = take, .tell_every = 100 };
	batch->jobs = calloc(room + 1, sizeof(*batch->jobs));
	batch->results = calloc(room + 1, sizeof(void *));
	batch->reports = calloc(room + 1, sizeof(char *));
	if (!batch->jobs || !batch->results || !batch->reports)
		return figures_error("%s", strerror(ENOMEM));
	return figures_folder(output, "points");
}

static char *path_of(const struct point_batch *batch, const char *name, const char *suffix)
{
	char *path;

	return asprintf(&path, "%s/points/%s.%s", batch->output, name, suffix) < 0 ? NULL : path;
}

char **batch_add(struct point_batch *batch, const char *name, void *result)
{
	struct job *job = &batch->jobs[batch->count];
	char *report;

	if (batch->count == batch->room) {
		figures_error("%s: more points than there is room for", name);
		return NULL;
	}
	report = path_of(batch, name, "json");
	job->errors = path_of(batch, name, "err");
	job->arguments = calloc(BATCH_WORDS, sizeof(*job->arguments));
	if (!report || !job->errors || !job->arguments) {
		figures_error("%s", strerror(ENOMEM));
		return NULL;
	}
	/* That of an earlier run says nothing. */
	unlink(report);
	batch->reports[batch->count] = report;
	batch->results[batch->count++] = result;
	return job->arguments;
}

char *batch_report(const struct point_batch *batch)
{
	return batch->reports[batch->count - 1];
}

void batch_words(char **command, char *const *words)
{
	size_t count = 0;

	while (command[count])
		count++;
	for (; *words && count < BATCH_WORDS - 1; words++)
		command[count++] = *words;
}

static void job_is_done(void *context, size_t number)
{
	struct point_batch *batch = context;

	batch->done++;
	/* The program's exit status says that its result is right. */
	if (batch->jobs[number].status || !batch->take(batch->reports[number], batch->results[number])) {
		batch->failed++;
		figures_tell_failure(&batch->jobs[number]);
	}
	if (batch->done % batch->tell_every == 0 || batch->done == batch->count)
		fprintf(stderr, "figures: %zu of %zu points\n", batch->done, batch->count);
}

int batch_run(struct point_batch *batch, const char *what, unsigned int jobs)
{
	int error;

	fprintf(stderr, "figures: %zu points of %s, %u at a time\n", batch->count, what, jobs);
	error = tool_jobs_run(batch->jobs, batch->count, jobs, job_is_done, batch);
	tool_jobs_pass_on_signal();
	if (error)
		return figures_error("%s", strerror(-error));
	return 0;
}
