/* test_plan_rules_io.c - the rules of what comes next, how, when and with which data: each broken
 * once, with its whole message. */
#include "coordinator/plan/resolve.h"
#include "tests/unit/plan_fixture.h"

#define DEVICE(path, job)                                                                          \
    "targets: {d: {devices: " path "}}\nphases:\n  - destructive: true\n    jobs:\n      - {" job  \
    "}\n"
#define NEEDS_RANDOM "needs a random rw: randread, randwrite, randrw or randtrim"
#define NEEDS_512    "is no multiple of 512, which direct I/O needs; round it, or set direct: false"

/* Two phases of one job each. */
#define AFTER(first, then)                                                                         \
    "targets: {s: {size: 1GiB}, u: {size: 1GiB}}\nphases:\n  - jobs: [{" first "}]\n"              \
    "  # 2\n  - jobs: [{" then "}]\n"

/* Three phases, in lines 3 to 5 from column 13 on. */
#define PHASES(first, then, last)                                                                  \
    "targets: {s: {size: 16MiB}}\nphases:\n  - jobs: [{" first "}]\n  - jobs: [{" then             \
    "}]\n  - jobs: [{" last "}]\n"

/* Two jobs of one phase. */
#define TWO(first, second)                                                                         \
    "targets: {s: {size: 1GiB}}\nphases:\n  - jobs: [{" first "}, {" second "}]\n"
#define ONE_HINT                                                                                   \
    "write_hint: the kernel keeps one for all who write target 's', and job 'j0' has another; "    \
    "give both the same, or put them in separate phases"

static const bad_plan_t pattern[] = {
    {JOB("rw: randread, rwmixtrim: 10"),
     "p.yaml:5:24: rwmixtrim needs rw: write, randwrite, rw or randrw"},
    {JOB("rw: randtrim, rwmixtrim: 10"),
     "p.yaml:5:24: rwmixtrim needs rw: write, randwrite, rw or randrw"},
    {JOB("rw: trim, rwmixread: 10"), "p.yaml:5:20: rwmixread needs rw: rw or rw: randrw"},
    {JOB("rw: randrw, rwmixtrim: 101"),
     "p.yaml:5:22: rwmixtrim: 101 is out of range; 0 to 100 is right"},
    {JOB("rw: read, fsync: 8"),
     "p.yaml:5:20: fsync comes after writes, and job 'j0' does none; leave it out"},
    {JOB("rw: randtrim, fdatasync: 8"),
     "p.yaml:5:24: fdatasync comes after writes, and job 'j0' does none; leave it out"},
    {JOB("rw: randrw, rwmixread: 100, fsync: 8"),
     "p.yaml:5:38: fsync comes after writes, and job 'j0' does none; leave it out"},
    {JOB("rw: write, fsync: 8, fdatasync: 8"),
     "p.yaml:5:31: fsync and fdatasync exclude each other; keep one"},
    {JOB("rw: read, random_distribution: \"zipf:1.2\""),
     "p.yaml:5:20: random_distribution " NEEDS_RANDOM},
    {JOB("rw: randread, random_distribution: zipf"),
     "p.yaml:5:24: random_distribution: zipf lacks its theta: it must be above 0, below 100 and "
     "not "
     "1, such as zipf:1.2"},
    {JOB("rw: trim, norandommap: false"), "p.yaml:5:20: norandommap: false " NEEDS_RANDOM},
    {JOB("rw: randread, random_distribution: \"zipf:1.2\", norandommap: false"),
     "p.yaml:5:57: norandommap: false takes each block once, which random_distribution: zipf:1.2 "
     "cannot; keep one of them"},
    {JOB("rw: randread, bssplit: 4k/50:8k/50, norandommap: false"),
     "p.yaml:5:46: norandommap: false needs blocks of one size side by side; leave out bssplit"},
    {JOB("rw: randread, blockalign: 8k, norandommap: false"),
     "p.yaml:5:40: norandommap: false needs blocks of one size side by side; leave out blockalign"},
    {JOB("bs: 4k, bssplit: 4k/50:8k/50"),
     "p.yaml:5:18: bs and bssplit exclude each other; keep one"},
    {JOB("bssplit: 4k/50:8k/40"),
     "p.yaml:5:10: bssplit: the percentages add up to 90: they must make 100"},
    {JOB("bssplit: 4k/50:2GiB/50"),
     "p.yaml:5:10: bssplit: 2GiB is out of range; 1B to 1GiB is right"},
    {JOB("bssplit: \"4k,1000\""), "p.yaml:5:10: bssplit: 1000B " NEEDS_512},
    {JOB("size: 16k, bssplit: 4k/50:32k/50"),
     "p.yaml:5:21: bssplit: 32KiB is more than the region of 16KiB; make it smaller"},
    {JOB("size: 64k, numjobs: 4, bssplit: 4k/50:32k/50"),
     "p.yaml:5:21: numjobs: 4 workers share the region of 64KiB, less than one bs of 32KiB each; "
     "take fewer, or seq_layout: same"},
    {JOB("io_size: 16k, bssplit: 4k/50:32k/50"),
     "p.yaml:5:10: io_size is less than one bs; make it larger"},
    {JOB("seq_layout: shared, bssplit: 4k/50:32k/50"),
     "p.yaml:5:30: seq_layout: shared needs operations of one size; set bs instead of bssplit, or "
     "seq_layout: region"},
    {JOB("blockalign: 8k"), "p.yaml:5:10: blockalign " NEEDS_RANDOM},
    {JOB("rw: randread, blockalign: 1000"), "p.yaml:5:24: blockalign: 1000B " NEEDS_512},
    {JOB("rw: randread, blockalign: 0"),
     "p.yaml:5:24: blockalign: 0B is out of range; 1B to 1GiB is right"},
    {"targets: {d: {devices: /dev/sdb}}\n" PHASE("rw: trim"),
     "p.yaml:5:10: job 'j0' trims the devices of target 'd', which destroys what is on them; if "
     "that is meant, add destructive: true to phase 'p'"},
};

