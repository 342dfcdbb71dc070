#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Installs into a directory and builds programs against it as a user would. TAP.
# usage: test-install.sh BUILD-DIRECTORY
set -u
build=${1:-build}
cd "$(dirname "$0")/../.." || exit 1
unset LD_LIBRARY_PATH
root=$(mktemp -d) || exit 1
trap 'rm -rf "$root"' EXIT
prefix=$root/prefix
number=0

# check DESCRIPTION COMMAND...: the command's output is shown where it fails
check() {
	number=$((number + 1))
	description=$1
	shift
	if "$@" >"$root/output" 2>&1; then
		echo "ok $number - $description"
	else
		echo "not ok $number - $description"
		sed 's/^/# /' "$root/output"
	fi
}

package() {
	PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config "$@"
}

program_in_c() {
	cat > "$root/program.c" <<'PROGRAM' || return 1
#include <maple.h>
#include <stdio.h>
int main(void)
{
	struct maple_options options = { .transport = "embedded" };
	struct maple *maple;
	uint32_t numbers[3] = { 7, 8, 9 }, got = 0;
	if (maple_init(&maple, &options) || maple_open(maple, 0, MAPLE_PRODUCER) ||
	    maple_open(maple, 0, MAPLE_CONSUMER) ||
	    maple_produce_ptr32(maple, 0, &numbers[1], MAPLE_DRAM) ||
	    maple_consume32(maple, 0, &got)) {
		fprintf(stderr, "%s\n", maple_error_text());
		return 1;
	}
	maple_fini(maple);
	printf("%u\n", got);
	return got != 8;
}
PROGRAM
	gcc -Wall -Wextra -Werror -std=c11 -pedantic -o "$root/program" "$root/program.c" \
		$(package --cflags --libs libmaple) && "$root/program"
}

program_in_cxx() {
	cat > "$root/program.cc" <<'PROGRAM' || return 1
#include <maple.h>
#include <vector>
int main()
{
	maple_options options{};
	options.transport = "embedded";
	maple *device = nullptr;
	if (maple_init(&device, &options))
		return 1;
	std::vector<uint64_t> start{ 0, 2, 3 };
	std::vector<uint32_t> column{ 0, 1, 1 };
	std::vector<double> value{ 1, 2, 3 }, x{ 10, 100 }, y(2);
	int error = maple_spmv_csr(device, MAPLE_LIMA, 2, start.data(), column.data(), value.data(),
				   x.data(), y.data());
	maple_fini(device);
	return error || y[0] != 210 || y[1] != 300;
}
PROGRAM
	g++ -Wall -Wextra -Werror -std=c++11 -o "$root/program-cxx" "$root/program.cc" \
		$(package --cflags --libs libmaple) && "$root/program-cxx"
}

dare_program_in_c() {
	cat > "$root/dare.c" <<'PROGRAM' || return 1
#define _(text) text	/* as programs that use gettext have it */
#include <dare.h>
#include <stdio.h>
int main(void)
{
	struct dare_options options = { .transport = "embedded" };
	float a[2] = { 2, 3 }, b[2] = { 10, 100 }, c[1] = { 1 };
	struct dare_error_info info;
	struct dare *dare;
	if (dare_open(&dare, &options) || dare_gemm(dare, DARE_ADD, 1, 1, 2, a, 2, b, 1, c, 1) ||
	    dare_mst(dare, 0, 0, 64) || dare_fence(dare) == 0 || dare_error(dare, &info) ||
	    info.error != DARE_ERROR_STORE) {
		fprintf(stderr, "%s\n", dare_error_text());
		return 1;
	}
	printf(_("%s\n"), info.text);
	dare_close(dare);
	return c[0] != 321;
}
PROGRAM
	gcc -Wall -Wextra -Werror -std=c11 -pedantic -o "$root/dare" "$root/dare.c" \
		$(package --cflags --libs libdare) && "$root/dare"
}

dare_program_in_cxx() {
	cat > "$root/dare.cc" <<'PROGRAM' || return 1
#include <dare.h>
#include <vector>
int main()
{
	dare_options options{};
	options.transport = "embedded";
	dare *context = nullptr;
	if (dare_open(&context, &options))
		return 1;
	std::vector<int8_t> a(64, -2), b(64, 3);
	std::vector<int32_t> c(1);
	int error = dare_gemm_i8(context, DARE_TRANSPOSE_B, 1, 1, 64, a.data(), 64, b.data(), 64, c.data(), 1);
	dare_close(context);
	return error || c[0] != -384;
}
PROGRAM
	g++ -Wall -Wextra -Werror -std=c++11 -o "$root/dare-cxx" "$root/dare.cc" \
		$(package --cflags --libs libdare) && "$root/dare-cxx"
}

