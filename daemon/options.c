/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/options.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/clients/socket.h"
#include "libmimic/base/plugin.h"
#include "libmimic/base/wait.h"
#include "libmimic/daemon/client.h"
#include "libmimic/mimic.h"
#include "mimic/bus.h"
#include "options/options.h"

#define RECOVERY_SECONDS 100u
#define RECOVERY_SECONDS_MAX 86400u

static const char help[] =
	"Usage: mimicd [OPTION]...\n"
	"Serves emulated devices to the programs of this user.\n"
	"\n"
	"  -s, --socket PATH       listen there (default: $MIMIC_SOCKET, then\n"
	"                          $XDG_RUNTIME_DIR/mimic/mimicd.sock, or where that is no folder of the user\n"
	"                          /run/user/UID/mimic/mimicd.sock or /tmp/mimic-UID/mimicd.sock;\n"
	"                          /run/mimic/mimicd.sock for root)\n"
	"  -c, --config FILE       parameters of the devices, an INI file, or the name of a profile, such as\n"
	"                          \"paper\" (default: $MIMIC_CONFIG, then each kind's defaults)\n"
	"  -d, --devices LIST      how many devices of which kinds, KIND:COUNT,...; of a kind that is not\n"
	"                          named there are none (default: $MIMIC_DEVICES, then the\n"
	"                          configuration's)\n"
	"      --plugin FILE       one more kind of device, from this shared library; may be repeated (also\n"
	"                          those of $MIMIC_PLUGINS and of the configuration)\n"
	"      --threads COUNT     threads that serve the devices, at most; 0: as many as CPUs (default: 1)\n"
	"      --spin MICROSECONDS how long to poll before sleeping; 0: never poll\n"
	"      --kernel[=WHEN]     devices in the kernel, by mimic.ko: auto (default; if it is loaded),\n"
	"                          required (also without a word) or off\n"
	"      --bus PATH          its node (default: /dev/mimic)\n"
	"      --vfio-user [DEVICE=]PATH[,msi][,rings][,memory=PATH]\n"
	"                          a device for a virtual machine, whose QEMU connects to this socket; the\n"
	"                          device is the file's name without .sock if none is named; with MSI instead of\n"
	"                          MSI-X it can be taken out of a running machine; with rings programs of\n"
	"                          the machine reach it without a trap; memory: another socket, for a second\n"
	"                          function that has memory and rings, so that stores to the first one do not\n"
	"                          wait; may be repeated\n"
	"      --channel FORM      how to talk to it: uring, read, or auto (default): uring where allowed\n"
	"      --record FILE       keep all that the devices are asked and answer in this file, which is not there\n"
	"                          yet (mimic replay)\n"
	"      --state [DIR]       show devices and clients as files in DIR, an empty directory (default: state,\n"
	"                          beside the socket, which is made and removed again)\n"
	"      --allow-users       serve every user; the memory of other users' programs is only\n"
	"                          reached where they share it (mimic_memory_register() and what libraries\n"
	"                          make of it)\n"
	"      --group GROUP       the same for members of this group only\n"
	"      --quota LIST        what the programs of one other user may have in all, NAME=NUMBER,...:\n"
	"                          connections (64), devices (256), lanes (1024), maps (8192), shared (128G);\n"
	"                          K, M, G and T may stand behind a number\n"
	"      --sandbox LIST      what is given up before clients are served: all, none, or of privileges,\n"
	"                          capabilities, seccomp (these three by default) and landlock, without which\n"
	"                          memory that programs do not share is reached\n"
	"      --supervise         start the daemon as a child, and another one when it is killed\n"
	"      --recover           put the state where a successor finds it (systemd's descriptor store), and take up\n"
	"                          a predecessor's\n"
	"      --recovery-time SECONDS\n"
	"                          how long programs wait for a successor (default: 100)\n"
	"      --check[=PID]       with --recover: serve nothing, but say whether this mimicd could take over from\n"
	"                          process PID, a daemon or its supervisor; exit status 0 or 1\n"
	"  -f, --foreground        stay in the foreground (default)\n"
	"  -D, --daemonise         go to the background when ready; log to syslog\n"
	"      --log-level LEVEL   error, warning, info (default) or debug\n"
	"  -h, --help              this text\n"
	"  -V, --version           the version\n"
	"\n"
	"Exit status: 0 after SIGTERM or SIGINT, 1 if it cannot serve, 2 for bad options, configuration\n"
	"or socket path.\n";

