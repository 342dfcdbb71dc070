/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/*
 * Checks a trace of mimic trace by itself: it is valid Chrome trace JSON, per track the
 * events are in the order of time, begins and ends are balanced and slices nest, arrows
 * lead forward from where a word or a command came to where the same one went, and
 * everything that came has gone, or is said to be left over. It knows names of tracks and
 * events, and nothing else of mimic.
 *
 *   check_trace FILE    0: prints what there was as "name number" lines; 1: says what is wrong
 */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACKS_MAX 4096
#define DEPTH_MAX 64
/* Times are microseconds with three decimals, read as doubles. */
#define NANOSECOND 0.001
#define EPSILON 0.0005

/* The ends of arrows. */
enum role { NO_ROLE, PRODUCE, CONSUME, DISPATCH, WORK };

struct slice {
	double start;
	enum role role;
	int64_t first, end;	/* numbers of words, or of a command */
	int64_t reached;	/* arrows have led here for all before it, if nothing was lost */
	int64_t led;		/* for so many */
};

struct track {
	int64_t pid, tid;
	char name[64];
	bool is_used;
	double last;
	struct { double end; bool is_pair; } open[DEPTH_MAX];
	int depth;
	struct slice *slices;
	size_t slice_count;
};

struct counter {
	int64_t pid;
	char name[64];
	double last;
};

struct interval {
	int64_t pid;
	unsigned int unit;
	int64_t first, end;
};

struct intervals {
	struct interval *list;
	size_t count;
};

struct arrow {
	bool has_start, has_end;
	double start;
	const char *category;
	struct track *track;	/* where it starts */
	struct slice from;
};

static const struct {
	const char *category;
	enum role from, to;
} leads[] = {
	{ "word", PRODUCE, CONSUME },
	{ "command", DISPATCH, WORK },
};

static struct track tracks[TRACKS_MAX];
static size_t track_count;
static struct counter counters[TRACKS_MAX];
static size_t counter_count;
static struct intervals came, gone;		/* words */
static struct intervals queued, ended;		/* commands of Virgo */
static struct arrow *arrows;
static size_t arrow_count;
static int64_t produced, consumed, dropped, left_over, instructions_queued, instructions_ended;
static int64_t commands_queued, commands_ended, accesses, loads, stores, open_ends, waits;
static size_t at_event;

static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void wrong(const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "check_trace: event %zu: ", at_event);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

static void *grown(void *list, size_t count, size_t size)
{
	if (count & (count - 1))
		return list;
	list = realloc(list, (count ? 2 * count : 1) * size);
	if (!list)
		wrong("no memory");
	return list;
}

/* --- members of an event ----------------------------------------------------------------- */

static json_object *member(json_object *object, const char *key, json_type type)
{
	json_object *value;

	if (!json_object_object_get_ex(object, key, &value))
		wrong("no \"%s\": %s", key, json_object_to_json_string(object));
	if (json_object_get_type(value) != type &&
	    !(type == json_type_double && json_object_get_type(value) == json_type_int))
		wrong("\"%s\" is of the wrong type: %s", key, json_object_to_json_string(object));
	return value;
}

static int64_t number(json_object *object, const char *key)
{
	return json_object_get_int64(member(object, key, json_type_int));
}

static const char *text(json_object *object, const char *key)
{
	return json_object_get_string(member(object, key, json_type_string));
}

static double microseconds(json_object *object, const char *key)
{
	double value = json_object_get_double(member(object, key, json_type_double));

	if (!(value >= 0))
		wrong("\"%s\" is negative", key);
	return value;
}

/* --- tracks ------------------------------------------------------------------------------------ */

static struct track *track_of(json_object *event)
{
	int64_t pid = number(event, "pid"), tid = number(event, "tid");

	for (size_t i = 0; i < track_count; i++) {
		if (tracks[i].pid == pid && tracks[i].tid == tid)
			return &tracks[i];
	}
	if (track_count == TRACKS_MAX)
		wrong("too many tracks");
	tracks[track_count] = (struct track){ .pid = pid, .tid = tid };
	return &tracks[track_count++];
}

/* The time of an event that stands on its track. */
static double advance(struct track *track, json_object *event)
{
	double time = microseconds(event, "ts");

	if (time < track->last - EPSILON)
		wrong("ts %.3f after %.3f on one track", time, track->last);
	track->last = time;
	track->is_used = true;
	while (track->depth && !track->open[track->depth - 1].is_pair &&
	       track->open[track->depth - 1].end <= time + EPSILON)
		track->depth--;
	return time;
}

