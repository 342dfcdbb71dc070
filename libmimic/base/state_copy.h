/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * The state of a device (devices/state.h), copied while the caller holds the lock that
 * serialises the model's calls, to be read afterwards. Taking the copy allocates
 * nothing and takes no lock: a program's signal handler may want the device while the
 * thread that it interrupted is inside malloc().
 */
#ifndef MIMIC_STATE_COPY_H
#define MIMIC_STATE_COPY_H

#include "devices/kind.h"

struct mimic_state_copy {
	char *buffer;
	size_t room;
	size_t size;	/* of the copy; larger than room: it had none */
	bool with_bytes;	/* else memories have a size and no bytes */
};

/* A call of the model. false: there was no room for `size` bytes, and there is no copy. */
bool mimic_state_copy_take(struct mimic_state_copy *copy, const struct mimic_kind *kind,
			   const struct mimic_model *model, uint64_t now);
/* Shows the copy. Bytes that are not there are NULL. */
void mimic_state_copy_show(const struct mimic_state_copy *copy, const struct mimic_state_visitor *visitor);

#endif
