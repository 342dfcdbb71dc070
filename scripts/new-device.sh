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

# shellcheck disable=SC2044	# no name has a space
for old in $(find devices/template tests/contract/template tests/unit/test_template_*.c -type f 2>/dev/null); do
	new=$(printf '%s' "$old" | sed "s/template/$name/g")
	mkdir -p "$(dirname "$new")"
	sed "s/template/$name/g; s/TEMPLATE/$upper/g" "$old" >"$new"
	echo "$new"
done
echo "KIND($name)" >>devices/kinds.def
echo "devices/kinds.def: KIND($name)"
