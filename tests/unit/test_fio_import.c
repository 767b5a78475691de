/* test_fio_import.c - job files of fio to plans: each option's key, and what sections make. */
#include "coordinator/plan/fio_import.h"
#include "tests/unit/fio_fixture.h"

#define FILE_JOB "[a]\nsize=1m\n"

typedef struct {
    const char *text;
    const char *lines[8]; /* that the YAML has; "!...": has not */
} row_t;

static void ask(const row_t *rows, size_t n, rb_fio_manner_t manner)
{
    for (size_t i = 0; i < n; i++)
        fio_has(rows[i].text, manner, rows[i].lines);
}

static void test_sections(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {"[global]\nbs=8k\n[a]\nsize=1m\n[global]\nrw=write\nbs=16k ; c\n[b]\nsize=2m # d\n",
         {"name: a\n        target: a\n        rw: read\n        bs: 8KiB",
          "name: b\n        target: b\n        rw: write\n        bs: 16KiB"}},
        {"; c\n\n  # d\n[a b]\n\t size\t=\t1m\nbs=4k\nbs=8k\n",
         {"bs: 8KiB", "name: \"a b\"", "!4KiB"}},
        {FILE_JOB "include part.fio\n", {"bs: 16KiB"}},
        {FILE_JOB "ioengine=libaio\ninclude deep.fio\n", {"iodepth: 3"}},
        {"[a]\nsize=${SIZE}\nbs=${EMPTY}4k\n", {"size: 5MiB", "bs: 4KiB"}},
        {"[a]\nname=x\nsize=1m\n", {"name: x"}},
        {"[a]\nsize=1m\n[a]\nsize=1m\n", {"name: a\n", "name: a-2\n"}},
        {"[global]\nrandseed=7\n[a]\nsize=1m\n", {"randseed: 7"}},
        {"[global]\nkb_base=1000\n[a]\nsize=4mib\nbs=4kib\n", {"size: 4MiB", "bs: 4KiB"}},
    };
    ask(rows, RB_LEN(rows), RB_FIO_STRICT);
}

static void test_phases(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {"[global]\nsize=1m\n[a]\n[b]\n[c]\nstonewall\n[d]\nstonewall=0\n",
         {"  - jobs:\n      - name: a", "      - name: b", "  - jobs:\n      - name: c"}},
        {"[global]\nsize=1m\nstonewall\n[a]\n[b]\n",
         {"  - name: a\n    jobs:", "  - name: b\n    jobs:"}},
        {"[global]\nsize=1m\n[a]\n[b]\nwait_for=a\n[c]\nwait_for=a\n",
         {"  - name: a\n    jobs:", "  - jobs:\n      - name: b"}},
    };
    ask(rows, RB_LEN(rows), RB_FIO_STRICT);
}

static void test_what(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {FILE_JOB "rw=randrw\nrwmixread=30\n", {"rw: randrw\n        rwmixread: 30"}},
        {FILE_JOB "readwrite=readwrite\nrwmixread=30\nrwmixwrite=40\n",
         {"rw: rw", "rwmixread: 60"}},
        {FILE_JOB "rw=read\nrwmixread=30\n", {"!        rwmixread"}},
        {FILE_JOB "rw=randread:1\n", {"rw: randread"}},
        {FILE_JOB, {"bs: 4KiB", "ioengine: sync", "direct: false"}},
        {FILE_JOB "rw=rw\nbs=8k,16k\n", {"bssplit: \"8KiB,16KiB\"", "!bs: "}},
        {FILE_JOB "rw=write\nbs=8k,16k\n", {"bs: 16KiB"}},
        {FILE_JOB "rw=rw\nbs=,16k\n", {"bssplit: \"4KiB,16KiB\""}},
        {FILE_JOB "rw=randtrim\nbs=8k,16k,32k\n", {"bs: 32KiB"}},
        {FILE_JOB "rw=randread\nbsrange=1k-4k\n",
         {"bssplit: \"1KiB:2KiB:3KiB:4KiB\"", "each block once needs"}},
        {FILE_JOB "rw=randrw\nbssplit=4k/60:64k/,8k/100\n",
         {"bssplit: \"4KiB/60:64KiB,8KiB/100\""}},
        {FILE_JOB "rw=randread\nba=8k\n", {"blockalign: 8KiB"}},
        {FILE_JOB "rw=randread\n", {"norandommap: false"}},
        {FILE_JOB "rw=randread\nnorandommap\n", {"!norandommap: "}},
        {FILE_JOB "rw=randread\nrandom_distribution=zipf\n",
         {"random_distribution: \"zipf:1.1\"", "!norandommap: "}},
        {FILE_JOB "rw=randread\nrandom_distribution=zoned_abs:60/4KiB:40/8k\n",
         {"\"zoned_abs:60/4000B:40/8192B\""}},
        {FILE_JOB "rw=write\nfsync=8\nsync=1\n", {"fsync: 8", "        sync: sync"}},
    };
    ask(rows, RB_LEN(rows), RB_FIO_STRICT);
}

