# SPDX-License-Identifier: GPL-2.0 OR MIT
# RISC-V assembly of gcc -S -g -> instructions and accesses of each loop, per iteration.
#
# Loops are natural ones: a way back to an instruction that dominates it, and all that
# comes between them; ways back to one instruction make one loop. An instruction
# belongs to the smallest loop that holds it; loop 0 is the function without its loops.
# Of branches the one that begins the next iteration is taken, and the one that ends a loop is predicted wrongly, which is
# counted in the loop around it; others are not taken, and jumps, calls and returns are.
# Code behind the function's first return, of a loop that begins before it, is
# unlikely code that gcc moved there: it is not counted, but its accesses are the loop's.
# Each source line with an access makes a row; a loop without one has its branch's line.
# Functions that gcc makes of another one (foo.isra.0, foo._omp_fn.0) are part of it, with loops of
# higher numbers.
#
# With -v of_program=1 the source is a program of libmaple, and not one of our loops:
# - A call of libmaple that does one operation of the device is one MMIO instruction.
# - A variable on the stack is an access, because a hook sees it. Registers that are saved there are not.
# - Each other line of a function makes a row, too, for the smallest loop that has it: the compiler of the
#   program may have put an access there, which this one has put elsewhere.
# - All that is outside of loops counts: a return there is most often for bad arguments.

function is_return(t) { return t ~ /^(ret|tail|jr)/ }
function is_mmio(t)
{
	return t ~ /# mmio/ || (of_program && t ~ /^call[ \t]+maple_(produce|consume|prefetch|lima)/ && t !~ /_batch/)
}
function is_saved(t)
{
	return t ~ /\(sp\)/ && (!of_program || t ~ /^f?[sl][wd][ \t]+(ra|f?s[0-9]+),/)
}
function is_jump(t) { return t ~ /^j[ \t]/ || is_return(t) }

# How many instructions reach instruction `from` backwards without passing `head`: in body[]. 0 if the first one does.
function walk_back(head, from,	stack, depth, n, k, jumps, m)
{
	delete body
	body[head] = 1
	m = 1
	stack[depth = 1] = from
	while (depth > 0) {
		n = stack[depth--]
		if (n in body)
			continue
		if (n == 1)
			return 0
		body[n] = 1
		m++
		if (!is_jump(text[n - 1]))
			stack[++depth] = n - 1
		k = split(into[n], jumps, " ")
		for (; k > 0; k--)
			stack[++depth] = jumps[k]
	}
	return m
}

function find_loops(	i, l, n)
{
	for (i = 1; i <= count; i++) {
		l = text[i]
		sub(/.*[ ,\t]/, "", l)
		if (text[i] ~ /^(b[a-z]+|j)[ \t]/ && l in label)
			into[label[l]] = into[label[l]] " " i
	}
	loops = 0
	for (i = 1; i <= count; i++) {
		if (into[i] == "")
			continue
		# Code in front of a label may fall into it: gcc also has loops that are entered in their middle.
		l = split(into[i] (i > 1 && !is_jump(text[i - 1]) ? " " i - 1 : ""), sources, " ")
		found = 0
		for (; l > 0; l--) {
			if (!walk_back(i, sources[l] + 0))
				continue
			if (!found) {
				found = 1
				head[++loops] = i
				size[loops] = 0
			}
			for (n in body)
				if (!((loops, n) in member)) {
					member[loops, n] = 1
					size[loops]++
				}
		}
	}
}

# A block that calls a function to wait is no part of an iteration that need not wait.
function find_waits(	i, n)
{
	for (i = 1; i <= count; i++) {
		if (text[i] !~ /^call[ \t].*_wait_/)
			continue
		for (n = i; n > 1 && text[n - 1] !~ /^(b|j|ret|tail)/; n--) {
			waits[n] = 1
			if (into[n] != "")
				break
		}
		waits[n] = 1
		for (n = i + 1; n <= count && into[n] == ""; n++) {
			waits[n] = 1
			if (text[n] ~ /^(b|j|ret|tail)/)
				break
		}
	}
}

function analyse(	i, k, m, first_return, all)
{
	find_loops()
	find_waits()
	for (first_return = 1; first_return < count && !is_return(text[first_return]); first_return++)
		;
	for (i = 1; i <= count; i++) {
		k = 0
		for (m = 1; m <= loops; m++)
			if ((m, i) in member && (k == 0 || size[m] < size[k]))
				k = m
		account(k, i, !(i in waits) && (i <= first_return || (k > 0 ? head[k] > first_return : of_program)))
		for (m = split(seen[i], all, " "); m > 0; m--)
			if (!(all[m] in smallest) || (k > 0 && (smallest[all[m]] == 0 || size[k] < size[smallest[all[m]]])))
				smallest[all[m]] = k
	}
	for (m = 1; m <= loops; m++) {
		missed[around(m)]++
		# Gone round by another way, an iteration goes back all the same.
		if (!taken[m])
			taken[m] = 1
	}
	for (k = 0; k <= loops; k++)
		print_loop(k)
	loops_before[name] += loops + 1
}

