// SPDX-License-Identifier: GPL-2.0
/* The same text as in the program's end of the transports, where it is tested and fuzzed. */
#include "libmimic/base/decode.c"
#include "libmimic/base/decode_operand.c"
#include "libmimic/base/decode_vector.c"