static const bad_plan_t io[] = {
    {JOB("ioengine: io_uring_cmd"),
     "p.yaml:5:10: ioengine: io_uring_cmd (NVMe passthrough) needs devices whose names begin with "
     "/dev/ng, and target 's' is files"},
    {DEVICE("[/dev/ng0n1, /dev/nvme1n1]", "ioengine: io_uring_cmd"),
     "p.yaml:5:10: ioengine: io_uring_cmd (NVMe passthrough) needs devices whose names begin with "
     "/dev/ng, not /dev/nvme1n1"},
    {DEVICE("/dev/ng0n1", "rw: randread"),
     "p.yaml:5:9: /dev/ng0n1 of target 'd' takes NVMe passthrough only; set ioengine: "
     "io_uring_cmd, or name the block device /dev/nvme..."},
    {DEVICE("/dev/ng0n1", "ioengine: sync"),
     "p.yaml:5:10: /dev/ng0n1 of target 'd' takes NVMe passthrough only; set ioengine: "
     "io_uring_cmd, or name the block device /dev/nvme..."},
    {DEVICE("/dev/ng0n1", "direct: false, ioengine: io_uring_cmd"),
     "p.yaml:5:10: ioengine: io_uring_cmd has no page cache; leave direct out"},
    {JOB("power_state: 0"), "p.yaml:5:10: power_state needs NVMe drives, and target 's' is files; "
                            "name devices"},
    {DEVICE("/dev/nvme0n1", "power_state: 32"),
     "p.yaml:5:10: power_state: 32 is out of range; 0 to 31 is right"},
    {DEVICE("/dev/nvme0n1", "name: a, power_state: 1}\n      - {name: b"),
     "p.yaml:5:19: jobs 'a' and 'b' are on the same drives and differ in power_state; give both "
     "the same, or put it at the phase"},
    {JOB("ioengine: sync, iodepth: 2"),
     "p.yaml:5:26: iodepth: ioengine: sync does one operation at a time; set iodepth: 1, and raise "
     "numjobs for more"},
    {JOB("direct: false, hipri: true"),
     "p.yaml:5:25: hipri needs direct: true: the page cache is not polled"},
    {JOB("ioengine: sync, sqthread_poll: true"),
     "p.yaml:5:26: sqthread_poll needs ioengine: io_uring"},
    {DEVICE("/dev/ng0n1", "ioengine: io_uring_cmd, sqthread_poll: true"),
     "p.yaml:5:34: sqthread_poll needs ioengine: io_uring"},
    {JOB("iodepth: 4, iodepth_batch_complete_min: 5"),
     "p.yaml:5:22: iodepth_batch_complete_min: 5 is more than the iodepth of 4; make it smaller"},
    {JOB("iodepth_batch_complete_min: 0"),
     "p.yaml:5:10: iodepth_batch_complete_min: 0 is out of range; 1 to 4096 is right"},
    {JOB("cpus_allowed: 3-"), "p.yaml:5:10: cpus_allowed: \"\" is not the number of a CPU: write "
                              "them as in 0-3,8; or auto, or any"},
    {JOB("cpus_allowed: near"), "p.yaml:5:10: cpus_allowed: \"near\" is not the number of a CPU: "
                                "write them as in 0-3,8; or auto, or any"},
    {JOB("cpus_allowed: auto, cpus_allowed_policy: split"),
     "p.yaml:5:30: cpus_allowed_policy is about a list of CPUs; write cpus_allowed: 0-3,8 beside "
     "it, or leave it out"},
    {JOB("cpus_allowed_policy: shared"),
     "p.yaml:5:10: cpus_allowed_policy is about a list of CPUs; write cpus_allowed: 0-3,8 beside "
     "it, or leave it out"},
    {JOB("rate: 1m, rate_iops: 5"), "p.yaml:5:10: rate and rate_iops exclude each other; keep one"},
    {JOB("rate: 0"), "p.yaml:5:10: rate: 0B is out of range; 1B to 1024PiB is right"},
    {JOB("rate: 4611686018427387904"),
     "p.yaml:5:10: rate: 4096PiB is out of range; 1B to 1024PiB is right"},
    {JOB("thinktime: 2d"), "p.yaml:5:10: thinktime: 2d is out of range; 0s to 1d is right"},
    {JOB("thinktime: 213503d"),
     "p.yaml:5:10: thinktime: 213503d is out of range; 0s to 1d is right"},
    {JOB("rate: 1m, bssplit: 4k/50:8k/50"),
     "p.yaml:5:10: rate needs operations of one size; set rate_iops beside bssplit"},
    {JOB("rate_scope: host"), "p.yaml:5:10: rate_scope needs a rate: add rate_iops or rate"},
    {JOB("rate_process: poisson"), "p.yaml:5:10: rate_process needs a rate: add rate_iops or rate"},
    {JOB("buffer_compress_percentage: 101"),
     "p.yaml:5:10: buffer_compress_percentage: 101 is out of range; 0 to 100 is right"},
    {JOB("dedupe_percentage: 101"),
     "p.yaml:5:10: dedupe_percentage: 101 is out of range; 0 to 100 is right"},
    {JOB("zero_buffers: true, buffer_compress_percentage: 1"),
     "p.yaml:5:10: zero_buffers leaves nothing for buffer_compress_percentage to do; keep one of "
     "them"},
    {JOB("zero_buffers: true, dedupe_percentage: 1"),
     "p.yaml:5:10: zero_buffers leaves nothing for dedupe_percentage to do; keep one of them"},
};