static void push(struct track *track, double start, double end, bool is_pair)
{
	if (track->depth && !is_pair && end > track->open[track->depth - 1].end + EPSILON)
		wrong("a slice ends at %.3f, after the one that it lies in, at %.3f", end,
		      track->open[track->depth - 1].end);
	if (track->depth == DEPTH_MAX)
		wrong("slices are nested too deep");
	track->open[track->depth].end = end;
	track->open[track->depth++].is_pair = is_pair;
	track->slices = grown(track->slices, track->slice_count, sizeof(*track->slices));
	track->slices[track->slice_count++] = (struct slice){ .start = start };
}

static void pop(struct track *track, double time)
{
	/* Slices of no end of their own have to be over. */
	if (!track->depth || !track->open[track->depth - 1].is_pair)
		wrong("E at %.3f without a B", time);
	track->depth--;
}

/* --- what comes and goes ------------------------------------------------------------------------ */

static void add(struct intervals *intervals, int64_t pid, unsigned int unit, int64_t first, int64_t count)
{
	if (count <= 0)
		wrong("%" PRId64 " of something", count);
	intervals->list = grown(intervals->list, intervals->count, sizeof(*intervals->list));
	intervals->list[intervals->count++] = (struct interval){ pid, unit, first, first + count };
}

static int compare(const void *a, const void *b)
{
	const struct interval *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->unit != y->unit)
		return x->unit < y->unit ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Sorted, and touching ones joined; what is there twice is wrong. */
static void join(struct intervals *intervals, const char *what)
{
	size_t count = 0;

	if (intervals->count)
		qsort(intervals->list, intervals->count, sizeof(*intervals->list), compare);
	for (size_t i = 0; i < intervals->count; i++) {
		struct interval *last = count ? &intervals->list[count - 1] : NULL, next = intervals->list[i];

		if (!last || last->pid != next.pid || last->unit != next.unit || last->end < next.first) {
			intervals->list[count++] = next;
			continue;
		}
		if (last->end > next.first)
			wrong("%s %" PRId64 " of unit %u twice", what, next.first, next.unit);
		last->end = next.end;
	}
	intervals->count = count;
}

/* Both are the same numbers. */
static void check_complete(struct intervals *in, struct intervals *out, const char *what)
{
	join(in, what);
	join(out, what);
	for (size_t i = 0; i < in->count || i < out->count; i++) {
		const struct interval *a = &in->list[i], *b = &out->list[i];

		if (i >= in->count)
			wrong("%s %" PRId64 " went and never came", what, b->first);
		if (i >= out->count)
			wrong("%s %" PRId64 " came and never went", what, a->first);
		if (compare(a, b) || a->end != b->end)
			wrong("%s %" PRId64 " to %" PRId64 " of unit %u came; %" PRId64 " to %" PRId64
			      " of unit %u went", what, a->first, a->end, a->unit, b->first, b->end, b->unit);
	}
}

/* Units follow each other in the numbers of tracks, a thousand for each kind. */
static unsigned int unit_of(const struct track *track)
{
	return (unsigned int)((track->tid - 1) % 1000);
}

static bool is_over(json_object *args)
{
	const char *outcome = text(args, "outcome");

	return !strcmp(outcome, "done") || !strcmp(outcome, "error");
}

/* The slice that has just begun is one end of arrows. */
static void set_role(struct track *track, json_object *event, enum role role, int64_t first, int64_t count)
{
	struct slice *slice = &track->slices[track->slice_count - 1];

	if (!strcmp(text(event, "ph"), "i"))
		wrong("an arrow cannot find an instant");
	slice->role = role;
	slice->first = slice->reached = first;
	slice->end = first + count;
}

static void note_words(struct track *track, json_object *event, const char *name, json_object *args)
{
	int64_t first = number(args, "first"), words = number(args, "words");

	if (!strcmp(name, "produce")) {
		set_role(track, event, PRODUCE, first, words);
		add(&came, track->pid, unit_of(track), first, words);
		produced += words;
		return;
	}
	add(&gone, track->pid, unit_of(track), first, words);
	if (!strcmp(name, "consume")) {
		set_role(track, event, CONSUME, first, words);
		consumed += words;
	} else if (!strcmp(name, "left over"))
		left_over += words;
	else if (!strcmp(name, "drop") && *text(args, "by") != '?')
		dropped += words;
	else
		wrong("words went by '%s'", name);
}

static void note_command(struct track *track, json_object *event, const char *name, json_object *args)
{
	json_object *outcome;

	if (!strcmp(name, "command_dropped")) {
		add(&ended, track->pid, unit_of(track), number(args, "number"), number(args, "count"));
		commands_ended += number(args, "count");
		return;
	}
	if (!json_object_object_get_ex(args, "outcome", &outcome)) {
		set_role(track, event, DISPATCH, number(args, "number"), 1);
		add(&queued, track->pid, unit_of(track), number(args, "number"), 1);
		commands_queued++;
		return;
	}
	set_role(track, event, WORK, number(args, "number"), 1);
	if (is_over(args)) {
		add(&ended, track->pid, unit_of(track), number(args, "number"), 1);
		commands_ended++;
	}
}

