#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# Style of changed lines: `make lint`.
#
#   lint.sh [REVISION]     changed since REVISION; else since main's last common commit with
#                          origin/main, or, where that is the same, changes that are not committed
#
# clang-format looks at changed lines of C only, and says how it would write them: a hint, for a
# table may read better by hand. shellcheck, codespell and check-words.sh read whole files, and fail.
set -u
cd "$(dirname "$0")/.." || exit 2
base=${1:-}
[ -n "$base" ] || base=$(git merge-base HEAD origin/main 2>/dev/null) || base=HEAD
[ "$(git rev-parse "$base")" != "$(git rev-parse HEAD)" ] || base=HEAD
status=0

echo "# clang-format, lines changed since $(git rev-parse --short "$base")"
git clang-format -q --diff "$base" -- '*.c' '*.h' || status=$?
[ $status -le 1 ] || exit $status
status=0

echo "# shellcheck"
git ls-files '*.sh' .ci/run tests/vm/guest/init 'completions/*.bash' |
	xargs shellcheck -S warning || status=1

echo "# codespell"
git ls-files '*.c' '*.h' '*.md' '*.scd' '*.sh' '*.mk' Makefile |
	xargs codespell || status=1

# checkpatch.pl comes with the kernel's headers, in the guest of check-kernel; the commonest of its
# complaints is found here. Strings that users see may be longer.
echo "# lines of more than 100 columns in driver/"
git ls-files 'driver/*.c' 'driver/*.h' | while read -r file; do
	expand -t8 "$file" | awk -v file="$file" \
		'length > 100 && !/"/ { print file ":" FNR ": " length " columns" }'
done | grep . && status=1

echo "# retired terms (scripts/words.txt)"
scripts/check-words.sh || status=1
exit $status
