#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# The steps of a CI job that tests a project with mimic, from a clone of mimic: ci-job.sh PREFIX TESTS...
# As no particular user, in any container of Debian 12 or 13; ci-job.yml is the same as a workflow.
set -eu
prefix=$1
shift
python=${PYTHON:-python3}
make -j"$(nproc)" install wheel PREFIX="$prefix"
# System's packages, where it has them: numpy and pytest need no download then.
"$python" -m venv --system-site-packages "$prefix/venv"
"$prefix/venv/bin/pip" install --quiet --no-deps --force-reinstall build/python/mimic-*.whl
PATH="$prefix/bin:$PATH" MIMIC_PATIENCE=10 "$prefix/venv/bin/python" -m pytest "$@"