static void test_how(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {FILE_JOB "ioengine=libaio\niodepth=8\niodepth_batch_complete_min=4\ndirect=1\n",
         {"ioengine: io_uring", "iodepth: 8", "iodepth_batch_complete_min: 4", "direct: true"}},
        {FILE_JOB "ioengine=posixaio\nbuffered=0\n", {"ioengine: io_uring", "direct: true"}},
        {FILE_JOB "direct=1\nbuffered=1\n", {"direct: false"}},
        {FILE_JOB "buffered=1\ndirect=1\n", {"direct: true"}},
        {FILE_JOB "ioengine=pvsync2\niodepth=8\n",
         {"ioengine: sync", "!        iodepth", "# dir/t.fio:4"}},
        {FILE_JOB "ioengine=io_uring\ndirect=1\nhipri\nsqthread_poll=1\nfixedbufs\n",
         {"hipri: true", "sqthread_poll: true", "fixedbufs: left out"}},
        {"[a]\nfilename=/dev/ng0n1\nioengine=io_uring_cmd\ncmd_type=nvme\n",
         {"devices: [/dev/ng0n1]", "ioengine: io_uring_cmd", "!direct"}},
        {FILE_JOB "cpus_allowed=0-3,8\ncpus_allowed_policy=split\n",
         {"cpus_allowed: \"0-3,8\"", "cpus_allowed_policy: split"}},
        {FILE_JOB "cpumask=0x5\n", {"cpus_allowed: \"0,2\""}},
        {FILE_JOB "mem=mmaphuge\n", {"iomem: mmaphuge"}},
        {FILE_JOB "rw=write\nbuffer_compress_percentage=50\ndedupe_percentage=20\n",
         {"buffer_compress_percentage: 50", "dedupe_percentage: 20"}},
        {FILE_JOB "rw=write\nzero_buffers\nwrite_hint=short\n",
         {"zero_buffers: true", "write_hint: short"}},
        {FILE_JOB "continue_on_error=io\n", {"continue_on_error: all"}},
    };
    ask(rows, RB_LEN(rows), RB_FIO_STRICT);
}

static void test_when(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {FILE_JOB "time_based\nruntime=10\nramp_time=2\n",
         {"runtime: 10s", "ramp_time: 2s", "!loops", "!io_size"}},
        {FILE_JOB "time_based\nruntime=10\nloops=3\nio_size=1m\nrate_process=poisson\n",
         {"loops=3: left out: the job is time_based", "io_size=1m: left out",
          "rate_process=poisson: left out: there is no rate"}},
        {FILE_JOB "runtime=10\n", {"runtime: 10s", "loops: 1"}},
        {FILE_JOB "loops=3\n", {"loops: 3"}},
        {FILE_JOB "io_size=100k\nloops=2\n", {"io_size: 200KiB", "!loops"}},
        {FILE_JOB "io_size=50%\n", {"io_size: 512KiB"}},
        {FILE_JOB "number_ios=10\n", {"number_ios: 10", "loops: 1"}},
        {FILE_JOB "rw=randread\nfilename=x\nnumjobs=4\n", {"numjobs: 4", "loops: 1"}},
        {FILE_JOB "rate=1m,500k\n", {"rate: 1MiB"}},
        {FILE_JOB "rw=write\nrate=1m,500k\n", {"rate: 500KiB"}},
        {FILE_JOB "rw=write\nrate=1m,\n", {"!rate:"}},
        {FILE_JOB "rw=rw\nrate_iops=100\nrate_process=poisson\n",
         {"rate_iops: 200", "rate_process: poisson"}},
        {FILE_JOB "thinktime=50\nthinktime_blocks=4\n", {"thinktime: 50us", "thinktime_blocks: 4"}},
        {FILE_JOB "startdelay=3\n", {"start_delay: 3s"}},
        {FILE_JOB "startdelay=3\ntime_based\nruntime=5\nramp_time=1\n",
         {"start_delay: 3s", "ramp_time: 4s", "runtime: 5s"}},
    };
    ask(rows, RB_LEN(rows), RB_FIO_STRICT);
}

