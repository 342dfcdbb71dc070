// SPDX-License-Identifier: GPL-2.0
/*
 * Changes in progress of a process's memory, counted with their ranges, as KVM does it: an entry
 * that one of them covers is "absent now". Changes of other ranges cost nothing. The core's
 * mmu_interval_read_begin() would wait for all of them, unkillably, and a program can see to it
 * that there is always one.
 */
#include "internal.h"
#include "window.h"

/* The next three: changes_lock is held. */
static struct mimic_change *mimic_changes_find(struct mimic_window *window,
					       const struct mmu_notifier_range *range)
{
	unsigned int i;

	for (i = 0; i < MIMIC_CHANGES_MAX; i++) {
		if (window->changes[i].range == range)
			return &window->changes[i];
	}
	return NULL;
}

/* false: there is no place. */
static bool mimic_changes_add(struct mimic_window *window, const struct mmu_notifier_range *range)
{
	struct mimic_change *change = mimic_changes_find(window, NULL);

	if (!change)
		return false;
	*change = (struct mimic_change){
		.range = range, .start = range->start, .end = range->end,
	};
	return true;
}

static bool mimic_changes_cover(const struct mimic_window *window, u64 address)
{
	unsigned int i;

	for (i = 0; i < MIMIC_CHANGES_MAX; i++) {
		const struct mimic_change *change = &window->changes[i];

		if (change->range && address >= change->start && address < change->end)
			return true;
	}
	return window->more_changes && address >= window->more_start && address < window->more_end;
}

/* Changes that found no place: one range that covers all of them, until there is none. */
static void mimic_changes_add_more(struct mimic_window *window,
				   const struct mmu_notifier_range *range)
{
	if (!window->more_changes++) {
		window->more_start = range->start;
		window->more_end = range->end;
		return;
	}
	window->more_start = min(window->more_start, range->start);
	window->more_end = max(window->more_end, range->end);
}

void mimic_changes_begin(struct mimic_window *window, const struct mmu_notifier_range *range)
{
	struct mimic_view *view;

	raw_spin_lock(&window->changes_lock);
	if (!mimic_changes_add(window, range))
		mimic_changes_add_more(window, range);
	list_for_each_entry(view, &window->views, link)
		view->is_stale |= view->address >= range->start && view->address < range->end;
	raw_spin_unlock(&window->changes_lock);
}

void mimic_changes_end(struct mimic_window *window, const struct mmu_notifier_range *range)
{
	struct mimic_change *change;

	raw_spin_lock(&window->changes_lock);
	change = mimic_changes_find(window, range);
	if (change)
		change->range = NULL;
	else if (window->more_changes)
		window->more_changes--;
	raw_spin_unlock(&window->changes_lock);
}

bool mimic_view_begin(struct mimic_view *view)
{
	struct mimic_window *window = &view->binding->window;
	bool is_changing;

	raw_spin_lock(&window->changes_lock);
	is_changing = mimic_changes_cover(window, view->address);
	view->is_stale = false;
	if (!is_changing)
		list_add(&view->link, &window->views);
	raw_spin_unlock(&window->changes_lock);
	return !is_changing;
}

void mimic_view_end(struct mimic_view *view)
{
	raw_spin_lock(&view->binding->window.changes_lock);
	list_del(&view->link);
	raw_spin_unlock(&view->binding->window.changes_lock);
}