/* A command line that is being read, and texts whose meaning depends on others. */
struct reader {
	struct mimicd_command_line *line;
	int argc;
	char **argv;
	const char *config;
	const char *devices;
	const char *spin;
	struct mimic_option_values plugins;
};

/* 0: as many as there are CPUs for us. */
static int take_threads(void *context, const char *text)
{
	struct mimicd_options *options = &((struct reader *)context)->line->options;
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || value > MIMICD_THREADS_MAX) {
		fprintf(stderr, "mimicd: --threads %s: a number of threads from 0 to %u is needed\n", text,
			MIMICD_THREADS_MAX);
		return -EINVAL;
	}
	options->threads = value ? (unsigned int)value : mimic_cpu_count();
	if (options->threads > MIMICD_THREADS_MAX)
		options->threads = MIMICD_THREADS_MAX;
	return 0;
}

static int parse_spin(const char *text, unsigned int *microseconds)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || *text == '-' || value > MIMIC_SPIN_MICROSECONDS_MAX) {
		fprintf(stderr, "mimicd: --spin %s: a number of microseconds from 0 to %d is needed\n",
			text, MIMIC_SPIN_MICROSECONDS_MAX);
		return -EINVAL;
	}
	*microseconds = (unsigned int)value;
	return 0;
}

/* The place of `text` among words; -EINVAL, said on standard error, if it is none of them. */
static int parse_word(const char *option, const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++) {
		if (!strcmp(text, words[i]))
			return i;
	}
	fprintf(stderr, "mimicd: %s %s: one of %s, %s, %s is needed\n", option, text, words[0], words[1],
		words[2]);
	return -EINVAL;
}

static int take_kernel(void *context, const char *text)
{
	struct mimicd_options *options = &((struct reader *)context)->line->options;
	static const char *const words[] = { "off", "auto", "required", NULL };
	int value = text ? parse_word("--kernel", text, words) : MIMICD_KERNEL_REQUIRED;

	if (value >= 0)
		options->bus.kernel = (enum mimicd_kernel)value;
	return value < 0 ? value : 0;
}

static int take_channel(void *context, const char *text)
{
	struct mimicd_options *options = &((struct reader *)context)->line->options;
	static const char *const words[] = { "auto", "uring", "read", NULL };
	int value = parse_word("--channel", text, words);

	if (value >= 0)
		options->bus.channel = (enum mimicd_channel)value;
	return value < 0 ? value : 0;
}

/* "--state=DIR", "--state DIR" or "--state": there are no other arguments that DIR could be. */
static int take_state(void *context, const char *directory)
{
	struct reader *reader = context;
	struct mimicd_command_line *line = reader->line;

	if (!directory && optind < reader->argc && reader->argv[optind][0] != '-')
		directory = reader->argv[optind++];
	line->options.filesystem.path = directory;
	line->wants_state = true;
	if (!directory || *directory)
		return 0;
	fputs("mimicd: --state: the directory has no name\n", stderr);
	return -EINVAL;
}

static int take_group(void *context, const char *text)
{
	struct mimicd_command_line *line = ((struct reader *)context)->line;
	const struct group *group = getgrnam(text);
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (group)
		number = group->gr_gid;
	else if (*end || end == text || *text == '-' || number >= UINT32_MAX) {
		fprintf(stderr, "mimicd: --group %s: there is no such group\n", text);
		return -EINVAL;
	}
	line->options.clients.allow_users = line->options.filesystem.allow_users = true;
	line->options.clients.has_group = true;
	line->options.clients.group = (gid_t)number;
	line->options.filesystem.has_group = true;
	line->options.filesystem.group = (gid_t)number;
	return 0;
}

