#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR MIT
# usage: link-without-spaces.sh FOLDER
# Makes the folder, and beside the sources a link to it whose name has no spaces; prints the link's name.
set -eu
folder=$1
cd "$(dirname "$0")/.."
mkdir -p "$folder"
folder=$(cd "$folder" && pwd -P)
link=build-$(printf %s "$folder" | cksum | cut -d ' ' -f 1)
ln -sfn "$folder" "$link"
echo "$link"
