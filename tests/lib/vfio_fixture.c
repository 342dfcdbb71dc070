/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tests/lib/vfio_fixture.h"

#include <signal.h>

struct served vfio_served;
struct guest vfio_guest;

int vfio_fixture_end(void **state)
{
	int status = served_end(&vfio_served, SIGTERM);

	(void)state;
	served_clean(&vfio_served);
	return status;
}

int vfio_fixture_end_guest(void **state)
{
	(void)state;
	guest_end(&vfio_guest);
	return 0;
}
