#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Builds a debug kernel out of Debian's linux-source-6.12: tinyconfig and
# debug.config.
#
#   debug-kernel.sh DIRECTORY               with KASAN
#   debug-kernel.sh --kcsan DIRECTORY       with KCSAN instead: kcsan.config goes on top
#   debug-kernel.sh --announce DIRECTORY    only says how long check-kernel-debug will take
#
# DIRECTORY gets vmlinux (ELF), config, release and kdir, like those that
# fetch-kernel.sh makes; the source and what was compiled stay in it, too. A
# vmlinux that fits debug.config stays; what is compiled already is not compiled
# again. Compiler output is in DIRECTORY/log.
set -eu

me=debug-kernel.sh
here=$(dirname "$(realpath "$0")")
. "$here/../../tools/vm/apt.sh"

announce=no
kcsan=no
case ${1:-} in
--announce)
	announce=yes
	shift
	;;
--kcsan)
	kcsan=yes
	shift
	;;
esac
[ $# = 1 ] || complain "usage: debug-kernel.sh [--announce | --kcsan] DIRECTORY"
mkdir -p "$1"
directory=$(realpath "$1")
set -- "$here/debug.config"
# KCSAN watches our modules only: what is not ours need not be slower, nor be reported.
of_kernel=
if [ $kcsan = yes ]; then
	set -- "$@" "$here/kcsan.config"
	of_kernel=KCSAN_SANITIZE=n
fi
fragment=$directory/fragment
source=$directory/source
build=$directory/build

# The files that vmlinux is made from: a change of any makes it anew. Read now: they may
# be edited while the kernel builds.
fingerprint=$(cat "$@" "$here/debug-kernel.sh" | sha256sum)

is_built() {
	[ -e "$directory/vmlinux" ] && [ "$(cat "$directory/made-from" 2>/dev/null)" = "$fingerprint" ]
}

if [ $announce = yes ]; then
	if is_built; then
		echo "# the debug kernel is there: nothing to build but our own code"
	else
		echo "# first the debug kernel is built: about 7 minutes on two cores, once"
	fi
	if [ -r "$directory.log/seconds" ]; then
		read -r seconds <"$directory.log/seconds"
		echo "# the tests in it took $((seconds / 60)) min $((seconds % 60)) s the last time"
	else
		echo "# the tests in it take up to ten times as long as in another kernel"
	fi
	exit
fi
lock "$directory"
if is_built; then
	# make goes by its time.
	touch "$directory/vmlinux"
	exit
fi
rm -f "$directory/vmlinux"
cat "$@" >"$fragment"
"$here/fetch-source.sh" 6.12 "$source"

# Our own make's variables (O, V, -j) mean something else to the kernel's.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES O V CFLAGS
# Nothing of this moment or machine goes into the kernel.
export KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=mimic KBUILD_BUILD_HOST=mimic
kernel_make() {
	nice make -C "$source" O="$build" -j 2 "$@" >>"$directory/log" 2>&1 && return
	grep -E '(error|Error|\*\*\*)' "$directory/log" | tail -n 20 >&2
	complain "make $* failed, see $directory/log"
}

# value FILE SYMBOL: y, m, a number or a string; n where it is not set or unknown
value() {
	found=$(sed -n "s/^$2=//p" "$1" | tail -n 1)
	echo "${found:-n}"
}

# kconfig drops without a word what other symbols do not allow.
verify_config() {
	bad=$(sed -n 's/^\(CONFIG_[A-Z0-9_]*\)=.*/\1/p' "$fragment" | sort -u | while read -r symbol; do
		wanted=$(value "$fragment" "$symbol")
		got=$(value "$build/.config" "$symbol")
		[ "$got" = "$wanted" ] || echo "    $symbol=$wanted is $got"
	done)
	[ -z "$bad" ] || complain "the configuration is not what debug.config asks for:
$bad"
}

echo "$me: configuring $(sed -n 's/^VERSION = //p;s/^PATCHLEVEL = /./p;s/^SUBLEVEL = /./p' "$source/Makefile" | tr -d '\n')"
: >"$directory/log"
mkdir -p "$build"
kernel_make tinyconfig
# allnoconfig and not olddefconfig: what becomes possible by the fragment would
# else come with its default, and much of that is y.
cat "$build/.config" "$fragment" >"$directory/wanted"
export KCONFIG_ALLCONFIG="$directory/wanted"
kernel_make allnoconfig
unset KCONFIG_ALLCONFIG
verify_config

echo "$me: building the debug kernel, with two jobs; output is in $directory/log"
# Empty it would be a word for make.
# shellcheck disable=SC2086
kernel_make $of_kernel vmlinux modules
cp "$build/.config" "$directory/config"
kernel_make kernelrelease
cp "$build/include/config/kernel.release" "$directory/release"
ln -sfn build "$directory/kdir"
strip --strip-debug -o "$directory/vmlinux.part" "$build/vmlinux"
echo "$fingerprint" >"$directory/made-from"
mv "$directory/vmlinux.part" "$directory/vmlinux"
