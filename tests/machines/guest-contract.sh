# shellcheck shell=sh disable=SC2034
# SPDX-License-Identifier: GPL-2.0 OR MIT
# In a machine: a device's contract as results of the script that has read this file, which counts them in $number.

# Counters of a device go on from process to process (docs/driver.md), as do those of barriers.
counters="cisc_2_of_the_later|words_without_a_meaning|commands_are_counted|moves_count|computes_count|a_loop_counts|\
a_residual_add_multiplies|a_convolution_counts|a_pooled_convolution_counts|page_0_shows_the_sums|counter_select_chooses|\
after_an_error_commands|a_load_that_nothing|resolve_and_flush|values_that_a_register|registers_begin_with|a_reset_clears_the_error"

contract() # contract DEVICE WAY LEFT_OUT [PART]: all cases but those of the expression LEFT_OUT; of PART of their names only
{
	"/contract_$1" --way="$2" ${4:+"$4"} >/tmp/said 2>&1
	grep -E '^(not )?ok |^#' /tmp/said | grep -vE "^(not )?ok .*: ($3)" | sed "s/ - / - contract of $1: /"
	number=$((number + 1))
	if grep -q '^1\.\.' /tmp/said && ! grep '^not ok' /tmp/said | grep -qvE ": ($3)"; then
		echo "ok $number - the contract of $1 holds by the way $2"
	else
		echo "not ok $number - the contract of $1 holds by the way $2"
	fi
}
