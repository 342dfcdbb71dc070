/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Banks of the shared memory: each grants one reader and one writer in a cycle. Its sub-banks, one
 * word wide, serve the granted access together; words that are not aligned to them go through
 * one port of the cluster.
 */
#include "devices/virgo/time/internal.h"

void virgo_time_shared_init(struct virgo_timing *timing)
{
	const struct virgo_time_parameters *parameters = &timing->parameters;

	timing->shared.bank_bytes = (unsigned int)(parameters->shared_size / parameters->shared_banks);
	timing->shared.line_bytes = (unsigned int)(parameters->shared_words * WORD);
}

unsigned int virgo_time_bank(const struct virgo_timing *timing, uint32_t address)
{
	return address / timing->shared.bank_bytes % (unsigned int)timing->parameters.shared_banks;
}

static bool is_free(const struct virgo_timing *timing, bool is_write, unsigned int bank, uint64_t now)
{
	const struct shared *shared = &timing->shared;

	if (!is_write)
		return shared->read[bank] != now + 1;
	return shared->write[bank] != now + 1 && shared->dma_write[bank][now % WRITES_AHEAD] != now + 1;
}

static bool grant(struct virgo_timing *timing, bool is_write, unsigned int bank, uint64_t now)
{
	uint64_t *granted = is_write ? timing->shared.write : timing->shared.read;

	if (timing->parameters.shared_conflicts && !is_free(timing, is_write, bank, now)) {
		timing->statistics.bank_conflicts++;
		timing->statistics.bank_refused[bank]++;
		MIMIC_TRACE_AT(timing->trace, now, now, bank_conflict, 0ull, bank, 0ull, is_write, 0ull, 0ull);
		return false;
	}
	granted[bank] = now + 1;
	*(is_write ? &timing->statistics.bank_writes[bank] : &timing->statistics.bank_reads[bank]) += 1;
	virgo_time_trace_grant(timing, is_write ? BANK_PORT_WRITE : BANK_PORT_READ, bank, now);
	return true;
}

bool virgo_time_shared_read(struct virgo_timing *timing, unsigned int bank, uint64_t now)
{
	return grant(timing, false, bank, now);
}

bool virgo_time_shared_write(struct virgo_timing *timing, unsigned int bank, uint64_t now)
{
	return grant(timing, true, bank, now);
}

void virgo_time_shared_expect(struct virgo_timing *timing, uint32_t address, uint64_t time)
{
	const unsigned int bank = virgo_time_bank(timing, address);

	timing->shared.dma_write[bank][time % WRITES_AHEAD] = time + 1;
	timing->statistics.bank_writes[bank]++;
	virgo_time_trace_grant(timing, BANK_PORT_DMA, bank, time);
	timing->statistics.shared_writes += timing->parameters.shared_words;
}

unsigned int virgo_time_shared_port(struct virgo_timing *timing, bool is_write, unsigned int words, uint64_t now)
{
	struct shared *shared = &timing->shared;
	const unsigned int most = (unsigned int)timing->parameters.shared_unaligned;
	unsigned int left;

	if (!most)
		return words;
	if (shared->port_cycle[is_write] != now + 1) {
		shared->port_cycle[is_write] = now + 1;
		shared->port_used[is_write] = 0;
	}
	left = most - shared->port_used[is_write];
	if (words > left)
		words = left;
	shared->port_used[is_write] += words;
	return words;
}
