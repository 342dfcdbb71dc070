#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Prints those of the wanted kernels that were fetched already or that this release of Debian has.
#
#   kernels.sh --results FILE DIRECTORY FLAVOUR...
#
# FLAVOUR is 6.1, 6.12, rt, or smp4, which is 6.12 with four processors; DIRECTORY/FLAVOUR is where fetch-kernel.sh puts it. One that cannot be had is a
# skipped result in FILE, and a line on standard error says so. None at all is an error. newest comes from
# Debian 13 wherever we are, debug and kcsan are built: these are not looked for.
set -eu

# For complain() of apt.sh.
# shellcheck disable=SC2034
me=kernels.sh
here=$(dirname "$(realpath "$0")")
# shellcheck source=tools/vm/apt.sh
. "$here/../../tools/vm/apt.sh"

[ $# -ge 4 ] && [ "$1" = --results ] || complain "usage: kernels.sh --results FILE DIRECTORY FLAVOUR..."
results=$2
directory=$3
shift 3

# available FLAVOUR...: those of them; fails if one is missing
available() {
	all=0
	for flavour in "$@"; do
		case $flavour in
		newest | debug | kcsan) known=yes ;;
		smp4) known=$(kernel_release 6.12) ;;
		*) known=$(kernel_release "$flavour") ;;
		esac
		if [ -n "$known" ] || [ -e "$directory/$flavour/vmlinux" ]; then
			echo "$flavour"
		else
			all=1
		fi
	done
	return $all
}

# Old lists do not have the newer one.
if ! available "$@" >/dev/null && [ "$(id -u)" = 0 ]; then
	log=$(mktemp -d)
	update_lists "$log" >&2
	rm -rf "$log"
fi
found=$(available "$@") || true
has_package linux-image-amd64 || [ -n "$found" ] ||
	complain "apt has no package lists. As root, run: apt-get update"
[ -n "$found" ] || complain "this release of Debian has no kernel $*"
for flavour in "$@"; do
	echo "$found" | grep -qxF "$flavour" && continue
	echo "# $flavour is skipped: this release of Debian has no kernel $flavour" >&2
	printf 'skip\t%s: this release of Debian has no such kernel\n' "$flavour" >>"$results"
done
echo "$found"
