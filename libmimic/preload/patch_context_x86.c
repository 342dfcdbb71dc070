/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * A signal that comes while a thread stands in a trampoline, or in a function that it calls. The program's
 * handler sees its own instruction, not begun or complete, with its own registers.
 *
 * The context is put back for the length of the handler; then the thread goes on where it was. A handler
 * that changes it sends the program elsewhere. In the trampoline nothing has happened yet that could
 * not happen again. In a call the vector registers are not the program's, and have to come back first.
 */
#include <string.h>

#include "libmimic/preload/patch.h"
#include "libmimic/preload/preload.h"

#if defined(__x86_64__) && !defined(__ILP32__)

extern THREAD_LOCAL struct patch_frame *mimic_preload_patch_current;
/* Places in the stub, in this order. */
extern const char mimic_preload_patch_pushed[], mimic_preload_patch_framed[], mimic_preload_patch_kept[],
	mimic_preload_patch_vectored[], mimic_preload_patch_settled[], mimic_preload_patch_leaving[],
	mimic_preload_patch_left[], mimic_preload_patch_depart[], mimic_preload_patch_departed[];

/* Hardware number to place in a context. */
static const uint8_t greg_of[16] = {
	REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

static bool is_between(uintptr_t rip, const char *start, const char *end)
{
	return rip >= (uintptr_t)start && rip < (uintptr_t)end;
}

static uint64_t word_at(uintptr_t address)
{
	return *(const uint64_t *)address;
}

/* --- in the trampoline ---------------------------------------------------- */

static void show_trampoline(greg_t *gregs, const struct patch_site *site)
{
	unsigned int length = site->target.instruction.length;
	unsigned int offset = (unsigned int)((uintptr_t)gregs[REG_RIP] - site->place);
	struct patch_moment moment = mimic_preload_patch_moment_of(site, offset, (uint64_t)gregs[REG_RCX]);

	if (moment.has_saved)
		gregs[REG_RCX] = (greg_t)word_at((uintptr_t)gregs[REG_RSP] + PATCH_RCX_OFFSET);
	if (moment.has_frame)
		gregs[REG_RSP] += PATCH_ROOM;
	gregs[REG_RIP] = (greg_t)(site->target.address + (moment.is_after ? length : 0));
}

/* --- in the call ----------------------------------------------------------- */

static const struct patch_site *site_of_return(uintptr_t return_address)
{
	return (const struct patch_site *)word_at(return_address + PATCH_SITE_OFFSET);
}

/* Before the frame is filled and after it is left; `top` is where the return address lies, below the room. */
static void show_ends(greg_t *gregs, uintptr_t top, bool is_done)
{
	const struct patch_site *site = site_of_return(word_at(top));
	uintptr_t room = top + 8;

	gregs[REG_RCX] = (greg_t)word_at(room + PATCH_RCX_OFFSET);
	gregs[REG_RSP] = (greg_t)(room + PATCH_ROOM);
	gregs[REG_RIP] = (greg_t)(site->target.address + (is_done ? site->target.instruction.length : 0));
}

static void show_frame(greg_t *gregs, const struct patch_frame *frame)
{
	const struct patch_site *site = site_of_return(frame->return_address);
	uint64_t rip = site->target.address;
	unsigned int i;

	for (i = 0; i < 16; i++)
		gregs[greg_of[i]] = (greg_t)frame->gpr[i];
	gregs[REG_EFL] = (greg_t)(frame->progress == PATCH_COMPUTED ? frame->new_flags : frame->flags);
	if (frame->progress == PATCH_DEPARTED) {
		gregs[REG_RIP] = (greg_t)frame->rip;
		return;
	}
	gregs[REG_RSP] = (greg_t)((uintptr_t)frame->gpr + PATCH_ROOM);
	if (frame->progress == PATCH_LOADED || frame->progress == PATCH_COMPUTED)
		gregs[greg_of[site->shape.reg]] = (greg_t)frame->value;
	if (frame->progress != PATCH_BEGUN)
		rip += site->target.instruction.length;
	gregs[REG_RIP] = (greg_t)rip;
}

/* The frame is not filled yet, and the stub has changed no register but the stack pointer. */
static void show_half(greg_t *gregs, const struct patch_frame *frame)
{
	gregs[REG_EFL] = (greg_t)frame->flags;
	show_ends(gregs, (uintptr_t)&frame->return_address, false);
}

/* true: the thread is in the stub, or in a function that it calls; `gregs` is the program's. */
static bool show_call(greg_t *gregs, struct patch_frame *current)
{
	uintptr_t rip = (uintptr_t)gregs[REG_RIP];
	uintptr_t rsp = (uintptr_t)gregs[REG_RSP];
	const char *enter = (const char *)mimic_preload_patch_enter;

	if (is_between(rip, enter, mimic_preload_patch_pushed))
		show_ends(gregs, rsp, false);
	else if (is_between(rip, mimic_preload_patch_pushed, mimic_preload_patch_framed))
		show_ends(gregs, rsp + 8, false);
	else if (is_between(rip, mimic_preload_patch_framed, mimic_preload_patch_kept))
		show_half(gregs, (const struct patch_frame *)rsp);
	else if (is_between(rip, mimic_preload_patch_kept, mimic_preload_patch_leaving))
		show_frame(gregs, (const struct patch_frame *)gregs[REG_RBX]);
	else if (is_between(rip, mimic_preload_patch_leaving, mimic_preload_patch_left))
		show_frame(gregs, (const struct patch_frame *)rsp);
	else if (rip == (uintptr_t)mimic_preload_patch_left)
		show_ends(gregs, rsp, !gregs[REG_RCX]);
	else if (is_between(rip, mimic_preload_patch_depart, mimic_preload_patch_departed + 1))
		show_frame(gregs, (const struct patch_frame *)gregs[REG_RBX]);
	else if (current)
		show_frame(gregs, current);
	else
		return false;
	return true;
}

/* Only there are vector registers not the program's, and the context must come back. */
static struct patch_frame *frame_of(const greg_t *real, struct patch_frame *current)
{
	uintptr_t rip = (uintptr_t)real[REG_RIP];

	if (is_between(rip, mimic_preload_patch_vectored, mimic_preload_patch_settled) ||
	    is_between(rip, mimic_preload_patch_depart, mimic_preload_patch_departed + 1))
		return (struct patch_frame *)real[REG_RBX];
	return is_between(rip, (const char *)mimic_preload_patch_enter, mimic_preload_patch_depart) ? NULL
												    : current;
}

void mimic_preload_patch_show(ucontext_t *context, struct patch_shown *shown)
{
	greg_t *gregs = context->uc_mcontext.gregs;
	const struct patch_site *site = mimic_preload_patch_at((uintptr_t)gregs[REG_RIP]);
	greg_t before[NGREG];

	shown->frame = NULL;
	shown->current = mimic_preload_patch_current;
	memcpy(shown->real, gregs, sizeof(shown->real));
	/* With a call under way it is one of the C library's, which the library uses, too. */
	if (site)
		show_trampoline(gregs, site);
	memcpy(before, gregs, sizeof(before));
	shown->is_other = site || shown->current;
	if (show_call(gregs, shown->current)) {
		shown->frame = frame_of(before, shown->current);
		shown->is_other = true;
	}
	if (!shown->is_other)
		return;
	memcpy(shown->shown, gregs, sizeof(shown->shown));
	mimic_preload_patch_current = NULL;
}

/* --- afterwards -------------------------------------------------------------- */

static void depart(greg_t *gregs, const struct patch_shown *shown)
{
	struct patch_frame *frame = shown->frame;
	unsigned int i;

	for (i = 0; i < 16; i++)
		frame->gpr[i] = (uint64_t)gregs[greg_of[i]];
	frame->flags = (uint64_t)gregs[REG_EFL];
	frame->rip = (uint64_t)gregs[REG_RIP];
	frame->progress = PATCH_DEPARTED;
	memcpy(gregs, shown->real, sizeof(shown->real));
	/* Once the vectors are the program's, no place says that they are not stored. */
	if ((uintptr_t)gregs[REG_RIP] != (uintptr_t)mimic_preload_patch_departed)
		gregs[REG_RIP] = (greg_t)(uintptr_t)mimic_preload_patch_depart;
	gregs[REG_RBX] = (greg_t)(uintptr_t)frame;
	mimic_preload_patch_current = frame;
}

void mimic_preload_patch_resume(ucontext_t *context, const struct patch_shown *shown)
{
	greg_t *gregs = context->uc_mcontext.gregs;

	if (!shown->is_other)
		return;
	if (!memcmp(gregs, shown->shown, sizeof(shown->shown))) {
		memcpy(gregs, shown->real, sizeof(shown->real));
		mimic_preload_patch_current = shown->current;
	} else if (shown->frame) {
		depart(gregs, shown);
	}
}

bool mimic_preload_patch_is_departure(ucontext_t *context)
{
	greg_t *gregs = context->uc_mcontext.gregs;
	const struct patch_frame *frame = (const struct patch_frame *)gregs[REG_RBX];
	unsigned int i;

	if ((uintptr_t)gregs[REG_RIP] != (uintptr_t)mimic_preload_patch_departed)
		return false;
	for (i = 0; i < 16; i++)
		gregs[greg_of[i]] = (greg_t)frame->gpr[i];
	gregs[REG_EFL] = (greg_t)frame->flags;
	gregs[REG_RIP] = (greg_t)frame->rip;
	mimic_preload_patch_current = NULL;
	return true;
}

#endif