static const bad_plan_t writes[] = {
    {JOB("write_mode: zeroes"),
     "p.yaml:5:10: write_mode: zeroes says how to write, and job 'j0' does not; leave it out"},
    {JOB("rw: randrw, rwmixread: 100, write_mode: zeroes"),
     "p.yaml:5:38: write_mode: zeroes says how to write, and job 'j0' does not; leave it out"},
    {JOB("rw: trim, write_mode: zeroes"),
     "p.yaml:5:20: write_mode: zeroes says how to write, and job 'j0' does not; leave it out"},
    {JOB("rw: write, write_mode: zeroes, verify: true"),
     "p.yaml:5:41: write_mode: zeroes writes no data; leave out verify"},
    {JOB("rw: write, write_mode: zeroes, zero_buffers: true"),
     "p.yaml:5:41: write_mode: zeroes writes no data; leave out zero_buffers"},
    {JOB("rw: write, write_mode: zeroes, dedupe_percentage: 5"),
     "p.yaml:5:41: write_mode: zeroes writes no data; leave out dedupe_percentage"},
    {JOB("rw: write, buffer_compress_percentage: 5, write_mode: zeroes"),
     "p.yaml:5:21: write_mode: zeroes writes no data; leave out buffer_compress_percentage"},
    {JOB("rw: randread, sync: dsync"),
     "p.yaml:5:24: sync is about writes, and job 'j0' does none; leave it out"},
    {JOB("rw: write, write_mode: zeroes, sync: sync"),
     "p.yaml:5:41: sync is about data, and write_mode: zeroes writes none; set fsync instead"},
    {JOB("rw: randread, write_hint: short"),
     "p.yaml:5:24: write_hint is about writes, and job 'j0' does none; leave it out"},
    {DEVICE("/dev/ng0n1", "rw: write, ioengine: io_uring_cmd, write_hint: long"),
     "p.yaml:5:45: write_hint: NVMe passthrough carries none; set ioengine: io_uring"},
    {JOB("rw: write, write_mode: zeroes, write_hint: long"),
     "p.yaml:5:41: write_hint is about data, and write_mode: zeroes writes none; leave it out"},
    {TWO("rw: write, write_hint: long", "rw: write, write_hint: short"), "p.yaml:3:55: " ONE_HINT},
    {TWO("rw: randwrite", "rw: randrw, write_hint: none"), "p.yaml:3:42: " ONE_HINT},
    {TWO("rw: randwrite, write_hint: none", "rw: randrw"), "p.yaml:3:47: " ONE_HINT},
};