# Lines without an access.
function add_other_lines(k,	i, m, where, all)
{
	for (i = 1; i <= count; i++)
		for (m = split(seen[i], all, " "); m > 0; m--) {
			where = all[m]
			if (smallest[where] != k || where in has_access || (k, where) in lines)
				continue
			lines[k, where] = 1
			lines_of[k] = lines_of[k] " " where
		}
}

# The smallest loop that holds loop m; 0: none.
function around(m,	p, k)
{
	k = 0
	for (p = 1; p <= loops; p++)
		if (p != m && (p, head[m]) in member && size[p] > size[m] && (k == 0 || size[p] < size[k]))
			k = p
	return k
}

function account_time(k, i,	t, target)
{
	t = text[i]
	if (t ~ /^mul/)
		multiplies[k]++
	if (is_jump(t) || t ~ /^call[ \t]/) {
		taken[k]++
		return
	}
	target = t
	sub(/.*[ ,\t]/, "", target)
	if (t ~ /^b[a-z]+[ \t]/ && k > 0 && target in label && label[target] == head[k] && !goes_back[k]) {
		goes_back[k] = 1
		taken[k]++
	}
}

function account(k, i, is_counted,	t)
{
	t = text[i]
	instructions[k] += is_counted
	if (is_counted && !is_mmio(t))
		account_time(k, i)
	if (is_mmio(t))
		mmio[k] += is_counted
	else if (t ~ /# prefetch/)
		prefetches[k] += is_counted
	else if (is_saved(t))
		return			# no hook sees it
	else if (t ~ /^(l[bhwd]u?|fl[wd]|lr\.[wd][.a-z]*)[ \t]/)
		loads[k] += is_counted
	else if (t ~ /^(s[bhwd]|fs[wd]|sc\.[wd][.a-z]*|amo[a-z]+\.[wd][.a-z]*)[ \t]/)
		stores[k] += is_counted
	else {
		if (t ~ /^b/ && is_counted)
			branch_line[k] = place[i]
		return
	}
	if (!is_mmio(t) && !((k, place[i]) in lines)) {
		has_access[place[i]] = 1
		lines[k, place[i]] = 1
		lines_of[k] = lines_of[k] " " place[i]
	}
}

function print_loop(k,	i, n, all, where)
{
	if (!instructions[k])
		return
	if (lines_of[k] == "")
		lines_of[k] = " " (k in branch_line ? branch_line[k] : place[1])
	if (of_program)
		add_other_lines(k)
	n = split(substr(lines_of[k], 2), all, " ")
	for (i = 1; i <= n; i++) {
		split(all[i], where, ":")
		printf "%s,%s,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d,%d\n", where[1], name, loops_before[name] + k, where[2], where[2], instructions[k],
			loads[k], stores[k], mmio[k], prefetches[k], taken[k], missed[k], multiplies[k]
	}
}

function end_function()
{
	if (name != "" && count > 0)
		analyse()
	count = 0
	name = ""
	delete label; delete text; delete place; delete into; delete head; delete size; delete member; delete waits
	delete instructions; delete loads; delete stores; delete mmio; delete prefetches
	delete taken; delete missed; delete multiplies; delete goes_back
	delete lines; delete lines_of; delete branch_line; delete has_access; delete smallest; delete seen
}

/^\t\.file [0-9]+ / {
	split($0, quoted, "\"")
	file_name[$2] = quoted[4] != "" ? quoted[4] : quoted[2]
	sub(/.*\//, "", file_name[$2])
	next
}
# Code that the compiler moved into an operation's is an access of the line that called it.
/^\t\.loc / && file_name[$2] == "operations.h" { next }
/^\t\.loc / {
	here = file_name[$2] ":" $3
	# Of several lines at an instruction it has the last one; the others are of code that became part of it.
	seen[count + 1] = seen[count + 1] " " here
	next
}
/^\t\.type\t.*@function/ {
	end_function()
	name = $2
	sub(/[,.].*/, "", name)
	next
}
/^\t\.size\t/ { end_function(); next }
/^\.L[0-9]+:/ { label[substr($1, 1, length($1) - 1)] = count + 1; next }
/^\t[a-z]/ && name != "" {
	parts = split(substr($0, 2), part, /; */)
	for (i = 1; i <= parts; i++) {
		text[++count] = part[i]
		place[count] = here
	}
}
