/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef MIMICD_THREAD_ID_H
#define MIMICD_THREAD_ID_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A thread's number in our pid namespace. It says `tid`, which means something
 * in its own. 0: it has no such thread that we can see.
 */
pid_t mimicd_thread_id(pid_t process, uint32_t tid);

#endif
