/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * TEST_SECONDS(240), once in a test program: how long it may take, where that is more
 * than the usual limit. tests/scripts/limit-of.sh finds the text in the program.
 */
#ifndef TESTS_LIMIT_H
#define TESTS_LIMIT_H

#define TEST_SECONDS(seconds) \
	__attribute__((used)) static const char test_seconds[] = "TEST_SECONDS=" #seconds

#endif
