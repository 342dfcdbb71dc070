/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* IEEE 754 binary16 by its definition, for compilers that do not have the type. */
#ifndef TESTS_HALF_H
#define TESTS_HALF_H

#include <stdint.h>

float half_value(uint16_t half);
/* To nearest, ties to even. Every NaN is 0x7e00. */
uint16_t half_of(float value);

#endif
