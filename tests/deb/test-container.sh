#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The Containerfile, built and run by buildah in a tree of Debian that has it. No registry is asked: the image that it
# begins with is made from Debian's packages. As root. TAP; some ten minutes.
# usage: test-container.sh BUILD
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
# shellcheck source=scripts/debian-tree.sh
. scripts/debian-tree.sh
base=$(sed -n 's/^FROM \([^ ]*\)$/\1/p' Containerfile)
suite=${base##*:}
suite=${suite%-slim}

if [ "$(id -u)" != 0 ]; then
	skip "the Containerfile" "only root can make a Debian tree"
	plan
	exit
fi

tree=$build/container-base
make_tree "$suite" ca-certificates && tar --one-file-system -C "$tree" -cf "$build/container-base.tar" . && rm -rf --one-file-system "$tree"
result $? "there is an image to begin with"
tree=$build/container-tree
make_tree "$suite" buildah crun netavark aardvark-dns ca-certificates && copy_source && mv "$build/container-base.tar" "$tree/base.tar"
result $? "there is a tree with buildah"

# buildah's settings: without a kernel's help, in folders of the tree.
cat >"$tree/settings" <<'SETTINGS'
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
SETTINGS
# Its own limits are higher than those here, which may not be raised.
mkdir -p "$tree/etc/containers"
printf '[containers]\ndefault_ulimits = ["nofile=%s:%s", "nproc=%s:%s"]\n' "$(ulimit -Sn)" "$(ulimit -Hn)" "$(ulimit -Su)" "$(ulimit -Hu)" \
	>"$tree/etc/containers/containers.conf"
in_tree() { inside sh -euc '. /settings; '"$1"; }

in_tree 'container=$(buildah from scratch) && buildah add -q $container /base.tar / && buildah commit -q --rm $container '"$base"
result $? "buildah has the image"
in_tree 'buildah build --pull=never -t mimic /src'
result $? "the Containerfile is built"
sed -n '/cat first.c/,/^    }/p' README.md | sed '1d; s/^    //' >"$tree/first.c"
sed -n '/^```c/,/^```/p' docs/libmaple.md | sed '1d; /^```/,$d' >"$tree/tutorial.c"
in_tree 'container=$(buildah from --pull=never mimic) && buildah copy -q $container /first.c /tutorial.c /work/ &&
	buildah run $container sh -euc "mimic --version; gcc -o first first.c; mimic run ./first | grep -x 42
		gcc -pthread -o tutorial tutorial.c \$(pkg-config --cflags --libs libmaple); ./tutorial | grep right"'
result $? "mimic run and the tutorial work in it"
rm -rf --one-file-system "$tree"
plan
