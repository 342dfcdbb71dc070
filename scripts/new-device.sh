#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# A new device in this tree: a copy of devices/template under another name, with its tests, and its line in devices/kinds.def.
#
#   scripts/new-device.sh NAME      NAME: small letters, at most 12
set -eu
cd "$(dirname "$0")/.."
fail() {
	echo "new-device.sh: $*" >&2
	exit 2
}
[ $# = 1 ] || fail "usage: scripts/new-device.sh NAME"
name=$1
case $name in
'' | *[!a-z]*) fail "'$name' is no name of a device: small letters only" ;;
esac
[ ${#name} -le 12 ] || fail "'$name' is longer than 12 letters"
[ "$name" != template ] || fail "template is the one that is copied"
[ ! -e "devices/$name" ] || fail "devices/$name is there already"
upper=$(printf '%s' "$name" | tr a-z A-Z)

# Words that the name would clash with. Keywords: of C, as gcc has it, and of C++, for which the library's header is also.
keywords=" alignas alignof and asm auto bool break case catch char class compl concept const consteval constexpr \
constinit continue decltype default delete do double else enum explicit export extern false float for friend goto if \
inline int linux long mutable namespace new noexcept not nullptr operator or private protected public register \
requires restrict return short signed sizeof static struct switch this thread throw true try typedef typeid \
typename typeof union unix unsigned using virtual void volatile while xor "
case $keywords in
*" $name "*) fail "'$name' is a word of C or C++" ;;
esac
folder=$(find . \( -path './.*' -o -path './build*' \) -prune -o \
	-type d \( -name "$name" -o -name "lib$name" \) -print | head -n 1)
[ -z "$folder" ] || fail "'$name' is a part of this tree: ${folder#./}"
found=$(scripts/check-names.sh "$name" | head -n 1)
[ -z "$found" ] || fail "'$name' is a word of this tree, which must not name a device: $found"
for header in /usr/include /usr/local/include; do
	[ ! -e "$header/$name.h" ] || fail "'$name' has a header of the system: $header/$name.h"
done
! echo 'int main(void) { return 0; }' | ${CC:-cc} -x c -o /dev/null - "-l$name" 2>/dev/null ||
	fail "'$name' has a library of the system: lib$name"
for node in "/dev/$name" "/dev/${name}0"; do
	[ ! -e "$node" ] || fail "'$name' has a node of the system: $node"
done

# The marks of a device: four letters for IDENTIFY and for images, and the type in the numbers of ioctls.
in_use() { grep -rqi "$1" include/mimic devices examples/plugin; }
hex() { printf '%s' "$1" | od -An -tx1 | tr -d ' \n'; }
letters=$(printf '%.4s' "${upper}XXX")
for last in A B C D E F G H I J K L M N O P Q R S T U V W X Y Z; do
	in_use "MAGIC 0x$(hex "$letters")" || break
	letters=${letters%?}$last
done
type=0xba
while in_use "_IOCTL $type\\b"; do
	type=$(printf '0x%02x' $((type + 1)))
done
# In memory: the letters and "IMGE".
image=0x45474d49$(hex "$(printf '%s' "$letters" | rev)")
title=$(printf '%.1s' "$upper")${name#?}

# shellcheck disable=SC2044	# no name has a space
for old in $(find devices/template tests/contract/template tests/unit/test_template_*.c -type f 2>/dev/null); do
	new=$(printf '%s' "$old" | sed "s/template/$name/g")
	mkdir -p "$(dirname "$new")"
	sed "s/template/$name/g; s/TEMPLATE/$upper/g; s/Template/$title/g
		s|^\\(#define ${upper}_MAGIC\\) .*|\\1 0x$(hex "$letters")ull	/* \"$letters\" */|
		s|^\\(#define ${upper}_IOCTL\\) .*|\\1 $type|
		s|\\(\\.magic =\\) .*|\\1 ${image}ull,	/* \"${letters}IMGE\" */|" "$old" >"$new"
	echo "$new"
done
echo "KIND($name)" >>devices/kinds.def
echo "devices/kinds.def: KIND($name)"
