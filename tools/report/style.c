/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The page's style: mk/report.mk makes C of tools/report/report.css. */
#include "tools/report/report.h"

const char report_css[] =
#include "report_css.inc"
;
