#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Where mimicd listens for a user other than root. TAP on stdout.
#
#   test-places.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"

# A number that no user has; of root's own build directory this user may read nothing.
user=987654
place=/tmp/mimic-$user
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	skip "mimicd_of_a_user_without_a_session" "it takes root, who can run a program as another user"
	plan
	exit
fi
rm -rf "$place"
trap '[ $BASHPID != $$ ] || { [ -n "$daemon" ] && kill -9 $daemon 2>/dev/null; rm -rf "$work" "$place"; }' EXIT
chmod 755 "$work"
cp "$build/bin/mimic" "$build/bin/mimicd" "$work"
mkdir -m 700 "$work/session" && chown $user "$work/session"

# With no variable that says where.
user_command=(setpriv --reuid "$user" --regid "$user" --clear-groups env -u XDG_RUNTIME_DIR -u MIMIC_SOCKET)
as_user() # as_user WORD...
{
	"${user_command[@]}" "$@"
}

# start_as_user WORD...: mimicd; waits until it serves
start_as_user()
{
	# Else the line of the mimicd before is found, and the one that has just been forked is killed as a shell.
	: >"$work/errors"
	# No function: stop() would end the shell around mimicd.
	"${user_command[@]}" "$@" "$work/mimicd" -f --kernel=off >"$work/output" 2>"$work/errors" &
	daemon=$!
	for ((try = 0; try < 200; try++)); do
		grep -q ': serving' "$work/errors" && return 0
		kill -0 $daemon 2>/dev/null || return 1
		sleep 0.05
	done
	return 1
}

stop()
{
	kill $daemon
	wait $daemon 2>/dev/null
	daemon=
}

start_as_user env && [ -S "$place/mimicd.sock" ] && [ "$(stat -c '%a %u' "$place")" = "755 $user" ] &&
	as_user "$work/mimic" list >"$work/list" && grep -q maple0 "$work/list"
result $? "without_a_session_it_is_a_folder_of_the_user_in_tmp"
stop

start_as_user env XDG_RUNTIME_DIR="$work/session" && [ -S "$work/session/mimic/mimicd.sock" ]
result $? "with_a_session_it_is_the_sessions_folder"
stop

wrong=
for session in "$work/nowhere" /run/mimic "$work"; do
	start_as_user env XDG_RUNTIME_DIR="$session"
	[ -S "$place/mimicd.sock" ] || wrong+=" $session"
	stop
done
[ -z "$wrong" ]
result $? "a_session_that_is_not_there_or_another_users_does_not_count"

rm -rf "$place"
mkdir "$place"
! start_as_user env && grep -q "$place: it belongs to another user, or others may write to it" "$work/errors" &&
	[ -z "$(ls "$place")" ]
result $? "a_folder_that_another_user_has_made_is_refused"

chown $user "$place" && chmod 777 "$place"
! start_as_user env && grep -q 'others may write to it' "$work/errors"
result $? "a_folder_that_others_may_write_to_is_refused"

rm -rf "$place"
mkdir "$work/elsewhere" && chown $user "$work/elsewhere" && ln -s "$work/elsewhere" "$place"
! start_as_user env && [ -z "$(ls "$work/elsewhere")" ]
result $? "a_link_is_refused"

rm -rf "$place"
as_user "$work/mimic" list >"$work/output" 2>"$work/errors"
[ $? = 1 ] && grep -q "$place/mimicd.sock" "$work/errors"
result $? "where_nobody_listens_the_message_names_the_place"
plan
