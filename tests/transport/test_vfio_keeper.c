/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A mimicd that is killed: its machines find an end of their connections and no ECONNRESET, at which QEMU aborts; and
 * the process that sees to that.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/lib/sanitized.h"
#include "tests/lib/vfio_fixture.h"

/* The keeper should end after mimicd within this. */
#define LIFE_MS 5000

static pid_t keeper;
static struct guest other_guest;	/* of maple1 */

/* --- the keeper in /proc ------------------------------------------------------------------ */

/* false: there is no such line. */
static bool status_of(pid_t pid, const char *name, char value[64])
{
	char path[48], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, name, strlen(name)) && line[strlen(name)] == ':';
		if (found)
			sscanf(line + strlen(name) + 1, " %63s", value);
	}
	if (file)
		fclose(file);
	return found;
}

static bool is_keeper_of(pid_t pid, pid_t daemon)
{
	char name[64], parent[64];

	return status_of(pid, "Name", name) && !strcmp(name, "mimicd-keeper") && status_of(pid, "PPid", parent) &&
	       atoi(parent) == (int)daemon;
}

/* -1: there is none. */
static pid_t find_keeper(pid_t daemon)
{
	DIR *directory = opendir("/proc");
	struct dirent *entry;
	pid_t found = -1;

	assert_non_null(directory);
	while (found < 0 && (entry = readdir(directory))) {
		if (is_keeper_of(atoi(entry->d_name), daemon))
			found = atoi(entry->d_name);
	}
	closedir(directory);
	return found;
}

static int count_descriptors(void)
{
	char path[48];
	DIR *directory;
	int count = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)keeper);
	directory = opendir(path);
	assert_non_null(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count - 2;
}

/* It has so many descriptors, now or soon. */
static bool has_descriptors(int count)
{
	for (unsigned int i = 0; i < 200; i++) {
		if (count_descriptors() == count)
			return true;
		test_sleep_ms(10);
	}
	return false;
}

/* The keeper becomes our child when mimicd has ended: we are the subreaper. */
static bool ends_within(unsigned int milliseconds)
{
	for (unsigned int i = 0; i <= milliseconds / 10; i++) {
		int status;

		if (waitpid(keeper, &status, WNOHANG) == keeper)
			return WIFEXITED(status) && !WEXITSTATUS(status);
		test_sleep_ms(10);
	}
	return false;
}

/* --- each test --------------------------------------------------------------------------------- */

static int setup(void **state)
{
	(void)state;
	alarm(100);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	memset(&vfio_served, 0, sizeof(vfio_served));
	vfio_served.vfio[0] = "maple0";
	vfio_served.vfio[1] = "maple1";
	if (!served_start(&vfio_served, 2, false))
		return -1;
	/* It has its name a moment after it was made. */
	for (unsigned int i = 0; i < 500; i++) {
		keeper = find_keeper(vfio_served.pid);
		if (keeper > 0)
			return 0;
		test_sleep_ms(10);
	}
	return -1;
}

static int teardown(void **state)
{
	(void)state;
	guest_end(&vfio_guest);
	guest_end(&other_guest);
	served_end(&vfio_served, SIGKILL);
	if (!kill(keeper, 0) && !ends_within(LIFE_MS))
		kill(keeper, SIGKILL);
	for (unsigned int i = 0; i < 2; i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/maple%u.sock", vfio_served.directory, i);
		unlink(path);
	}
	served_clean(&vfio_served);
	return 0;
}

static void stop_daemon(void)
{
	int status;

	assert_return_code(kill(vfio_served.pid, SIGSTOP), errno);
	assert_int_equal(waitpid(vfio_served.pid, &status, WUNTRACED), vfio_served.pid);
}

static void post(void)
{
	guest_post(&vfio_guest, MIMICD_VFIO_REGION_CONFIG, 0x0c, 1, 0);
}

/* --- mimicd is killed ------------------------------------------------------------------------------ */

static void messages_that_nobody_has_read_are_no_error(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	stop_daemon();
	for (unsigned int i = 0; i < 150; i++)
		post();
	served_end(&vfio_served, SIGKILL);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
}

static void a_connection_without_messages_ends_too(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	served_end(&vfio_served, SIGKILL);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
}

