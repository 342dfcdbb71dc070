/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "bench/figures/common/common.h"

enum verdict verdict_of(struct judgement judgement)
{
	if (!judgement.is_there)
		return NO_DATA;
	if (judgement.holds && judgement.null_holds)
		return CONSISTENT;
	/* Without a null model that failed, the statement has not been tested. */
	if (judgement.is_near && judgement.has_null)
		return REPRODUCED;
	return judgement.is_in_kind ? IN_KIND : DEVIATES;
}

const char *verdict_name(enum verdict verdict)
{
	static const char *const names[VERDICTS] = {
		[REPRODUCED] = "reproduced", [CONSISTENT] = "consistent", [IN_KIND] = "in kind", [DEVIATES] = "deviates",
		[NO_DATA] = "no data",
	};

	return names[verdict];
}
