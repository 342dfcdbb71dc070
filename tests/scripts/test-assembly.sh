#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# `mimic asm` and `mimic dis`: text to words and back, bad input. TAP on stdout.
#
#   test-assembly.sh [BUILD]     BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
mimic=$build/bin/mimic

# try STATUS NAME WORD...: the exit status of mimic; its output is in $work/output.
try() {
	local wanted=$1 name=$2 status
	shift 2
	timeout -k 5 60 "$mimic" "$@" >"$work/output" 2>&1
	status=$?
	echo "exit status $status, wanted $wanted" >>"$work/output"
	[ $status = "$wanted" ]
	result $? "$name"
}

says() {
	grep -qF -e "$1" "$work/output"
	result $? "$2"
}

# same FILE FILE NAME
same() {
	cmp "$1" "$2" >"$work/output" 2>&1
	result $? "$3"
}

cat >"$work/program" <<'END'
# A tile of a product.
	mcfg zero, a0		// rows
	mld m1, (a1), a2
	mld.h m2, (x13), x14
	mma m0, m1, m2

	mma.bf16 m0, m1, m2
	mma.i8 m3, m4, m5
	mgather m6, (m7)
	mscatter.b m6, (m7)
	mst m0, (t0), t1
	.word 0xdeadbeef
END
# By hand from the formats in docs/dare-isa.md.
cat >"$work/words" <<'END'
0xfea0002b
0x04c588ab
0x04e6852b
0x0844082b
0x084404ab
0x10b1802b
0x341c0b2b
0x3cdc002b
0x0c62882b
0xdeadbeef
END
cat >"$work/text" <<'END'
mcfg zero, a0
mld m1, (a1), a2
mld.h m2, (a3), a4
mma m0, m1, m2
mma.bf16 m0, m1, m2
mma.i8 m3, m4, m5
mgather m6, (m7)
mscatter.b m6, (m7)
mst m0, (t0), t1
.word 0xdeadbeef
END

"$mimic" asm "$work/program" >"$work/asm" 2>&1
same "$work/words" "$work/asm" "asm_prints_the_words_in_hexadecimal"
"$mimic" dis "$work/words" >"$work/dis" 2>&1
same "$work/text" "$work/dis" "dis_prints_the_text_of_the_words"
"$mimic" asm <"$work/program" | "$mimic" dis - | "$mimic" asm >"$work/again" 2>&1
same "$work/words" "$work/again" "asm_and_dis_work_in_a_pipe"
sed 's/^0x//' "$work/words" | tr '\n' ' ' | "$mimic" dis >"$work/dis" 2>&1
same "$work/text" "$work/dis" "dis_takes_words_without_0x_on_one_line"

try 0 "asm_writes_a_binary_file" asm --binary --output "$work/binary" "$work/program"
# printf's octal bytes: little endian.
printf '\053\000\240\376\253\210\305\004\053\205\346\004' >"$work/start"
head -c 12 "$work/binary" >"$work/start.binary"
same "$work/start" "$work/start.binary" "a_binary_file_is_little_endian"
try 0 "dis_reads_a_binary_file" dis -b -o "$work/dis" "$work/binary"
same "$work/text" "$work/dis" "dis_of_a_binary_file_prints_its_text"

for command in asm dis; do
	input=$work/program
	[ $command = dis ] && input=$work/words
	"$mimic" $command --json "$input" >"$work/$command.json" 2>"$work/output"
	sed -n 's/.*"hex": "\([^"]*\)".*/\1/p' "$work/$command.json" >"$work/hex"
	same "$work/words" "$work/hex" "${command}_json_has_the_words"
	sed -n 's/.*"text": "\([^"]*\)".*/\1/p' "$work/$command.json" >"$work/json.text"
	same "$work/text" "$work/json.text" "${command}_json_has_the_texts"
	try 0 "${command}_help_exits_0" $command --help
	try 0 "${command}_of_nothing_exits_0" $command /dev/null
	echo '{"instructions": []}' >"$work/expected"
	"$mimic" $command --json </dev/null >"$work/empty" 2>&1
	same "$work/expected" "$work/empty" "${command}_json_of_nothing_is_an_empty_list"
	try 2 "${command}_with_two_files_exits_2" $command "$input" "$input"
	try 2 "${command}_with_an_unknown_option_exits_2" $command --what
	try 2 "${command}_of_a_file_that_is_not_there_exits_2" $command "$work/none"
	says "$work/none: No such file" "${command}_names_the_file_that_is_not_there"
	try 2 "${command}_of_a_directory_exits_2" $command "$work"
	try 1 "${command}_to_a_full_device_exits_1" $command -o /dev/full "$input"
	try 2 "${command}_to_a_directory_exits_2" $command -o "$work" "$input"
done

try 2 "asm_with_json_and_binary_exits_2" asm --json --binary "$work/program"
printf 'mld m1, (a0), a1\n\n\tmld m8, (a0), a1\nmmx\n' >"$work/wrong"
echo before >"$work/kept"
try 2 "asm_of_a_wrong_line_exits_2" asm -o "$work/kept" "$work/wrong"
says "wrong:3:6: expected a matrix register (m0 to m7), not 'm8'" "asm_names_line_column_and_reason"
says "wrong:4:1: expected an instruction" "asm_tells_the_next_wrong_line_as_well"
echo before >"$work/expected"
same "$work/expected" "$work/kept" "asm_of_a_wrong_line_writes_nothing"
printf 'mld m1, (a0), a1\0more\n' >"$work/null"
try 2 "asm_of_a_null_byte_exits_2" asm "$work/null"
says "null:1:17: a null byte" "asm_names_where_the_null_byte_is"
yes wrong | head -n 100 >"$work/many"
try 2 "asm_of_a_hundred_wrong_lines_exits_2" asm "$work/many"
says "and 80 more" "asm_does_not_tell_all_of_them"
[ "$(wc -l <"$work/output")" = 22 ]
result $? "asm_tells_the_first_twenty"
printf '0x1\n 12345678 123456789\n' >"$work/wrong"
try 2 "dis_of_a_long_number_exits_2" dis "$work/wrong"
says "wrong:2:11: expected a word" "dis_names_line_and_column"
printf '12345' >"$work/wrong"
try 2 "dis_of_an_odd_binary_file_exits_2" dis --binary "$work/wrong"
says "5 bytes" "dis_says_how_many_bytes_there_are"

plan
