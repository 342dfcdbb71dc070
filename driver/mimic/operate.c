// SPDX-License-Identifier: GPL-2.0
/* The same text as in the program's end of the transports, where it is tested. */
#include "libmimic/base/operate.c"
