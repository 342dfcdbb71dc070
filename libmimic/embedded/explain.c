/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Makes the text of the reason why a thread waits for an embedded device. Also in signal handlers. */
#include "libmimic/embedded/embedded.h"

#include "devices/explain.h"
#include "libmimic/embedded/instance.h"

static void add_access(const struct embedded_instance *instance, const char *whose,
		       const struct mimic_access *access, struct mimic_text *text)
{
	mimic_text_add(text, whose);
	mimic_explain_access(instance->kind, access, text);
	if (instance->open)
		mimic_explain_reason(instance->kind, instance->model, access, text);
}

/* With the lock. */
static void add_wait(const struct embedded_instance *instance, const struct embedded_lane *lane,
		     struct mimic_text *text)
{
	bool is_ordered = atomic_load_explicit(&lane->waiting, memory_order_relaxed) == EMBEDDED_WAIT_ORDER;
	const struct embedded_lane *poster = is_ordered ? lane->behind : lane;

	if (atomic_load_explicit(&lane->waiting, memory_order_relaxed) == EMBEDDED_WAIT_ANSWER)
		add_access(instance, "a ", &lane->access, text);
	else if (poster->left)
		add_access(instance, is_ordered ? "another thread's " : "its earlier ", &poster->pattern,
			   text);
	else
		mimic_text_add(text,
			       is_ordered ? "earlier stores of another thread" : "its earlier stores");
}

void mimic_embedded_explain(struct embedded_instance *instance, struct embedded_lane *lane, uint64_t ticket,
			    struct mimic_wait *wait)
{
	struct mimic_wait_line line;
	char name[32];
	bool is_over;

	mimic_embedded_instance_name(instance, name, sizeof(name));
	mimic_wait_begin_line(wait, name, &line);
	/* Not mimic_embedded_enter(): that would withdraw the wait. */
	if (mimic_embedded_lock(instance, lane))
		return;
	is_over = mimic_embedded_is_over(lane, ticket);
	if (!is_over)
		add_wait(instance, lane, &line.text);
	mimic_embedded_leave(instance);
	if (!is_over)
		mimic_wait_tell(&line);
}
