#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The report of make check-kernel on a machine that ends before its tests do. QEMU is replaced by a
# script that prints a guest's output, and leaves a console that a kernel left.
# Usage: test-guest-report.sh BUILD
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"

consoles=$PWD/tests/scripts/console
mkdir "$work/bin" "$work/kernel"
touch "$work/kernel/vmlinux" "$work/initramfs"
echo 6.12.0-canned >"$work/kernel/release"
# boot.sh packs the command with it, and is not tested here.
printf '#!/bin/sh\ncat >/dev/null\n' >"$work/bin/cpio"
cat >"$work/bin/qemu-system-x86_64" <<'EOF'
#!/bin/sh
for argument; do
	case $argument in file:*) cp "$CANNED/console" "${argument#file:}" ;; esac
done
cat "$CANNED/output"
[ ! -e "$CANNED/hangs" ] || exec sleep 60
exit "$(cat "$CANNED/status")"
EOF
chmod +x "$work/bin/cpio" "$work/bin/qemu-system-x86_64"

# The output of a guest: a program that passes, then one that is in its second test.
two_programs() {
	cat <<'EOF'
# program: test_channel
TAP version 13
1..1
ok 1 channel.a_word_comes_back

# ended: test_channel 0 after 1.234 s
# program: test_trap_refused
TAP version 13
1..2
#  RUN           refused.an_exchange_dies_of_sigbus ...
#            OK  refused.an_exchange_dies_of_sigbus
ok 1 refused.an_exchange_dies_of_sigbus
#  RUN           refused.a_hardware_breakpoint_is_hit ...
EOF
}

# canned STATUS CONSOLE: how QEMU ends, and the console it leaves; its output comes from standard input
canned() {
	rm -rf "$work/canned" "$work/log" "$work/results"
	mkdir "$work/canned"
	cat >"$work/canned/output"
	echo "$1" >"$work/canned/status"
	cp "$2" "$work/canned/console"
}

# run [OPTION...]: run-tests.sh, with the canned machine
run() {
	CANNED=$work/canned PATH=$work/bin:$PATH timeout -k 2 60 tests/vm/run-tests.sh --results "$work/results" \
		--label 6.12 --log "$work/log" "$@" "$work/kernel" "$work/initramfs" /mimic/a /mimic/b \
		>"$work/output" 2>"$work/errors"
}

# results FILE: "kind text" of each result; standard input has those expected
results_are() {
	tr '\t' ' ' <"$work/results" >"$work/found"
	diff -u - "$work/found" >>"$work/errors"
}

says() {
	grep -qF -- "$1" "$work/output"
}

# A panic that QEMU 7.2 caused: it had kept an int3 that the kernel had patched away.
# With -no-reboot and panic=-1 QEMU ends with 0 then.
two_programs | canned 0 "$consoles/int3-6.12.txt"
run
results_are <<'EOF'
pass 6.12: test_channel: channel.a_word_comes_back
pass 6.12: test_trap_refused: refused.an_exchange_dies_of_sigbus
fail 6.12: test_trap_refused: in refused.a_hardware_breakpoint_is_hit: kernel panic: Oops: int3: 0000 [#1] PREEMPT SMP NOPTI at __schedule+0x407/0xbf0
EOF
result $? "a_panic_is_one_failed_result_that_names_the_program_its_test_and_the_place"

says "#   Oops: int3: 0000 [#1] PREEMPT SMP NOPTI" && says "Comm: stress" && says "#   RIP: 0010:__schedule+0x407/0xbf0" &&
	says "#   Call Trace:" && says "#    __do_sys_sched_yield+0xe/0x20" && ! says "restore_fpregs" &&
	says "#   Kernel panic - not syncing: Fatal exception in interrupt"
result $? "its_report_processor_place_and_calls_are_shown"
tests/scripts/run-tests.sh --results "$work/results" --summary >"$work/output"
[ $? = 1 ] && says "2 passed, 1 failed, 0 skipped"
result $? "the_summary_counts_it_once"

canned 0 "$consoles/crash-6.1.txt" <<'EOF'
# program: test_channel
1..1
ok 1 channel.a_word_comes_back
# ended: test_channel 0 after 1.234 s
EOF
run
results_are <<'EOF'
pass 6.12: test_channel: channel.a_word_comes_back
fail 6.12: machine: kernel panic: sysrq triggered crash
EOF
result $? "a_panic_between_programs_is_the_machines"
says "#    __handle_sysrq.cold+0x44/0x11c" && says "Comm: sh"
result $? "a_panic_without_an_oops_shows_its_calls_too"

# A kernel survives a warning, and an oops of a process.
{ cat "$consoles/warning-6.12.txt" "$consoles/int3-6.12.txt"; } >"$work/both"
two_programs | canned 0 "$work/both"
run
[ "$(grep -c ^fail "$work/results")" = 1 ] && grep -q "kernel panic: Oops: int3" "$work/results" && ! says "kill_pid"
result $? "a_warning_long_before_is_not_taken_for_the_panic"

two_programs | canned 0 "$consoles/quiet.txt"
run
results_are <<'EOF'
pass 6.12: test_channel: channel.a_word_comes_back
pass 6.12: test_trap_refused: refused.an_exchange_dies_of_sigbus
fail 6.12: test_trap_refused: in refused.a_hardware_breakpoint_is_hit: the machine ended by itself, with status 125
EOF
result $? "a_machine_that_ends_without_a_word_is_one_failed_result"

two_programs | canned 0 "$consoles/quiet.txt"
touch "$work/canned/hangs"
run --timeout 1
results_are <<'EOF'
pass 6.12: test_channel: channel.a_word_comes_back
pass 6.12: test_trap_refused: refused.an_exchange_dies_of_sigbus
fail 6.12: test_trap_refused: in refused.a_hardware_breakpoint_is_hit: the machine did not end after 1 s
EOF
result $? "a_machine_that_does_not_end_is_one_failed_result"

# Status 1 of the command "0 + 1" is debug-exit's 3.
{ two_programs; printf '%s\n' 'ok 2 refused.a_hardware_breakpoint_is_hit' '# ended: test_trap_refused 0 after 2.000 s' \
	'# all programs ran'; } | canned 3 "$consoles/quiet.txt"
run
results_are <<'EOF'
pass 6.12: test_channel: channel.a_word_comes_back
pass 6.12: test_trap_refused: refused.an_exchange_dies_of_sigbus
pass 6.12: test_trap_refused: refused.a_hardware_breakpoint_is_hit
EOF
result $? "a_machine_whose_programs_all_end_adds_nothing"

# Of a long run's output perhaps only the list of failures is left.
canned 3 "$consoles/quiet.txt" <<'EOF'
# program: test_channel
1..1
#  RUN           channel.a_word_comes_back ...
# test_channel.c:99:a_word_comes_back:Expected 20 <= 11
#          FAIL  channel.a_word_comes_back
not ok 1 channel.a_word_comes_back
# ended: test_channel 1 after 1.234 s
# all programs ran
EOF
run
results_are <<'EOF'
fail 6.12: test_channel: channel.a_word_comes_back (test_channel.c:99:a_word_comes_back:Expected 20 <= 11)
EOF
result $? "the_assertion_that_failed_is_in_the_list_of_failures"
plan
