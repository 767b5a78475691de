#!/usr/bin/env bash
# Builds fio's t/io_uring, the leanest reader there is, from Debian's source package of the fio that
# is installed, and prints where it is: t_io_uring in RACKBENCH_BUILD. Nothing happens where it is
# there already. Sources are asked for from where this system has its packages, through lists of their
# own: its configuration stays as it is.
source "$(dirname "$0")/../lib/check.sh"
BUILD=${RACKBENCH_BUILD:?set it to the build directory}
TOOL=$BUILD/t_io_uring

# A deb-src line for each place that this system has packages from.
source_lines()
{
    apt-get indextargets --format "deb-src \$(SITE) \$(RELEASE) \$(COMPONENT)" \
        "Identifier: Packages" "Origin: Debian" | sort -u
}

# apt_apart COMMAND [ARGUMENT]...: apt-get with those lines alone, and all that it keeps in $TMP.
apt_apart()
{
    apt-get -q -o Dir::Etc::SourceList="$TMP/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$TMP/lists" -o Dir::Cache="$TMP/cache" -o APT::Sandbox::User=root \
        "$@" >&2
}

download()
{
    local version
    version=$(dpkg-query -W -f "\${source:Version}" fio 2>/dev/null) || skip "no fio installed here"
    command -v apt-get >/dev/null || skip "no apt here"
    mkdir -p "$TMP/lists/partial" "$TMP/cache" "$TMP/fio"
    source_lines >"$TMP/sources.list"
    [ -s "$TMP/sources.list" ] || skip "no package lists here; run: apt-get update"
    apt_apart update || skip "no package lists to be had"
    (cd "$TMP" && apt_apart source --download-only "fio=$version") || skip "no sources to be had"
    rm -f "$TMP"/*.asc
    tar -xf "$TMP"/fio_*.orig.tar.* -C "$TMP/fio" --strip-components=1
}

if [ ! -x "$TOOL" ]; then
    download
    (cd "$TMP/fio" && ./configure && make -j2 t/io_uring) >"$TMP/make.log" 2>&1 ||
        fail "$(tail -5 "$TMP/make.log")"
    cp "$TMP/fio/t/io_uring" "$TOOL"
fi
echo "$TOOL"
