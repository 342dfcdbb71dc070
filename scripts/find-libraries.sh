#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# usage: find-libraries.sh FILE
# Finds the libraries that mimic is built with, and writes their flags to FILE for make; FILE is left alone if it says
# so already. pkg-config says where a library is, and a small program that is compiled and linked whether it is of use:
# that is tried again only for libraries that have changed, or were of no use.
# A line on standard error names each part that is left out. Status 1: a needed library is missing; one line.
# CC, PKG_CONFIG: the programs.
set -u
file=$1
CC=${CC:-cc}
PKG_CONFIG=${PKG_CONFIG:-pkg-config}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
touch "$work/before"
[ ! -e "$file" ] || cp "$file" "$work/before"
has_pkg_config=$(command -v "${PKG_CONFIG%% *}")

# find_flags MODULE FALLBACK: $cflags, $libs and $version; without pkg-config or a module of that name the usual place
find_flags()
{
	cflags='' libs=$2 version=
	[ -n "$has_pkg_config" ] || return
	found=$($PKG_CONFIG --cflags "$1" 2>/dev/null && $PKG_CONFIG --libs "$1" && $PKG_CONFIG --modversion "$1" &&
		$PKG_CONFIG --variable=includedir "$1") || return
	{ read -r cflags; read -r libs; read -r version; read -r includes; } <<FOUND
$found
FOUND
	# Our sources name json-c/json.h and fuse3/fuse_lowlevel.h. In /usr/include they are found without an option.
	cflags=$(echo "$cflags " | sed 's|-I/usr/include[^ ]* *||g; s/ *$//')
	case $includes in
	'' | /usr/include) ;;
	*) cflags="${cflags:+$cflags }-I$includes" ;;
	esac
}

# The program comes from standard input.
is_of_use()
{
	cat >"$work/probe.c"
	# shellcheck disable=SC2086
	$CC $cflags -o "$work/probe" "$work/probe.c" $libs -ldl >"$work/log" 2>&1
}

# library NAME MODULE FALLBACK PACKAGE LOSS: NAME_LIBS, and HAS_NAME if it is of use. Its program comes from standard
# input. LOSS names the parts that are left out without it; "needed": all.
library()
{
	find_flags "$2" "$3"
	key="# $1 $CC $version $cflags $libs"
	if grep -qxF "$key" "$work/before" || is_of_use; then
		echo "$key"
		echo "HAS_$1 := 1"
		[ -z "$libs" ] || echo "$1_LIBS := $libs"
		[ -z "$cflags" ] || echo "LIBRARY_CFLAGS += $cflags"
		return
	fi
	echo "HAS_$1 :="
	why="${version:+$version is of no use: $(sed -n 's/.*\(error: .*\|undefined reference .*\|cannot find .*\)/\1/p' "$work/log" | head -n 1)}"
	case $5 in
	needed)
		echo "mimic: $2 is needed (Debian: $4)${why:+; $why}" >&2
		: >"$work/failed" ;;
	*)
		echo "mimic: without $2 (Debian: $4)${why:+; $why}: $5" >>"$work/left-out" ;;
	esac
}

if ! command -v "${CC%% *}" >/dev/null; then
	echo "mimic: there is no compiler '$CC' (Debian: gcc; CC=NAME is another one)" >&2
	exit 1
fi
if ! echo 'int main(void) { return 0; }' | { cflags='' libs='' && is_of_use; }; then
	echo "mimic: '$CC' does not compile: $(head -n 1 "$work/log")" >&2
	exit 1
fi

