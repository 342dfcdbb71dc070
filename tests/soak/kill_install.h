/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* mimicd as it is installed: each upgrade puts another file at the same path. */
#ifndef TESTS_SOAK_KILL_INSTALL_H
#define TESTS_SOAK_KILL_INSTALL_H

#include <stdbool.h>
#include <stddef.h>

/* Copies mimicd, and two times the program that it runs, from the directory of `mimicd`. */
bool kill_install(const char *mimicd, const char *directory);
void kill_installed_path(const char *directory, char *path, size_t size);
/* One of the two copies, 0 or 1, becomes the program that the next daemon is. */
bool kill_install_copy(const char *directory, unsigned int copy);
void kill_uninstall(const char *directory);

#endif
