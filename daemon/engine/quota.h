/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * How much of mimicd a user may have, by all of the user's programs together. Root and the user
 * of mimicd itself are only bound by the limits of all: they could stop it as well.
 */
#ifndef MIMICD_QUOTA_H
#define MIMICD_QUOTA_H

#include <stdint.h>

/* _(name, default, in all, meaning) */
#define MIMICD_QUOTAS(_) \
	_(connections, 64, 256, "programs that are connected") \
	_(devices, 256, UINT64_MAX, "devices and contexts that programs have open") \
	_(lanes, 1024, UINT64_MAX, "threads' lanes, 132 KB of memory each") \
	_(maps, 8192, 60000, "lanes and ranges of shared memory, each a mapping of mimicd") \
	/* Our page tables take a 512th of it, even of absent pages: 256 MiB for a user, 2 GiB in all. */ \
	_(shared, 128ull << 30, 1ull << 40, "bytes of address space of the ranges")

enum mimicd_quota {
#define _(name, most, total, meaning) MIMICD_QUOTA_##name,
	MIMICD_QUOTAS(_)
#undef _
	MIMICD_QUOTA_COUNT
};

struct mimicd_quotas {
	uint64_t most[MIMICD_QUOTA_COUNT];
};

void mimicd_quotas_default(struct mimicd_quotas *quotas);
/*
 * "lanes=64,shared=1G": limits that are not named stay. 0, or -EINVAL: `*wrong` is where the text
 * cannot be understood.
 */
int mimicd_quotas_parse(struct mimicd_quotas *quotas, const char *text, const char **wrong);

struct mimicd_user;

/* Takes so much of it for the user. -EDQUOT: the user has too much; -ENOSPC: there is no more. NULL: nobody's, 0. */
int mimicd_quota_take(struct mimicd_user *user, enum mimicd_quota what, uint64_t amount);
void mimicd_quota_give_back(struct mimicd_user *user, enum mimicd_quota what, uint64_t amount);

#endif