static void note_instruction(const char *name, json_object *args)
{
	json_object *outcome;

	if (!strcmp(name, "instruction_dropped"))
		instructions_ended += number(args, "count");
	else if (!json_object_object_get_ex(args, "outcome", &outcome))
		instructions_queued++;
	else
		instructions_ended += is_over(args);
}

static void note_access(const char *name, json_object *args)
{
	json_object *count;
	int64_t n = json_object_object_get_ex(args, "count", &count) ? json_object_get_int64(count) : 1;

	accesses += n;
	*(strncmp(name, "load ", 5) ? &stores : &loads) += n;
}

static void note(struct track *track, json_object *event)
{
	const char *category = text(event, "cat"), *name = text(event, "name");
	json_object *args = member(event, "args", json_type_object), *value;

	if (!strcmp(category, "queue"))
		note_words(track, event, name, args);
	else if (!strcmp(category, "command"))
		note_command(track, event, name, args);
	else if (!strcmp(category, "instruction"))
		note_instruction(name, args);
	else if (!strcmp(category, "access"))
		note_access(name, args);
	else if (!strcmp(category, "wait"))
		waits++;
	open_ends += json_object_object_get_ex(args, "open", &value);
}

/* --- events ------------------------------------------------------------------------------------------ */

static void metadata(json_object *event)
{
	struct track *track;
	const char *name = text(member(event, "args", json_type_object), "name");

	if (strcmp(text(event, "name"), "thread_name"))
		return;
	track = track_of(event);
	if (*track->name)
		wrong("two names of one track");
	snprintf(track->name, sizeof(track->name), "%s", name);
}

static void counter(json_object *event)
{
	int64_t pid = number(event, "pid");
	const char *name = text(event, "name");
	double time = microseconds(event, "ts");
	size_t i = 0;

	if (number(member(event, "args", json_type_object), "level") < 0)
		wrong("a level below 0");
	while (i < counter_count && (counters[i].pid != pid || strcmp(counters[i].name, name)))
		i++;
	if (i == TRACKS_MAX)
		wrong("too many counters");
	if (i == counter_count) {
		counters[counter_count].pid = pid;
		snprintf(counters[counter_count++].name, sizeof(counters[i].name), "%s", name);
	}
	if (time < counters[i].last - EPSILON)
		wrong("counter '%s' goes back to %.3f", name, time);
	counters[i].last = time;
}

/* The first slice of the role that begins at the time and, if `from` is given, has numbers of it. */
static struct slice *slice_at(struct track *track, double time, enum role role, const struct slice *from)
{
	size_t low = 0, high = track->slice_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (track->slices[middle].start > time - EPSILON)
			high = middle;
		else
			low = middle + 1;
	}
	for (; low < track->slice_count && track->slices[low].start < time + EPSILON; low++) {
		struct slice *slice = &track->slices[low];

		if (slice->role == role && (!from || (slice->first < from->end && from->first < slice->end)))
			return slice;
	}
	return NULL;
}

static unsigned int lead_of(const char *category)
{
	unsigned int lead = 0;

	while (lead < sizeof(leads) / sizeof(leads[0]) && strcmp(category, leads[lead].category))
		lead++;
	if (lead == sizeof(leads) / sizeof(leads[0]))
		wrong("an arrow of '%s'", category);
	return lead;
}

static void start_arrow(struct arrow *arrow, size_t id, struct track *track, double time, const char *category)
{
	const struct slice *slice = slice_at(track, time, leads[lead_of(category)].from, NULL);

	if (!slice)
		wrong("arrow %zu (%s) starts at nothing that came at %.3f", id, category, time);
	arrow->category = category;
	arrow->track = track;
	arrow->start = time;
	arrow->from = *slice;
}

/* Arrows to a slice come in the order of its numbers: none leads twice for one of them. */
static void end_arrow(struct arrow *arrow, size_t id, struct track *track, double time, const char *category)
{
	struct slice *slice;
	int64_t first, end;

	if (!arrow->has_start || time < arrow->start - EPSILON)
		wrong("arrow %zu leads back in time", id);
	if (strcmp(category, arrow->category) || track->pid != arrow->track->pid ||
	    unit_of(track) != unit_of(arrow->track))
		wrong("arrow %zu leads to another device, unit or category", id);
	slice = slice_at(track, time, leads[lead_of(category)].to, &arrow->from);
	if (!slice)
		wrong("arrow %zu (%s) ends at nothing that took %" PRId64 " to %" PRId64 " at %.3f", id,
		      category, arrow->from.first, arrow->from.end, time);
	first = arrow->from.first > slice->first ? arrow->from.first : slice->first;
	end = arrow->from.end < slice->end ? arrow->from.end : slice->end;
	if (first < slice->reached)
		wrong("arrow %zu leads to %" PRId64 " of unit %u again", id, first, unit_of(track));
	slice->reached = end;
	slice->led += end - first;
}

