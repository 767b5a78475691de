#!/usr/bin/env bash
# Third-party headers come in by their doors only, and the rooms include each other in one direction:
# doors.txt has the rules.
source "$(dirname "$0")/files.sh"
rules=$(dirname "$(readlink -f "$0")")/doors.txt

# The headers of the C library, the kernel and the compiler need no door.
system_headers()
{
    local include
    for include in $(cc -E -Wp,-v -xc /dev/null 2>&1 >/dev/null | sed -n 's/^ //p'); do
        case $include in
        */gcc/*) find "$include" -name '*.h' -printf '%P\n' ;;
        esac
    done
    dpkg -L libc6-dev linux-libc-dev |
        sed -nE 's#^/usr/include/(x86_64-linux-gnu/|aarch64-linux-gnu/)?(.*\.h)$#\2#p'
}

# One line an include: FILE LINE QUOTE HEADER.
includes()
{
    c_sources | xargs -r grep -HnE '^[[:space:]]*#[[:space:]]*include' |
        sed -E 's/^([^:]*):([0-9]*):[^<"]*([<"])([^>"]*).*/\1 \2 \3 \4/'
}

judge()
{
    awk '
        FILENAME == ARGV[1] {system_header[$1] = 1; next}
        FILENAME == ARGV[2] {if (NF == 2 && $1 !~ /^#/) {header[++n] = $1; allowed[n] = $2} next}
        $3 == "<" && system_header[$4] {next}
        {
            known = 0
            for (i = 1; i <= n; i++) {
                if ($4 !~ header[i]) continue
                known = 1
                if ($1 !~ allowed[i]) print $1 ":" $2 ": may not include " $4
            }
            if (!known) print $1 ":" $2 ": " $4 " has no door in doors.txt"
        }' <(system_headers) "$rules" -
}

verdict "$(includes | judge)" "headers come in by their door, see tests/lint/doors.txt"
