/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimic vm: programs that fetch, compile and boot are put together by a script, vm.sh. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common/tools.h"

#define FOLDER "share/mimic/vm"
#define SCRIPT "vm.sh"

int tool_vm(int argc, char **argv)
{
	char folder[PATH_MAX], script[PATH_MAX + sizeof("/" SCRIPT)];
	int status;

	if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		tool_print_version();
		return EXIT_SUCCESS;
	}
	status = tool_find_folder(FOLDER, SCRIPT, folder);
	if (status)
		return status;
	snprintf(script, sizeof(script), "%s/" SCRIPT, folder);
	argv[0] = script;
	execv(script, argv);
	return tool_error(EXIT_NOT_EXECUTABLE, "%s: %s", script, strerror(errno));
}
