# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=sh disable=SC2154
# Sourced by the scripts that fetch Debian packages: how they are found and
# downloaded. Nothing gets installed. The sourcing script sets $me.

complain() {
	echo "$me: $*" >&2
	exit 1
}

# Sandbox: apt's own user could not write into a build directory.
apt_get() {
	LC_ALL=C apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=2 "$@"
}

# update_lists DIRECTORY-FOR-THE-LOG
update_lists() {
	[ "$(id -u)" = 0 ] || complain "apt's package lists are absent or too old. As root, run: apt-get update"
	echo "$me: apt-get update"
	apt_get update >"$1/apt.log" 2>&1 && return
	tail -n 5 "$1/apt.log" >&2
	complain "apt-get update failed: is this machine offline?"
}

# dependency PACKAGE PATTERN: the first dependency of PACKAGE that the extended
# regular expression matches whole; nothing where there is none
dependency() {
	LC_ALL=C apt-cache depends --no-recommends --no-suggests "$1" 2>/dev/null |
		sed -n 's/^ *|\{0,1\}Depends: *//p' | grep -E -x -m 1 "$2" || true
}

# has_package PACKAGE: apt-cache takes a name that it does not know as a regular expression
has_package() {
	apt-cache show "$1" 2>/dev/null | grep -qxF "Package: $1"
}

# kernel_release FLAVOUR: what `uname -r` will say in the newest kernel of that version (6.1, 6.12);
# nothing where this release of Debian has none. Debian calls the kernel that it was released with by no number.
kernel_release() {
	for meta in "linux-image-$1-amd64" linux-image-amd64; do
		dependency "$meta" "linux-image-$1\\.[0-9].*"
	done | sed -n '1s/^linux-image-//p'
}

# download DIRECTORY PACKAGE...
download() {
	(cd "$1" && shift && apt_get download "$@" >apt.log 2>&1)
}

# Lists that are older than the archive name packages that are gone from it: so
# a function that finds and downloads is tried again after an update.
# with_fresh_lists DIRECTORY FUNCTION
with_fresh_lists() {
	"$2" && return
	update_lists "$1"
	"$2" && return
	tail -n 5 "$1/apt.log" >&2
	complain "could not download: is this machine offline?"
}

# extract DIRECTORY-OF-PACKAGES PACKAGE TREE [PATH...]: only the paths, if given
extract() {
	archive=$(ls "$1/$2"_*.deb)
	tree=$3
	shift 3
	mkdir -p "$tree"
	dpkg-deb --fsys-tarfile "$archive" | tar -x -C "$tree" "$@"
}

# One builder at a time for each cache directory; the lock ends with the script.
lock() {
	mkdir -p "$(dirname "$1")"
	exec 9>"$1.lock"
	flock 9
}
