/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* maple_spmv_csr() and maple_bfs_csr() against plain loops of this file's own. */
#include "tests/lib/maple_fixture.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/programs.h"

static const enum maple_form forms[] = { MAPLE_PLAIN, MAPLE_DECOUPLED, MAPLE_LIMA, MAPLE_PREFETCH };
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static uint64_t random_state;

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

struct matrix {
	size_t rows;
	size_t columns;
	uint64_t *row_start;
	uint32_t *column;
	double *value;
	double *x;
	double *expected;
};

/* Rows of 0 to 2 * mean elements; `long_row`, if it is one, has `long_length`. */
static struct matrix make_matrix(size_t rows, size_t columns, unsigned int mean, size_t long_row,
				 size_t long_length)
{
	struct matrix m = { .rows = rows, .columns = columns };
	uint64_t count = 0;

	random_state = 88172645463325252u + rows;
	m.row_start = maple_array(rows + 1, sizeof(*m.row_start));
	for (size_t r = 0; r < rows; r++) {
		m.row_start[r] = count;
		count += r == long_row ? long_length : mean ? next_random() % (2 * mean + 1) : 0;
	}
	m.row_start[rows] = count;
	m.column = maple_array(count, sizeof(*m.column));
	m.value = maple_array(count, sizeof(*m.value));
	m.x = maple_array(columns, sizeof(*m.x));
	m.expected = maple_array(rows, sizeof(*m.expected));
	for (uint64_t k = 0; k < count; k++) {
		m.column[k] = (uint32_t)(next_random() % columns);
		m.value[k] = (double)(int64_t)next_random() / 3e18;
	}
	for (size_t c = 0; c < columns; c++)
		m.x[c] = (double)(int64_t)next_random() / 7e18;
	for (size_t r = 0; r < rows; r++) {
		for (uint64_t k = m.row_start[r]; k < m.row_start[r + 1]; k++)
			m.expected[r] += m.value[k] * m.x[m.column[k]];
	}
	return m;
}

static void expect_product(enum maple_form form, const struct matrix *m, size_t first, size_t rows)
{
	double *y = malloc((rows + 1) * sizeof(*y));
	int error;

	for (size_t r = 0; r <= rows; r++)
		y[r] = -77.0;
	error = maple_spmv_csr(maple, form, rows, m->row_start + first, m->column, m->value, m->x, y);
	if (error)
		fail_msg("form %d: %d, %s", form, error, maple_error_text());
	assert_memory_equal(y, m->expected + first, rows * sizeof(*y));
	assert_true(y[rows] == -77.0);
	free(y);
}

static void expect_product_in_all_forms(const struct matrix *m)
{
	for (size_t f = 0; f < FORMS; f++)
		expect_product(forms[f], m, 0, m->rows);
}

static void all_forms_of_spmv_give_the_plain_loops_bits(void **state)
{
	struct matrix m = make_matrix(2000, 3000, 16, SIZE_MAX, 0);

	(void)state;
	expect_product_in_all_forms(&m);
}

static void spmv_of_a_row_longer_than_any_buffer_is_right(void **state)
{
	struct matrix m = make_matrix(50, 5000, 3, 20, 20000);

	(void)state;
	expect_product_in_all_forms(&m);
}

static void spmv_of_empty_rows_gives_zeros(void **state)
{
	struct matrix m = make_matrix(100, 10, 0, 50, 7);
	struct matrix none = make_matrix(10, 10, 0, SIZE_MAX, 0);
	struct matrix no_rows = make_matrix(0, 1, 0, SIZE_MAX, 0);

	(void)state;
	expect_product_in_all_forms(&m);
	expect_product_in_all_forms(&none);
	expect_product_in_all_forms(&no_rows);
}

static void spmv_of_a_range_of_rows_gives_that_range(void **state)
{
	struct matrix m = make_matrix(500, 400, 8, SIZE_MAX, 0);

	(void)state;
	for (size_t f = 0; f < FORMS; f++)
		expect_product(forms[f], &m, 123, 200);
}

static void spmv_prefetches_each_element_once(void **state)
{
	struct matrix m = make_matrix(1000, 1000, 10, 500, 5000);
	struct maple_counters before, after;

	(void)state;
	maple_counters(maple, &before);
	expect_product(MAPLE_PREFETCH, &m, 0, m.rows);
	maple_counters(maple, &after);
	assert_int_equal(after.prefetched - before.prefetched, m.row_start[m.rows]);
}