static void each_of_several_machines_finds_an_end(void **state)
{
	(void)state;
	guest_start(&other_guest, &vfio_served, "maple1");
	guest_start(&vfio_guest, &vfio_served, "maple0");
	stop_daemon();
	post();
	guest_post(&other_guest, MIMICD_VFIO_REGION_CONFIG, 0x0c, 1, 0);
	served_end(&vfio_served, SIGKILL);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
	assert_int_equal(guest_read_end(&other_guest), 0);
}

static void fill_socket(void)
{
	static const char bytes[4096];

	while (send(vfio_guest.fd, bytes, sizeof(bytes), MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	assert_int_equal(errno, EAGAIN);
}

static void send_load(uint16_t id, size_t size)
{
	const struct {
		struct mimicd_vfio_header header;
		struct mimicd_vfio_region_access access;
	} load = {
		{ .id = id, .command = MIMICD_VFIO_REGION_READ, .size = sizeof(load) },
		{ .region = MIMIC_PCI_BAR_REGISTERS, .count = 8 },
	};

	assert_true(guest_send(&vfio_guest, &load, size, NULL, 0));
}

/* An error for this one. */
static void expect_error(uint16_t id)
{
	struct mimicd_vfio_header reply;

	assert_int_equal(recv(vfio_guest.fd, &reply, sizeof(reply), MSG_WAITALL), sizeof(reply));
	assert_int_equal(reply.id, id);
	assert_int_equal(reply.command, MIMICD_VFIO_REGION_READ);
	assert_int_equal(reply.size, sizeof(reply));
	assert_int_equal(reply.flags, MIMICD_VFIO_REPLY | MIMICD_VFIO_ERROR);
	assert_int_equal(reply.error, EIO);
}

/* QEMU would wait for them, with all processors, until its own time is over. */
static void loads_that_nobody_has_read_are_errors(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	stop_daemon();
	post();
	send_load(100, 32);
	post();
	send_load(101, 32);
	served_end(&vfio_served, SIGKILL);
	expect_error(100);
	expect_error(101);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
}

static void a_load_that_mimicd_has_begun_to_read_is_an_error(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	send_load(100, sizeof(struct mimicd_vfio_header) + 4);
	/* It has read that when it has answered the other machine. */
	guest_start(&other_guest, &vfio_served, "maple1");
	served_end(&vfio_served, SIGKILL);
	expect_error(100);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
}

static void a_load_that_was_answered_is_not_answered_again(void **state)
{
	char byte;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	guest_bus(&vfio_guest, MIMIC_PCI_MAGIC);
	served_end(&vfio_served, SIGKILL);
	assert_int_equal(recv(vfio_guest.fd, &byte, 1, 0), 0);
}

/* Where it was sent and taken, QEMU would wait for its answer. */
static void the_next_load_is_refused(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	served_end(&vfio_served, SIGKILL);
	assert_true(ends_within(LIFE_MS));
	assert_false(guest_send(&vfio_guest, "", 1, NULL, 0));
	assert_int_equal(errno, EPIPE);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
}

/* Its send() waits for room when mimicd is killed. */
static void *write_on(void *error)
{
	static const char bytes[4096];

	while (send(vfio_guest.fd, bytes, sizeof(bytes), MSG_NOSIGNAL) > 0)
		;
	*(int *)error = errno;
	return NULL;
}

static void a_machine_that_waits_for_room_is_cut_off(void **state)
{
	pthread_t writer;
	int error = 0;

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	stop_daemon();
	fill_socket();
	assert_int_equal(pthread_create(&writer, NULL, write_on, &error), 0);
	served_end(&vfio_served, SIGKILL);
	assert_true(ends_within(LIFE_MS));
	pthread_join(writer, NULL);
	assert_int_equal(error, EPIPE);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
}

static void no_process_is_left(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	post();
	served_end(&vfio_served, SIGKILL);
	assert_true(ends_within(LIFE_MS));
}

static void descriptors_of_messages_are_closed(void **state)
{
	struct pollfd end = { .events = POLLIN };
	int ends[2];

	(void)state;
	assert_return_code(pipe(ends), errno);
	end.fd = ends[0];
	guest_start(&vfio_guest, &vfio_served, "maple0");
	stop_daemon();
	assert_true(guest_send(&vfio_guest, "", 1, &ends[1], 1));
	close(ends[1]);
	assert_int_equal(poll(&end, 1, 100), 0);
	served_end(&vfio_served, SIGKILL);
	assert_int_equal(poll(&end, 1, 2000), 1);
	assert_int_equal(end.revents, POLLHUP);
	close(ends[0]);
}

/* --- while mimicd serves ------------------------------------------------------------------------------ */

static void it_has_the_connections_and_nothing_else(void **state)
{
	(void)state;
	assert_true(has_descriptors(1));
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_true(has_descriptors(2));
	guest_end(&vfio_guest);
	assert_true(has_descriptors(1));
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_true(has_descriptors(2));
}

static void it_lets_go_of_a_machine_that_mimicd_cuts_off(void **state)
{
	struct mimic_open unwanted = { .name = "maple0" };
	int client = raw_client(vfio_served.socket);

	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_true(has_descriptors(2));
	assert_int_equal(raw_request(client, &unwanted, sizeof(unwanted), MIMIC_MESSAGE_REMOVE, -1, NULL, 0, NULL), 0);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
	assert_true(has_descriptors(1));
	close(client);
}

/* The machine has gone, and has left messages: they are mimicd's to read. */
static void it_takes_no_messages_from_mimicd(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_true(has_descriptors(2));
	stop_daemon();
	for (unsigned int i = 0; i < 150; i++)
		post();
	guest_end(&vfio_guest);
	assert_false(has_descriptors(1));
	assert_return_code(kill(vfio_served.pid, SIGCONT), errno);
	assert_true(has_descriptors(1));
}

static void it_has_few_rights(void **state)
{
	char value[64];

	(void)state;
	assert_true(status_of(keeper, "NoNewPrivs", value));
	assert_string_equal(value, "1");
	assert_true(status_of(keeper, "CapPrm", value));
	assert_string_equal(value, "0000000000000000");
	assert_true(status_of(keeper, "Seccomp", value));
	assert_string_equal(value, IS_SANITIZED ? "0" : "2");
}

/* From a terminal, from systemd for the whole unit, from a kill by name. */
static void it_takes_no_signals_of_mimicds_group(void **state)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 };

	(void)state;
	assert_int_not_equal(getsid(keeper), getsid(vfio_served.pid));
	for (unsigned int i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		assert_return_code(kill(keeper, signals[i]), errno);
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_true(has_descriptors(2));
}

static void mimicd_goes_on_without_it(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_return_code(kill(keeper, SIGKILL), errno);
	assert_true(served_said(&vfio_served, "keeps connections of virtual machines"));
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	guest_end(&vfio_guest);
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(guest_bus(&vfio_guest, MIMIC_PCI_MAGIC), MIMIC_PCI_MAGIC_VALUE);
	/* Nor is it left as a zombie. */
	assert_int_equal(kill(keeper, 0), -1);
	assert_int_equal(errno, ESRCH);
}

static void it_ends_with_mimicd(void **state)
{
	(void)state;
	guest_start(&vfio_guest, &vfio_served, "maple0");
	assert_int_equal(served_end(&vfio_served, SIGTERM), 0);
	assert_int_equal(kill(keeper, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(guest_read_end(&vfio_guest), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(messages_that_nobody_has_read_are_no_error),
		TEST(a_connection_without_messages_ends_too),
		TEST(each_of_several_machines_finds_an_end),
		TEST(loads_that_nobody_has_read_are_errors),
		TEST(a_load_that_mimicd_has_begun_to_read_is_an_error),
		TEST(a_load_that_was_answered_is_not_answered_again),
		TEST(the_next_load_is_refused),
		TEST(a_machine_that_waits_for_room_is_cut_off),
		TEST(no_process_is_left),
		TEST(descriptors_of_messages_are_closed),
		TEST(it_has_the_connections_and_nothing_else),
		TEST(it_lets_go_of_a_machine_that_mimicd_cuts_off),
		TEST(it_takes_no_messages_from_mimicd),
		TEST(it_has_few_rights),
		TEST(it_takes_no_signals_of_mimicds_group),
		TEST(mimicd_goes_on_without_it),
		TEST(it_ends_with_mimicd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
