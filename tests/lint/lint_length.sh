#!/usr/bin/env bash
# A C file has at most 400 lines.
source "$(dirname "$0")/files.sh"

long=$(c_sources | xargs -r -d '\n' -n 1 wc -l | awk '$1 > 400')
verdict "$long" "at most 400 lines a file; too long means two ideas: split it"