static int take_quota(void *context, const char *text)
{
	struct mimicd_command_line *line = ((struct reader *)context)->line;
	const char *wrong;

	if (!mimicd_quotas_parse(&line->quotas, text, &wrong))
		return 0;
	fprintf(stderr, "mimicd: --quota %s: '%s': NAME=NUMBER is needed, of connections, devices, lanes, maps, "
		"shared\n", text, wrong);
	return -EINVAL;
}

static int take_vfio_user(void *context, const char *text)
{
	struct mimicd_vfio_options *vfio = &((struct reader *)context)->line->options.vfio;

	if (vfio->count < MIMICD_VFIO_SOCKETS_MAX) {
		vfio->sockets[vfio->count++] = text;
		return 0;
	}
	fprintf(stderr, "mimicd: --vfio-user %s: that is more than %u of them\n", text, MIMICD_VFIO_SOCKETS_MAX);
	return -EINVAL;
}

static int take_users(void *context, const char *text)
{
	struct mimicd_options *options = &((struct reader *)context)->line->options;

	(void)text;
	options->clients.allow_users = options->filesystem.allow_users = true;
	return 0;
}

static int take_sandbox(void *context, const char *text)
{
	if (!mimicd_sandbox_parse(&((struct reader *)context)->line->sandbox, text))
		return 0;
	fprintf(stderr, "mimicd: --sandbox %s: all, none, or names of privileges, capabilities, seccomp, landlock "
		"with commas are needed\n", text);
	return -EINVAL;
}

/*
 * The options of recovery. The supervisor's child has the same command line but for this word, in whatever form it was
 * given.
 */
static int take_supervise(void *context, const char *text)
{
	static char recover[] = "--recover";
	struct reader *reader = context;

	(void)text;
	reader->line->supervise = true;
	reader->argv[optind - 1] = recover;
	return 0;
}

/* "--check": of the daemon whose descriptors the service manager has given us. */
static int take_check(void *context, const char *text)
{
	struct mimicd_command_line *line = ((struct reader *)context)->line;
	char *end = NULL;
	unsigned long value = text ? strtoul(text, &end, 10) : 0;

	if (text && (*end || *text == '-' || !value || value > INT_MAX)) {
		fprintf(stderr, "mimicd: --check=%s: the number of a process is needed\n", text);
		return -EINVAL;
	}
	line->checks = true;
	line->checked = (pid_t)value;
	return 0;
}

static int take_recovery_time(void *context, const char *text)
{
	struct mimicd_options *options = &((struct reader *)context)->line->options;
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || *text == '-' || !value || value > RECOVERY_SECONDS_MAX) {
		fprintf(stderr, "mimicd: --recovery-time %s: a number of seconds from 1 to %u is needed\n", text,
			RECOVERY_SECONDS_MAX);
		return -EINVAL;
	}
	options->clients.recovery_seconds = (unsigned int)value;
	return 0;
}

static int take_foreground(void *context, const char *text)
{
	(void)text;
	((struct reader *)context)->line->daemonise = false;
	return 0;
}

static int take_daemonise(void *context, const char *text)
{
	(void)text;
	((struct reader *)context)->line->daemonise = true;
	return 0;
}

static int take_log_level(void *context, const char *text)
{
	if (!mimicd_log_level_parse(text, &((struct reader *)context)->line->log_level))
		return 0;
	fprintf(stderr, "mimicd: --log-level %s: error, warning, info or debug is needed\n", text);
	return -EINVAL;
}

