/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A daemon for each test of the protocol. For cmocka programs. */
#ifndef TESTS_PROTOCOL_FIXTURE_H
#define TESTS_PROTOCOL_FIXTURE_H

#include <stddef.h>

#include "tests/lib/daemon_fixture.h"

#define PROTOCOL_DEVICES 2

extern struct served protocol_served;

int protocol_start(void **state);
int protocol_end(void **state);

/* The daemon hangs up. */
void protocol_expect_end(int socket);
/* It still serves others. */
void protocol_expect_served(void);
/* It has so many descriptors, soon: threads beside its loop close those of clients. */
void protocol_expect_descriptors(int count);
int protocol_memfd(size_t size, int seals);

#endif
