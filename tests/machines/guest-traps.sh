#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine: contracts by plain loads and stores of mapped registers, which trap (docs/pci.md). $1 is a part
# of the names of the cases that run; without it all do. TAP.
number=0
# shellcheck source=tests/machines/guest-contract.sh
. /guest-contract.sh

# Nobody tells a machine's threads apart: its loads are one thread to the device, stores of each page another.
threads="an_atomic_of_a_non_producer|reset_answers_the_callers|reset_drops_ownership|reset_answers_a_waiting|open_answers_3|\
open_of_a_taken|a_refused_open|close_answers_the_roles|close_by_a_stranger|close_of_the_other|the_mmu_page_takes|\
set_base_and_lima_work_on|full_pointers_of_strangers|a_queue_loop_of_a_stranger|a_stranger_may|a_loop_by_another|\
the_artifacts_dma_program|a_pointer_of_a_non_producer|configuration_goes_on|two_queues_can_wait|produce_by_a_non_owner|\
consume_by_a_non_owner|one_thread_may_hold|fifo_clear_by_another"
# Stores are posted: a program does not see when one takes effect, and the next of its page waits behind it.
posted="a_queue_acknowledges_as_many|other_queues_go_on_while_a_store|statistics_2_counts_cycles_of_waiting_stores"
# A load that waits for another is made anew, and has then come once more: barriers are for slots.
barriers="a_barrier_opens|a_barrier_answers|barriers_of_different_ids|a_register_says_how|waiters_can_become_enough|stores_before_a_barrier"

for program in /contract_*; do
	contract "${program#/contract_}" pci_trap "$threads|$posted|$barriers|$counters" "${1:-}"
done
echo "1..$number"
