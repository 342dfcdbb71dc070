/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "tools/report/report.h"

void report_table_number(FILE *out, uint64_t value)
{
	char digits[PLOT_NUMBER_SIZE];

	plot_digits(digits, value);
	plot_print(out, "<td class=\"number\">%s</td>", digits);
}
