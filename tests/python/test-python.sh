#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The Python package, as its wheel installs it, with the libraries and commands of the build directory. TAP.
# usage: test-python.sh BUILD WHEEL; PYTHON: which interpreter
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/../scripts/tap.sh"
wheel=$2
python=${PYTHON:-python3}
# By its path: timeout and the examples call it, too, which do not know the function python3 of tap.sh.
[ "$python" != python3 ] || python=$(type -P /usr/bin/python3 || type -P python3)
for module in numpy pytest; do
	"$python" -c "import $module" 2>/dev/null && continue
	echo "1..0 # SKIP $python has no $module: apt-get install python3-numpy python3-pytest, or PYTHON=INTERPRETER"
	exit 0
done

# As pip installs a wheel of Python alone: pip need not be there.
site=$work/site before=${PYTHONPATH:-}
mkdir "$site" && "$python" -m zipfile -e "$wheel" "$site"
export PYTHONPATH="$site${PYTHONPATH:+:$PYTHONPATH}" PATH="$build/bin:$PATH" MIMIC_TEST_BUILD="$build"
export PYTHONDONTWRITEBYTECODE=1

"$python" -m zipfile -t "$wheel" >"$work/output" 2>&1 && "$python" python/make_wheel.py "$(basename "$wheel" | cut -d- -f2)" "$work/again" >/dev/null &&
	cmp "$wheel" "$work/again/$(basename "$wheel")"
result $? "the wheel is whole, and the same bytes again"
"$python" -c "
import importlib.metadata as m
d = m.distribution('mimic')
assert [e.value for e in d.entry_points if e.group == 'pytest11'] == ['mimic.pytest_plugin']
assert all((d.locate_file(f)).exists() for f in d.files)" >"$work/output" 2>"$work/errors"
result $? "its files and its plugin of pytest are found as those of any package"

# Each test of pytest is a line. The plugin comes by its entry point.
for file in tests/python/test_*.py; do
	timeout -k 5 250 "$python" -m pytest -p no:cacheprovider -q -rA --color=no "$file" >"$work/output" 2>"$work/errors"
	status=$?
	while read -r outcome name; do
		case $outcome in
		PASSED) result 0 "$name" ;;
		SKIPPED) skip "$name" "see above" ;;
		*) result 1 "$name" ;;
		esac
	done < <(sed -n 's/^\(PASSED\|FAILED\|ERROR\) [^:]*::\([^ ]*\).*/\1 \2/p' "$work/output")
	[ $status = 0 ]
	result $? "$(basename "$file") passes"
done
# --- examples ----------------------------------------------------------------------------------------------

if "$python" -c 'import matplotlib' 2>/dev/null; then
	"$python" python/examples/latency.py --latencies 100,300 --output "$work/plot.svg" "$build/sim/examples/maple/loops" \
		--kernel spmv --threads 2 --uniform 64x4096x8 >"$work/output" 2>"$work/errors" &&
		awk '$1 == "doall" { slow = $3 > $2 } $1 == "decoupled" { ok = $2 > 0 } END { exit !(slow && ok) }' "$work/output" &&
		"$python" -c 'import sys, xml.dom.minidom as d; assert len(d.parse(sys.argv[1]).getElementsByTagName("path")) > 10' "$work/plot.svg"
	result $? "latency.py draws cycles over the latency of memory"
else
	skip "latency.py" "$python has no matplotlib"
fi
if "$python" -c 'import venv, ensurepip' 2>/dev/null; then
	# With the tree's own build directory, which is there.
	PYTHONPATH="$before" PYTHON="$python" python/examples/ci-job.sh "$work/prefix" -p no:cacheprovider -q python/examples/test_product.py \
		>"$work/output" 2>"$work/errors" && grep -q '2 passed' "$work/output"
	result $? "ci-job.sh installs mimic and the wheel, and passes a project's tests"
else
	skip "ci-job.sh" "$python has no venv"
fi

plan
