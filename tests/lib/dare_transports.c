/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/dare_transports.h"

#include <signal.h>

#include "tests/lib/daemon_fixture.h"

static struct served served = { .dares = 2 };
static const struct mimic_options on_embedded = {
	.transport = MIMIC_TRANSPORT_EMBEDDED, .config_path = "paper", .devices = "dare:2",
};
static const struct mimic_options on_daemon = {
	.transport = MIMIC_TRANSPORT_DAEMON, .socket_path = served.socket,
};
const struct mimic_options *transport_options;
static struct sigaction fault_actions[2];

/* cmocka puts handlers of SIGSEGV and SIGBUS of its own before every test. */
static void restore_handlers(void)
{
	sigaction(SIGSEGV, &fault_actions[0], NULL);
	sigaction(SIGBUS, &fault_actions[1], NULL);
}

struct mimic_device *open_or_fail(const char *name)
{
	struct mimic_device *device = NULL;

	restore_handlers();
	assert_int_equal(mimic_device_open(&device, name, transport_options), 0);
	return device;
}

int try_open(const char *name)
{
	struct mimic_device *device = NULL;
	int error = mimic_device_open(&device, name, transport_options);

	if (!error)
		mimic_device_close(device);
	return error;
}

static void remember_handlers(void)
{
	struct mimic_device *device;

	if (!mimic_device_open(&device, "dare0", &on_embedded))
		mimic_device_close(device);
	sigaction(SIGSEGV, NULL, &fault_actions[0]);
	sigaction(SIGBUS, NULL, &fault_actions[1]);
}

static int run_on(const struct mimic_options *which, const char *name, const struct CMUnitTest *tests, size_t count)
{
	transport_options = which;
	return _cmocka_run_group_tests(name, tests, count, NULL, NULL);
}

int run_on_both_transports(const struct CMUnitTest *tests, size_t count)
{
	int failed;

	remember_handlers();
	failed = run_on(&on_embedded, "dare on the embedded transport", tests, count);
	if (!served_start(&served, 1, false))
		return failed + 1;
	failed += run_on(&on_daemon, "dare on the daemon transport", tests, count);
	failed += served_end(&served, SIGTERM) != 0;
	served_clean(&served);
	return failed;
}
