/* SPDX-License-Identifier: GPL-2.0 OR MIT */
/* The page's style: mk/report.mk makes C of tools/report.css. */
#include "tools/report.h"

const char report_css[] =
#include "report_css.inc"
;
