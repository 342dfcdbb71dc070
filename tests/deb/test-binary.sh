#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The tarball of make dist-binary, unpacked and used by a user in fresh trees of suites. As root. TAP.
# usage: test-binary.sh BUILD TARBALL SUITE...
set -u
tarball=$(realpath "$2") || exit 2
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
# shellcheck source=scripts/debian-tree.sh
. scripts/debian-tree.sh
shift 2
name=$(basename "$tarball" .tar.gz)

if [ "$(id -u)" != 0 ]; then
	skip "the tarball in other trees" "only root can make a Debian tree"
	plan
	exit
fi

# The newest version of glibc's symbols that a file of it takes.
tar -xzf "$tarball" -C "$work" && find "$work/$name/bin" "$work/$name/lib" -type f -exec objdump -T {} + 2>/dev/null |
	grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1 >"$work/output"
[ "$(printf 'GLIBC_2.31\n%s\n' "$(cat "$work/output")" | sort -V | tail -n 1)" = GLIBC_2.31 ]
result $? "no symbol is of a newer glibc than 2.31"
! grep -HE '(=|-[IL])/' "$work/$name"/lib/pkgconfig/*.pc >"$work/output" && ! readelf -d "$work/$name"/bin/* "$work/$name"/lib/*.so.* 2>/dev/null |
	grep -E 'R(UN)?PATH' | grep -vF '[$ORIGIN' >"$work/output"
result $? "no file names the folder where it was made"

# in_tree COMMAND...: by a user, in the folder with the tarball; $here: where it is unpacked
in_tree()
{
	inside setpriv --reuid=1000 --regid=1000 --clear-groups env HOME="/home/a user" here="/home/a user/my tools/$name" sh -euc 'cd "$HOME"; '"$1"
}

for suite in "$@"; do
	tree=$build/binary-$suite
	make_tree "$suite" gcc libc6-dev pkg-config && mkdir -p "$tree/home/a user/my tools" &&
		tar -xzf "$tarball" -C "$tree/home/a user/my tools" && sed -n '/^```c/,/^```/p' docs/libmaple.md | sed '1d; /^```/,$d' >"$tree/home/a user/first.c" &&
		sed -n '/cat first.c/,/^    }/p' README.md | sed '1d; s/^    //' >"$tree/home/a user/unmodified.c" &&
		chown -R 1000:1000 "$tree/home/a user" && chmod 1777 "$tree/tmp"
	result $? "$suite: there is a tree, and the tarball in a folder with spaces"
	in_tree '"$here/bin/mimic" --version && "$here/bin/mimicd" --version'
	result $? "$suite: the commands start"
	in_tree 'gcc -o unmodified unmodified.c && [ "$("$here/bin/mimic" run ./unmodified)" = 42 ]'
	result $? "$suite: mimic run runs README's program"
	# pkg-config before pkgconf cannot tell of a folder with spaces, and gcc 10 has no flags for virtual time.
	is_old=
	[ "$suite" != bullseye ] || is_old=1
	in_tree 'there=$here; '"${is_old:+ln -s \"\$here\" /tmp/mimic; there=/tmp/mimic;}"' export PKG_CONFIG_PATH="$there/lib/pkgconfig"; eval "gcc -pthread -o first first.c $(pkg-config --cflags --libs libmaple)" && ./first | grep right'
	result $? "$suite: the tutorial's program is compiled, linked and right"
	in_tree 'mv "my tools" moved && [ "$("${here%/*/*}/moved/${here##*/}/bin/mimic" run ./unmodified)" = 42 ]; mv moved "my tools"'
	result $? "$suite: also from another folder"
	in_tree '"$here/bin/mimicd" --socket "$HOME/socket" & daemon=$!; sleep 1; export MIMIC_SOCKET="$HOME/socket"
		"$here/bin/mimic" list && [ "$("$here/bin/mimic" run --transport daemon ./unmodified)" = 42 ]; kill $daemon; wait $daemon'
	result $? "$suite: and by mimicd"
	[ -z "$is_old" ] || continue
	in_tree 'echo "int x[9]; int main(int count, char **words) { x[count] = **words; return x[0]; }" >timed.c
		eval "gcc -O2 $("$here/bin/mimic" cflags) -c timed.c && gcc -o timed timed.o $("$here/bin/mimic" cflags --libs)" && "$here/bin/mimic" sim ./timed'
	result $? "$suite: virtual time"
done
plan
