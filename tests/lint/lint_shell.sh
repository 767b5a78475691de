#!/usr/bin/env bash
# Every shell script passes shellcheck.
source "$(dirname "$0")/files.sh"

sources '\.sh$|/soak$|^\.ci/run$|^deploy/completion/' |
    xargs -r shellcheck --external-sources --source-path=SCRIPTDIR