static void decoupled_and_lima_spmv_fetch_each_element_through_the_device(void **state)
{
	struct matrix m = make_matrix(1000, 1000, 10, SIZE_MAX, 0);
	struct maple_counters before, after;

	(void)state;
	for (size_t f = 1; f <= 2; f++) {
		maple_counters(maple, &before);
		expect_product(forms[f], &m, 0, m.rows);
		maple_counters(maple, &after);
		assert_int_equal(after.fetched - before.fetched, m.row_start[m.rows]);
		assert_int_equal(after.consumed - before.consumed, 2 * m.row_start[m.rows]);
		assert_int_equal(after.illegal, before.illegal);
	}
}

static void wrong_matrices_are_refused_by_name(void **state)
{
	struct matrix m = make_matrix(10, 10, 3, SIZE_MAX, 0);
	double y[10];

	(void)state;
	m.row_start[4] = m.row_start[5] + 1;
	for (size_t f = 0; f < FORMS; f++) {
		assert_int_equal(maple_spmv_csr(maple, forms[f], 10, m.row_start, m.column, m.value,
						m.x, y), -EINVAL);
		assert_non_null(strstr(maple_error_text(), "row 4"));
		assert_int_equal(maple_spmv_csr(maple, forms[f], 10, NULL, m.column, m.value, m.x, y),
				 -EINVAL);
	}
	assert_int_equal(maple_spmv_csr(maple, (enum maple_form)4, 0, m.row_start, m.column, m.value,
					m.x, y), -EINVAL);
}

static void without_a_device_only_the_plain_form_works(void **state)
{
	struct matrix m = make_matrix(10, 10, 3, SIZE_MAX, 0);
	int32_t level[1];
	double y[10];

	(void)state;
	for (size_t f = 0; f < FORMS; f++) {
		int expected = forms[f] == MAPLE_PLAIN ? 0 : -EINVAL;

		assert_int_equal(maple_spmv_csr(NULL, forms[f], 10, m.row_start, m.column, m.value,
						m.x, y), expected);
		assert_int_equal(maple_bfs_csr(NULL, forms[f], 1, (uint64_t[]){ 0, 0 }, NULL, 0,
					       level, NULL), expected);
	}
	assert_memory_equal(y, m.expected, sizeof(y));
}

static void kernels_leave_open_queues_and_what_they_hold_alone(void **state)
{
	struct matrix m = make_matrix(100, 100, 5, SIZE_MAX, 0);
	unsigned int free_queue = 2, count = maple_queue_count(maple);
	uint32_t word = 0;

	(void)state;
	for (unsigned int q = 0; q < count; q++) {
		if (q == free_queue)
			continue;
		assert_int_equal(maple_open(maple, q, MAPLE_PRODUCER), 0);
		maple_produce32(maple, q, 99 + q);
		if (q % 2)
			assert_int_equal(maple_close(maple, q, MAPLE_PRODUCER), 0);
	}
	expect_product_in_all_forms(&m);
	for (unsigned int q = 0; q < count; q++) {
		if (q == free_queue)
			continue;
		assert_int_equal(maple_open(maple, q, MAPLE_CONSUMER), 0);
		assert_int_equal(maple_consume32(maple, q, &word), 0);
		assert_int_equal(word, 99 + q);
	}
}

static void kernels_report_that_every_queue_is_taken(void **state)
{
	struct matrix m = make_matrix(100, 100, 5, SIZE_MAX, 0);
	double y[100];

	(void)state;
	for (unsigned int q = 0; q < maple_queue_count(maple); q++)
		assert_int_equal(maple_open(maple, q, MAPLE_CONSUMER), 0);
	for (size_t f = 1; f < FORMS; f++)
		assert_int_equal(maple_spmv_csr(maple, forms[f], 100, m.row_start, m.column,
						m.value, m.x, y), -EBUSY);
	assert_int_equal(maple_close(maple, 2, MAPLE_CONSUMER), 0);
	expect_product_in_all_forms(&m);
}

struct worker {
	const struct matrix *matrix;
	enum maple_form form;
	int wrong;
};

static void *multiply_often(void *argument)
{
	struct worker *worker = argument;
	const struct matrix *m = worker->matrix;
	double *y = malloc(m->rows * sizeof(*y));

	for (int i = 0; i < 5; i++) {
		worker->wrong |= maple_spmv_csr(maple, worker->form, m->rows, m->row_start,
						m->column, m->value, m->x, y) != 0;
		worker->wrong |= memcmp(y, m->expected, m->rows * sizeof(*y)) != 0;
	}
	free(y);
	return NULL;
}

