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

static void forget(struct mimicd_posted *posted)
{
	free(posted->stores);
	*posted = (struct mimicd_posted){ 0 };
}

void mimicd_posted_forget(struct mimicd_machine *machine)
{
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		forget(&machine->posted[i]);
}

/* The context gets another program, whose stores these are not. */
static void forget_context(struct mimicd_machine *machine, unsigned int context)
{
	const struct mimic_kind *kind = machine->instance->kind;

	if (context >= machine->instance->context_count)
		return;
	for (unsigned int i = 0; i < kind->pages; i++)
		forget(&machine->posted[kind->contexts->first_page(context) + i]);
}

void mimicd_posted_forget_before(struct mimicd_machine *machine, const struct mimic_access *body)
{
	switch (mimic_register_role(machine->instance->kind, body)) {
	case MIMIC_ROLE_RESET:
		mimicd_posted_forget(machine);
		break;
	case MIMIC_ROLE_ATTACH:
		forget_context(machine, mimic_attach_context(body->data));
		break;
	default:
		break;
	}
}

static void begin(struct mimicd_machine *machine, const struct mimic_access *body)
{
	struct mimicd_machine_access *store = &machine->stores[body->page];

	mimicd_posted_forget_before(machine, body);
	store->body = *body;
	mimicd_access_begin(store);
}

int mimicd_posted_store(struct mimicd_machine *machine, const struct mimic_access *body)
{
	if (!is_free(machine, body->page))
		return -EAGAIN;
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

	if (!mimicd_posted_may_wait(machine, body))
		return false;
	if (!posted->stores)
		posted->stores = calloc(MIMICD_POSTED_MAX, sizeof(*posted->stores));
	if (!posted->stores)
		return false;
	posted->stores[(posted->first + posted->count++) % MIMICD_POSTED_MAX] = *body;
	return true;
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

void mimicd_posted_go_on(struct mimicd_machine *machine)
{
	for (unsigned int i = 0; i < MIMIC_KIND_PAGES_MAX; i++)
		go_on(machine, i);
}

bool mimicd_posted_precede(const struct mimicd_machine *machine, const struct mimic_access *load)
{
	/* Where a load may be what a waiting store waits for, they are two threads'. */
	return machine->posted[load->page].count && !machine->instance->kind->is_for_stores;
}