static const bad_plan_t pauses[] = {
    {JOB("thinktime: 1ms, rate_iops: 5"),
     "p.yaml:5:10: thinktime pauses after an operation is complete, and rate_iops says when each "
     "is due whatever came of the others; keep one of them"},
    {JOB("rate: 1m, thinktime: 1ms"),
     "p.yaml:5:20: thinktime pauses after an operation is complete, and rate says when each is due "
     "whatever came of the others; keep one of them"},
    {JOB("due_spin: 50us"),
     "p.yaml:5:10: due_spin needs operations that are due at a time of their "
     "own: add rate_iops, rate or thinktime"},
    {JOB("rate_iops: 5, due_spin: 2s"),
     "p.yaml:5:24: due_spin: 2s is out of range; 0s to 1s is right"},
    {JOB("thinktime_blocks: 2"), "p.yaml:5:10: thinktime_blocks needs a pause: add thinktime"},
    {JOB("thinktime: 0, thinktime_blocks: 2"),
     "p.yaml:5:24: thinktime_blocks needs a pause: add thinktime"},
    {JOB("thinktime: 1ms, thinktime_blocks: 0"),
     "p.yaml:5:26: thinktime_blocks: 0 is out of range; 1 to 4294967295 is right"},
};

static const bad_plan_t verify[] = {
    {JOB("verify: true, verify_only: true"),
     "p.yaml:5:24: verify and verify_only exclude each other; keep one"},
    {JOB("rw: rw, verify: true"),
     "p.yaml:5:18: verify needs a job that only reads or only writes; put reads and writes in "
     "separate phases"},
    {JOB("rw: randrw, verify_only: true"),
     "p.yaml:5:22: verify_only needs a job that only reads or only writes; put reads and writes in "
     "separate phases"},
    {JOB("rw: trim, verify: true"),
     "p.yaml:5:20: verify: what is trimmed has no data to check; leave one out"},
    {JOB("rw: write, rwmixtrim: 1, verify: true"),
     "p.yaml:5:35: verify: what is trimmed has no data to check; leave one out"},
    {JOB("rw: write, verify_only: true"),
     "p.yaml:5:21: verify_only needs rw: read or rw: randread; a job that writes takes verify"},
    {JOB("rw: write, bssplit: 4k/50:8k/50, verify: true"),
     "p.yaml:5:43: verify needs blocks of one size side by side; leave out bssplit"},
    {JOB("rw: randwrite, blockalign: 512, verify: true"),
     "p.yaml:5:42: verify needs blocks of one size side by side; leave out blockalign"},
    {JOB("bs: 1000, direct: false, verify_only: true"),
     "p.yaml:5:10: verify_only needs a bs that is a multiple of 512; round it"},
    {JOB("rw: write, zero_buffers: true, verify: true"),
     "p.yaml:5:41: verify needs data of its own in each block; leave out zero_buffers"},
    {JOB("rw: write, dedupe_percentage: 1, verify: true"),
     "p.yaml:5:43: verify needs data of its own in each block; leave out dedupe_percentage"},
    {JOB("rw: write, buffer_compress_percentage: 1, verify: true"),
     "p.yaml:5:52: verify needs data of its own in each block; leave out "
     "buffer_compress_percentage"},
    {JOB("verify: true"),
     "p.yaml:5:10: verify: no earlier phase writes target 's' with verify: true; add one, or set "
     "verify_only for the data of an earlier run"},
    {AFTER("rw: write, target: s", "target: s, verify: true"),
     "p.yaml:5:24: verify: no earlier phase writes target 's' with verify: true; add one, or set "
     "verify_only for the data of an earlier run"},
    {AFTER("rw: write, target: u, verify: true", "target: s, verify: true"),
     "p.yaml:5:24: verify: no earlier phase writes target 's' with verify: true; add one, or set "
     "verify_only for the data of an earlier run"},
    {AFTER("target: s, verify_only: true", "target: s, verify: true"),
     "p.yaml:5:24: verify: no earlier phase writes target 's' with verify: true; add one, or set "
     "verify_only for the data of an earlier run"},
    /* beside it is not before it */
    {"targets: {s: {size: 1MiB}}\nphases:\n  - jobs: [{rw: write, verify: true}, {verify: true}]\n",
     "p.yaml:3:40: verify: no earlier phase writes target 's' with verify: true; add one, or set "
     "verify_only for the data of an earlier run"},
    {AFTER("rw: write, target: s, bs: 64k, verify: true", "target: s, verify: true"),
     "p.yaml:5:24: verify: job 'j0' of phase 'phase0' was the last to write target 's', with a bs "
     "of 64KiB; read it with the same"},
    /* the last one counts, and each part of the region */
    {PHASES("rw: write, verify: true", "rw: write, bs: 8k, verify: true", "verify: true"),
     "p.yaml:5:13: verify: job 'j0' of phase 'phase1' was the last to write target 's', with a bs "
     "of 8KiB; read it with the same"},
    {PHASES("rw: write, bs: 8k, verify: true", "rw: write, size: 1MiB, verify: true",
            "verify: true"),
     "p.yaml:5:13: verify: job 'j0' of phase 'phase0' was the last to write target 's', with a bs "
     "of 8KiB; read it with the same"},
    {PHASES("rw: write, verify: true", "rw: write, offset: 2MiB, size: 8k, bs: 8k, verify: true",
            "offset: 1MiB, size: 2MiB, verify: true"),
     "p.yaml:5:39: verify: job 'j0' of phase 'phase1' was the last to write target 's', with a bs "
     "of 8KiB; read it with the same"},
    {PHASES("rw: write, verify: true", "rw: randrw, rwmixread: 99", "verify: true"),
     "p.yaml:5:13: verify: job 'j0' of phase 'phase1' changes target 's' after it was written with "
     "verify: true; set that there too, or read before it"},
    {PHASES("rw: write, verify: true", "rw: trim", "verify: true"),
     "p.yaml:5:13: verify: job 'j0' of phase 'phase1' changes target 's' after it was written with "
     "verify: true; set that there too, or read before it"},
    {PHASES("rw: write, verify: true}, {rw: write, bs: 8k, verify: true", "verify_only: true",
            "verify: true"),
     "p.yaml:5:13: verify: job 'j1' of phase 'phase0' was the last to write target 's', with a bs "
     "of 8KiB; read it with the same"},
};

