/* test_fio_refused.c - what a job file asks for in vain: file, line, and what would be right. */
#include "coordinator/plan/fio_options.h"
#include "tests/unit/fio_fixture.h"

#define JOB "[a]\nsize=1m\n"

typedef struct {
    const char *text, *error;
} row_t;

static void ask(const row_t *rows, size_t n, rb_fio_manner_t manner)
{
    for (size_t i = 0; i < n; i++) {
        rb_err_t err;
        fio_error(rows[i].text, manner, &err);
        if (strstr(err.text, rows[i].error) == NULL)
            fail_msg("no '%s' in '%s' of\n%s", rows[i].error, err.text, rows[i].text);
    }
}

/* Neither manner goes on without these. */
static const row_t wrong[] = {
    {"", "dir/t.fio: no job in it"},
    {"[global]\nsize=1m\n", "dir/t.fio: no job in it"},
    {"size=1m\n[a]\n", "dir/t.fio:1: 'size=1m': it stands outside of any [section]"},
    {"[a\nsize=1m\n", "dir/t.fio:1: '[a': a section is [name]"},
    {JOB "bs=${NOPE}\n", "dir/t.fio:3: 'NOPE': the environment has no such variable"},
    {JOB "include nope.fio\n", "dir/t.fio:3: include: no file dir/nope.fio"},
    {JOB "include itself.fio\n", "more than 16 files include each other"},
    {JOB "include section.fio\n", "section.fio:1: '[b]': an included file has no sections"},
    {JOB "\n\nnumjob=4\n", "dir/t.fio:5: numjob=4: fio 3.33 has no such option; did you mean"},
    {JOB "name=\xff\n", "dir/t.fio:3: control characters, or bytes that are no UTF-8"},
    {JOB "bs=4q\n", "dir/t.fio:3: bs=4q: '4q' is no number here"},
    {JOB "direct=yes\n", "direct=yes: 'yes' is neither 0 nor 1"},
    {JOB "rw=backwards\n", "rw=backwards: 'backwards' is not known here"},
    {JOB "rw=read:-8k\n", "nothing runs backwards here"},
    {JOB "rw=rw\nrwmixread=101\n", "0 to 100 percent is right"},
    {JOB "ioengine=rados\n", "ioengine=rados: it is no local drive"},
    {JOB "ioengine=null\n", "it measures fio itself"},
    {JOB "ioengine=libcufile\ngpu_dev_ids=0\n", "ioengine=libcufile: it moves data to a GPU"},
    {JOB "ioengine=external:/x.so\n", "it brings a driver of its own"},
    {JOB "ioengine=foo\n", "no engine of fio's"},
    {JOB "time_based\n", "time_based: it needs runtime"},
    {JOB "ramp_time=3\n", "dir/t.fio:3: ramp_time needs runtime"},
    {JOB "iodepth=100000\nioengine=libaio\n", "dir/t.fio:3: iodepth: 100000 is out of range"},
    {JOB "fill_device=1\n", "file systems are not filled up"},
    {JOB "filesize=1m-2m\n", "files have one size"},
    {JOB "directory=/a:/b\n", "several directories"},
    {JOB "filename=/a/x:/b/y\n", "files in several directories"},
    {JOB "filename=/dev/sdx:y\n", "files and devices in one job"},
    {JOB "filename=-\n", "the name of a file or a device is right"},
    {JOB "startdelay=1-5\n", "delays are not drawn at random"},
    {JOB "wait_for=b\n", "no job of that name stands before it"},
    {JOB "kb_base=10\n", "1024 or 1000 is right"},
    {JOB "numjobs=0\n", "1 to 4096 jobs"},
    {JOB "bsrange=4k\n", "a range is min-max"},
    {JOB "bsrange=4k-6k\n", "max a multiple of min"},
    {JOB "bs=1k,2k,3k,4k\n", "more than three directions"},
    {JOB "cmd_type=foo\n", "NVMe commands there are"},
    {JOB "rw=randrw\nverify=md5\n", "a job that only reads or only writes can be checked"},
    {JOB "rw=write\nverify=md5\nruntime=3\n", "the whole region is read back"},
    {"[a]\nrw=read\n", "dir/t.fio:1: [a]: a file needs a size"},
    {"[a]\nsize=20%\n", "percent of a file whose filesize is not given"},
    {"[a]\nfilesize=1m\noffset=2m\n", "it is beyond filesize"},
    {"[a]\nfilename=/dev/sdx\nio_size=20%\n", "percent of a size that is not known"},
    {"[a]\nsize=1m\ntime_based\nruntime=5\n[b]\nsize=1m\ntime_based\nruntime=6\n",
     "dir/t.fio:8: jobs 'a' and 'b' of phase 'phase0' differ in runtime"},
};

