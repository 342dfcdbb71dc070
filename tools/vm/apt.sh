# SPDX-License-Identifier: GPL-2.0 OR MIT
# shellcheck shell=sh disable=SC2154,SC2086
# Sourced by the scripts that fetch Debian packages: how they are found and
# downloaded. Nothing gets installed. The sourcing script sets $me.

complain() {
	echo "$me: $*" >&2
	exit 1
}

# More options for apt: use_debian_13() sets them.
apt_options=

# Sandbox: apt's own user could not write into a build directory.
apt_get() {
	LC_ALL=C apt-get -q -o APT::Sandbox::User=root -o Acquire::Retries=2 $apt_options "$@"
}

apt_cache() {
	LC_ALL=C apt-cache $apt_options "$@"
}

# use_debian_13 DIRECTORY: from here on all is about Debian 13 with its backports, on any release
# of this machine. Its lists are in DIRECTORY, and any user may update them. It comes from
# where this machine's Debian comes from. The variable suites may name fewer.
use_debian_13() {
	# shellcheck disable=SC2016 # apt replaces these variables.
	mirror=$(LC_ALL=C apt-get indextargets --format '$(REPO_URI)' \
		'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | sed -n 1p)
	[ -n "$mirror" ] || complain "apt's package lists are absent: they say where Debian is. As root, run: apt-get update"
	mkdir -p "$1/lists/partial" "$1/archives/partial"
	state=$(realpath "$1")
	: >"$state/status"
	for suite in ${suites:-trixie trixie-backports}; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
	done >"$state/sources.list"
	apt_options="-o Dir::State::Lists=$state/lists -o Dir::State::Status=$state/status -o Dir::Cache=$state \
		-o Dir::Etc::SourceList=$state/sources.list -o Dir::Etc::SourceParts=/dev/null \
		-o APT::Default-Release=$suite -o APT::Install-Recommends=false -o Acquire::Languages=none"
}

# update_lists DIRECTORY-FOR-THE-LOG
update_lists() {
	[ -n "$apt_options" ] || [ "$(id -u)" = 0 ] || complain "apt's package lists are absent or too old. As root, run: apt-get update"
	echo "$me: apt-get update${apt_options:+, for Debian 13}"
	apt_get update >"$1/apt.log" 2>&1 && return
	tail -n 5 "$1/apt.log" >&2
	complain "apt-get update failed: is this machine offline?"
}

# dependency PACKAGE PATTERN: the first dependency of PACKAGE that the extended
# regular expression matches whole; nothing where there is none
dependency() {
	apt_cache depends --no-recommends --no-suggests "$1" 2>/dev/null |
		sed -n 's/^ *|\{0,1\}Depends: *//p' | grep -E -x -m 1 "$2" || true
}

# has_package PACKAGE: apt-cache takes a name that it does not know as a regular expression
has_package() {
	apt_cache show "$1" 2>/dev/null | grep -qxF "Package: $1"
}

# kernel_release FLAVOUR: the release (`uname -r`) of the newest kernel of that flavour (6.1, 6.12, rt,
# newest); nothing where this release of Debian has none. Debian calls the kernel that it was released with
# by no number. For `newest`, call use_debian_13() first.
kernel_release() {
	case $1 in
	newest) dependency linux-image-amd64 'linux-image-[0-9].*' ;;
	rt)
		for meta in linux-image-6.12-rt-amd64 linux-image-rt-amd64; do
			dependency "$meta" 'linux-image-6\.12\.[0-9].*'
		done
		;;
	*)
		for meta in "linux-image-$1-amd64" linux-image-amd64; do
			dependency "$meta" "linux-image-$1\\.[0-9].*"
		done
		;;
	esac | sed -n '1s/^linux-image-//p'
}

# download DIRECTORY PACKAGE...
download() {
	(cd "$1" && shift && apt_get download "$@" >apt.log 2>&1)
}

# download_with_dependencies DIRECTORY PACKAGE...: to DIRECTORY/archives, for use_debian_13()
download_with_dependencies() {
	log=$1/apt.log
	shift
	apt_get -y --download-only install "$@" >"$log" 2>&1
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
	archive=$(ls "$1/$2"_*.deb) || return
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
