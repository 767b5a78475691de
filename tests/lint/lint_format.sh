#!/usr/bin/env bash
# Every C file is as clang-format leaves it.
source "$(dirname "$0")/files.sh"

c_sources | xargs -r clang-format --dry-run -Werror
