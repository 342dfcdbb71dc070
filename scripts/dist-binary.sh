#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# usage: dist-binary.sh BUILD VERSION
# Makes BUILD/mimic-VERSION-x86_64.tar.gz of the last commit: mimic as it is installed, for any folder of any x86-64
# Linux with glibc 2.31 or newer. So it is built in a tree of Debian 11, whose libraries that are not of glibc come along.
# As root; REVISION=COMMIT is another one than HEAD.
set -eu
cd "$(dirname "$0")/.."
build=$1
version=$2
name=mimic-$version-x86_64
tree=$build/dist-tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=scripts/debian-tree.sh
. scripts/debian-tree.sh

fail()
{
	echo "mimic: $1" >&2
	sed 's/^/  /' "$work/output" "$work/errors" 2>/dev/null | tail -n 30 >&2
	exit 1
}

[ "$(id -u)" = 0 ] || fail "make dist-binary makes a tree of Debian 11, which only root can"
mapfile -t packages < <(awk '$1 == "build" { print $2 }' packages.txt; echo patchelf)
if [ "$(cat "$tree/mimic-packages" 2>/dev/null)" != "${packages[*]}" ]; then
	make_tree bullseye "${packages[@]}" || fail "there can be no tree of Debian 11"
	echo "${packages[*]}" >"$tree/mimic-packages"
fi

# Debian 11 has no FUSE 3.12 and no liburing 2.2. The static libraries of Debian 12 need no newer C library than its.
newer=(libfuse3-dev liburing-dev)
if [ ! -e "$tree/mimic-newer" ]; then
	printf 'Package: *\nPin: release n=bookworm\nPin-Priority: 1\n' >"$tree/etc/apt/preferences.d/newer"
	sed -n 's/ bullseye / bookworm /p' "$tree/etc/apt/sources.list" >"$tree/etc/apt/sources.list.d/newer.list"
	inside sh -euc 'apt-get update; mkdir -p /newer; cd /newer; for package in "$@"; do
		apt-get download "$package/bookworm"; dpkg -x "$package"_*.deb /newer; rm "$package"_*.deb; done
		rm -f /newer/usr/lib/*/*.so; cp -a /newer/usr/. /usr; rm -f /usr/lib/*/libfuse3.so /usr/lib/*/liburing.so' sh "${newer[@]}" ||
		fail "there are no ${newer[*]} of Debian 12"
	: >"$tree/mimic-newer"
fi

rm -rf "$tree/src" "$tree/stage"
mkdir -p "$tree/src"
git archive "${REVISION:-HEAD}" | tar -x -C "$tree/src"
inside env -u MAKEFLAGS -u MAKELEVEL make -s -j"$(nproc)" -C /src O=/build PACKAGES=: PREFIX=/mimic DESTDIR=/stage install || fail "mimic is not built there"
grep '^mimic: ' "$work/errors" >&2 || true

# In the tree: files that do not depend on the place, and libraries with their licences.
cat >"$tree/src/bundle.sh" <<'SCRIPT'
set -eu
cd /stage/mimic
# (pkgconf puts backslashes before spaces of ${pcfiledir} itself.)
rm -rf lib/systemd
find lib -name '*.a' ! -name libmimic-device.a -delete
sed -i -e 's|^prefix=.*|prefix=${pcfiledir}/../..|' -e 's|^\([a-z]*\)=/mimic/|\1=${prefix}/|' -e '/\.private:/d' -e 's|"||g' lib/pkgconfig/*.pc
for file in bin/* libexec/mimic/* lib/*.so.*; do
	ldd "$file"
done | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
	package=$(dpkg-query -S "*/${library##*/}" | sed 's/:.*//; q')
	[ "$package" != libc6 ] && [ ! -e "lib/${library##*/}" ] || continue
	cp -L "$library" lib/
	mkdir -p "share/doc/mimic/libraries/$package"
	cp "/usr/share/doc/$package/copyright" "share/doc/mimic/libraries/$package/"
done
for package in libfuse3-dev liburing-dev; do
	mkdir -p "share/doc/mimic/libraries/$package"
	cp "/newer/usr/share/doc/$package/copyright" "share/doc/mimic/libraries/$package/"
done
for file in bin/*; do
	patchelf --set-rpath '$ORIGIN/../lib' "$file"
done
patchelf --set-rpath '$ORIGIN/../../lib' libexec/mimic/mimicd-recoverable
find lib -maxdepth 1 -type f -name '*.so*' -exec patchelf --set-rpath '$ORIGIN' {} +
strip --strip-unneeded lib/*.so.* bin/mimic bin/mimicd libexec/mimic/mimicd-recoverable
SCRIPT
inside sh /src/bundle.sh || fail "what mimic needs cannot be put together"

mkdir -p "$build"
mv "$tree/stage/mimic" "$tree/stage/$name"
tar -C "$tree/stage" --owner=root --group=root --sort=name -czf "$build/$name.tar.gz" "$name"
echo "$build/$name.tar.gz"
