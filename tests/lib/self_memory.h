/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A memory port onto this process that no bad address can hurt; slow and simple. */
#ifndef TESTS_SELF_MEMORY_H
#define TESTS_SELF_MEMORY_H

#include "devices/model.h"

struct mimic_memory self_memory(void);

#endif