static void kernels_of_several_threads_share_a_device(void **state)
{
	struct matrix m = make_matrix(500, 500, 8, SIZE_MAX, 0);
	struct worker workers[3] = {
		{ &m, MAPLE_DECOUPLED, 0 }, { &m, MAPLE_LIMA, 0 }, { &m, MAPLE_PREFETCH, 0 },
	};
	pthread_t threads[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, multiply_often, &workers[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(workers[i].wrong, 0);
	}
}

/* Half of x lies too high, so that the access thread finds out in the middle. */
static void an_error_of_the_access_thread_ends_the_kernel_cleanly(void **state)
{
	struct matrix m = make_matrix(3000, 1000, 8, SIZE_MAX, 0);
	double *high = malloc(1000 * sizeof(*high)), y[3000];

	(void)state;
	for (size_t f = 1; f < FORMS; f++) {
		assert_int_equal(maple_spmv_csr(maple, forms[f], m.rows, m.row_start, m.column,
						m.value, high, y), -ERANGE);
		assert_non_null(strstr(maple_error_text(), "40-bit"));
	}
	free(high);
	expect_product_in_all_forms(&m);
}

struct graph {
	size_t vertices;
	uint64_t *row_start;
	uint32_t *neighbour;
	int32_t *level;		/* the library's result; below 2^40 */
	int32_t *expected;
};

struct edge {
	uint32_t from;
	uint32_t to;
};

static struct graph make_graph(size_t vertices, const struct edge *edges, size_t count)
{
	struct graph g = { .vertices = vertices };
	uint64_t *place = calloc(vertices + 1, sizeof(*place));

	g.row_start = maple_array(vertices + 1, sizeof(*g.row_start));
	g.neighbour = maple_array(2 * count, sizeof(*g.neighbour));
	g.level = maple_array(vertices, sizeof(*g.level));
	g.expected = maple_array(vertices, sizeof(*g.expected));
	for (size_t i = 0; i < count; i++) {
		g.row_start[edges[i].from + 1]++;
		g.row_start[edges[i].to + 1]++;
	}
	for (size_t v = 0; v < vertices; v++)
		g.row_start[v + 1] += g.row_start[v];
	memcpy(place, g.row_start, (vertices + 1) * sizeof(*place));
	for (size_t i = 0; i < count; i++) {
		g.neighbour[place[edges[i].from]++] = edges[i].to;
		g.neighbour[place[edges[i].to]++] = edges[i].from;
	}
	free(place);
	return g;
}

/* Relaxes all edges until nothing changes: slow, and nothing like a search by frontiers. */
static void find_levels(struct graph *g, uint32_t root)
{
	bool changed = true;

	for (size_t v = 0; v < g->vertices; v++)
		g->expected[v] = -1;
	g->expected[root] = 0;
	while (changed) {
		changed = false;
		for (size_t u = 0; u < g->vertices; u++) {
			for (uint64_t k = g->row_start[u]; k < g->row_start[u + 1]; k++) {
				int32_t *level = &g->expected[g->neighbour[k]];

				if (g->expected[u] < 0 || (*level >= 0 && *level <= g->expected[u] + 1))
					continue;
				*level = g->expected[u] + 1;
				changed = true;
			}
		}
	}
}

/* Each vertex that was found has a parent one level above it, and there is an edge between them. */
static void check_parents(const struct graph *g, uint32_t root, const int64_t *parent)
{
	bool *has_edge = calloc(g->vertices, sizeof(*has_edge));

	assert_non_null(has_edge);
	for (size_t u = 0; u < g->vertices; u++) {
		for (uint64_t k = g->row_start[u]; k < g->row_start[u + 1]; k++)
			has_edge[g->neighbour[k]] |= parent[g->neighbour[k]] == (int64_t)u;
	}
	assert_true(parent[root] == root);
	for (size_t v = 0; v < g->vertices; v++) {
		if (v == root)
			continue;
		if (g->expected[v] < 0) {
			assert_true(parent[v] == -1);
			continue;
		}
		assert_true(parent[v] >= 0 && parent[v] < (int64_t)g->vertices);
		assert_int_equal(g->expected[parent[v]], g->expected[v] - 1);
		assert_true(has_edge[v]);
	}
	free(has_edge);
}

static void expect_search_in_all_forms(struct graph *g, uint32_t root)
{
	int64_t *parent = malloc(g->vertices * sizeof(*parent));
	int error;

	find_levels(g, root);
	for (size_t f = 0; f < FORMS; f++) {
		memset(g->level, 0x55, g->vertices * sizeof(*g->level));
		memset(parent, 0x55, g->vertices * sizeof(*parent));
		error = maple_bfs_csr(maple, forms[f], g->vertices, g->row_start, g->neighbour, root,
				      g->level, parent);
		if (error)
			fail_msg("form %d: %d, %s", forms[f], error, maple_error_text());
		assert_memory_equal(g->level, g->expected, g->vertices * sizeof(*g->level));
		check_parents(g, root, parent);
	}
	free(parent);
}

static struct graph random_graph(size_t vertices, size_t count)
{
	struct edge *edges = malloc(count * sizeof(*edges));
	struct graph g;

	random_state = 2463534242u + vertices;
	for (size_t i = 0; i < count; i++) {
		edges[i].from = (uint32_t)(next_random() % vertices);
		edges[i].to = (uint32_t)(next_random() % vertices);
	}
	g = make_graph(vertices, edges, count);
	free(edges);
	return g;
}

static void all_forms_of_bfs_find_the_same_levels(void **state)
{
	struct graph dense = random_graph(3000, 30000), sparse = random_graph(3000, 2500);

	(void)state;
	expect_search_in_all_forms(&dense, 7);
	expect_search_in_all_forms(&sparse, 0);
	expect_search_in_all_forms(&sparse, 2999);
}

static void bfs_of_a_long_path_takes_a_level_for_each_vertex(void **state)
{
	struct edge edges[199];
	struct graph g;

	(void)state;
	for (uint32_t i = 0; i < 199; i++)
		edges[i] = (struct edge){ i, i + 1 };
	g = make_graph(200, edges, 199);
	expect_search_in_all_forms(&g, 0);
	assert_int_equal(g.level[199], 199);
}

static void bfs_of_a_star_with_more_edges_than_any_buffer_is_right(void **state)
{
	struct edge *edges = malloc(20000 * sizeof(*edges));
	struct graph g;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++)
		edges[i] = (struct edge){ 5000, i };	/* itself too */
	g = make_graph(20000, edges, 20000);
	expect_search_in_all_forms(&g, 17);
	free(edges);
}

