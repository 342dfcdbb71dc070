#!/bin/sh
# Checks that the Debian packages of the named groups of packages.txt are there.
# As root it installs what is missing; otherwise it prints the line that would.
set -eu
cd "$(dirname "$0")/.."

wanted=
for group in "$@"; do
	wanted="$wanted $(awk -v group="$group" '$1 == group { print $2 }' packages.txt)"
done
missing=
for package in $wanted; do
	status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
	[ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "mimic: packages are missing. As root, run: apt-get install -y$missing" >&2
	exit 1
fi
echo "Installing Debian packages:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
if ! { apt-get update && apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1; then
	cat "$log" >&2
	rm -f "$log"
	echo "mimic: apt-get could not install:$missing" >&2
	exit 1
fi
rm -f "$log"
