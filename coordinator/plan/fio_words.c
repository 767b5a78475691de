#include "coordinator/plan/fio_words.h"

#define TARGETS                                                                                    \
    "drives and files are targets: targets: {t: {devices: [...]}} or {t: {directory: /d, size: "   \
    "1GiB}}, and target: t in the job"
#define PHASES "jobs of a phase run together, and phases one after the other: add a phase"
#define ENGINE "write io_uring, or sync for one operation at a time"
#define NUMA   "write cpus_allowed: auto, or a list; memory is taken where the worker runs"

static const struct {
    const char *word, *sentence;
} words[] = {
    {"blocksize", "write bs"},
    {"block_size", "write bs"},
    {"bsrange", "write bssplit, such as 4k/50:64k/50"},
    {"ba", "write blockalign"},
    {"readwrite", "write rw"},
    {"rwmixwrite", "write rwmixread, the rest of the hundred"},
    {"buffered", "write direct: false"},
    {"filename", TARGETS},
    {"filesize", TARGETS},
    {"nrfiles", TARGETS},
    {"directory", TARGETS},
    {"time_based", "runtime is always time based: leave it out"},
    {"invalidate", "direct I/O has no cache to invalidate: leave it out"},
    {"group_reporting", "results are always merged, and shown by host and drive too: leave it out"},
    {"randrepeat", "write randseed, a key of the plan"},
    {"allrandrepeat", "write randseed, a key of the plan"},
    {"refill_buffers", "every 4 KiB that is written is unlike any other: leave it out"},
    {"startdelay", "write start_delay"},
    {"stonewall", PHASES},
    {"wait_for", PHASES},
    {"wait_for_previous", PHASES},
    {"numa_cpu_nodes", NUMA},
    {"numa_mem_policy", NUMA},
    {"cpumask", "write cpus_allowed, such as 0-3,8"},
    {"latency_window", "each step of a search lasts ramp_time and runtime"},
    {"thinktime_spin", "a pause sleeps: leave it out"},
    {"thinktime_iotime", "write thinktime_blocks: pauses are counted in operations"},
    {"thinktime_blocks_type", "a pause begins when an operation is complete: leave it out"},
    {"libaio", ENGINE},
    {"posixaio", ENGINE},
    {"psync", ENGINE},
    {"vsync", ENGINE},
    {"pvsync", ENGINE},
    {"pvsync2", ENGINE},
    {"mmap", ENGINE},
    {"sg_write_mode", "write write_mode, write or zeroes"},
    {"deac", "write rw: trim, or write_mode: zeroes for Write Zeroes without it"},
    {"sg", "write io_uring_cmd for NVMe passthrough, else io_uring"},
    {"randtrimwrite", "write rw: randwrite with rwmixtrim"},
    {"trimwrite", "write rw: write with rwmixtrim"},
};

const char *rb_fio_word(const char *word)
{
    for (size_t i = 0; i < RB_LEN(words); i++)
        if (strcmp(words[i].word, word) == 0)
            return words[i].sentence;
    return NULL;
}