virgo_program_in_c() {
	cat > "$root/virgo.c" <<'PROGRAM' || return 1
#define _(text) text	/* as programs that use gettext have it */
#include <virgo.h>
#include <stdio.h>
int main(void)
{
	struct virgo_options options = { .transport = "embedded" };
	float a[2] = { 2, 3 }, b[2] = { 10, 100 }, c[1] = { 1 };
	struct virgo_product product = {
		.type = VIRGO_FP32, .flags = VIRGO_ADD, .m = 1, .n = 1, .k = 2,
		.a = a, .lda = 2, .b = b, .ldb = 1, .c = c, .ldc = 1,
	};
	struct virgo_error_info info;
	struct virgo *virgo;
	if (virgo_open(&virgo, &options) || virgo_gemm(virgo, 0, &product) ||
	    virgo_mvout(virgo, 0, 0, 0, 1, 1) || virgo_fence(virgo, 0) == 0 ||
	    virgo_error(virgo, 0, &info) || info.error != VIRGO_ERROR_STORE) {
		fprintf(stderr, "%s\n", virgo_error_text());
		return 1;
	}
	printf(_("%s\n"), info.text);
	virgo_close(virgo);
	return c[0] != 321;
}
PROGRAM
	gcc -Wall -Wextra -Werror -std=c11 -pedantic -o "$root/virgo" "$root/virgo.c" \
		$(package --cflags --libs libvirgo) && "$root/virgo"
}

virgo_program_in_cxx() {
	cat > "$root/virgo.cc" <<'PROGRAM' || return 1
#include <virgo.h>
#include <vector>
int main()
{
	virgo_options options{};
	options.transport = "embedded";
	virgo *cluster = nullptr;
	if (virgo_open(&cluster, &options))
		return 1;
	int unit = virgo_find_unit(cluster, VIRGO_INT8, 0);
	std::vector<int8_t> a(64, -2), b(64, 3);
	std::vector<int32_t> c(1);
	virgo_product product{};
	product.type = VIRGO_INT8;
	product.flags = VIRGO_TRANSPOSE_B;
	product.m = product.n = 1;
	product.k = product.lda = product.ldb = 64;
	product.a = a.data();
	product.b = b.data();
	product.c = c.data();
	product.ldc = 1;
	int error = unit < 0 || virgo_gemm(cluster, unsigned(unit), &product);
	virgo_close(cluster);
	return error || c[0] != -384;
}
PROGRAM
	g++ -Wall -Wextra -Werror -std=c++11 -o "$root/virgo-cxx" "$root/virgo.cc" \
		$(package --cflags --libs libvirgo) && "$root/virgo-cxx"
}

libmimic_in_c() {
	cat > "$root/plain.c" <<'PROGRAM' || return 1
#include <mimic/mimic.h>
#include <mimic/maple_registers.h>
int main(void)
{
	struct mimic_options options = { .transport = MIMIC_TRANSPORT_EMBEDDED };
	struct mimic_access identify = { .offset = MAPLE_OFFSET(MAPLE_LOAD_IDENTIFY, 0), .size = 8 };
	struct mimic_device *device;
	if (mimic_device_open(&device, "maple", &options) || mimic_device_access(device, &identify))
		return 1;
	mimic_device_close(device);
	return identify.data >> 32 != MAPLE_IDENTIFY_MAGIC;
}
PROGRAM
	gcc -Wall -Wextra -Werror -o "$root/plain" "$root/plain.c" \
		$(package --cflags --libs libmimic) && "$root/plain"
}

# tutorial_program LIBRARY NUMBER: the first program of its page (others may be pieces), by the NUMBERth
# line there that compiles it: 1 is for an installed mimic, 2 for the source tree
tutorial_program() {
	awk '/^```c$/ { on = 1; next } /^```$/ && on { exit } on' "docs/$1.md" > "$root/first.c"
	line=$(sed -n '/^	gcc .*-o first /s/^	//p' "docs/$1.md" | sed -n "$2p" |
		sed -e "s|-o first first\.c |-o $root/first $root/first.c |" \
			-e "s|\$PWD/build/lib|build/lib|" -e "s|build/lib|$(realpath "$build")/lib|g")
	[ -n "$line" ] || { echo "no such line in docs/$1.md"; return 1; }
	echo "$line"
	rm -f "$root/first"
	PKG_CONFIG_PATH=$prefix/lib/pkgconfig sh -c "$line" || return 1
	MIMIC_TRANSPORT=embedded "$root/first" | grep 'embedded: right'
}

