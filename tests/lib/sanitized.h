/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sanitizers make tests of many random cases ten times slower, and find what they find in
 * an eighth of them. The whole number runs without.
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

#define UNLESS_SANITIZED(count) (IS_SANITIZED ? ((count) + 7) / 8 : (count))

#endif
