/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Stores that a machine has posted to registers of the device. One that the device cannot take yet waits in the
 * model. The machine waits a while with the next one of its page, so that it stores no faster than the device
 * works; then that waits here, with those behind it, in their order, and the machine goes on: if a page is not there
 * it is the machine's driver that ends the wait, whose own accesses come behind these stores.
 */
#include <errno.h>
#include <stdlib.h>

#include "daemon/engine/instance.h"
#include "daemon/vfio/internal.h"
#include "devices/register.h"

static bool is_free(const struct mimicd_machine *machine, unsigned int page)
{
	return !machine->posted[page].count && !mimicd_access_waits(&machine->stores[page]);
}

/* Also the store that the others wait for, but if that is the access which is the reason. */
static void forget(struct mimicd_machine *machine, unsigned int page, const struct mimicd_machine_access *reason)
{
	struct mimicd_posted *posted = &machine->posted[page];

	if (&machine->stores[page] != reason)
		mimicd_access_withdraw(&machine->stores[page]);
	free(posted->stores);
	*posted = (struct mimicd_posted){ 0 };
}

static void forget_all(struct mimicd_machine *machine, const struct mimicd_machine_access *reason)
{
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		forget(machine, i, reason);
}

void mimicd_posted_forget(struct mimicd_machine *machine)
{
	forget_all(machine, NULL);
}

/* The context gets another program, whose stores these are not. */
static void forget_context(struct mimicd_machine *machine, unsigned int context,
			   const struct mimicd_machine_access *reason)
{
	const struct mimic_kind *kind = machine->instance->kind;

	if (context >= machine->instance->context_count)
		return;
	for (unsigned int i = 0; i < kind->pages; i++)
		forget(machine, kind->contexts->first_page(context) + i, reason);
}

void mimicd_posted_forget_space(struct mimicd_machine *machine, const struct mimicd_machine_space *space)
{
	const struct mimic_kind *kind = machine->instance->kind;

	for (unsigned int i = 0; i < machine->instance->context_count; i++) {
		if (mimicd_instance_context_binding(machine->instance, i) == &space->binding)
			forget_context(machine, i, NULL);
	}
	if (kind->contexts || space != &machine->spaces[0])
		return;
	for (unsigned int i = 0; i < kind->pages; i++)
		forget(machine, i, NULL);
}

void mimicd_posted_forget_before(const struct mimicd_machine_access *access)
{
	struct mimicd_machine *machine = access->machine;

	switch (mimic_register_role(machine->instance->kind, &access->body)) {
	case MIMIC_ROLE_RESET:
		forget_all(machine, access);
		break;
	case MIMIC_ROLE_ATTACH:
		forget_context(machine, mimic_attach_context(access->body.data), access);
		break;
	default:
		break;
	}
}

static void begin(struct mimicd_machine *machine, const struct mimic_access *body)
{
	struct mimicd_machine_access *store = &machine->stores[body->page];

	store->body = *body;
	mimicd_posted_forget_before(store);
	mimicd_access_begin(store);
}

static bool has_room(struct mimicd_posted *posted)
{
	if (!posted->stores)
		posted->stores = calloc(MIMICD_POSTED_MAX, sizeof(*posted->stores));
	return posted->stores && posted->count < MIMICD_POSTED_MAX;
}

/* A store that is refused now was answered long ago: it is one that had no effect. */
static void go_on(struct mimicd_machine *machine, unsigned int page)
{
	struct mimicd_posted *posted = &machine->posted[page];

	while (posted->count && !mimicd_access_waits(&machine->stores[page])) {
		struct mimic_access body = posted->stores[posted->first];

		posted->first = (posted->first + 1) % MIMICD_POSTED_MAX;
		posted->count--;
		begin(machine, &body);
		machine->not_ready += machine->stores[page].state == MIMICD_ACCESS_REFUSED;
	}
}

/* The parts of the device that the store works on, by the kind's bits. */
static uint32_t order_of(const struct mimic_kind *kind, const struct mimic_access *store)
{
	return kind->order ? kind->order(store) : UINT32_MAX;
}

/* It does not wait: stores that wait in the part that it clears are dropped, others come behind it. */
static void clear(struct mimicd_machine *machine, const struct mimic_access *body)
{
	const struct mimic_kind *kind = machine->instance->kind;
	struct mimicd_machine_access *head = &machine->stores[body->page];
	struct mimicd_posted *posted = &machine->posted[body->page];
	const struct mimic_access first = head->body;
	bool keeps_first = mimicd_access_waits(head) && !(order_of(kind, &first) & order_of(kind, body));
	unsigned int kept = 0;

	mimicd_access_withdraw(head);
	for (unsigned int i = 0; i < posted->count; i++) {
		struct mimic_access store = posted->stores[(posted->first + i) % MIMICD_POSTED_MAX];

		if (!(order_of(kind, &store) & order_of(kind, body)))
			posted->stores[(posted->first + kept++) % MIMICD_POSTED_MAX] = store;
	}
	posted->count = kept;
	begin(machine, body);
	if (keeps_first && has_room(posted)) {
		posted->first = (posted->first + MIMICD_POSTED_MAX - 1) % MIMICD_POSTED_MAX;
		posted->stores[posted->first] = first;
		posted->count++;
	} else {
		machine->not_ready += keeps_first;
	}
	go_on(machine, body->page);
}

int mimicd_posted_store(struct mimicd_machine *machine, const struct mimic_access *body)
{
	const struct mimic_kind *kind = machine->instance->kind;

	if (!is_free(machine, body->page)) {
		if (!kind->clears || !kind->clears(body))
			return -EAGAIN;
		clear(machine, body);
		return 0;
	}
	begin(machine, body);
	return machine->stores[body->page].state == MIMICD_ACCESS_REFUSED ? -EINVAL : 0;
}

bool mimicd_posted_may_wait(const struct mimicd_machine *machine, const struct mimic_access *body)
{
	const struct mimic_kind *kind = machine->instance->kind;

	/* A driver that has read a register afterwards trusts that these have had their effect. */
	if (mimic_register_role(kind, body) != MIMIC_ROLE_NONE || (kind->is_flush && kind->is_flush(body)))
		return false;
	return machine->posted[body->page].count < MIMICD_POSTED_MAX;
}

bool mimicd_posted_wait(struct mimicd_machine *machine, const struct mimic_access *body)
{
	struct mimicd_posted *posted = &machine->posted[body->page];

	if (!mimicd_posted_may_wait(machine, body) || !has_room(posted))
		return false;
	posted->stores[(posted->first + posted->count++) % MIMICD_POSTED_MAX] = *body;
	return true;
}

void mimicd_posted_go_on(struct mimicd_machine *machine)
{
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		go_on(machine, i);
}

bool mimicd_posted_precede(const struct mimicd_machine *machine, const struct mimic_access *load)
{
	/* Where a waiting store may wait for a load, they are two threads'. */
	return machine->posted[load->page].count && !machine->instance->kind->is_for_stores;
}