static void test_bad(void **state)
{
    (void)state;
    expect_messages(pattern, RB_LEN(pattern));
    expect_messages(io, RB_LEN(io));
    expect_messages(pauses, RB_LEN(pauses));
    expect_messages(writes, RB_LEN(writes));
    expect_messages(verify, RB_LEN(verify));
}

/* The nearest plans to those above that are right. */
static const char *const good[] = {
    JOB("rw: randrw, rwmixtrim: 100"),
    JOB("rw: randrw, rwmixread: 100, rwmixtrim: 10"),
    JOB("rw: write, rwmixtrim: 10, fsync: 8"),
    JOB("rw: randrw, rwmixread: 99, fdatasync: 1"),
    JOB("rw: read, fsync: 0, norandommap: true"),
    JOB("rw: randtrim, random_distribution: \"pareto:0.2:0.5\""),
    JOB("rw: randrw, norandommap: false, random_distribution: random, rwmixtrim: 5, fsync: 3"),
    JOB("rw: randread, bssplit: \"4k/60:64k/40\", blockalign: 512"),
    JOB("bssplit: 1000/50:3k/50, direct: false"),
    JOB("size: 64k, numjobs: 2, bssplit: 4k/50:32k/50"),
    JOB("size: 64k, numjobs: 4, bssplit: 4k/50:32k/50, seq_layout: same"),
    JOB("rw: randread, seq_layout: shared, bssplit: 4k/50:32k/50"),
    JOB("io_size: 32k, bssplit: 4k/50:32k/50, rate_iops: 5"),
    JOB("rw: randread, blockalign: 1000, direct: false"),
    JOB("rw: trim"), /* a file */
    DEVICE("/dev/sdb", "rw: trim"),
    DEVICE("[\"/dev/ng*n1\", /dev/ng1n1]", "rw: randrw, ioengine: io_uring_cmd, hipri: true"),
    JOB("ioengine: sync, hipri: true, iodepth_batch_complete_min: 1"),
    JOB("sqthread_poll: true, iodepth: 4, iodepth_batch_complete_min: 4, iomem: mmaphuge"),
    JOB("ioengine: sync, sqthread_poll: false, direct: false"),
    JOB("cpus_allowed: \"0-3,8\", continue_on_error: read, fallback: allow"),
    JOB("cpus_allowed: auto"),
    JOB("cpus_allowed: any"),
    JOB("cpus_allowed: 0-3, cpus_allowed_policy: split"),
    JOB("rate: 100MB, rate_scope: cluster, rate_process: poisson"),
    JOB("rate_iops: 5, rate_scope: drive"),
    JOB("thinktime: 0, rate_iops: 5"),
    JOB("thinktime: 1ms, thinktime_blocks: 4, iodepth: 4"),
    JOB("rw: write, write_mode: zeroes, bs: 1MiB, verify: false"),
    JOB("rw: randrw, write_mode: zeroes, ioengine: sync, fsync: 8"),
    JOB("rw: read, write_mode: write, sync: none"),
    JOB("rw: randrw, sync: sync"),
    DEVICE("/dev/ng0n1", "rw: write, ioengine: io_uring_cmd, sync: dsync"),
    TWO("rw: write, write_hint: long", "rw: randwrite, write_hint: long"),
    TWO("rw: randread", "rw: write, write_hint: long"),
    "targets: {s: {size: 1GiB}, u: {size: 1GiB}}\nphases:\n"
    "  - jobs: [{target: s, rw: write, write_hint: long}, {target: u, rw: write}]\n",
    JOB("rw: randrw, write_hint: extreme, ioengine: sync"),
    JOB("thinktime: 1ms, due_spin: 50us"),
    JOB("rate: 1m, due_spin: 1s"),
    JOB("due_spin: 0"),
    JOB("thinktime: 0, verify: false, zero_buffers: false, dedupe_percentage: 0"),
    JOB("rw: randrw, buffer_compress_percentage: 50, dedupe_percentage: 30"),
    JOB("rw: write, zero_buffers: true"),
    JOB("rw: randwrite, verify: true, numjobs: 2"),
    JOB("rw: randread, verify_only: true"),
    JOB("bs: 1536, direct: false, verify_only: true"),
    AFTER("rw: randwrite, target: s, verify: true", "rw: read, target: s, verify: true"),
    /* at the end of three, and of two writers the last; what others wrote elsewhere */
    PHASES("rw: write, bs: 8k, verify: true", "rw: write, verify: true}, {verify_only: true",
           "rw: randread, verify: true"),
    PHASES("rw: write, verify: true", "rw: write, offset: 8MiB, bs: 8k, verify: true",
           "size: 8MiB, verify: true"),
    PHASES("rw: write, verify: true", "rw: randwrite, size: 8MiB", "offset: 8MiB, verify: true"),
    PHASES("rw: write, bs: 8k",
           "rw: write, size: 8MiB, verify: true}, {rw: write, offset: 8MiB, verify: true",
           "verify: true"),
    PHASES("rw: write, verify: true", "rw: randrw, rwmixread: 100", "verify: true"),
};

static void test_good(void **state)
{
    (void)state;
    expect_good(good, RB_LEN(good));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
