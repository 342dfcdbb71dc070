/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* A CSV and a plot of it, which reads just that CSV: Table 2, energy, what-ifs. */
#include "bench/figures/virgo/virgo.h"

#define NAMES_MAX 9	/* the last one ends them */

/* 0: there is none. */
typedef double plot_value(const struct virgo_view *view, unsigned int line, unsigned int column);

struct plot {
	const char *file, *title, *axis;
	const char *x;		/* of lines; NULL: bars */
	bool is_log;
	const char *lines[NAMES_MAX], *columns[NAMES_MAX];
	plot_value *value;
};

static double table_2(const struct virgo_view *view, unsigned int line, unsigned int column)
{
	for (size_t row = 0; column % 2 == 0 && row < view->rows->count; row++)
		if (view->rows->rows[row].number == 13 + line)
			return view->rows->rows[row].values[column / 2];
	return virgo_utilisation(virgo_gemm_result(view->runs, virgo_sizes[line], virgo_designs[column / 2]), 64);
}

/* uJ of a product; without and then with fitted parameters */
static double energy(const struct virgo_view *view, unsigned int line, unsigned int column)
{
	const struct virgo_result *result = virgo_gemm_result(line < 2 ? view->runs : view->fits, "512", line % 2 ? "virgo-dma" : "tc-dma");

	return result ? result->energy[column] / 1000 : 0;
}

/* Multipliers of the cluster: 16 a core, or those of one array. */
static double what_if(const struct virgo_view *view, unsigned int line, unsigned int column)
{
	static const char *const points[][4] = {
		{ "dim 4 virgo-dma", "256 virgo-dma", "dim 16 virgo-dma", "dim 32 virgo-dma" },
		{ "tile 128 dim 4 virgo-dma", "tile 128 virgo-dma", "tile 128 dim 16 virgo-dma", "tile 128 dim 32 virgo-dma" },
		{ "cores 1 tc-dma", "256 tc-dma", "cores 16 tc-dma", "" },
		{ "", "", "cores 16 banks 16 tc-dma", "" },
	};

	return virgo_utilisation(virgo_result(view->runs, points[column][line]), 16 << 2 * line);
}

static double swish(const struct virgo_view *view, unsigned int line, unsigned int column)
{
	return virgo_swish_loss(view->runs, virgo_swishes[line], column ? "tc-dma" : "virgo-dma");
}

static double two_units(const struct virgo_view *view, unsigned int line, unsigned int column)
{
	static const char *const pairs[] = { "two 30", "two", "two", "two 80", "two 110" };
	/* 60 is the fitted value. */
	const struct virgo_runs *runs = line == 2 ? view->fits : view->runs;

	return column ? virgo_serial(runs, pairs[line]) : virgo_parallel(runs, pairs[line]);
}

static const struct plot plots[] = {
	{ "table2", "Table 2: MAC utilisation, nothing fitted", "percent", NULL, false, { "256x256x256", "128x512x512", "512x512x512", NULL },
	  { "TC (paper)", "TC", "TC + DMA (paper)", "TC + DMA", "Virgo (paper)", "Virgo", "Virgo + DMA (paper)", "Virgo + DMA", NULL }, table_2 },
	{ "energy", "Energy by part, 512x512x512 (only ratios mean something)", "uJ", NULL, false,
	  { "TC + DMA", "Virgo + DMA", "TC + DMA fitted", "Virgo + DMA fitted", NULL },
	  { "cores", "MACs", "unit", "shared memory", "L1 and L2", NULL }, energy },
	{ "whatif", "What if: MAC utilisation over multipliers, 256x256x256 with DMA", "percent", "multipliers of the cluster", true,
	  { "16", "64", "256", "1024", NULL },
	  { "one array with tiles of 64", "one array with tiles of 128", "16 in each core", "16 in each core with 16 banks", NULL }, what_if },
	{ "swish", "Swish: loss of MAC utilisation, 512x512x512", "points of percent", "FPU instructions an element", false,
	  { "20", "40", "80", NULL }, { "Virgo + DMA", "TC + DMA", NULL }, swish },
	{ "units", "Two units (8x8 and 4x4) and one in series, tiles of 32", "percent", "cycles of memory latency", false,
	  { "30", "45", "60", "80", "110", NULL }, { "both at once", "one in series", NULL }, two_units },
};

static int write_csv(const struct virgo_view *view, const struct plot *plot)
{
	FILE *file = figures_create(view->runs->output, plot->file, "csv");

	if (!file)
		return -1;
	fputs(plot->x ? plot->x : "of", file);
	for (unsigned int column = 0; plot->columns[column]; column++)
		fprintf(file, ",%s", plot->columns[column]);
	for (unsigned int line = 0; plot->lines[line]; line++) {
		fprintf(file, "\n%s", plot->lines[line]);
		for (unsigned int column = 0; plot->columns[column]; column++) {
			double value = plot->value(view, line, column);

			if (value != 0)
				fprintf(file, ",%.4f", value);
			else
				fputc(',', file);
		}
	}
	fputc('\n', file);
	return figures_finish(file);
}

static int write_plot(const struct virgo_view *view, const struct plot *plot)
{
	const struct chart chart = {
		plot->x ? CHART_LINES : CHART_BARS, .title = plot->title, .across = plot->x, .up = plot->axis, .is_log = plot->is_log,
	};

	return write_csv(view, plot) || figures_plot(view->runs->output, plot->file, &chart) ? -1 : 0;
}

int virgo_plots_write(const struct virgo_view *view)
{
	for (size_t i = 0; i < sizeof(plots) / sizeof(plots[0]); i++) {
		if (write_plot(view, &plots[i]))
			return -1;
	}
	return 0;
}