static void arrow(json_object *event, bool is_start)
{
	size_t id = (size_t)number(event, "id");
	struct track *track = track_of(event);
	double time = microseconds(event, "ts");
	struct arrow *arrow;

	if (!id || id > arrow_count + 1)
		wrong("arrow %zu comes too early", id);
	if (id == arrow_count + 1) {
		arrows = grown(arrows, arrow_count, sizeof(*arrows));
		memset(&arrows[arrow_count++], 0, sizeof(*arrows));
	}
	arrow = &arrows[id - 1];
	if (is_start ? arrow->has_start : arrow->has_end)
		wrong("arrow %zu twice", id);
	(is_start ? start_arrow : end_arrow)(arrow, id, track, time, text(event, "cat"));
	*(is_start ? &arrow->has_start : &arrow->has_end) = true;
}

/* Nothing was lost: each word that was consumed has an arrow from where it was produced. */
static void check_arrows(void)
{
	for (size_t i = 0; i < track_count; i++) {
		for (size_t j = 0; j < tracks[i].slice_count; j++) {
			const struct slice *slice = &tracks[i].slices[j];

			if (slice->role == CONSUME && slice->led != slice->end - slice->first)
				wrong("%" PRId64 " of %" PRId64 " words consumed at %.3f on '%s' have arrows",
				      slice->led, slice->end - slice->first, slice->start, tracks[i].name);
		}
	}
}

static void check_event(json_object *event)
{
	const char *phase = text(event, "ph");
	struct track *track;
	double time;

	if (!phase[0] || phase[1] || !strchr("BEXiCsfM", phase[0]))
		wrong("phase '%s'", phase);
	switch (phase[0]) {
	case 'M':
		metadata(event);
		return;
	case 'C':
		counter(event);
		return;
	case 's':
	case 'f':
		arrow(event, phase[0] == 's');
		return;
	default:
		break;
	}
	track = track_of(event);
	time = advance(track, event);
	if (phase[0] == 'E') {
		pop(track, time);
		return;
	}
	if (phase[0] == 'B')
		push(track, time, track->depth ? track->open[track->depth - 1].end : 1e300, true);
	if (phase[0] == 'X')
		push(track, time, time + microseconds(event, "dur"), false);
	note(track, event);
}

static void check_ends(void)
{
	for (size_t i = 0; i < track_count; i++) {
		struct track *track = &tracks[i];

		for (int depth = 0; depth < track->depth; depth++) {
			if (track->open[depth].is_pair)
				wrong("a B without an E on '%s'", track->name);
		}
		if (track->is_used && !*track->name)
			wrong("a track without a name: %" PRId64 " %" PRId64, track->pid, track->tid);
	}
	for (size_t i = 0; i < arrow_count; i++) {
		if (!arrows[i].has_start || !arrows[i].has_end)
			wrong("half an arrow, %zu", i + 1);
	}
}

int main(int argc, char **argv)
{
	json_object *root, *events;
	int64_t not_kept;

	if (argc != 2) {
		fputs("usage: check_trace FILE\n", stderr);
		return 2;
	}
	root = json_object_from_file(argv[1]);
	if (!root)
		wrong("no JSON: %s", json_util_get_last_err());
	events = member(root, "traceEvents", json_type_array);
	not_kept = number(member(root, "otherData", json_type_object), "events_not_kept");
	for (at_event = 0; at_event < json_object_array_length(events); at_event++)
		check_event(json_object_array_get_idx(events, at_event));
	check_ends();
	if (!not_kept) {
		check_arrows();
		check_complete(&came, &gone, "word");
		check_complete(&queued, &ended, "command");
		if (instructions_queued != instructions_ended)
			wrong("%" PRId64 " instructions came, %" PRId64 " went", instructions_queued,
			      instructions_ended);
	}
	printf("events %zu\nnot_kept %" PRId64 "\nproduced %" PRId64 "\nconsumed %" PRId64 "\ndropped %" PRId64
	       "\nleft_over %" PRId64 "\narrows %zu\ninstructions %" PRId64 "\ncommands %" PRId64
	       "\naccesses %" PRId64 "\nloads %" PRId64 "\nstores %" PRId64 "\nwaits %" PRId64 "\nopen %" PRId64
	       "\ntracks %zu\ncounters %zu\n",
	       at_event, not_kept, produced, consumed, dropped, left_over, arrow_count, instructions_queued,
	       commands_queued, accesses, loads, stores, waits, open_ends, track_count, counter_count);
	json_object_put(root);
	return 0;
}
