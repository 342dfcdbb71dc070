/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Programs that begin and end all the time, in whatever way, and `mimic list`. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "libdare/dare.h"
#include "libmaple/maple.h"
#include "libmimic/daemon/client.h"
#include "libmimic/mimic.h"
#include "libvirgo/virgo.h"
#include "tests/soak/kill_work.h"

#define KILLED_AFTER_MS 30u
#define LIST_PAUSE_MS 5u

static int check(long result, const char *step, const char *text)
{
	if (result < 0)
		return kill_fail("%s: %s (%s)", step, strerror((int)-result), text);
	kill_mark(step);
	return 0;
}

static void sleep_ms(unsigned int milliseconds)
{
	const struct timespec time = { .tv_sec = milliseconds / 1000, .tv_nsec = milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

/* --- all three devices, opened and closed -------------------------------------------------- */

static int open_maple(const struct kill_place *place, uint64_t *sum)
{
	const struct maple_options options = { .transport = place->transport, .socket_path = place->socket };
	struct maple *maple;
	uint64_t fault[2];
	unsigned int queues;

	if (check(maple_init(&maple, &options), "INIT of MAPLE", maple_error_text()) ||
	    check(maple_fault(maple, &fault[0], &fault[1]), "faults of a new MAPLE", maple_error_text()))
		return -1;
	queues = maple_queue_count(maple);
	*sum = kill_sum(kill_sum(*sum, fault, sizeof(fault)), &queues, sizeof(queues));
	maple_fini(maple);
	kill_mark("CLOSE of MAPLE");
	return 0;
}

static int open_dare(const struct kill_place *place, uint64_t *sum)
{
	const struct dare_options options = { .transport = place->transport, .socket_path = place->socket };
	struct dare *dare;
	uint64_t values[2];

	if (check(dare_open(&dare, &options), "OPEN of DARE", dare_error_text()) ||
	    check(dare_read_csr(dare, DARE_CSR_MATRIX_M, &values[0]), "CSR of a new DARE", dare_error_text()) ||
	    check(dare_read_csr(dare, DARE_CSR_MATRIX_K, &values[1]), "CSR of a new DARE", dare_error_text()))
		return -1;
	*sum = kill_sum(*sum, values, sizeof(values));
	dare_close(dare);
	kill_mark("CLOSE of DARE");
	return 0;
}

static int open_virgo(const struct kill_place *place, uint64_t *sum)
{
	const struct virgo_options options = { .transport = place->transport, .socket_path = place->socket };
	struct virgo *virgo;
	size_t size;
	unsigned char *shared;
	unsigned int units;

	if (check(virgo_open(&virgo, &options), "OPEN of Virgo", virgo_error_text()))
		return -1;
	units = virgo_unit_count(virgo);
	shared = virgo_shared(virgo, &size);
	/* Zeros, and then not: the next program must not see them. */
	*sum = kill_sum(kill_sum(*sum, shared, size), &units, sizeof(units));
	memset(shared, 0x5a, size);
	virgo_close(virgo);
	kill_mark("CLOSE of Virgo");
	return 0;
}

static int run_open(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	(void)variant;
	for (unsigned int i = 0; i < 3; i++) {
		if (open_maple(place, &result->sums[0]) || open_dare(place, &result->sums[1]) ||
		    open_virgo(place, &result->sums[2]))
			return -1;
	}
	return 0;
}

const struct kill_work kill_open = {
	.name = "open",
	.parts = { "a new MAPLE", "a new DARE", "a new Virgo" },
	.run = run_open,
};

/* --- processes ------------------------------------------------------------------------------ */

enum child_end { ENDS_WELL, ENDS_WITH_ITS_DEVICE, IS_KILLED };

static void leave_with_device(const struct kill_place *place)
{
	struct mimic_options options = { .socket_path = place->socket };
	struct mimic_device *device;

	options.transport = place->socket ? MIMIC_TRANSPORT_DAEMON : MIMIC_TRANSPORT_EMBEDDED;
	if (mimic_device_open(&device, "maple", &options) ||
	    !mimic_memory_alloc(device, 4096))
		_exit(1);
	_exit(0);
}

static void be_child(const struct kill_place *place, unsigned int variant, enum child_end end,
		     struct kill_result *result)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (end == ENDS_WITH_ITS_DEVICE)
		leave_with_device(place);
	do {
		memset(result, 0, sizeof(*result));
		if (kill_accesses.run(place, variant, result))
			_exit(1);
	} while (end == IS_KILLED);
	_exit(0);
}

static int run_child(const struct kill_place *place, unsigned int variant, enum child_end end,
		     struct kill_result *result)
{
	uint64_t random = kill_now_ns() | 1;
	pid_t child = fork();
	int status;

	if (child < 0)
		return kill_fail("fork: %s", strerror(errno));
	if (!child)
		be_child(place, variant, end, result);
	if (end == IS_KILLED) {
		sleep_ms((unsigned int)(kill_random(&random) % KILLED_AFTER_MS));
		kill(child, SIGKILL);
	}
	waitpid(child, &status, 0);
	if (end == IS_KILLED && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) || end == IS_KILLED)
		return kill_fail("a child ended with wait status %#x", (unsigned int)status);
	return 0;
}

static int run_processes(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	struct kill_result *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
					  -1, 0);
	enum child_end end = variant == 1 ? ENDS_WITH_ITS_DEVICE : variant == 2 ? IS_KILLED : ENDS_WELL;
	int error;

	if (shared == MAP_FAILED)
		return kill_fail("no memory");
	error = run_child(place, variant, end, shared);
	/* Of one that was killed there may be a part. */
	if (end == ENDS_WELL)
		*result = *shared;
	munmap(shared, sizeof(*shared));
	return error;
}

const struct kill_work kill_processes = {
	.name = "processes",
	.parts = { "answers of INIT and OPEN", "answers of CONSUME" },
	.run = run_processes,
};

static int run_list(const struct kill_place *place, unsigned int variant, struct kill_result *result)
{
	char *json = NULL;
	int error = mimic_daemon_list(place->socket, &json);

	(void)variant;
	(void)result;
	if (check(error, "LIST", error ? mimic_error_text() : ""))
		return -1;
	if (!strstr(json, "\"maple0\"") || !strstr(json, "\"virgo0\""))
		return kill_fail("LIST: devices are missing in %.200s", json);
	free(json);
	sleep_ms(LIST_PAUSE_MS);
	return 0;
}

const struct kill_work kill_list = { .name = "list", .run = run_list, .needs_daemon = true };
