/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Sanitizers make tests of many random cases ten times slower, and find the same errors in
 * an eighth of them. The whole number runs without.
 */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED 1
#else
#define IS_SANITIZED 0
#endif

/*
 * For loops that compute an expected value of operands that no other thread has: the thread
 * sanitizer makes them ten times slower, and has nothing to say of them.
 */
#define WITHOUT_THREAD_SANITIZER __attribute__((no_sanitize("thread")))

#define UNLESS_SANITIZED(count) (IS_SANITIZED ? ((count) + 7) / 8 : (count))

#endif