/* The end that mimic_options_parse() has found, or -errno when all is said. */
static int read_options(struct reader *reader)
{
	struct mimicd_options *options = &reader->line->options;
	const struct mimic_option list[] = {
		{ .name = "socket", .letter = 's', .value = &options->clients.socket_path, .form = OPTION_VALUE_TEXT },
		{ .name = "config", .letter = 'c', .value = &reader->config, .form = OPTION_VALUE_TEXT },
		{ .name = "devices", .letter = 'd', .value = &reader->devices, .form = OPTION_VALUE_TEXT },
		{ .name = "plugin", .values = &reader->plugins, .form = OPTION_VALUE_TEXT },
		{ .name = "spin", .value = &reader->spin },
		{ .name = "allow-users", .take = take_users, .form = OPTION_VALUE_NONE },
		{ .name = "group", .take = take_group },
		{ .name = "quota", .take = take_quota },
		{ .name = "sandbox", .take = take_sandbox },
		{ .name = "kernel", .take = take_kernel, .form = OPTION_VALUE_OPTIONAL },
		{ .name = "bus", .value = &options->bus.path, .form = OPTION_VALUE_TEXT },
		{ .name = "threads", .take = take_threads },
		{ .name = "channel", .take = take_channel },
		{ .name = "record", .value = &options->recording, .form = OPTION_VALUE_TEXT },
		{ .name = "state", .take = take_state, .form = OPTION_VALUE_OPTIONAL },
		{ .name = "vfio-user", .take = take_vfio_user },
		{ .name = "supervise", .take = take_supervise, .form = OPTION_VALUE_NONE },
		{ .name = "recover", .flag = &options->recover, .form = OPTION_VALUE_NONE },
		{ .name = "check", .take = take_check, .form = OPTION_VALUE_OPTIONAL },
		{ .name = "recovery-time", .take = take_recovery_time },
		{ .name = "foreground", .letter = 'f', .take = take_foreground, .form = OPTION_VALUE_NONE },
		{ .name = "daemonise", .letter = 'D', .take = take_daemonise, .form = OPTION_VALUE_NONE },
		{ .name = "daemonize", .take = take_daemonise, .form = OPTION_VALUE_NONE },
		{ .name = "log-level", .take = take_log_level },
	};
	int end = mimic_options_parse("mimicd", reader->argc, reader->argv, OPTIONS_ANYWHERE, list,
				      sizeof(list) / sizeof(list[0]), reader);

	if (end != OPTIONS_TAKEN)
		return end;
	if (reader->plugins.count > MIMIC_KINDS_MAX) {
		fprintf(stderr, "mimicd: --plugin %s: that is more than %d of them\n", reader->plugins.values[MIMIC_KINDS_MAX],
			MIMIC_KINDS_MAX);
		return -EINVAL;
	}
	if (optind < reader->argc) {
		fprintf(stderr, "mimicd: '%s': no argument is expected; try 'mimicd --help'\n", reader->argv[optind]);
		return -EINVAL;
	}
	return 0;
}

static int load_plugin(const char *path)
{
	int error = mimic_plugin_try_and_load(path);

	if (error)
		fprintf(stderr, "mimicd: %s\n", mimic_error_text());
	return error;
}

/* One that cannot be loaded is left out. */
static void load_plugins(const struct reader *reader)
{
	mimic_plugins_each(secure_getenv("MIMIC_PLUGINS"), load_plugin);
	for (unsigned int i = 0; i < reader->plugins.count; i++)
		load_plugin(reader->plugins.values[i]);
	mimic_config_plugins(reader->config, load_plugin);
}

static int load_settings(struct mimicd_command_line *line, const struct reader *reader)
{
	struct mimic_settings *settings = &line->options.settings;
	int error;

	load_plugins(reader);
	mimic_config_default(settings);
	error = mimic_config_load(reader->config, settings);
	if (!error)
		error = mimic_config_devices(reader->devices, settings);
	if (error) {
		fprintf(stderr, "mimicd: %s\n", mimic_error_text());
		return error;
	}
	return reader->spin ? parse_spin(reader->spin, &settings->spin_microseconds) : 0;
}

/* The option whose devices cannot be recovered yet; NULL: all can. */
static const char *find_unrecoverable(const struct mimicd_options *options)
{
	if (options->vfio.count)
		return "--vfio-user";
	if (options->bus.channel == MIMICD_CHANNEL_READ)
		return "--channel read";
	return options->recording ? "--record" : NULL;
}

