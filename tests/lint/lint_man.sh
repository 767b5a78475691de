#!/usr/bin/env bash
# Every manual page is sound mdoc.
source "$(dirname "$0")/files.sh"

sources '^deploy/man/.*\.[158]$' | xargs -r mandoc -T lint -W warning