static void bfs_of_a_lonely_vertex_finds_it_alone(void **state)
{
	struct graph g = make_graph(3, NULL, 0);

	(void)state;
	expect_search_in_all_forms(&g, 1);
}

static void bfs_goes_without_parents(void **state)
{
	struct graph g = random_graph(100, 300);

	(void)state;
	find_levels(&g, 3);
	for (size_t f = 0; f < FORMS; f++) {
		assert_int_equal(maple_bfs_csr(maple, forms[f], 100, g.row_start, g.neighbour, 3,
					       g.level, NULL), 0);
		assert_memory_equal(g.level, g.expected, 100 * sizeof(*g.level));
	}
}

static void an_edge_to_nowhere_is_refused_by_name(void **state)
{
	struct graph g = random_graph(500, 5000);
	uint32_t good = g.neighbour[4321];

	(void)state;
	for (size_t f = 0; f < FORMS; f++) {
		g.neighbour[4321] = 500;
		assert_int_equal(maple_bfs_csr(maple, forms[f], 500, g.row_start, g.neighbour, 0,
					       g.level, NULL), -EINVAL);
		assert_non_null(strstr(maple_error_text(), "neighbour[4321] is 500"));
	}
	g.neighbour[4321] = good;
	expect_search_in_all_forms(&g, 0);
}

static void wrong_searches_are_refused_by_name(void **state)
{
	struct graph g = random_graph(10, 20);

	(void)state;
	for (size_t f = 0; f < FORMS; f++) {
		assert_int_equal(maple_bfs_csr(maple, forms[f], 10, g.row_start, g.neighbour, 10,
					       g.level, NULL), -EINVAL);
		assert_non_null(strstr(maple_error_text(), "root 10"));
		assert_int_equal(maple_bfs_csr(maple, forms[f], 10, g.row_start, g.neighbour, 0, NULL,
					       NULL), -EINVAL);
		assert_int_equal(maple_bfs_csr(maple, forms[f], 10, g.row_start, NULL, 0, g.level,
					       NULL), -EINVAL);
	}
	assert_int_equal(maple_bfs_csr(maple, (enum maple_form)9, 10, g.row_start, g.neighbour, 0,
				       g.level, NULL), -EINVAL);
	g.row_start[3] = 1000;
	assert_int_equal(maple_bfs_csr(maple, MAPLE_LIMA, 10, g.row_start, g.neighbour, 0, g.level,
				       NULL), -EINVAL);
	assert_non_null(strstr(maple_error_text(), "row 3"));
}

struct victim {
	enum maple_form form;
	bool searches;
	const struct matrix *matrix;
	const struct graph *graph;
	double *y;
};