/* With lenient these are a warning. */
static const row_t lacking[] = {
    {JOB "flow=8\n", "dir/t.fio:3: flow=8: jobs are not weighed against each other"},
    {JOB "zonemode=strided\n", "zonemode=strided: zones and strides are not there"},
    {JOB "numa_cpu_nodes=0\n", "each host numbers its nodes in a way of its own"},
    {JOB "ratemin=1m\n", "is not ended"},
    {JOB "rw=read:8k\n", "sequential operations leave no gaps"},
    {JOB "rw=randread:8\n", "every operation draws an offset of its own"},
    {JOB "rw=randtrimwrite\n", "no block is trimmed and then written"},
    {JOB "rw=write\nend_fsync=1\n", "a phase ends with its last operation"},
    {JOB "rw=rw\nrate=1m,2m\n", "has one rate for reads and writes together"},
    {JOB "rw=rw\nrwmixread=30\nrate=1m\n", "has one rate for reads and writes together"},
    {JOB "bsrange=1k-1m\n", "more than 64 sizes"},
    {JOB "nrfiles=4\n", "each of the 4 files has a worker of its own"},
    {JOB "ioengine=libaio\niodepth=4\nthinktime=5\n", "fio halts the whole job"},
    {JOB "rw=randread\nbsrange=4k-8k\nnorandommap=0\n", "each block once needs blocks of one size"},
    {JOB "continue_on_error=verify\n", "none, read, write and all there are"},
    {JOB "mem=cudamalloc\n", "buffers are in anonymous memory"},
    {JOB "ioengine=pvsync2\nhipri\n", "for ioengine=io_uring only"},
    {"[global]\nsize=1m\n[a]\n[b]\n[c]\nwait_for=b\n", "jobs wait for all that run before them"},
    {"[a]\nfilename=x:y\nsize=2m\nioengine=libaio\niodepth=2\n[b]\nfilename=y\nsize=1m\n",
     "dir/t.fio:7: filename=y: [a] has some of these files"},
    {"[a]\nsize=1m\nrandseed=1\n[b]\nsize=1m\nrandseed=2\n", "a plan has one randseed"},
    {"[a]\nsize=1m\ntime_based\nruntime=5\n[b]\nsize=1m\ntime_based\nruntime=5\nstartdelay=1\n",
     "startdelay beside runtime"},
};

static void test_wrong(void **state)
{
    (void)state;
    ask(wrong, RB_LEN(wrong), RB_FIO_STRICT);
    ask(wrong, RB_LEN(wrong), RB_FIO_LENIENT);
}

static void test_lacking(void **state)
{
    (void)state;
    ask(lacking, RB_LEN(lacking), RB_FIO_STRICT);
    for (size_t i = 0; i < RB_LEN(lacking); i++) {
        RB_AUTO(rb_free_str) char *yaml = fio_yaml(lacking[i].text, RB_FIO_LENIENT);
        if (strstr(yaml, "WARNING: ") == NULL)
            fail_msg("no warning in\n%s", yaml);
    }
}

/* A value that asks for nothing is no reason to refuse. */
static void test_neutral(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "flow=0",          "zonemode=none",         "end_fsync=0",
        "iodepth_batch=1", "numa_mem_policy=local", "percentage_random=100"};
    for (size_t i = 0; i < RB_LEN(rows); i++) {
        RB_AUTO(rb_free_str) char *text = rb_asprintf(JOB "%s\n", rows[i]);
        RB_AUTO(rb_free_str) char *yaml = fio_yaml(text, RB_FIO_STRICT);
        assert_null(strstr(yaml, "WARNING"));
    }
}

/* A row each, with words where it needs them. */
static void test_table(void **state)
{
    (void)state;
    static const rb_fio_option_t *const tables[] = {rb_fio_mapped, rb_fio_idle, rb_fio_never};
    for (size_t i = 0; i < RB_LEN(tables); i++)
        for (const rb_fio_option_t *o = tables[i]; o->name != NULL; o++) {
            assert_ptr_equal(rb_fio_option(o->name), o);
            if (o->alias)
                assert_ptr_equal(rb_fio_option(o->alias), o);
            assert_true(o->fate == RB_FIO_ASKED || o->text != NULL);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_lacking),
        cmocka_unit_test(test_neutral),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
