// SPDX-License-Identifier: GPL-2.0
/* Where the tracepoints live. */
#ifndef __CHECKER__	/* sparse cannot read the macros */
#define CREATE_TRACE_POINTS
#include "trace.h"
#endif
