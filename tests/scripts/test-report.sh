#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
# mimic report: a page of a small demo, bad input, and the page in a real browser at the
# widths of a desktop and of a telephone. TAP on stdout.
#
#   test-report.sh [BUILD]   BUILD: the build directory; else $O, else build
set -u
# shellcheck source=tests/scripts/tap.sh
. "$(dirname "$0")/tap.sh" "$@"
mimic=$build/bin/mimic
page=$work/run.html

run() # run ARGUMENTS...: mimic with them; its output is in $work/output and errors
{
	timeout 20 "$mimic" "$@" >"$work/output" 2>"$work/errors"
}

# --- the demo writes the report's input ----------------------------------------------------
timeout -k 2 60 "$build/bin/mimic-demo" --scale 11 --output "$work/run.json" >"$work/output" 2>"$work/errors"
status=$?
[ $status = 0 ] && grep -q '^All verified' "$work/output" && python3 - "$work/run.json" <<'PYTHON'
import json, sys
document = json.load(open(sys.argv[1]))
runs = document["runs"]
assert (document["format"], document["version"]) == ("mimic-run", 1)
assert {(run["kind"], run["kernel"]) for run in runs} == {
	("maple", "spmv"), ("maple", "bfs"), ("dare", "spmm"), ("dare", "sddmm"), ("dare", "gemm"),
	("virgo", "gemm"), ("virgo", "gemm_swish"), ("virgo", "gemm_two_units")}
assert {run["transport"] for run in runs} >= {"none", "embedded", "daemon"}
assert all(run["verified"] for run in runs)
PYTHON
result $? "the_demo_writes_all_its_runs"
python3 - "$work/run.json" <<'PYTHON' 2>"$work/errors"
import json, sys
looked = [run for run in json.load(open(sys.argv[1]))["runs"] if "samples" in run]
assert {run["transport"] for run in looked} == {"embedded", "daemon"}, looked
for run in looked:
	samples = run["samples"]
	times = samples["seconds"]
	assert times[0] == 0 and times == sorted(times) and len(times) > 1
	for queue in samples["queues"]:
		assert len(queue["levels"]) == len(times) and max(queue["levels"]) <= queue["size"]
	for name, values in samples["counters"].items():
		assert len(values) == len(times) and values == sorted(values) and values[0] == 0
	# A sample may come after the device was closed, so the last one may have smaller counters.
	counters = run["counters"]
	assert all(samples["counters"][name][-1] <= counters[name] for name in ("tlb_misses", "faults") if name in counters)
PYTHON
result $? "the_demo_looks_at_devices_of_the_daemon_and_at_embedded_ones"
timeout -k 2 60 "$build/bin/mimic-demo" --scale 6 --transport embedded --output "$work/none/run.json" \
	>"$work/output" 2>"$work/errors"
[ $? = 1 ] && grep -q "cannot write $work/none/run.json" "$work/errors"
result $? "a_demo_that_cannot_write_says_so"

# --- the page ---------------------------------------------------------------------------------
run report "$work/run.json" && [ -s "$page" ] && [ ! -s "$work/output" ]
result $? "the_page_has_the_name_of_its_input"
! grep -Eq 'https?:|url\(|@import|<link|<img|<iframe| src=| style=' "$page"
result $? "the_page_refers_to_nothing_outside"
python3 - "$page" <<'PYTHON' >"$work/output" 2>"$work/errors"
import base64, hashlib, html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
class Checker(html.parser.HTMLParser):
	void = {"meta", "br"}
	def __init__(self):
		super().__init__()
		self.stack, self.ids, self.links = [], set(), set()
	def handle_starttag(self, tag, attributes):
		names = [name for name, _ in attributes]
		assert len(names) == len(set(names)), (tag, names)
		values = dict(attributes)
		if "id" in values:
			assert values["id"] not in self.ids, values["id"]
			self.ids.add(values["id"])
		if tag == "a":
			self.links.add(values["href"].lstrip("#"))
		if tag not in self.void:
			self.stack.append(tag)
	def handle_startendtag(self, tag, attributes):
		pass
	def handle_endtag(self, tag):
		assert self.stack and self.stack.pop() == tag, (tag, self.getpos())
checker = Checker()
checker.feed(text)
checker.close()
assert not checker.stack and checker.links == checker.ids, (checker.stack, checker.links ^ checker.ids)
script = re.search("<script>(.*?)</script>", text).group(1)
digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
assert f"script-src 'sha256-{digest}'" in text
assert len(re.findall('role="img"[^>]*>\n<title>', text)) == text.count('role="img"')
PYTHON
result $? "the_page_is_well_formed_and_allows_its_own_script_only"
run report "$work/run.json" -o - && cmp -s "$work/output" "$page"
result $? "the_page_goes_to_standard_output"
timeout 20 "$mimic" report - <"$work/run.json" >"$work/output" 2>"$work/errors" && cmp -s "$work/output" "$page"
result $? "the_input_comes_from_standard_input"

# --- bad input --------------------------------------------------------------------------------------
echo old >"$work/page.html"
bad() # bad CONTENT TEXT: so it is refused, and the old page stays
{
	printf '%s' "$1" >"$work/bad.json"
	refused "bad.json: $2" report "$work/bad.json" -o "$work/page.html" && [ "$(cat "$work/page.html")" = old ]
}
bad 'hello' "line 1, column 1: not JSON" && bad '{"format":' "the JSON text ends too early" &&
	bad '{"format":"mimic-run","version":7}' "version: it is 7" && bad '[]' "it must be an object"
