#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Prints how many seconds a test program says that it needs, or nothing.
#
#   limit-of.sh PROGRAM
#
# A C program says it by TEST_SECONDS(240) (tests/lib/limit.h), a script in a line with
# TEST_SECONDS=240. The text is found in the file: the program does not have to run for it.
LC_ALL=C grep -aom1 'TEST_SECONDS=[0-9][0-9]*' "$1" | sed -n '1s/.*=//p'
