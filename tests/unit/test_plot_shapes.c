/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* Shapes of tools/plot: in a page, which is as wide as its place, and on a sheet of a size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/plot/plot.h"

#define HOSTILE "</title></style><script>\"'"

struct drawing {
	FILE *out;
	char *text;
	size_t size;
};

static void begin(struct drawing *drawing)
{
	drawing->out = open_memstream(&drawing->text, &drawing->size);
	assert_non_null(drawing->out);
}

static void end(struct drawing *drawing, const char *expected)
{
	assert_int_equal(fclose(drawing->out), 0);
	if (!strstr(drawing->text, expected))
		fail_msg("no %s in %s", expected, drawing->text);
	free(drawing->text);
}

static void test_a_bar_of_a_page_is_a_share_of_its_width(void **state)
{
	struct drawing drawing;
	struct plot_frame frame;

	(void)state;
	begin(&drawing);
	frame = plot_figure_begin(drawing.out, "bars", 50, "t", "", "");
	plot_bar(&frame, 3, "name", &(struct plot_box){ 0.25, 10, 0.5, 20, 0 });
	end(&drawing, "<rect class=\"bar c3\" x=\"25.000%\" width=\"50.000%\" y=\"10.0\" height=\"20.0\" "
		      "opacity=\"1.00\"><title>name</title></rect>");
}

static void test_a_bar_of_a_sheet_is_in_pixels_of_its_field(void **state)
{
	struct drawing drawing;
	struct plot_frame frame;

	(void)state;
	begin(&drawing);
	frame = plot_sheet_begin(drawing.out, "t", NULL, NULL);
	frame.width = 400;
	plot_bar(&frame, 3, "name", &(struct plot_box){ 0.25, 10, 0.5, 20, 0 });
	end(&drawing, "<rect class=\"bar c3\" x=\"100.0\" width=\"200.0\" y=\"10.0\" height=\"20.0\" "
		      "opacity=\"1.00\"><title>name</title></rect>");
}

static void test_lines_of_the_grid_end_with_the_field_of_a_sheet(void **state)
{
	struct drawing drawing;
	struct plot_frame frame;
	struct plot_scale scale = plot_scale(2, 2);

	(void)state;
	begin(&drawing);
	frame = plot_sheet_begin(drawing.out, "t", NULL, NULL);
	frame.width = 400;
	frame.height = 100;
	plot_marks(&frame, &scale, PLOT_UP);
	end(&drawing, "<line class=\"grid\" x1=\"0.0\" x2=\"400.0\" y1=\"50.0\" y2=\"50.0\"/>");
}

static void test_values_off_the_scale_stay_in_the_frame(void **state)
{
	struct plot_frame frame = { .height = 100, .scale = plot_scale(10, 5) };

	(void)state;
	assert_float_equal(plot_down(&frame, 5), 50, 1e-9);
	assert_float_equal(plot_down(&frame, 20), 0, 1e-9);
	assert_float_equal(plot_down(&frame, -5), 100, 1e-9);
}

static void test_a_name_longer_than_its_room_stands_aslant(void **state)
{
	struct drawing drawing;
	struct plot_frame frame = { .width = 400, .height = 100 };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		begin(&drawing);
		frame.out = drawing.out;
		plot_name_below(&frame, 0.5, plot_text_width("name") + (i ? 1 : -1), "name");
		end(&drawing, i ? "(200.0 116.0) rotate(0.0)" : "(200.0 116.0) rotate(-24.0)");
	}
}

static void test_each_entry_of_a_sheets_legend_has_its_own_row(void **state)
{
	struct drawing drawing;
	struct plot_frame frame;

	(void)state;
	begin(&drawing);
	frame = plot_sheet_begin(drawing.out, "t", NULL, NULL);
	plot_key(&frame, 3, false, "first", "");
	plot_key(&frame, 4, true, "second", "");
	end(&drawing, "y=\"30\">second</text>");
}

static void test_marks_behind_the_end_of_the_axis_are_left_out(void **state)
{
	struct drawing drawing;
	struct plot_frame frame;
	struct plot_scale scale = { .end = 5, .step = 2, .steps = 3 };

	(void)state;
	begin(&drawing);
	frame = plot_figure_begin(drawing.out, "plot", 50, "t", "", "");
	plot_marks(&frame, &scale, PLOT_TIME);
	fflush(drawing.out);
	assert_null(strstr(drawing.text, ">6</text>"));
	end(&drawing, "x=\"80.000%\" y=\"66.0\">4</text>");
}

/* Title, caption, legend, and the text below a pointer. */
static void test_texts_of_strangers_are_no_markup_in_pictures(void **state)
{
	struct drawing drawing;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct plot_frame frame;

		begin(&drawing);
		frame = i ? plot_sheet_begin(drawing.out, HOSTILE, HOSTILE, HOSTILE) :
			    plot_figure_begin(drawing.out, "plot", 50, HOSTILE, HOSTILE, HOSTILE);
		plot_bar(&frame, 0, HOSTILE, &(struct plot_box){ 0, 0, 1, 1, 0 });
		plot_path_begin(&frame, "line", 0);
		plot_path_end(&frame, HOSTILE);
		plot_text(&frame, PLOT_BEHIND, 0, 0, HOSTILE, HOSTILE);
		plot_name_below(&frame, 0, 0, HOSTILE);
		plot_key(&frame, 0, false, HOSTILE, HOSTILE);
		fflush(drawing.out);
		assert_null(strstr(drawing.text, "<script"));
		assert_null(strstr(drawing.text, "</title></style>"));
		end(&drawing, "&lt;script&gt;");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_bar_of_a_page_is_a_share_of_its_width),
		cmocka_unit_test(test_a_bar_of_a_sheet_is_in_pixels_of_its_field),
		cmocka_unit_test(test_lines_of_the_grid_end_with_the_field_of_a_sheet),
		cmocka_unit_test(test_values_off_the_scale_stay_in_the_frame),
		cmocka_unit_test(test_a_name_longer_than_its_room_stands_aslant),
		cmocka_unit_test(test_each_entry_of_a_sheets_legend_has_its_own_row),
		cmocka_unit_test(test_marks_behind_the_end_of_the_axis_are_left_out),
		cmocka_unit_test(test_texts_of_strangers_are_no_markup_in_pictures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
