/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* How commands reach the model: by stores, by STREAM, one by one or many; and the threads that wait. */
#include "tests/fuzz/virgo_sender.h"

#define WORK_MAX 200000u	/* of everything that can be queued */

/* --- until all is done --------------------------------------------------------------------------- */

/* A unit that waits for a page gets it, or hears that it is bad. */
void virgo_resolve(unsigned int unit, bool is_present, bool is_there)
{
	uint64_t fault = virgo_side_load(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS);
	int page = virgo_page_of(fault);

	if (fault & VIRGO_FAULT_STALLED && (fault & 0xff) == unit && is_present && is_there)
		side.state[page] = PRESENT;
	virgo_side_store(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_RESOLVE,
		   unit | (is_present ? VIRGO_RESOLVE_PRESENT : 0));
	virgo_expected_update(false);
}

void virgo_settle(void)
{
	for (unsigned int n = 0;; n++) {
		uint64_t fault;

		CHECK(n < WORK_MAX);
		if (virgo_side_work()) {
			virgo_expected_update(false);
			continue;
		}
		fault = virgo_side_load(VIRGO_PAGE_CONTROL, VIRGO_CONTROL_FAULT_STATUS);
		if (!(fault & VIRGO_FAULT_STALLED))
			break;
		virgo_resolve(fault & 0xff, true, true);
	}
	CHECK(virgo_expected_all_idle());
}

/* --- accesses ---------------------------------------------------------------------------------------- */

struct mimic_access virgo_access_of(unsigned int unit, unsigned int owner, unsigned int offset,
				     unsigned int size, uint64_t data)
{
	return (struct mimic_access){
		.owner = owner, .page = VIRGO_PAGE_UNITS, .offset = unit * VIRGO_BLOCK_SIZE + offset,
		.size = (uint8_t)size, .is_write = 1, .data = data,
	};
}

/* Commands behind one that is withdrawn would not be valid as they were made to be. */
static bool others_wait_behind(unsigned int owner)
{
	for (unsigned int unit = 0; unit < side.config.units; unit++) {
		const struct expected *e = &expected[unit];

		for (unsigned int i = 0; i + 1 < e->waiting_count; i++) {
			if (e->waiting[i].owner == owner)
				return true;
		}
	}
	return false;
}

void virgo_withdraw(unsigned int owner, bool is_gone)
{
	const struct mimic_model_ops *ops = side.current->ops;

	if (others_wait_behind(owner))
		virgo_settle();
	(is_gone ? ops->owner_gone : ops->cancel)(side.current, owner, side.now);
	side.is_parked[owner] = false;
	virgo_expected_withdraw(owner, is_gone);
	virgo_expected_update(false);
}

void virgo_nobody_waits_as(unsigned int owner)
{
	if (side.is_parked[owner])
		virgo_withdraw(owner, false);
}

/* The same, but no command is lost. */
static void nobody_waits_any_more_as(unsigned int owner)
{
	if (side.is_parked[owner])
		virgo_settle();
	virgo_nobody_waits_as(owner);
}

/* The store that queues a command. */
static void send_word(unsigned int unit, unsigned int owner, const struct entry *entry, bool by_stream)
{
	struct expected *e = &expected[unit];
	struct mimic_access access = virgo_access_of(unit, owner, by_stream ? VIRGO_STREAM : VIRGO_INSTRUCTION,
					       by_stream ? 8 : 4, entry->word);
	bool is_full = e->waiting_count || e->level >= side.config.queue_entries;
	uint64_t dispatched = virgo_side_unit(unit, VIRGO_DISPATCHED);
	bool waits, is_lost;

	waits = virgo_side_access(&access) == MIMIC_PARKED;
	if (!e->reset_pending)
		CHECK(waits == (is_full && !side.config.overflow_is_error));
	is_lost = !waits && virgo_side_unit(unit, VIRGO_DISPATCHED) == dispatched;
	CHECK(!is_lost || side.config.overflow_is_error);
	if (waits)
		virgo_expected_wait(unit, owner, entry, by_stream);
	else if (!is_lost)
		virgo_expected_push(unit, entry);
	virgo_expected_update(true);
}

static void store_operand(unsigned int unit, unsigned int owner, unsigned int offset, uint64_t value, bool in_halves)
{
	struct mimic_access access = virgo_access_of(unit, owner, offset, 8, value);

	if (in_halves) {
		access = virgo_access_of(unit, owner, offset + 4, 4, value >> 32);
		CHECK(virgo_side_access(&access) == MIMIC_DONE);
		access = virgo_access_of(unit, owner, offset, 4, value);
	}
	CHECK(virgo_side_access(&access) == MIMIC_DONE);
}

