#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Debian packages in a fresh tree of a suite: made there, judged by lintian, installed, used, removed; and modules
# made by DKMS for the kernels whose headers the suite has. As root. TAP.
# usage: test-deb.sh BUILD SUITE KERNEL...		KERNEL: as 6.12
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
# shellcheck source=scripts/debian-tree.sh
. scripts/debian-tree.sh
suite=$2
shift 2
tree=$build/deb-$suite

if [ "$(id -u)" != 0 ]; then
	skip "$suite: packages" "only root can make a Debian tree"
	plan
	exit
fi

make_packages()
{
	inside sh -c 'cd /src && dpkg-buildpackage -us -uc -b && mkdir -p /packages && mv ../*.deb ../*.changes ../*.buildinfo /packages'
}

# headers KERNEL: the newest package of that kernel's headers
headers()
{
	chroot "$tree" apt-cache search --names-only "^linux-headers-$1\\..*amd64" | sed 's/ .*//' | grep -Ev -- '-(cloud|rt|common)-' |
		sort -V | tail -n 1
}

# shellcheck disable=SC2046
make_tree "$suite" build-essential $(awk '$1 == "build" || $1 == "deb" && $2 != "mmdebstrap" { print $2 }' packages.txt)
result $? "$suite: there is a tree"
copy_source && make_packages
result $? "$suite: packages are made"
inside sh -c 'cd /packages && lintian --fail-on warning,error --allow-root *.changes'
result $? "$suite: lintian has nothing to say"
inside sh -c 'apt-get install -y --no-install-recommends /packages/mimic_*.deb /packages/libmimic0_*.deb /packages/libmimic-dev_*.deb'
result $? "$suite: they are installed"
# The tutorial's program.
sed -n '/^```c/,/^```/p' docs/libmaple.md | sed '1d; /^```/,$d' >"$tree/tmp/first.c"
inside sh -c 'cd /tmp && gcc -pthread -o first first.c $(pkg-config --cflags --libs libmaple) && ./first | grep right'
result $? "$suite: a program is linked with the shared libraries"
inside sh -c 'cd /tmp && gcc -static -pthread -o first-static first.c $(pkg-config --cflags --static --libs libmaple) && ./first-static | grep right'
result $? "$suite: and with the static ones"
inside sh -c 'mimic --version && mimicd --version && mimic run -- true && mimic list --help'
result $? "$suite: the commands start"
[ -e "$tree/usr/lib/systemd/system/mimicd.service" ] && [ -s "$tree/usr/share/man/man1/mimic.1.gz" ] &&
	[ -s "$tree/usr/share/man/man3/maple_open.3.gz" ]
result $? "$suite: units and manual pages are there"
[ -s "$tree/usr/share/bash-completion/completions/mimicd" ] && [ -s "$tree/usr/share/zsh/vendor-completions/_mimicd" ] &&
	[ -s "$tree/usr/share/fish/vendor_completions.d/mimicd.fish" ]
result $? "$suite: completions of mimicd are where the shells look"
packages=()
for kernel in "$@"; do
	packages+=("$(headers "$kernel")")
done
inside sh -c 'apt-get install -y --no-install-recommends /packages/mimic-dkms_*.deb kmod "$@"' sh "${packages[@]}"
result $? "$suite: modules' sources and kernels' headers are installed"
[ -s "$tree/usr/lib/udev/rules.d/60-mimic.rules" ] && grep -q '^mimic:' "$tree/etc/group"
result $? "$suite: there is the group to which the nodes belong"
for package in "${packages[@]}"; do
	release=${package#linux-headers-}
	inside sh -c "dkms build -m mimic -v \$(ls /usr/src | sed -n 's/^mimic-//p') -k $release"
	result $? "$suite: DKMS makes the modules for $release"
	inside sh -c "modinfo -F version /var/lib/dkms/mimic/*/$release/*/module/maple.ko* | grep -qxF \$(dpkg-query -W -f '\${source:Upstream-Version}' mimic-dkms)"
	result $? "$suite: and they have the version of the package"
done
inside sh -c 'apt-get purge -y mimic mimic-dkms libmimic0 libmimic-dev && ! ls -d /usr/src/mimic-* /usr/share/mimic /usr/include/mimic /var/lib/dkms/mimic 2>/dev/null'
result $? "$suite: they are removed, and leave nothing"
plan
