#!/usr/bin/env bash
# Nothing unfinished is marked as such in code: it is finished, or it is an issue.
source "$(dirname "$0")/files.sh"

marks=$(sources '\.([ch]|sh|proto|cmake|yaml|html)$|CMakeLists\.txt$' |
    xargs -r grep -nE '\b([T]ODO|[F]IXME|[X]XX)\b' || true)
verdict "$marks" "no marks of unfinished work"