{
echo "# Made by scripts/find-libraries.sh."
echo "LIBRARY_CFLAGS :="
library INIH inih -linih libinih-dev needed <<'EOP'
#include <ini.h>
static int key(void *user, const char *section, const char *name, const char *value) { return user && section && name && value; }
static char *line(char *text, int size, void *stream) { return stream && size ? text : 0; }
int main(void) { return ini_parse_stream(line, 0, key, 0); }
EOP
library JSON json-c -ljson-c libjson-c-dev needed <<'EOP'
#include <json-c/json.h>
int main(void) { return !json_object_to_json_string_length(json_object_new_uint64(1), JSON_C_TO_STRING_PLAIN, 0); }
EOP
library ELF libelf -lelf libelf-dev needed <<'EOP'
#include <gelf.h>
int main(void) { size_t count; return elf_version(EV_CURRENT) == EV_NONE || elf_getphdrnum(0, &count); }
EOP
library DW libdw "-ldw -lelf" libdw-dev "no mimic sim, and no source lines in mimic run --stat" <<'EOP'
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
int main(void) { return dwarf_begin_elf(0, DWARF_C_READ, 0) != 0; }
EOP
library FUSE fuse3 -lfuse3 libfuse3-dev "no mimicd --state" <<'EOP'
#define FUSE_USE_VERSION 312
#include <fuse3/fuse_lowlevel.h>
static const struct fuse_lowlevel_ops operations;
static struct fuse_file_info file;
int main(void) { file.noflush = 1; fuse_set_log_func(0); return !fuse_session_new(0, &operations, sizeof(operations), 0); }
EOP
library URING liburing -luring liburing-dev "mimicd talks to /dev/mimic by read(), more slowly" <<'EOP'
#include <liburing.h>
int main(void)
{
	struct io_uring ring;
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	io_uring_prep_rw(IORING_OP_URING_CMD, sqe, 0, 0, 0, 0);
	return sqe->cmd_op + sqe->cmd[0];
}
EOP
library SDT sdt "" systemtap-sdt-dev "no USDT probes" <<'EOP'
#include <sys/sdt.h>
int main(void) { STAP_PROBE(mimic, probe); return 0; }
EOP
library CMOCKA cmocka -lcmocka libcmocka-dev "no unit, contract and transport tests" <<'EOP'
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
static void test(void **state) { assert_null(*state); }
int main(void) { const struct CMUnitTest tests[] = { cmocka_unit_test(test) }; return cmocka_run_group_tests(tests, 0, 0); }
EOP
library ZYDIS zydis -lZydis libzydis-dev "two unit tests less" <<'EOP'
#include <Zydis/Zydis.h>
int main(void) { ZydisDecoder decoder; return ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64) != 0; }
EOP
library SPARSE "cholmod and openblas" "-lcholmod -lopenblas" "libsuitesparse-dev, libopenblas-dev" "fewer tests" <<'EOP'
#include <cblas.h>
#include <suitesparse/cholmod.h>
int main(void) { cholmod_common common; float a = 1; return !cholmod_start(&common) || cblas_sdot(1, &a, 1, &a, 1) != 1; }
EOP
# As `mimic cflags` has them.
case $CC in
*clang*) flags="-mllvm -tsan-distinguish-volatile=1" least="clang 13" ;;
*) flags=--param=tsan-distinguish-volatile=1 least="gcc 11" ;;
esac
echo "int probe;" >"$work/probe.c"
# shellcheck disable=SC2086
if grep -qxF "# SIM $CC" "$work/before" || $CC -fsanitize=thread $flags -c -o "$work/probe.o" "$work/probe.c" >/dev/null 2>&1; then
	echo "# SIM $CC"
	echo "HAS_SIM := 1"
else
	echo "HAS_SIM :="
	echo "mimic: '$CC' does not know $flags ($least does): no programs for virtual time" >>"$work/left-out"
fi
if command -v scdoc >/dev/null; then
	echo "HAS_SCDOC := 1"
else
	echo "HAS_SCDOC :="
	echo "mimic: without scdoc (Debian: scdoc): no man pages" >>"$work/left-out"
fi
} >"$work/after"

[ ! -e "$work/failed" ] || exit 1
cmp -s "$work/after" "$file" && exit 0
[ ! -e "$work/left-out" ] || cat "$work/left-out" >&2
mkdir -p "$(dirname "$file")" && cp "$work/after" "$file.$$" && mv "$file.$$" "$file"
