#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# An access of `mimic run` leaves the program's vector registers alone until it says so: the code of an access
# is compiled without them, and calls other libraries through gates (libmimic/base/vectors.h). TAP.
# usage: test-gates.sh BUILD
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
objects=$build/obj

case $(readelf -h "$build/lib/libmimic.so" | sed -n 's/.*Machine: *//p') in
*X86-64*) ;;
*)
	skip "gates" "only x86-64 has them"
	plan
	exit
	;;
esac

# They may be called as they are: they change general registers only, or have no code.
known='__cxa_finalize __errno_location __gmon_start__ _ITM_.* __stack_chk_fail clock_gettime gnu_get_libc_version
	__progname __rseq_.* program_invocation_short_name'
sed -n 's/^GATE(\(.*\))$/\1/p' libmimic/base/gated.h | sort >"$work/gated"
nm -D --undefined-only "$build/lib/libmimic.so" | grep -v ' __.*_chk@' | awk '{ sub(/@.*/, "", $2); print $2 }' |
	grep -vxE "$(echo $known | tr ' ' '|')" | sort >"$work/called"
missing=$(comm -13 "$work/gated" "$work/called" | tr '\n' ' ')
[ -z "$missing" ] || echo "# without a gate in libmimic/base/gated.h: $missing"
[ -z "$missing" ] && [ -s "$work/called" ]
result $? "each_function_of_another_library_that_libmimic_calls_has_a_gate"

# With _FORTIFY_SOURCE a call of memcpy() is one of __memcpy_chk(): so Debian's packages are compiled.
libc=$(ldd "$build/lib/libmimic.so" | awk '$1 == "libc.so.6" { print $3 }')
nm -D --defined-only "$libc" | sed -n 's/.* \(__[a-z]*_chk\)@.*/\1/p' | sort >"$work/of_libc"
sed 's/.*/__&_chk/' "$work/gated" | sort | comm -12 - "$work/of_libc" >"$work/fortified"
sed -n 's/^FORTIFIED(\(.*\))$/\1/p' libmimic/base/gated.h | sort >"$work/gated_fortified"
missing=$(comm -23 "$work/fortified" "$work/gated_fortified" | tr '\n' ' ')
[ -z "$missing" ] || echo "# without a gate: $missing"
[ -z "$missing" ] && [ "$(wc -l <"$work/fortified")" -ge 10 ]
result $? "each_function_that_fortify_puts_in_its_place_has_one_too"

unused=$(comm -23 "$work/gated" "$work/called" | tr '\n' ' ')
[ -z "$unused" ] || echo "# gates of functions that are not called: $unused"
[ -z "$unused" ]
result $? "each_gate_is_needed"

for source in $(make -s O="$build" print-general-only); do
	echo "$objects/${source%.c}.o"
done | sort >"$work/general"
# These two are there to move vector registers.
grep -vE '/libmimic/base/(probe|vectors)_x86\.o$' "$work/general" >"$work/without"
with=$(while read -r object; do
	objdump -d --no-show-raw-insn "$object" | grep -q '%[xyz]mm' && echo "${object#"$objects"/}"
done <"$work/without" | tr '\n' ' ')
[ -z "$with" ] || echo "# vector registers in: $with"
[ -z "$with" ] && [ "$(wc -l <"$work/without")" -gt 100 ]
result $? "functions_of_an_access_are_compiled_without_vector_registers"

# A kind names all functions of its models, and an access calls the kind's own alone.
find "$objects/devices" "$objects/libmimic" -name '*.o' ! -name 'gates_x86.o' | sort | comm -23 - "$work/general" |
	xargs nm -A --defined-only | awk '$2 ~ /[TDBR]/ { print $3 }' | sort -u >"$work/others"
grep -v '/kind\.o$' "$work/general" | xargs nm -A -u | awk '{ print $3, $1 }' | sort -k1,1 |
	join - "$work/others" >"$work/leaving"
[ ! -s "$work/leaving" ] || sed 's/^/# called, and not compiled so: /' "$work/leaving"
[ -s "$work/others" ] && [ ! -s "$work/leaving" ]
result $? "it_calls_nothing_that_is_compiled_with_vector_registers"

calls=$(nm -u "$objects/libmimic/preload/patch_access_x86.o" | awk '{ print $2 }' |
	grep -vxE 'mimic_.*|_GLOBAL_OFFSET_TABLE_|__errno_location|__stack_chk_fail' | tr '\n' ' ')
[ -z "$calls" ] || echo "# a trampoline's access calls: $calls"
[ -z "$calls" ]
result $? "the_preload_library_has_no_gates_and_calls_no_other_library_on_that_way"
plan
