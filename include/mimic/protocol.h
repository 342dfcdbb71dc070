/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The messages between a program (libmimic) and mimicd, over a Unix socket of
 * type SOCK_SEQPACKET. docs/protocol.md has the rules.
 *
 * Every message is one packet and starts with struct mimic_message. A client
 * sends a request and waits for its reply, which has the same sequence number
 * and MIMIC_MESSAGE_REPLY in its type. A reply with an error is the header
 * alone (HELLO's is whole, so that a client can say which version it met).
 * Flags and reserved fields are 0; anything else is refused.
 */
#ifndef MIMIC_PROTOCOL_H
#define MIMIC_PROTOCOL_H

#include <stdint.h>

#define MIMIC_PROTOCOL_MAGIC 0x52504443494d494dull	/* "MIMICDPR" in memory */
#define MIMIC_PROTOCOL_VERSION 5u
/* No message is longer. Texts travel in a memfd. */
#define MIMIC_MESSAGE_MAX 256u
#define MIMIC_MESSAGE_REPLY 0x8000u
#define MIMIC_NAME_MAX 32u	/* of a device, the final 0 included */

/* Limits of a session. */
#define MIMIC_SESSION_DEVICES 256u
#define MIMIC_SESSION_PRIVATE_DEVICES 64u
#define MIMIC_SESSION_LANES 256u
#define MIMIC_SESSION_THREADS 256u
#define MIMIC_SESSION_RANGES 4096u
#define MIMIC_LANE_LEVELS 8u
#define MIMIC_EXPLAIN_MAX 224u	/* of EXPLAIN's text, the final 0 included */
#define MIMIC_REASON_MAX 232u	/* of RESTORE's text, likewise */
#define MIMIC_KIND_MAX 16u	/* of a kind of device, the final 0 included */

/* _(number, NAME, request's structure, reply's structure, descriptors in the request (EVENTFD: or none), meaning) */
#define MIMIC_MESSAGES(_) \
	_(1, HELLO, mimic_hello, mimic_hello_reply, 0, "first message: versions; the reply carries the eventfd") \
	_(2, OPEN, mimic_open, mimic_open_reply, 0, "open a device by name; the reply carries the memfd of its memory") \
	_(3, CLOSE, mimic_device_request, mimic_message, 0, "give a device back") \
	_(4, LANE, mimic_lane_request, mimic_lane_reply, 0, "a lane for a thread; the reply carries its memfd") \
	_(5, LANE_DROP, mimic_number_request, mimic_message, 0, "no more commands will come on a lane") \
	_(6, THREAD_GONE, mimic_number_request, mimic_message, 0, "a thread ended: its roles are free") \
	_(7, CANCEL, mimic_number_request, mimic_message, 0, "withdraw the command of a lane whose answers are due") \
	_(8, MEMORY_ADD, mimic_memory_request, mimic_message, 1, "map a sealed memfd as the program's memory") \
	_(9, MEMORY_REMOVE, mimic_memory_request, mimic_message, 0, "forget such a range") \
	_(10, LIST, mimic_message, mimic_list_reply, 0, "devices and users; the reply carries a memfd with JSON text") \
	_(11, ADD, mimic_add, mimic_add_reply, 0, "another device") \
	_(12, REMOVE, mimic_open, mimic_message, 0, "a device goes away, also one that a program uses") \
	_(13, INJECT, mimic_inject, mimic_message, 0, "a device misbehaves") \
	_(14, EVENTFD, mimic_event_request, mimic_message, 1, "an eventfd counts the events of a device") \
	_(15, STATE, mimic_state_request, mimic_list_reply, 0, "the state of a device; the reply carries a memfd with JSON text") \
	_(16, RESET, mimic_open, mimic_message, 0, "a device is as after power-on, also one that a program has") \
	_(17, CLEAR_COUNTERS, mimic_open, mimic_message, 0, "the counters of a device are 0 again") \
	_(18, TRACE, mimic_message, mimic_message, 1, "events of the session's devices are written into a spool") \
	_(19, TRACE_BUS, mimic_message, mimic_message, 1, "and those of devices that programs have through the kernel, too") \
	_(20, EXPLAIN, mimic_number_request, mimic_explain_reply, 0, "the reason why a lane waits, for people") \
	_(21, SAVE, mimic_open, mimic_list_reply, 0, "the state of a device; the reply carries a memfd with its record") \
	_(22, RESTORE, mimic_restore, mimic_restore_reply, 1, "a device that no program has gets the state of a record")

enum mimic_message_type {
#define _(number, name, request, reply, descriptors, meaning) MIMIC_MESSAGE_##name = number,
	MIMIC_MESSAGES(_)
#undef _
	MIMIC_MESSAGE_TYPES
};

struct mimic_message {
	uint32_t size;		/* of the whole message, this header included */
	uint16_t type;
	uint16_t flags;		/* 0 */
	uint32_t sequence;
	int32_t error;		/* request: 0; reply: 0 or -errno */
};

struct mimic_hello {
	struct mimic_message header;
	uint64_t magic;
	uint32_t version;
	uint32_t reserved;
};

struct mimic_hello_reply {
	struct mimic_message header;
	uint64_t magic;
	uint32_t version;
	uint32_t daemon_pid;
	uint32_t spin_microseconds;	/* how long to spin before sleeping */
	/* How long the daemon may be away before a successor takes the session up; 0: that is the end. */
	uint32_t recovery_seconds;
};

struct mimic_open {
	struct mimic_message header;
	char name[MIMIC_NAME_MAX];	/* padded with 0 */
};

enum mimic_posts {
	MIMIC_POSTS_NEVER = 0,
	MIMIC_POSTS_ALWAYS = 1,		/* those that may wait (mimic_kind.posts_stores) */
	MIMIC_POSTS_BY_CREDIT = 2,	/* as far as answers to MIMIC_COMMAND_STORE_FOR_CREDIT say */
};

struct mimic_open_reply {
	struct mimic_message header;
	uint32_t device;		/* number in commands */
	uint32_t counters;		/* how many the device has */
	char name[MIMIC_NAME_MAX];	/* "maple" was asked for, "maple3" given */
	uint64_t memory_size;		/* of the device's memory that programs map; 0, and no descriptor: none */
	uint32_t posts_stores;		/* a program's own stores: enum mimic_posts */
	uint32_t reserved;
};

struct mimic_device_request {
	struct mimic_message header;
	uint32_t device;
	uint32_t reserved;
};

struct mimic_lane_request {
	struct mimic_message header;
	uint32_t thread;	/* as an earlier lane's reply said; 0: a thread that has none */
	uint32_t level;		/* 0; 1 and up: for signal handlers that interrupt the lane below */
	/*
	 * gettid() of the thread, 0: not said. Only the session of a process that
	 * has its devices through the kernel needs it: the thread's trapped accesses
	 * and its lanes are then those of one owner.
	 */
	uint32_t tid;
	uint32_t reserved;
};

struct mimic_lane_reply {
	struct mimic_message header;
	uint32_t lane;
	uint32_t thread;
	uint32_t command_words;
	uint32_t response_words;
};

/* A lane's number (LANE_DROP, CANCEL, EXPLAIN) or a thread's (THREAD_GONE). */
struct mimic_number_request {
	struct mimic_message header;
	uint32_t number;
	uint32_t reserved;
};

/* Whole pages. REMOVE names exactly a range that was added; its offset is 0. */
struct mimic_memory_request {
	struct mimic_message header;
	uint64_t address;
	uint64_t size;
	uint64_t offset;	/* in the memfd */
};

struct mimic_add {
	struct mimic_message header;
	char kind[MIMIC_KIND_MAX];	/* "maple", "dare", "virgo"; padded with 0 */
};

struct mimic_add_reply {
	struct mimic_message header;
	char name[MIMIC_NAME_MAX];
};

/* _(number, NAME, its name on a command line, meaning); docs/bus.md has their effects on a driver */
#define MIMIC_INJECTIONS(_) \
	_(0, NONE, "none", "behave again") \
	_(1, SPURIOUS_INTERRUPT, "spurious-interrupt", "raise the interrupt now, without a fault") \
	_(2, LOST_INTERRUPT, "lost-interrupt", "do not raise the next interrupt") \
	_(3, DELAYED_ANSWER, "delayed-answer", "answer the next access half a second late") \
	_(4, WRONG_FAULT_ADDRESS, "wrong-fault-address", "show the driver another page, once") \
	_(5, UNRESOLVED_FAULT, "unresolved-fault", "ignore RESOLVE, by which a driver ends a fault") \
	_(6, HANG, "hang", "do no access")

enum mimic_injection {
#define _(number, name, text, meaning) MIMIC_INJECT_##name = number,
	MIMIC_INJECTIONS(_)
#undef _
};

struct mimic_inject {
	struct mimic_message header;
	char name[MIMIC_NAME_MAX];	/* of the device */
	uint32_t what;
	uint32_t reserved;
};

/* Without descriptor, or with no events: of none any more. */
struct mimic_event_request {
	struct mimic_message header;
	uint32_t device;
	uint32_t reserved;
	uint64_t events;	/* by the kind: VIRGO_EVENT_* */
};

enum mimic_state_flags {
	MIMIC_STATE_WITH_BYTES = 1,	/* memories too, as hexadecimal texts */
};

/* For STATE, RESET and CLEAR_COUNTERS a private device is "maple@0:1234": that of process 1234. */
struct mimic_state_request {
	struct mimic_message header;
	char name[MIMIC_NAME_MAX];
	uint32_t flags;		/* MIMIC_STATE_* */
	uint32_t reserved;
};

/* "a store of MAPLE PRODUCE [0]: queue 0 is full (32 of 32 words), and nobody consumes"; "": nothing */
struct mimic_explain_reply {
	struct mimic_message header;
	char text[MIMIC_EXPLAIN_MAX];	/* padded with 0 */
};

enum mimic_restore_flags {
	MIMIC_RESTORE_CHECK = 1,	/* only says whether it fits now */
};

/* The descriptor is a memfd with a record as SAVE gives it, sealed against shrinking and writing. */
struct mimic_restore {
	struct mimic_message header;
	char name[MIMIC_NAME_MAX];	/* of the device; private ones have none */
	uint32_t flags;			/* MIMIC_RESTORE_* */
	uint32_t reserved;
};

/* An error of the record, or of the device, is not the message's: the header's error is 0. */
struct mimic_restore_reply {
	struct mimic_message header;
	int32_t error;		/* 0 or -errno */
	uint32_t reserved;
	char text[MIMIC_REASON_MAX];	/* the reason, for people; padded with 0 */
};

/*
 * The memfd holds a JSON text; docs/protocol.md names its fields, docs/state.md those of STATE. Of SAVE it is
 * a record (docs/save.md).
 */
struct mimic_list_reply {
	struct mimic_message header;
	uint64_t size;		/* of the text, without a final 0, or of the record */
};

#endif
