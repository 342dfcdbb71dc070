#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Runs a command with the programs and libraries of another Debian, and with all
# else of this machine: in a mount namespace, where the other one's /usr is over ours.
#
#   in-tree.sh TREE COMMAND...
#
# TREE was made by fetch.sh. As root, or where users may have
# namespaces of their own.
set -eu

tree=$(realpath "$1")
shift
as=
[ "$(id -u)" = 0 ] || as=--map-root-user
case $(realpath .) in
/usr/*)
	echo "in-tree.sh: $(realpath .) is below /usr, which another one takes the place of" >&2
	exit 1
	;;
esac
unshare $as --mount true 2>/dev/null || {
	echo "in-tree.sh: what is compiled for Debian 13 needs a mount namespace: run as root, or allow" >&2
	echo "in-tree.sh: user namespaces (sysctl kernel.unprivileged_userns_clone=1)" >&2
	exit 1
}
# shellcheck disable=SC2016
exec unshare $as --mount sh -c 'mount --bind "$0/usr" /usr && exec "$@"' "$tree" "$@"