/* Until the daemon is gone. */
static void *work_for_ever(void *argument)
{
	struct victim *victim = argument;
	const struct matrix *m = victim->matrix;
	const struct graph *g = victim->graph;
	int error = 0;

	while (!error) {
		if (victim->searches)
			error = maple_bfs_csr(maple, victim->form, g->vertices, g->row_start,
					      g->neighbour, 1, g->level, NULL);
		else
			error = maple_spmv_csr(maple, victim->form, m->rows, m->row_start,
					       m->column, m->value, m->x, victim->y);
	}
	return (void *)(intptr_t)error;
}

static void expect_error_when_killed(enum maple_form form, bool searches)
{
	struct daemon_process daemon;
	struct victim victim = { .form = form, .searches = searches };
	struct matrix m;
	struct graph g;
	pthread_t thread;
	void *error;

	assert_int_equal(daemon_start(&daemon, "paper"), 0);
	assert_int_equal(maple_init(&maple, &maple_test_options), 0);
	m = make_matrix(20000, 20000, 8, SIZE_MAX, 0);
	g = random_graph(20000, 100000);
	victim.matrix = &m;
	victim.graph = &g;
	victim.y = malloc(m.rows * sizeof(*victim.y));
	pthread_create(&thread, NULL, work_for_ever, &victim);
	usleep(20000);
	kill(daemon.pid, SIGKILL);
	pthread_join(thread, &error);
	assert_int_equal((intptr_t)error, -ENOTCONN);
	maple_fini(maple);
	maple = NULL;
	program_wait(daemon.pid);
	unlink(daemon.socket);
	rmdir(daemon.directory);
	free(victim.y);
}

static void kernels_end_with_an_error_when_the_daemon_is_killed(void **state)
{
	char *socket_path = strdup(getenv("MIMIC_SOCKET"));

	(void)state;
	maple_fini(maple);
	maple = NULL;
	for (size_t f = 1; f < FORMS; f++) {
		expect_error_when_killed(forms[f], false);
		expect_error_when_killed(forms[f], true);
	}
	setenv("MIMIC_SOCKET", socket_path, 1);
	free(socket_path);
}

static const struct maple_test tests[] = {
	MAPLE_TEST(all_forms_of_spmv_give_the_plain_loops_bits, ON_ALL),
	MAPLE_TEST(spmv_of_a_row_longer_than_any_buffer_is_right, ON_ALL),
	MAPLE_TEST(spmv_of_empty_rows_gives_zeros, ON_ALL),
	MAPLE_TEST(spmv_of_a_range_of_rows_gives_that_range, ON_ALL),
	MAPLE_TEST(spmv_prefetches_each_element_once, ON_ALL),
	MAPLE_TEST(decoupled_and_lima_spmv_fetch_each_element_through_the_device, ON_ALL),
	MAPLE_TEST(wrong_matrices_are_refused_by_name, ON_ALL),
	MAPLE_TEST(without_a_device_only_the_plain_form_works, ON_ALL),
	MAPLE_TEST(kernels_leave_open_queues_and_what_they_hold_alone, ON_ALL),
	MAPLE_TEST(kernels_report_that_every_queue_is_taken, ON_ALL),
	MAPLE_TEST(kernels_of_several_threads_share_a_device, ON_ALL),
	MAPLE_TEST(an_error_of_the_access_thread_ends_the_kernel_cleanly, ON_ARTIFACT),
	MAPLE_TEST(all_forms_of_bfs_find_the_same_levels, ON_ALL),
	MAPLE_TEST(bfs_of_a_long_path_takes_a_level_for_each_vertex, ON_ALL),
	MAPLE_TEST(bfs_of_a_star_with_more_edges_than_any_buffer_is_right, ON_ALL),
	MAPLE_TEST(bfs_of_a_lonely_vertex_finds_it_alone, ON_ALL),
	MAPLE_TEST(bfs_goes_without_parents, ON_ALL),
	MAPLE_TEST(an_edge_to_nowhere_is_refused_by_name, ON_ALL),
	MAPLE_TEST(wrong_searches_are_refused_by_name, ON_ALL),
	MAPLE_TEST(kernels_end_with_an_error_when_the_daemon_is_killed, ON_DAEMON),
	/* one queue only on the artifact profile */
	{ "all_forms_of_spmv_work_with_long_queues", all_forms_of_spmv_give_the_plain_loops_bits, ON_ALL, 128 },
	{ "all_forms_of_bfs_work_with_short_queues", all_forms_of_bfs_find_the_same_levels, ON_ALL, 8 },
};

int main(void)
{
	return maple_run("libmaple kernels", tests);
}