# default_prefix COMMAND...: in a mount namespace, where /usr/local and the loader's cache are copies; with no older mimic.
# Status 77: it cannot be had here, and standard output says why.
default_prefix() {
	cat > "$root/namespace.sh" <<'SCRIPT' || return 1
set -e
root=$1
shift
mkdir -p "$root/etc"
{ mount -t tmpfs tmpfs /usr/local && mount -t tmpfs tmpfs "$root/etc"; } 2>/dev/null ||
	{ echo "nothing can be mounted here"; exit 77; }
cp -a /etc/. "$root/etc" 2>/dev/null || true
mount --bind "$root/etc" /etc
[ ! -d /var/cache/ldconfig ] || mount -t tmpfs tmpfs /var/cache/ldconfig
mkdir /usr/local/lib
command -v gcc && command -v make && command -v pkg-config || { echo "the tools are in /usr/local"; exit 77; }
/sbin/ldconfig
unset PREFIX LD_LIBRARY_PATH PKG_CONFIG_PATH
"$@"
SCRIPT
	map=
	[ "$(id -u)" = 0 ] || map=--map-root-user
	unshare $map --mount true 2>/dev/null || { echo "no mount namespace can be had here"; return 77; }
	unshare $map --mount sh "$root/namespace.sh" "$root" "$@"
}

# check_default_prefix DESCRIPTION COMMAND...: as check, or skipped where it cannot be had
check_default_prefix() {
	description=$1
	shift
	default_prefix "$@" >"$root/output" 2>&1
	status=$?
	number=$((number + 1))
	case $status in
	0) echo "ok $number - $description" ;;
	77) echo "ok $number - $description # SKIP $(tail -n 1 "$root/output")" ;;
	*)
		echo "not ok $number - $description"
		sed 's/^/# /' "$root/output"
		;;
	esac
}

# pages_of NAMES: none is an error, because then the header was not understood
pages_of() {
	[ -n "$1" ] || { echo "no function found"; return 1; }
	for name in $1; do
		grep -q "^.*$name" "$prefix/share/man/man3/$name.3" || { echo "no page: $name"; return 1; }
	done
}

# declared PREFIX HEADER...: the functions that the headers describe
declared() {
	prefix_of_names=$1
	shift
	sed -n "s/^ \* \(${prefix_of_names}_[a-z0-9_]*\)() - .*/\1/p" "$@"
}

# every_function_has_a_page PREFIX HEADER...
every_function_has_a_page() {
	pages_of "$(declared "$@")"
}

every_function_of_libmimic_has_a_page() {
	pages_of "$(sed -n 's/^[a-z].*[ *]\(mimic_[a-z0-9_]*\)(.*/\1/p' libmimic/mimic.h)"
}

# exports_are_the_header PREFIX HEADER...: the library exports its functions, and nothing else
exports_are_the_header() {
	declared "$@" | sort > "$root/declared"
	nm -D --defined-only "$prefix/lib/lib$1.so.0" | sed -n 's/.* [A-Z] \([^@]*\)@@.*/\1/p' |
		sort > "$root/exported"
	[ -s "$root/exported" ] && diff "$root/declared" "$root/exported"
}

links_are_versioned() {
	for library in libmimic libmaple libdare libvirgo; do
		[ -L "$prefix/lib/$library.so" ] && [ -L "$prefix/lib/$library.so.0" ] || return 1
		objdump -p "$prefix/lib/$library.so" | grep -q "SONAME *$library.so.0" || return 1
	done
}

staged_install_does_not_touch_the_prefix() {
	make -s O="$build" PREFIX=/opt/mimic DESTDIR="$root/stage" install || return 1
	make -s O="$build" DESTDIR="$root/packaged" LDCONFIG="touch $root/ldconfig-ran;" install || return 1
	[ -f "$root/stage/opt/mimic/include/maple.h" ] || return 1
	grep -q '^prefix=/opt/mimic$' "$root/stage/opt/mimic/lib/pkgconfig/libmaple.pc" &&
		[ ! -e /opt/mimic ] && [ ! -e "$root/ldconfig-ran" ]
}

