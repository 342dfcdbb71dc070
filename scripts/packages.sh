#!/bin/sh
# Looks for the Debian packages of the named groups of packages.txt. As root it installs the missing ones, otherwise it
# prints the line that would: an advice, because a library may come from elsewhere. Only in CI that is an error.
set -eu
cd "$(dirname "$0")/.."

command -v dpkg-query >/dev/null && command -v apt-get >/dev/null || exit 0

# advise TEXT: once, and not by each make that another one calls
advise()
{
	[ "${MAKELEVEL:-0}" -gt 1 ] || echo "mimic: $1" >&2
	[ -z "${CI:-}" ]
	exit
}

wanted=
for group in "$@"; do
	wanted="$wanted $(awk -v group="$group" '$1 == group { print $2 }' packages.txt)"
done

# One question for all of them: it is asked at each make.
missing_packages() {
	installed=" $(dpkg-query -W -f '${db:Status-Status} ${Package} ' $wanted 2>/dev/null || true)"
	for package in $wanted; do
		case $installed in
		*" installed $package "*) ;;
		*) printf ' %s' "$package" ;;
		esac
	done
}

missing=$(missing_packages)
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	advise "packages are missing. As root, run: apt-get install -y$missing"
fi

# `make -j` may ask for several groups at the same time, and apt-get refuses to run twice.
# A file system without locks has to do without.
exec 9<packages.txt
flock 9 2>/dev/null || true
missing=$(missing_packages)
[ -n "$missing" ] || exit 0
echo "Installing Debian packages:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
# A new machine may be busy with upgrades of its own: that is waited for.
if ! { apt-get update && apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	cat "$log" >&2
	rm -f "$log"
	advise "apt-get could not install:$missing"
fi
rm -f "$log"
