#!/usr/bin/env bash
# rackbench size kv tells the published figures of the conversation trace, and what is wrong with what it is given.
source "$(dirname "$0")/../lib/check.sh"
here=$(dirname "$0")/..
awk -f "$here/lib/conversation.awk" "$here/data/traces/conversation.txt" >"$TMP/conversation.jsonl"

size()
{
    rackbench size kv --trace "$TMP/conversation.jsonl" "$@"
}

size --model llama3.1-8b --format json >"$TMP/8b.json"
check_json "$TMP/8b.json" '.references == 288500 and .distinct_blocks == 182790'
check_json "$TMP/8b.json" '.hit_ratio * 10000 | round == 3664'
check_json "$TMP/8b.json" '[.by_capacity[] | select(.blocks | IN(1000, 5000, 10000, 20000, 50000, 100000)) | .hit_ratio * 1000 | round]
    == [45, 112, 212, 288, 355, 364]'
# 64 MiB a block: 182,790 of them written and 105,710 read in 3,537 s
check_json "$TMP/8b.json" '.rates | (.write_bytes_per_s / 1e7 | round) == 347 and (.read_bytes_per_s / 1e7 | round) == 201'
check_json "$TMP/8b.json" '.endurance == null'

# the tier's capacity is what it is, however it is divided
size --model deepseek-v3 --nodes 4 --drives 2 --capacity 90GB --format json >"$TMP/4.json"
check_json "$TMP/4.json" '.hit_ratio > 0.26 and .hit_ratio < 0.29' # 20,012 blocks: 0.288 in one pool
check_json "$TMP/4.json" '(.hosts | length) == 4 and ([.hosts[].read_share] | add * 1000 | round == 1000)'
check_json "$TMP/4.json" '.filled.written_blocks == .filled.evicted_blocks and .cold.evicted_blocks > 0'

# 1.859 GB/s on 8 drives of 12.8 TB, striped and mirrored; speed is not wear
size --model deepseek-v3 --nodes 1 --drives 8 --capacity 12.8TB --placement 'mirror(2, drives)' --speed 4 --format json >"$TMP/wear.json"
check_json "$TMP/wear.json" '.endurance | (.striped.dwpd * 1000 | round) == 1569 and (.mirrored.dwpd * 1000 | round) == 3137'
check_json "$TMP/wear.json" '.endurance | .striped.class_dwpd == 3 and .mirrored.class_dwpd == 5'

expect_exit 0 size
expect_match '3\.47 GB/s of writes' "$OUTPUT"
expect_exit 1 rackbench size kv
expect_match '--trace is missing' "$OUTPUT"
expect_exit 1 rackbench size ssd
expect_exit 1 size --format csv
expect_exit 1 size --model llama
expect_exit 1 size --placement 'mirror(2)'
expect_match 'needs 2 hosts, and there are 1' "$OUTPUT"
echo '{"timestamp": 0, "input_length": 5}' >"$TMP/short.jsonl"
expect_exit 1 rackbench size kv --trace "$TMP/short.jsonl"
expect_match 'short.jsonl:1: output_length is missing' "$OUTPUT"