void virgo_send_by_stores(unsigned int unit, unsigned int owner, const struct entry *entry, bool in_halves)
{
	store_operand(unit, owner, VIRGO_RS1, entry->rs1, in_halves);
	store_operand(unit, owner, VIRGO_RS2, entry->rs2, in_halves);
	send_word(unit, owner, entry, false);
}

/*
 * Sends the word that is still missing, so that a triple begins anew. The commands around it
 * are over: its effect is not known.
 */
void virgo_finish_triple(unsigned int unit, unsigned int owner)
{
	struct entry entry = expected[unit].withheld.entry;

	if (expected[unit].has_withheld)
		virgo_settle();
	/* Unless a reset has ended it meanwhile */
	if (!expected[unit].has_withheld)
		return;
	expected[unit].has_withheld = false;
	expected[unit].is_stale = true;
	entry.is_valid = false;
	send_word(unit, owner, &entry, true);
	virgo_settle();
}

static void send_by_stream(unsigned int unit, unsigned int owner, const struct entry *entry)
{
	struct mimic_access access = virgo_access_of(unit, owner, VIRGO_STREAM, 8, entry->rs1);

	CHECK(virgo_side_access(&access) == MIMIC_DONE);
	access = virgo_access_of(unit, owner, VIRGO_STREAM, 8, entry->rs2);
	CHECK(virgo_side_access(&access) == MIMIC_DONE);
	send_word(unit, owner, entry, true);
}

/* All at once, as far as they are taken; the rest one by one. */
static void send_batch(unsigned int unit, unsigned int owner, const struct sequence *s)
{
	struct mimic_access pattern = virgo_access_of(unit, owner, VIRGO_STREAM, 8, 0);
	uint64_t values[3 * SEQUENCE], before, after;
	unsigned int resets = expected[unit].resets;
	size_t taken, n;

	before = virgo_side_unit(unit, VIRGO_DISPATCHED);

	for (unsigned int i = 0; i < s->count; i++) {
		values[3 * i] = s->entry[i].rs1;
		values[3 * i + 1] = s->entry[i].rs2;
		values[3 * i + 2] = s->entry[i].word;
	}
	taken = side.current->ops->store_many(side.current, &pattern, values, 3 * s->count, side.now);
	CHECK(taken <= 3 * s->count);
	after = virgo_side_unit(unit, VIRGO_DISPATCHED);
	CHECK(after - before <= taken / 3);
	CHECK(after - before == taken / 3 || side.config.overflow_is_error);
	for (n = 0; n < taken / 3; n++) {
		/* The first that was too many is lost; after it there is room for dropped commands. */
		bool is_lost = after - before < taken / 3 && n >= side.config.queue_entries - expected[unit].level;

		if (is_lost) {
			before--;
			continue;
		}
		virgo_expected_push(unit, &s->entry[n]);
	}
	virgo_expected_update(true);
	for (n = taken; n % 3; n++) {
		struct mimic_access access = virgo_access_of(unit, owner, VIRGO_STREAM, 8, values[n]);

		if (n % 3 == 2)
			send_word(unit, owner, &s->entry[n / 3], true);
		else
			CHECK(virgo_side_access(&access) == MIMIC_DONE);
	}
	for (n /= 3; n < s->count; n++) {
		nobody_waits_any_more_as(owner);
		if (expected[unit].resets != resets)
			return;
		send_by_stream(unit, owner, &s->entry[n]);
	}
}

void virgo_send(unsigned int unit, unsigned int owner, const struct sequence *s, unsigned int how)
{
	unsigned int resets = expected[unit].resets;

	/* Not if an overflow is an error: the dropped ones are unknown. */
	if (how % 4 == 3 && !side.config.overflow_is_error && s->count) {
		send_batch(unit, owner, s);
		return;
	}
	for (unsigned int i = 0; i < s->count; i++) {
		nobody_waits_any_more_as(owner);
		/* A reset has dropped the earlier commands. */
		if (expected[unit].resets != resets)
			return;
		if (how % 4 == 0)
			virgo_send_by_stores(unit, owner, &s->entry[i], how & 4);
		else
			send_by_stream(unit, owner, &s->entry[i]);
		/* Owners that wait cannot store: others bring the rest. */
		owner = 1 + owner % (OWNERS - 2);
	}
}
