/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Records as people read them. */
#include <stdio.h>

#include "libmimic/replay/player.h"

static const char *const names[RECORD_EVENT_END] = {
	[RECORD_END] = "the device's end",
	[RECORD_ANSWER] = "its answer",
	[RECORD_ANSWER_GATHERED] = "its answer",
	[RECORD_ACCESS] = "access",
	[RECORD_STORES] = "stores",
	[RECORD_LOADS] = "loads",
	[RECORD_CANCEL] = "cancel",
	[RECORD_OWNER_GONE] = "end of a thread",
	[RECORD_TICK] = "tick",
	[RECORD_INVALIDATE] = "shootdown",
	[RECORD_POWER_ON] = "power on",
	[RECORD_CLEAR_COUNTERS] = "clear counters",
	[RECORD_RESTORE] = "restore a state",
	[RECORD_ATTACH] = "attach a context",
	[RECORD_ENABLE_EVENTS] = "enable events",
	[RECORD_TAKE_EVENTS] = "take events",
	[RECORD_JOB_TAKE] = "take a job",
	[RECORD_JOB_RUN] = "run a job",
	[RECORD_JOB_DONE] = "hand a job back",
	[RECORD_RETRY] = "ask memory again",
	[RECORD_WALK] = "page table walk",
	[RECORD_GATHER] = "read of values",
	[RECORD_GATHER_INDEXED] = "read of values",
	[RECORD_READ] = "read",
	[RECORD_READ_ROWS] = "read of rows",
	[RECORD_WRITE_ROWS] = "write of rows",
	[RECORD_READ_BLOCK] = "read of a block",
	[RECORD_WRITE_BLOCK] = "write of a block",
	[RECORD_ATOMIC] = "atomic operation",
	[RECORD_COMPLETE] = "completion of an access",
	[RECORD_INTERRUPT] = "interrupt",
	[RECORD_REPORT] = "report",
	[RECORD_PAGE_FAULT] = "page fault",
	[RECORD_MEMORY_OF] = "memory of an address space",
	[RECORD_CONTEXT_FAULT] = "page fault of a context",
};

const char *mimic_replay_code_name(unsigned int code)
{
	return code < RECORD_EVENT_END && names[code] ? names[code] : "no record";
}

static void access_text(const struct replay_player *player, char *text, size_t size)
{
	const struct mimic_access *access = &player->access;
	char name[64], value[32] = "", many[32] = "";

	mimic_register_name(player->kind, access, name, sizeof(name));
	if (player->code != RECORD_ACCESS)
		snprintf(many, sizeof(many), "%llu ", (unsigned long long)player->detail);
	else if (access->is_write)
		snprintf(value, sizeof(value), ", 0x%llx", (unsigned long long)access->data);
	snprintf(text, size, "%s%s%s of %s, %u bytes%s, by %llu", many,
		 player->code == RECORD_STORES || access->is_write ? "store" : "load",
		 player->code == RECORD_ACCESS ? "" : "s", name, access->size, value,
		 (unsigned long long)access->owner);
}

void mimic_replay_call_text(const struct replay_player *player, char *text, size_t size)
{
	const char *name = mimic_replay_code_name(player->code);

	switch (player->code) {
	case RECORD_ACCESS:
	case RECORD_STORES:
	case RECORD_LOADS:
		access_text(player, text, size);
		return;
	case RECORD_CANCEL:
	case RECORD_OWNER_GONE:
		snprintf(text, size, "%s: %llu", name, (unsigned long long)player->detail);
		return;
	case RECORD_INVALIDATE:
	case RECORD_ATTACH:
	case RECORD_ENABLE_EVENTS:
	case RECORD_JOB_TAKE:
	case RECORD_JOB_RUN:
	case RECORD_JOB_DONE:
		snprintf(text, size, "%s: 0x%llx", name, (unsigned long long)player->detail);
		return;
	default:
		snprintf(text, size, "%s", name);
	}
}
