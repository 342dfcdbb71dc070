/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A page that comes when the test gives it: by userfaultfd. */
#ifndef MIMIC_TESTS_SLOW_PAGE_H
#define MIMIC_TESTS_SLOW_PAGE_H

#include <stdbool.h>
#include <stdint.h>

/* -1: there is no userfaultfd here. */
int slow_page_make(void *page);
/* Does a thread wait for the page? Looks for up to five seconds. */
bool slow_page_is_wanted(int slow);
/* Gives the page, with the value in its first 8 bytes. */
int slow_page_give(int slow, void *page, uint64_t value);

#endif
