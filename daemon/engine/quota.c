/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "daemon/engine/quota.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/engine/engine.h"
#include "daemon/engine/user.h"

/* Root alone gets the last part of all, to be able to inspect and to stop programs. */
#define FOR_ROOT 32u

static const struct {
	const char *name;
	uint64_t most, total;
} kinds[] = {
#define _(name, most, total, meaning) { #name, most, total },
	MIMICD_QUOTAS(_)
#undef _
};

/* --- limits ----------------------------------------------------------------------------- */

void mimicd_quotas_default(struct mimicd_quotas *quotas)
{
	for (unsigned int i = 0; i < MIMICD_QUOTA_COUNT; i++)
		quotas->most[i] = kinds[i].most;
}

/* A number, with K, M, G or T behind it. `*end`: the rest of the text. */
static int parse_amount(const char *text, uint64_t *amount, const char **end)
{
	static const char units[] = "KMGT";
	unsigned int shift = 0;
	const char *unit;
	char *after;

	errno = 0;
	*amount = strtoull(text, &after, 10);
	if (errno || after == text || *text < '0' || *text > '9')
		return -EINVAL;
	unit = *after ? strchr(units, *after) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		after++;
	}
	*end = after;
	if (*amount > UINT64_MAX >> shift)
		return -EINVAL;
	*amount <<= shift;
	return 0;
}

static int parse_one(struct mimicd_quotas *quotas, const char *text, const char **end)
{
	size_t length = strcspn(text, "=");

	for (unsigned int i = 0; text[length] && i < MIMICD_QUOTA_COUNT; i++) {
		if (strlen(kinds[i].name) == length && !strncmp(text, kinds[i].name, length))
			return parse_amount(text + length + 1, &quotas->most[i], end);
	}
	return -EINVAL;
}

int mimicd_quotas_parse(struct mimicd_quotas *quotas, const char *text, const char **wrong)
{
	for (;;) {
		*wrong = text;
		if (parse_one(quotas, text, &text))
			return -EINVAL;
		if (!*text)
			return 0;
		if (*text++ != ',')
			return -EINVAL;
	}
}

/* --- use ---------------------------------------------------------------------------------- */

static bool is_privileged(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

int mimicd_quota_take(struct mimicd_user *user, enum mimicd_quota what, uint64_t amount)
{
	uint64_t most, total = kinds[what].total;
	uint64_t *used;

	if (!user)
		return 0;
	user = user->home;
	used = &user->engine->used[what];
	most = is_privileged(user->uid) ? UINT64_MAX : user->engine->quotas.most[what];
	if (user->used[what] > most || amount > most - user->used[what])
		return -EDQUOT;
	if (user->uid && total != UINT64_MAX)
		total -= total / FOR_ROOT;
	if (*used > total || amount > total - *used)
		return -ENOSPC;
	user->used[what] += amount;
	*used += amount;
	return 0;
}

void mimicd_quota_give_back(struct mimicd_user *user, enum mimicd_quota what, uint64_t amount)
{
	if (!user)
		return;
	user = user->home;
	user->used[what] -= amount;
	user->engine->used[what] -= amount;
}
