#!/usr/bin/env bash
# A file's name says what it is, without its folder: no name stands twice (test data apart).
source "$(dirname "$0")/files.sh"

twice=$(sources '^(agent|common|coordinator|proto|tests|deploy)/' |
    grep -vE '^tests/(data|fuzz/corpus)/' |
    awk -F/ '{paths[$NF] = paths[$NF] " " $0; count[$NF]++}
        END {for (n in count) if (count[n] > 1) print n ":" paths[n]}' |
    grep -vE '^(main\.c|soak|README\.md|CMakeLists\.txt):' || true)
verdict "$twice" "file names are unique in the tree"
