/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Messages of a virtual machine to the daemon, in one process with it.
 *
 * The oracle is a small model of the machine: which messages cut it off, which are
 * refused and their errno, the ranges of memory that are mapped, the configuration
 * space, roots and modes of address spaces, the device's memory, states of lanes. The device's own answers
 * are checked by other targets. After each input the daemon has as many descriptors as before.
 *
 * An input is a byte that says whether the device's memory is a function of its own, and a list of actions: a
 * byte that says which, and its operands.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/loop/log.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/vfio_machine.h"
#include "tests/lib/kinds.h"

static struct mimicd_server *server;
/* Of virgo0, which is one function; of virgo1's registers, and of its memory. */
static char paths[3][64];
struct machine machine;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void remove_sockets(void)
{
	for (unsigned int i = 0; i < 3; i++)
		unlink(paths[i]);
}

static void set_up(void)
{
	static struct mimicd_options options = { .clients.listen_fd = -1 };
	static char texts[2][160];

	for (unsigned int i = 0; i < 3; i++)
		snprintf(paths[i], sizeof(paths[i]), "/tmp/fuzz-vfio-%d-%u.sock", (int)getpid(), i);
	snprintf(texts[0], sizeof(texts[0]), "virgo0=%s,rings", paths[0]);
	snprintf(texts[1], sizeof(texts[1]), "virgo1=%s,rings,memory=%s", paths[1], paths[2]);
	for (unsigned int i = 0; i < 2; i++)
		options.vfio.sockets[options.vfio.count++] = texts[i];
	mimic_config_default(&options.settings);
	*count_of(&options.settings, &mimic_kind_virgo) = 2;
	mimicd_log_set_level(MIMICD_LOG_ERROR);
	CHECK(mimicd_server_create(&server, &options) == 0);
	atexit(remove_sockets);
	machine.ram_fd = memfd_create("ram", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	CHECK(ftruncate(machine.ram_fd, PAGES * PAGE) == 0 && fcntl(machine.ram_fd, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
	machine.event_fd = eventfd(0, EFD_CLOEXEC);
	CHECK(machine.event_fd >= 0);
}

void machine_settle(void)
{
	mimicd_server_settle(server);
	/* Threads beside the loop close descriptors of clients. */
	while (mimicd_closer_backlog(server->loop.closer, getuid()))
		sched_yield();
}

static int count_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	CHECK(directory);
	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static void power_on(void)
{
	static struct transfer body;

	memset(machine.roots, 0, sizeof(machine.roots));
	memset(machine.modes, 0, sizeof(machine.modes));
	memset(machine.memory, 0, sizeof(machine.memory));
	for (unsigned int i = 0; i < LANES; i++)
		CHECK(!machine_lane_register(i));
	machine.lies = false;
	/* Other tests check the initial values: this one checks which bits change. */
	body.access = (struct mimicd_vfio_region_access){ 0, MIMICD_VFIO_REGION_CONFIG, 256 };
	CHECK(!machine_transfer(false, &body));
	memcpy(machine.config, body.data, sizeof(machine.config));
	for (unsigned int i = 0; i < sizeof(machine.config); i++)
		CHECK(!(machine.config[i] & machine_config_mask(i)));
}

static void act(struct input *input)
{
	unsigned int action = byte(input);
	bool is_store = action & 0x80;

	switch (action % 13) {
	case 0:
		machine_send_anything(input);
		break;
	case 1:
		machine_map(input);
		break;
	case 2:
		machine_unmap(input);
		break;
	case 3:
		machine_access_config(input, is_store);
		break;
	case 4:
		machine_access_memory(input, is_store);
		break;
	case 5:
	case 6:
		machine_access_space(input, is_store);
		break;
	case 7:
		machine_set_interrupts(input);
		break;
	case 8:
		machine_access_anything(input, is_store);
		break;
	case 9:
	case 10:
		machine_use_lanes(input);
		break;
	case 11:
		machine_use_memory_function(input);
		break;
	default:
		if (byte(input) % 4)
			break;
		CHECK(!machine_ask(MIMICD_VFIO_RESET, NULL, 0, -1, NULL, NULL));
		power_on();
		break;
	}
}

/* --- a machine -------------------------------------------------------------------------- */

static int connect_to(const char *path)
{
	static const char version[] = "\0\0\0\0{}";
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	machine.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(address.sun_path, path);
	CHECK(connect(machine.fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	machine_settle();
	CHECK(!machine_ask(MIMICD_VFIO_VERSION, version, sizeof(version), -1, NULL, NULL));
	return machine.fd;
}

static void begin(bool is_split)
{
	const struct mimicd_vfio_region_access size = { MIMIC_PCI_MEMORY_SIZE, 0, 8 };
	struct transfer body = { .access = size };

	machine = (struct machine){ .is_split = is_split, .ram_fd = machine.ram_fd, .event_fd = machine.event_fd };
	machine.fds[0] = connect_to(paths[is_split]);
	machine.fds[1] = is_split ? connect_to(paths[2]) : -1;
	machine.fd = machine.fds[0];
	CHECK(!machine_transfer(false, &body));
	memcpy(&machine.memory_size, body.data, sizeof(machine.memory_size));
	power_on();
}

/* The memory's connection ends with that of the registers. */
static void end(void)
{
	char byte;

	close(machine.fds[0]);
	machine_settle();
	if (!machine.is_split)
		return;
	CHECK(recv(machine.fds[1], &byte, 1, MSG_DONTWAIT) == 0);
	close(machine.fds[1]);
	machine_settle();
}

/* Has the daemon open the descriptors that it opens once, for the first machine with interrupts. */
static void try_interrupts(void)
{
	const struct mimicd_vfio_irq_set set = {
		.argsz = sizeof(set), .flags = MIMICD_VFIO_SET_DATA_EVENTFD | MIMICD_VFIO_SET_ACTION_TRIGGER,
		.index = MIMICD_VFIO_MSIX, .count = 1,
	};

	begin(false);
	CHECK(!machine_ask(MIMICD_VFIO_SET_IRQS, &set, sizeof(set), machine.event_fd, NULL, NULL));
	end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	int before;

	if (!server) {
		set_up();
		try_interrupts();
	}
	machine_settle();
	before = count_descriptors();
	begin(byte(&input) % 2);
	while (input.size && !machine.is_cut_off)
		act(&input);
	end();
	CHECK(count_descriptors() == before);
	return 0;
}