static void test_files(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {"[a]\nsize=1m\ndirectory=/d\n",
         {"- name: a\n    directory: /d\n    size: 1MiB", "!files"}},
        {"[a]\nsize=1m\ndirectory=d\n", {"!directory: d", "scratch directory"}},
        {"[a]\nsize=1m\nnumjobs=4\n", {"files: 4\n    size: 1MiB", "!        numjobs"}},
        {"[a]\nsize=3m\nnrfiles=3\nioengine=libaio\niodepth=6\n",
         {"files: 3\n    size: 1MiB", "iodepth: 2"}},
        {"[a]\nfilename=/d/x\nsize=1m\nnumjobs=4\n",
         {"name: x\n    directory: /d\n    size: 1MiB", "numjobs: 4", "seq_layout: same"}},
        {"[a]\nfilename=x\nsize=1m\n[b]\nfilename=x\nsize=2m\noffset=1m\n",
         {"size: 3MiB", "target: x\n        rw: read\n        bs: 4KiB\n        size: 1MiB",
          "offset: 1MiB", "!x-2"}},
        {"[a]\nfilename=x\\:y:z\nsize=2m\nioengine=libaio\niodepth=2\n",
         {"name: x_y\n    files: 2\n    size: 1MiB"}},
        {"[a]\nfilename_format=$jobname.x\nsize=1m\nnumjobs=2\n",
         {"name: a.x\n    size", "numjobs: 2"}},
        {"[a]\nfilesize=4m\nsize=1m\nrw=randread\n", {"    size: 4MiB", "io_size: 1MiB"}},
        {"[a]\nfilesize=4m\nsize=50%\n", {"    size: 4MiB", "io_size: 2MiB"}},
        {"[a]\nfilesize=1m\nsize=4m\n", {"    size: 1MiB", "!io_size"}},
        {"[a]\nfilename=x\nsize=1m\nnumjobs=3\noffset_increment=2m\n",
         {"    size: 5MiB", "        size: 1MiB", "offset_increment: 2MiB"}},
        {"[a]\nfilename=/dev/sdx\nrw=write\n",
         {"devices: [/dev/sdx]", "destructive: true", "--allow-device"}},
        {"[a]\nfilename=/dev/sdx\nrw=read\n", {"!destructive"}},
        {"[a]\nfilename=/dev/sdx\nrw=read\nfilesize=1m\nnrfiles=2\n",
         {"filesize=1m: left out: a drive has", "nrfiles=2: left out: filename names", "!size: "}},
        {"[a]\nfilename=/dev/sdx:/dev/"
         "sdy\nsize=2g\nnumber_ios=8\nrate=2m\nioengine=libaio\niodepth=4\n",
         {"devices: [/dev/sdx, /dev/sdy]", "        size: 1GiB", "number_ios: 4", "rate: 1MiB",
          "iodepth: 2"}},
        {"[a]\nfilename=/dev/sdx\nsize=20%\noffset=50%\n",
         {"size_percent: 20", "offset_percent: 50"}},
    };
    ask(rows, RB_LEN(rows), RB_FIO_STRICT);
}

static void test_verify(void **state)
{
    (void)state;
    static const row_t rows[] = {
        {FILE_JOB "rw=write\nverify=md5\n",
         {"- name: a\n    jobs:", "verify: true", "- name: a.verify\n    jobs:", "rw: read",
          "continue_on_error: read"}},
        {FILE_JOB "rw=write\nverify=md5\nverify_fatal=1\n", {"a.verify", "!continue_on_error"}},
        {FILE_JOB "rw=randwrite\nverify=crc32c\ndo_verify=0\n", {"verify: true", "!a.verify"}},
        {"[global]\nfilename=x\nsize=1m\nverify=md5\n[w]\nrw=write\ndo_verify=0\n[r]\nstonewall\n"
         "rw=read\n",
         {"verify: true", "!verify_only", "- name: r"}},
        {FILE_JOB "verify=md5\n", {"verify_only: true"}},
        {FILE_JOB "rw=write\nverify=md5\nverify_only\n", {"rw: read", "verify_only: true"}},
        {FILE_JOB "rw=write\nverify=0\n", {"!verify"}},
    };
    ask(rows, RB_LEN(rows), RB_FIO_STRICT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sections), cmocka_unit_test(test_phases),
        cmocka_unit_test(test_what),     cmocka_unit_test(test_how),
        cmocka_unit_test(test_when),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_verify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