commands_run() {
	[ -x "$prefix/bin/mimic" ] || { echo "no mimic"; return 1; }
	"$prefix/bin/mimic" --help && "$prefix/bin/mimicd" --help
}

shipped_configurations_are_there() {
	ls "$prefix"/share/mimic/*.ini
}

# The example of docs/your-device.md: the sum of the bytes of "hello" is 104 + 101 + 108 + 108 + 111.
plugin_of_the_example() {
	cp -r "$prefix/share/mimic/plugin" "$root/plugin" || return 1
	PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -s -C "$root/plugin" CFLAGS='-O2 -Wall -Wextra -Werror' || return 1
	[ "$("$prefix/bin/mimic" run --plugin "$root/plugin/libchecksum.so" "$root/plugin/program" hello)" = 532 ] ||
		return 1
	# It brings its own copies of the code that devices share, and shows nothing but itself.
	[ "$(nm -D --defined-only "$root/plugin/libchecksum.so" | wc -l)" = 1 ]
}
# The program that counts costs, and the files that it needs, lie in the install tree.
costs_of_a_program() {
	command -v riscv64-linux-gnu-gcc || return 0
	echo 'long sum(const long *data, int n) { long s = 0; for (int i = 0; i < n; i++) s += data[i]; return s; }' >"$root/costs.c"
	(cd "$root" && "$prefix/bin/mimic" costs costs.c) >"$root/costs.csv" && cat "$root/costs.csv" &&
		[ "$(awk -F, '$2 == "sum" && $3 == 1 { print $7 + $8 }' "$root/costs.csv")" = 1 ]
}

# The tutorial's program without shared libraries. Of dlopen(), which plugins need, the linker says that it wants glibc's.
static_program_in_c() {
	gcc -static -Wall -Wextra -o "$root/static" "$root/program.c" $(package --static --cflags --libs "lib$1") &&
		! objdump -p "$root/static" | grep NEEDED && "$root/static"
}

# Each by itself, as a program of the kernel's interface includes it.
headers_are_complete() {
	headers=$(cd "$prefix/include" && ls mimic/*_ioctl.h mimic/bus.h mimic/pci.h mimic/driver/mimic.h) || return 1
	for header in $headers; do
		# Of the kernel's own side.
		[ "$header" = mimic/driver/mimic.h ] && continue
		echo "#include <$header>" | gcc -Wall -Wextra -Werror -fsyntax-only -I"$prefix/include" -x c - || return 1
	done
	[ "$(echo "$headers" | wc -w)" -ge 6 ]
}

# In a folder of the user's, with a name of the user's.
examples_build_and_run() {
	cp -r "$prefix/share/mimic/examples" "$root/mine" &&
		PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -s -j2 -C "$root/mine" OUT="$root/built" \
			CFLAGS='-O1 -Wall -Wextra -Werror' &&
		[ "$(find "$root/built" -type f -perm -u+x | wc -l)" -ge 13 ] &&
		MIMIC_TRANSPORT=embedded "$root/built/maple/spmv" --uniform 100x100x4 &&
		MIMIC_TRANSPORT=embedded "$root/built/dare/gemm" && MIMIC_TRANSPORT=embedded "$root/built/virgo/gemm_two_units"
}

# By pkg-config and by mimic cflags, it is the same library.
virtual_time_by_pkg_config() {
	echo 'int a[1000]; int main(void) { for (int i = 0; i < 1000; i++) a[i] = i; return 0; }' >"$root/sum.c"
	gcc -O1 $("$prefix/bin/mimic" cflags) -c -o "$root/sum.o" "$root/sum.c" &&
		gcc -o "$root/sum" "$root/sum.o" $(package --libs libmimic-sim) &&
		"$prefix/bin/mimic" sim --json --output "$root/sum.json" "$root/sum" && grep '"stores":1000,' "$root/sum.json"
}

# in_library_folder FOLDER: of the prefix, in place of lib; commands find the libraries there
in_library_folder() {
	there=$root/in-$(echo "$1" | tr / -)
	make -s O="$build" PREFIX="$there" LIBDIR="$there/$1" DESTDIR= install &&
		[ ! -e "$there/lib/libmaple.so" ] && [ -e "$there/$1/libmaple.so" ] &&
		gcc -o "$root/elsewhere" "$root/program.c" $(PKG_CONFIG_PATH=$there/$1/pkgconfig pkg-config --cflags --libs libmaple) &&
		"$root/elsewhere" && "$there/bin/mimic" cflags --libs | grep -F "$there/$1" && "$there/bin/mimic" run -- true
}

folders_that_mimic_would_not_find_are_refused() {
	! make -s O="$build" PREFIX="$root/refused" LIBDIR="$root/refused/libs" DESTDIR= install 2>"$root/errors" &&
		grep 'mimic looks in' "$root/errors" &&
		! make -s O="$build" PREFIX="$root/refused" BINDIR="$root/commands" DESTDIR= install 2>"$root/errors" &&
		grep 'mimic looks in' "$root/errors" && [ ! -e "$root/commands" ] && [ -z "$(find "$root/refused" -name '*.so' 2>/dev/null)" ]
}

# Somebody else's files stay. Nothing is built for it: there need be no build directory, and no place for one.
uninstall_removes_what_install_has_put() {
	mkdir -p "$root/gone/share/mimic" && echo mine >"$root/gone/share/mimic/mine" || return 1
	make -s O="$build" PREFIX="$root/gone" DESTDIR= install && [ -e "$root/gone/bin/mimic" ] &&
		TMPDIR=/dev/null make -s O=/dev/null/none PREFIX="$root/gone" DESTDIR= uninstall &&
		[ "$(find "$root/gone" ! -type d)" = "$root/gone/share/mimic/mine" ] &&
		[ "$(find "$root/gone" -type d)" = "$(printf '%s\n' "$root/gone" "$root/gone/share" "$root/gone/share/mimic")" ]
}

# Others put their files into these, and look for them.
uninstall_leaves_the_folders_of_a_standard_prefix() {
	make -s O="$build" PREFIX=/usr DESTDIR="$root/usr-stage" install && make -s PREFIX=/usr DESTDIR="$root/usr-stage" uninstall &&
		[ -z "$(find "$root/usr-stage" ! -type d -o -name '*mimic*')" ] && [ -d "$root/usr-stage/usr/bin" ] && [ -d "$root/usr-stage/usr/lib/pkgconfig" ]
}

# A folder in the place of a file is one that root cannot remove either.
uninstall_that_cannot_remove_says_why_and_fails() {
	mkdir -p "$root/stuck/bin/mimic" &&
		! make -s PREFIX="$root/stuck" DESTDIR= uninstall 2>"$root/errors" &&
		grep "$root/stuck/bin/mimic': Is a directory" "$root/errors" && [ "$(grep -cv '^make' "$root/errors")" = 1 ] &&
		! make -s PREFIX="$root/stuck" LIBDIR="$root/stuck/libs" DESTDIR= uninstall 2>"$root/errors" && grep 'mimic looks in' "$root/errors"
}

documents_are_installed() {
	for file in README.md LICENSE CHANGELOG.md docs/README.md docs/run.md; do
		cmp "$prefix/share/doc/mimic/$file" "$file" || return 1
	done
}

check "make_install_fills_a_directory" make -s O="$build" PREFIX="$prefix" DESTDIR= install
check "a_c_program_builds_with_pkg_config_and_runs" program_in_c
check "a_cxx_program_builds_with_pkg_config_and_runs" program_in_cxx
check "a_program_on_libmimic_alone_builds_and_runs" libmimic_in_c
check "the_example_of_a_plugin_builds_with_pkg_config_and_runs" plugin_of_the_example
check "a_c_program_on_libdare_builds_with_pkg_config_and_runs" dare_program_in_c
check "a_cxx_program_on_libdare_builds_with_pkg_config_and_runs" dare_program_in_cxx
check "a_c_program_on_libvirgo_builds_with_pkg_config_and_runs" virgo_program_in_c
check "a_cxx_program_on_libvirgo_builds_with_pkg_config_and_runs" virgo_program_in_cxx
check "the_program_of_the_tutorial_builds_and_runs" tutorial_program libmaple 1
check "the_program_of_the_tutorial_builds_and_runs_in_the_source_tree" tutorial_program libmaple 2
check "the_program_of_the_tutorial_of_libdare_builds_and_runs" tutorial_program libdare 1
check "the_program_of_the_tutorial_of_libdare_builds_and_runs_in_the_source_tree" tutorial_program libdare 2
check "the_program_of_the_tutorial_of_libvirgo_builds_and_runs" tutorial_program libvirgo 1
check "the_program_of_the_tutorial_of_libvirgo_builds_and_runs_in_the_source_tree" tutorial_program libvirgo 2
check "a_static_program_on_libmaple_builds_and_runs" static_program_in_c maple
check "headers_of_the_kernels_interface_are_installed" headers_are_complete
check "the_examples_build_with_pkg_config_and_run" examples_build_and_run
check "virtual_time_has_a_pkg_config_file" virtual_time_by_pkg_config
check "libraries_may_lie_in_lib64" in_library_folder lib64
check "libraries_may_lie_in_the_folder_of_the_architecture" in_library_folder "lib/$(gcc -print-multiarch)"
check "folders_that_mimic_would_not_find_are_refused" folders_that_mimic_would_not_find_are_refused
for test in uninstall_removes_what_install_has_put uninstall_leaves_the_folders_of_a_standard_prefix uninstall_that_cannot_remove_says_why_and_fails; do
	check "$test" "$test"
done
check "documents_are_installed" documents_are_installed
cat > "$root/tutorial.sh" <<'SCRIPT'
# A user after `make install` as root, with the program and the line of the tutorial.
set -e
make -s O="$1" install
cd "$2"
gcc -o first first.c $(pkg-config --cflags --libs libmaple) -pthread
! objdump -p first /usr/local/lib/libmimic.so /usr/local/lib/libmaple.so /usr/local/lib/libdare.so /usr/local/lib/libvirgo.so | grep RUNPATH
MIMIC_TRANSPORT=embedded ./first | grep 'embedded: right'
SCRIPT
cat > "$root/no-ldconfig.sh" <<'SCRIPT'
# A user that may write to /usr/local and may not run ldconfig.
make -s O="$1" LDCONFIG=false install 2>"$2/errors" && cat "$2/errors" &&
	grep -q 'not find the libraries in /usr/local/lib yet. As root, run: ldconfig' "$2/errors"
SCRIPT
tutorial_program libmaple 1 >/dev/null 2>&1
check_default_prefix "the_program_of_the_tutorial_starts_after_install_to_the_default_prefix" sh "$root/tutorial.sh" "$build" "$root"
check_default_prefix "an_install_that_cannot_run_ldconfig_says_so" sh "$root/no-ldconfig.sh" "$build" "$root"
check "libraries_are_versioned" links_are_versioned
check "the_library_exports_what_the_header_declares" exports_are_the_header maple libmaple/maple.h
check "libdare_exports_what_its_headers_declare" exports_are_the_header dare libdare/dare*.h
check "libvirgo_exports_what_its_headers_declare" exports_are_the_header virgo libvirgo/virgo*.h
check "every_function_has_a_man_page" every_function_has_a_page maple libmaple/maple.h
check "every_function_of_libdare_has_a_man_page" every_function_has_a_page dare libdare/dare*.h
check "every_function_of_libvirgo_has_a_man_page" every_function_has_a_page virgo libvirgo/virgo*.h
check "every_function_of_libmimic_has_a_man_page" every_function_of_libmimic_has_a_page
check "commands_run_from_where_they_are_installed" commands_run
check "costs_of_a_program_are_counted_where_nothing_but_the_install_tree_is" costs_of_a_program
completions_are_installed() {
	for command in mimic mimicd; do
		grep -q "complete -F _$command $command\$" "$prefix/share/bash-completion/completions/$command" &&
			grep -q "^#compdef $command\$" "$prefix/share/zsh/site-functions/_$command" &&
			grep -q "complete -c $command " "$prefix/share/fish/vendor_completions.d/$command.fish" || return 1
	done
}
# Python's are started by the interpreter that has the wheel.
scripts_of_the_shell_can_be_run() {
	[ -x "$prefix/share/mimic/python/ci-job.sh" ] &&
		! find "$prefix" -type f ! -perm -111 -exec awk 'FNR == 1 && /^#! ?\/bin\/(ba)?sh/ { print FILENAME }' {} + | grep .
}
check "completions_are_installed" completions_are_installed
check "scripts_of_the_shell_can_be_run" scripts_of_the_shell_can_be_run
check "shipped_configurations_are_installed" shipped_configurations_are_there
check "destdir_is_put_in_front_of_the_prefix" staged_install_does_not_touch_the_prefix
echo "1..$number"
