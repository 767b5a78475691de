#!/usr/bin/env bash
# What an agent allows is said from / on; a directory that is not there is worth a word.
source "$(dirname "$0")/../lib/check.sh"

end()
{
    kill "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

for option in --scratch --allow-path --allow-device; do
    expect_exit 1 rackbench-agent --listen tcp://127.0.0.1:7519 "$option" some/where
    expect_match "rackbench-agent: $option: 'some/where' is no absolute path; begin it with /" \
        "$OUTPUT"
done
rackbench-agent --listen tcp://127.0.0.1:7519 --scratch "$TMP/scratch" \
    --allow-path "$TMP" --allow-path "$TMP/nowhere" 2>"$TMP/agent.log" &
pid=$!
at_exit end "$pid"
wait_for 5 grep -q "listening on" "$TMP/agent.log"
end "$pid"
expect_match "allow-path $TMP/nowhere: No such file or directory; no plan can use it" \
    "$(cat "$TMP/agent.log")"
check "and of the other nothing" [ "$(grep -c allow-path "$TMP/agent.log")" = 1 ]
