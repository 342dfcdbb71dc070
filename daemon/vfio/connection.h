/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A machine at a socket, from its QEMU's connect to the connection's end: a function of its PCI bus. A
 * table describes the function; here are its messages, whose numbers are trusted in nothing.
 */
#ifndef MIMICD_VFIO_CONNECTION_H
#define MIMICD_VFIO_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/loop/loop.h"
#include "daemon/vfio/config_space.h"
#include "daemon/vfio/last_replies.h"
#include "daemon/vfio/protocol.h"

#define MIMICD_VFIO_DESCRIPTORS 8u	/* of a message */
#define MIMICD_VFIO_TRANSFER 4096u	/* bytes of one load or store of a region */
#define MIMICD_VFIO_PAYLOAD (MIMICD_VFIO_TRANSFER + 64u)

/* A message that is coming in. */
struct mimicd_vfio_packet {
	struct mimicd_vfio_header header;
	uint32_t payload[MIMICD_VFIO_PAYLOAD / sizeof(uint32_t)];
	size_t have;		/* bytes of header and payload so far */
	int fds[MIMICD_VFIO_DESCRIPTORS];
	unsigned int fd_count;
};

/* Memory in a BAR, which the machine maps. */
struct mimicd_bar_memory {
	char *base;		/* NULL: there is none */
	uint64_t size;
	int fd;
};

struct mimicd_connection;
struct mimicd_keeper;

/* Errors are -errno. */
struct mimicd_connection_ops {
	void (*describe)(const struct mimicd_connection *connection,
			 struct mimicd_config_description *description);
	struct mimicd_bar_memory (*bar_memory)(const struct mimicd_connection *connection, unsigned int bar);
	/* Of BAR 0, 1, 2, 4 or 8 bytes: it is answered, or will be when the connection is resumed. */
	void (*access_registers)(struct mimicd_connection *connection, bool is_write, uint64_t value);
	/* The configuration space has changed: BARs may lie elsewhere. */
	void (*placed)(struct mimicd_connection *connection);
	/* Memory of the machine comes and goes; fd -1: it is not shared. It stays the caller's. */
	int (*map)(struct mimicd_connection *connection, const struct mimicd_vfio_dma_map *map, int fd);
	int (*unmap)(struct mimicd_connection *connection, const struct mimicd_vfio_dma_unmap *unmap);
	unsigned int (*interrupt_count)(const struct mimicd_connection *connection, unsigned int index);
	int (*set_interrupts)(struct mimicd_connection *connection, const struct mimicd_vfio_irq_set *set,
			      const int *fds, unsigned int fd_count);
	int (*reset)(struct mimicd_connection *connection);
	/* The connection is over: calls mimicd_connection_close(), once. */
	void (*end)(struct mimicd_connection *connection);
};

struct mimicd_connection {
	const struct mimicd_connection_ops *ops;
	struct mimicd_loop *loop;
	const char *path;		/* of the socket */
	int fd;
	uid_t uid;
	pid_t pid;
	struct mimicd_source source;
	bool has_ended;
	bool is_lost;			/* it failed: it is to be ended */
	bool has_version;		/* VERSION has been said */
	bool is_paused;			/* the machine waits: nothing is read until it is answered */
	struct mimicd_vfio_packet packet;
	struct mimicd_keeper *keeper;	/* NULL: it has not this connection */
	struct mimicd_vfio_note *note;	/* of the packet; the keeper sees it */
	struct mimicd_vfio_note own_note;
	struct mimicd_config_space config;
};

/* --- connection.c ----------------------------------------------------------------------- */

/* QEMU has connected. Takes the descriptor over: mimicd_connection_close() has to follow. */
void mimicd_connection_init(struct mimicd_connection *connection, const struct mimicd_connection_ops *ops,
			    struct mimicd_loop *loop, const char *path, int fd);
/* 0, or -EPERM: it is another user's than the daemon's or root's. */
int mimicd_connection_check_user(const struct mimicd_connection *connection);
/* Its QEMU has gone, and the loop has not come to that yet. */
bool mimicd_connection_is_dead(const struct mimicd_connection *connection);
/* Messages are served from now on. The keeper (NULL: there is none) gets the connection, too. 0 or -errno. */
int mimicd_connection_start(struct mimicd_connection *connection, struct mimicd_keeper *keeper);
/* Once, whether it was started or not. */
void mimicd_connection_close(struct mimicd_connection *connection);

/* --- packet.c --------------------------------------------------------------------------- */

/* 1: a whole message is there, 0: not yet, -errno: it is over, with *why if that is the machine's fault. */
int mimicd_vfio_receive(struct mimicd_connection *connection, const char **why);
/* The message has been served. Closes its descriptors. */
void mimicd_vfio_packet_close(struct mimicd_connection *connection);
/* `fd` -1: none; it stays the caller's. A machine that does not take its replies is lost. */
void mimicd_vfio_reply(struct mimicd_connection *connection, const void *body, size_t size, int fd);
void mimicd_vfio_reply_error(struct mimicd_connection *connection, int error);
/* Pauses reading, and reads again: messages that were served meanwhile are answered. */
void mimicd_vfio_pause(struct mimicd_connection *connection);
void mimicd_vfio_resume(struct mimicd_connection *connection);

/* --- messages.c ------------------------------------------------------------------------- */

/* The message that is there. It is answered, or will be when connection->is_paused ends. */
void mimicd_vfio_serve(struct mimicd_connection *connection);

/* --- region.c --------------------------------------------------------------------------- */

void mimicd_region_info(const struct mimicd_connection *connection, unsigned int region,
			struct mimicd_vfio_region_info *info);
/* The message of a load or a store is served, or later. */
void mimicd_region_load(struct mimicd_connection *connection);
void mimicd_region_store(struct mimicd_connection *connection);
/* The load or store of the message that is served, and its answers; refused: with a positive errno. */
const struct mimicd_vfio_region_access *mimicd_region_asked(const struct mimicd_connection *connection);
void mimicd_region_answer_load(struct mimicd_connection *connection, const void *data, size_t size);
void mimicd_region_answer_store(struct mimicd_connection *connection);
void mimicd_region_refuse(struct mimicd_connection *connection, int error);

/* Closes one of which nothing has been read. */
void mimicd_connection_turn_away(struct mimicd_loop *loop, int fd);

#endif
