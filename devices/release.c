/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#include "devices/plugin.h"

const char mimic_device_release[] = MIMIC_VERSION;