result $? "a_file_that_is_no_run_json_is_refused"
sed 's/"seconds": [0-9.e-]*/"seconds": "long"/2' "$work/run.json" >"$work/wrong.json"
refused "seconds: it must be a number, and is a text" report "$work/wrong.json" -o "$work/page.html" &&
	grep -q 'runs\[[0-9]*\]\.' "$work/errors"
result $? "a_wrong_field_is_named"
bad '{"format":"\u001b[31m","version":1}' 'format: it must be "mimic-run", and is "?[31m"' && ! grep -q $'\e' "$work/errors"
result $? "an_error_has_no_control_characters"
refused "$work/missing.json: No such file" report "$work/missing.json" &&
	refused "something is missing" report && refused "unrecognized" report --pear && refused "Is a directory" report "$work"
result $? "a_file_that_is_not_there_and_bad_options_are_refused"
run report "$work/run.json" -o "$work/none/page.html"
[ $? = 1 ] && grep -q "cannot write $work/none/page.html: No such file" "$work/errors"
result $? "a_page_that_cannot_be_written_is_a_failure"
timeout 20 "$mimic" report "$work/run.json" -o - >/dev/full 2>"$work/errors"
[ $? = 1 ] && (umask 027; run report "$work/run.json" -o "$work/page.html") &&
	[ "$(stat -c %a "$work/page.html")" = 640 ] && [ -z "$(find "$work" -name '*.html.*')" ]
result $? "a_page_has_usual_permissions_and_leaves_nothing_beside_it"
mkfifo "$work/pipe" && ln -s run.html "$work/link" && ln -s later.html "$work/dangling"
timeout 20 cat "$work/pipe" >"$work/piped" &
run report "$work/run.json" -o "$work/pipe" && wait $! && [ -p "$work/pipe" ] && cmp -s "$work/piped" "$page"
result $? "a_page_goes_into_a_pipe_which_stays_one"
rm "$page"
echo old >"$page"
run report "$work/run.json" -o "$work/link" && run report "$work/run.json" -o "$work/dangling" &&
	[ -L "$work/link" ] && [ -L "$work/dangling" ] && cmp -s "$work/piped" "$page" && cmp -s "$work/later.html" "$page"
result $? "a_page_goes_where_a_link_leads_and_the_link_stays"
run report --help && grep -q '^Usage: mimic report' "$work/output"
result $? "help_is_there"

# --- a browser -------------------------------------------------------------------------------------------
browser=$(command -v chromium-headless-shell || command -v chromium || true)

browse() # browse WIDTH HEIGHT ARGUMENTS...
{
	local width=$1 height=$2
	shift 2
	rm -rf "$work/profile"
	timeout -k 2 20 "$browser" --headless --no-sandbox --disable-gpu --disable-background-networking \
		--disable-component-update --disable-sync --no-first-run --disable-dev-shm-usage --user-data-dir="$work/profile" \
		--hide-scrollbars --window-size="$width,$height" --enable-logging=stderr "$@" >"$work/output" 2>"$work/errors"
}

# The page itself runs no script but its own, so a copy is measured: all that is folded open,
# and its hostile twin, whose names are long and have no place to break.
measured() # measured PAGE: its copy that says how wide it is
{
	sed -e '/http-equiv="Content-Security-Policy"/d' "$1"
	cat <<'SCRIPT'
<script>
document.querySelectorAll('details').forEach(d => d.open = true);
const root = document.documentElement;
root.dataset.wide = root.scrollWidth > innerWidth ? 'too-wide' : 'fits';
root.dataset.inner = innerWidth;
root.dataset.plots = document.querySelectorAll('.plot svg[role=img], .bars svg[role=img]').length;
</script>
SCRIPT
}

if [ -n "$browser" ]; then
	long=$(printf 'x%.0s' $(seq 300))
	sed -e "s/\"input\": \"[a-z]/&<script>document.documentElement.dataset.hostile=1<\\/script>$long/g" \
		-e "s/\"form\": \"/&<b>$long/g" "$work/run.json" >"$work/hostile.json"
	"$mimic" report "$work/hostile.json"
	for name in run hostile; do
		measured "$work/$name.html" >"$work/measured.html"
		for width in 1280:900 390:844; do
			browse "${width%:*}" "${width#*:}" --dump-dom "file://$work/measured.html"
			[ $? = 0 ] && grep -q '<html[^>]* data-wide="fits"' "$work/output" &&
				grep -q "<html[^>]* data-inner=\"${width%:*}\"" "$work/output" &&
				grep -q '<html[^>]* data-plots="[1-9]' "$work/output" && ! grep -q '<html[^>]*data-hostile' "$work/output"
			status=$?
			: >"$work/output"	# of no use where it fails, and long
			result $status "the_page_of_${name}_needs_no_scrolling_aside_at_${width%:*}_pixels"
		done
	done
	for width in 1280:900 390:844; do
		browse "${width%:*}" "${width#*:}" --screenshot="$work/page.png" "file://$page" &&
			! grep -q CONSOLE "$work/errors" &&
			python3 - "$work/page.png" "${width%:*}" <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
assert struct.unpack(">I", data[16:20])[0] == int(sys.argv[2]) and len(data) > 20000, len(data)
PYTHON
		result $? "a_browser_shows_the_page_at_${width%:*}_pixels_and_complains_of_nothing"
	done
else
	skip "the_page_in_a_browser" "neither chromium-headless-shell nor chromium is installed"
fi

plan