static int check_recovery(struct mimicd_command_line *line)
{
	struct mimicd_options *options = &line->options;
	const char *option = line->supervise ? "--supervise" : "--recover", *other;

	if (line->checks && !options->recover) {
		fputs("mimicd: --check: --recover is needed\n", stderr);
		return -EINVAL;
	}
	if (!line->supervise && !options->recover) {
		if (!options->clients.recovery_seconds)
			return 0;
		fputs("mimicd: --recovery-time: --supervise or --recover is needed\n", stderr);
		return -EINVAL;
	}
	other = find_unrecoverable(options);
	if (other) {
		fprintf(stderr, "mimicd: %s: with %s the state cannot be recovered yet\n", option, other);
		return -EINVAL;
	}
	if (!options->clients.recovery_seconds)
		options->clients.recovery_seconds = RECOVERY_SECONDS;
	options->bus.recovery_seconds = options->clients.recovery_seconds;
	return 0;
}

static int take_stored(struct mimicd_options *options)
{
	const char *count = getenv("LISTEN_FDS");
	int error = mimicd_store_take(&options->stored, &options->stored_count);

	if (error)
		fprintf(stderr, "mimicd: LISTEN_FDS=%s: %s\n", count, error == -EBADF ? "not all of these are open" : strerror(-error));
	return error;
}

/* Where to listen, if nobody said it and the service manager has not done it. */
static int find_socket(struct mimicd_command_line *line)
{
	const char *named = secure_getenv("MIMIC_SOCKET");
	int error = take_stored(&line->options);

	if (error)
		return error;
	/* A supervisor leaves it in the list, for its child. */
	if (!line->supervise)
		line->options.clients.listen_fd = mimicd_socket_from_manager(line->options.stored, line->options.stored_count);
	if (line->options.clients.socket_path || line->options.clients.listen_fd >= 0)
		return 0;
	error = mimic_daemon_socket_path(NULL, line->default_path, sizeof(line->default_path));
	if (error) {
		fputs("mimicd: the path of the socket (MIMIC_SOCKET, XDG_RUNTIME_DIR) is too long\n", stderr);
		return -EINVAL;
	}
	line->options.clients.socket_path = line->default_path;
	line->make_directory = !named || !*named;
	return 0;
}

/* "state" beside the socket, or where the socket would be by default. */
static int find_state_directory(struct mimicd_command_line *line)
{
	const char *socket = line->options.clients.socket_path, *slash;
	int length;

	if (!socket && !mimic_daemon_socket_path(NULL, line->default_path, sizeof(line->default_path)))
		socket = line->default_path;
	if (!socket) {
		fputs("mimicd: --state: there is no default directory: give --state DIR\n", stderr);
		return -EINVAL;
	}
	slash = strrchr(socket, '/');
	length = snprintf(line->state_path, sizeof(line->state_path), "%.*sstate",
			  slash ? (int)(slash + 1 - socket) : 0, socket);
	if (length >= (int)sizeof(line->state_path)) {
		fputs("mimicd: --state: the path of the socket is too long: give --state DIR\n", stderr);
		return -EINVAL;
	}
	line->options.filesystem.path = line->state_path;
	line->options.filesystem.make_directory = true;
	return 0;
}

int mimicd_command_line_parse(struct mimicd_command_line *line, int argc, char **argv)
{
	struct reader reader = {
		.line = line, .argc = argc, .argv = argv, .config = getenv("MIMIC_CONFIG"), .devices = getenv("MIMIC_DEVICES"),
	};
	int error;

	*line = (struct mimicd_command_line){
		.options = {
			.clients.listen_fd = -1,
			.bus = { .kernel = MIMICD_KERNEL_AUTO, .path = MIMIC_BUS_NODE },
		},
		.log_level = MIMICD_LOG_INFO,
	};
	mimicd_quotas_default(&line->quotas);
	mimicd_sandbox_default(&line->sandbox);
	line->options.clients.quotas = &line->quotas;
	error = read_options(&reader);
	if (error == OPTIONS_WANT_HELP)
		fputs(help, stdout);
	else if (error == OPTIONS_WANT_VERSION)
		puts("mimicd " MIMIC_VERSION);
	if (error < 0)
		return error;
	line->exit_now = error != OPTIONS_TAKEN;
	if (line->exit_now)
		return 0;
	if (check_recovery(line) || load_settings(line, &reader))
		return -EINVAL;
	error = find_socket(line);
	if (!error && line->wants_state && !line->options.filesystem.path)
		error = find_state_directory(line);
	return error;
}
