#!/usr/bin/env bash
# fio's JSON and log files of a run, and the tools of Debian's fio package that read these: whole,
# equal to result.json, taken without a complaint.
source "$(dirname "$0")/../lib/check.sh"
command -v jq >/dev/null || skip "needs jq"

mkdir "$TMP/files"
cat >"$TMP/plan.yaml" <<PLAN
name: fio
interval: 100ms
targets: {s: {directory: $TMP/files, size: 16MiB}}
phases:
  - name: mixed
    runtime: 1s
    jobs: [{name: j, rw: randrw, iodepth: 4, fsync: 8}, {name: paced, rw: randread, bs: 8KiB, rate_iops: 500}]
  - {name: write, jobs: [{name: w, rw: write, bs: 64KiB}]}
PLAN
rackbench run "$TMP/plan.yaml" --local 2 --scratch "$TMP/scratch" --output "$TMP/run" --connect-timeout 30s \
    --format fio-json+ --fio-logs "$TMP/logs" >"$TMP/clients.json" 2>"$TMP/log" || fail "$(cat "$TMP/log")"
result=$TMP/run/result.json

check "a replay says the same" diff "$TMP/clients.json" <(rackbench report "$TMP/run" --format fio-json+)
rackbench report "$TMP/run" --format fio-json --host local1 >"$TMP/one.json"
rackbench report "$TMP/run" --format fio-json+ --host local1 >"$TMP/plus.json"

# An entry for each phase, host and job, and the sum.
check_json "$TMP/clients.json" '[.client_stats[] | .jobname + "@" + .hostname] == ["mixed.j@local1", "mixed.paced@local1",
    "mixed.j@local2", "mixed.paced@local2", "write.w@local1", "write.w@local2", "All clients@All clients"]'
# shellcheck disable=SC2016 # for jq to expand
whole()
{
    jq -s '{ours: .[0], fio: .[1]}' "$result" "$TMP/clients.json" >"$TMP/both.json"
    check_json "$TMP/both.json" '.fio.client_stats[-1] as $all | ([.ours.phases[].cluster.read.ops // 0] | add) == $all.read.total_ios and
        ([.ours.phases[].cluster.write.bytes // 0] | add) == $all.write.io_bytes and
        ([.ours.phases[].cluster.sync.ops // 0] | add) == $all.sync.total_ios and
        (($all.read.total_ios / ([.ours.phases[].seconds] | add) / $all.read.iops) - 1 | fabs) < 1e-6'
    check_json "$TMP/both.json" '.fio.client_stats[0] as $f | .ours.phases[0].hosts.local1.jobs.j as $o |
        $f.read.total_ios == $o.read.ops and $f.read.lat_ns.max == $o.read.response_ns.max and
        $f.read.clat_ns.min == $o.read.service_ns.min and $f.read.slat_ns.N == 0 and
        ($f.read.lat_ns.percentile["99.000000"] / $o.read.response_ns.p99 - 1 | fabs) < 0.016'
}
whole
check_json "$TMP/clients.json" '[.client_stats[] | .read, .write | select(.total_ios > 0) | .total_ios == .clat_ns.N and
    ([.clat_ns.bins[]] | add) == .clat_ns.N] | length > 4 and all'
check_json "$TMP/one.json" '(.jobs | length) == 3 and (has("client_stats") | not) and .jobs[0]["job options"].bs == "4k" and
    (.jobs[0].read.lat_ns | has("percentile") and (has("bins") | not))'
expect_exit 1 rackbench report "$TMP/run" --format fio-json --host nobody
expect_match "'nobody' is no host of this run" "$OUTPUT"
expect_exit 1 rackbench report "$TMP/run" --host local1
expect_match 'host needs --format fio-json' "$OUTPUT"

# The logs: a line for each window and direction, whose sum is what the result says.
check "five kinds of log for each phase and host" [ "$(find "$TMP/logs" -name '*.log' | wc -l)" -eq 20 ]
iops=$(awk -F', ' '$3 == 0 {sum += $2; n++} END {print(n >= 8 ? sum / n : 0)}' "$TMP/logs/mixed.local1_iops.1.log")
check_json "$result" ".phases[0].hosts.local1.total.read.iops as \$r | ($iops / \$r - 1 | fabs) < 0.05"
clat=$(awk -F', ' '$3 == 1 && NR == FNR {iops[$1] = $2} $3 == 1 && NR > FNR {sum += $2 * iops[$1]; n += iops[$1]}
    END {print(n ? sum / n : 0)}' "$TMP"/logs/mixed.local1_{iops,clat}.1.log)
check_json "$result" ".phases[0].hosts.local1.jobs.j.write.service_ns.mean as \$m | ($clat / \$m - 1 | fabs) < 0.05"

command -v fio_jsonplus_clat2csv >/dev/null || skip "needs fio's tools"
expect_exit 0 fio_jsonplus_clat2csv "$TMP/plus.json" "$TMP/clat.csv"
expect_exit 0 fio_jsonplus_clat2csv "$TMP/plus.json" "$TMP/clat.csv" --validate
expect_match 'clat_job2.csv validated' "$OUTPUT"

parser=/usr/share/doc/fio/fiologparser.py.gz
[ -e "$parser" ] || skip "needs fio's fiologparser.py"
zcat "$parser" >"$TMP/fiologparser.py"
expect_exit 0 python3 "$TMP/fiologparser.py" -i 200 -s "$TMP"/logs/mixed*_bw.1.log
expect_match '^200, [0-9]+' "$OUTPUT"
expect_exit 0 python3 "$TMP/fiologparser.py" -i 200 -a "$TMP"/logs/mixed*_clat.1.log

command -v gnuplot >/dev/null || skip "needs gnuplot"
cd "$TMP/logs"
expect_exit 0 fio_generate_plots drives
# Its own `set mxtics 0` makes gnuplot warn, with fio's logs as well.
complaints=$(grep -iE 'error|warning|no log files|no data|empty' <<<"$OUTPUT" | grep -v 'Expecting number of intervals' || true)
check "fio_generate_plots has no complaint: $complaints" [ -z "$complaints" ]
for kind in bw iops clat lat slat; do
    check "a graph of $kind" [ -s "drives-$kind.svg" ]
done
