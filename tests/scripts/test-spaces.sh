#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Paths with spaces: of the build directory, of installed files. TAP.
# usage: test-spaces.sh BUILD
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh"
place="$work/a place: \"mine\""
make() { env -u MAKEFLAGS -u MAKELEVEL make -s PACKAGES=: "$@"; }

a_build_directory_may_have_spaces()
{
	local link status
	make O="$work/my build" "$(scripts/link-without-spaces.sh "$work/my build")/bin/mimic-template" >"$work/output" 2>"$work/errors" &&
		[ -x "$work/my build/bin/mimic-template" ] && make O="$work/my build" clean && [ ! -e "$work/my build" ]
	status=$?
	for link in build-*; do
		[ ! -L "$link" ] || [ -e "$link" ] || rm "$link"
	done
	return $status
}

a_prefix_may_have_spaces()
{
	make O="$build" PREFIX="$work/my tools" DESTDIR= install >"$work/output" 2>"$work/errors" && [ ! -e "$work/my" ] &&
		[ -x "$work/my tools/bin/mimic" ] && grep -qF "\"$work/my tools/bin/mimicd\" " "$work/my tools/lib/systemd/system/mimicd.service"
}

so_may_a_destdir_and_uninstall_empties_it()
{
	make O="$build" PREFIX=/opt/mimic DESTDIR="$work/a stage" install >"$work/output" 2>"$work/errors" &&
		[ -x "$work/a stage/opt/mimic/bin/mimic" ] && make O="$build" PREFIX=/opt/mimic DESTDIR="$work/a stage" uninstall &&
		[ -z "$(find "$work/a stage" ! -type d)" ]
}

pkg_config_names_them_as_words_of_the_shell()
{
	sed -n '/^```c/,/^```/p' docs/libmaple.md | sed '1d; /^```/,$d' >"$work/first.c"
	words=$(PKG_CONFIG_PATH="$work/my tools/lib/pkgconfig" pkg-config --cflags --libs libmaple) &&
		eval "gcc -pthread -o '$work/first' '$work/first.c' $words" >"$work/output" 2>"$work/errors" &&
		"$work/first" >"$work/output" && grep -q right "$work/output"
}

examples_compile_with_them()
{
	cp -r "$work/my tools/share/mimic/examples" "$work/examples" &&
		PKG_CONFIG_PATH="$work/my tools/lib/pkgconfig" make -C "$work/examples" DEVICES=maple OUT="$work/out" "$work/out/maple/spmv" \
			>"$work/output" 2>"$work/errors" &&
		"$work/out/maple/spmv" --kronecker 4 --transport embedded >"$work/output" 2>"$work/errors"
}

mimic_cflags_does_so_too()
{
	echo 'int x[9]; int main(int count, char **words) { x[count] = **words; return x[0]; }' >"$work/timed.c"
	words=$("$work/my tools/bin/mimic" cflags) && libraries=$("$work/my tools/bin/mimic" cflags --libs) &&
		eval "gcc -O2 $words -c -o '$work/timed.o' '$work/timed.c' && gcc -o '$work/timed' '$work/timed.o' $libraries" \
			>"$work/output" 2>"$work/errors" &&
		"$work/my tools/bin/mimic" sim "$work/timed" >"$work/output" 2>"$work/errors"
}

# LD_PRELOAD parts its words at spaces and at colons.
mimic_run_works_from_any_folder()
{
	mv "$work/my tools" "$place" && "$place/bin/mimic" run "$build/tests/unmodified/pointers" >"$work/output" 2>"$work/errors"
}

# A program that is started by the program has the library, too.
so_does_a_program_that_the_program_starts()
{
	"$place/bin/mimic" run sh -c "exec '$build/tests/unmodified/pointers'" >"$work/output" 2>"$work/errors"
}

# No machine is started, and the kernel's headers are a makefile that compiles.
mimic_vm_compiles_a_driver_and_a_program_with_headers_of_such_folders()
{
	mkdir "$work/my driver" "$work/makefile" && printf '#define MINE 1\n' >"$work/my driver/mine.h" && : >"$work/my driver/Kbuild" &&
		printf '#include <mine.h>\n#include <mimic/pci.h>\nint main(void) { return MINE; }\n' | tee "$work/my driver/program.c" >"$work/my driver/driver.c" &&
		printf 'modules:\n\tgcc $(KCFLAGS) -c -o $(M)/driver.o $(M)/driver.c && echo driver.o >$(M)/modules.order && touch $(M)/driver.ko\n' \
			>"$work/makefile/Makefile" &&
		! "$place/bin/mimic" vm --device maple0 --kernel /dev/null --qemu false --cache "$work/my cache" --headers "$work/makefile" --driver "$work/my driver" \
			--include "$work/my driver" --compile "$work/my driver/program.c" true >"$work/output" 2>"$work/errors" &&
		grep -q '^mimic vm: the machine ended before the command did' "$work/errors"
}

# Kbuild refuses such paths, and make's functions take one for two: a fake one says where it is to build.
modules_of_sources_with_spaces_are_built_in_another_folder()
{
	mkdir "$work/my" "$work/my sources" "$work/headers" && cp -r devices driver include libmimic scripts "$work/my sources" &&
		printf 'modules:\n\t@echo "in [$(M)]"\n' >"$work/headers/Makefile" &&
		make -C "$work/my sources/driver" KDIR="$work/headers" TREE="$work/modules" >"$work/output" 2>"$work/errors" &&
		grep -qxF "in [$(realpath "$work")/modules/driver]" "$work/output" && [ -e "$work/modules/driver/maple/main.c" ]
}

without_one_a_line_says_so()
{
	! make -C "$work/my sources/driver" KDIR="$work/headers" >"$work/output" 2>"$work/errors" &&
		grep -q '^/.*my sources/build/modules: kbuild refuses paths with spaces .* TREE=FOLDER' "$work/errors" && ! grep -q 'in \[' "$work/output"
}

# The first word of a path with spaces may be another folder's.
clean_removes_these_modules_and_nothing_else()
{
	touch "$work/modules/mine" && make -C "$work/my sources/driver" TREE="$work/modules" clean >"$work/output" 2>"$work/errors" &&
		[ "$(ls "$work/modules")" = mine ] && rm "$work/modules/mine" && make -C "$work/my sources/driver" clean >>"$work/output" 2>&1 &&
		[ -d "$work/my" ] && [ -d "$work/my sources/driver" ]
}

for name in a_build_directory_may_have_spaces a_prefix_may_have_spaces so_may_a_destdir_and_uninstall_empties_it \
	pkg_config_names_them_as_words_of_the_shell examples_compile_with_them mimic_cflags_does_so_too mimic_run_works_from_any_folder \
	so_does_a_program_that_the_program_starts \
	mimic_vm_compiles_a_driver_and_a_program_with_headers_of_such_folders modules_of_sources_with_spaces_are_built_in_another_folder \
	without_one_a_line_says_so clean_removes_these_modules_and_nothing_else; do
	$name
	result $? $name
done
plan
