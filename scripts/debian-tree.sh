# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Sourced by scripts that have a folder $work: a fresh tree of a suite of Debian, $tree, which only root can make.
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

# inside COMMAND...: in the tree, which is a mount there, with a /proc and processes of its own
inside()
{
	unshare --mount --pid --fork --kill-child sh -c 'tree=$1 && shift && mount --bind "$tree" "$tree" && mount -t proc proc "$tree/proc" &&
		mount --rbind /dev "$tree/dev" && mount -t tmpfs tmpfs "$tree/run" && exec chroot "$tree" "$@"' \
		sh "$tree" "$@" >"$work/output" 2>"$work/errors"
}

make_tree() # make_tree SUITE PACKAGE...: it comes from where this machine's Debian does
{
	local mirror suite=$1
	shift
	# shellcheck disable=SC2016 # apt replaces it.
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
	# An old suite has lost its backports.
	local backports=("deb $mirror $suite-backports main")
	[ "$suite" != bullseye ] || backports=()
	rm -rf --one-file-system "$tree"
	mmdebstrap --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='APT::Install-Recommends "false"' \
		--include="$(echo "$@" | tr ' ' ,)" "$suite" "$tree" \
		"deb $mirror $suite main" "${backports[@]}" >"$work/output" 2>"$work/errors" &&
		cp /etc/resolv.conf "$tree/etc" && inside apt-get update
}

copy_source() # what is committed, to /src of the tree
{
	mkdir -p "$tree/src" && git archive "${DEB_REVISION:-HEAD}" | tar -x -C "$tree/src"
}
