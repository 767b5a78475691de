#include "agent/health_source.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/block_graph.h"
#include "agent/drive_facts.h"
#include "agent/drives.h"
#include "agent/nvme_id.h"

/* ---- which drives ---- */

static rb_health_source_t *find_key(rb_health_sources_t *sources, const char *key)
{
    for (size_t i = 0; i < sources->n; i++)
        if (strcmp(sources->items[i].key, key) == 0)
            return &sources->items[i];
    return NULL;
}

static void add_place(rb_health_source_t *source, const rb_subject_t *subject)
{
    for (size_t i = 0; i < source->nplaces; i++)
        if (source->places[i].target == subject->target &&
            source->places[i].drive == subject->drive)
            return;
    *RB_PUSH(source->places, source->nplaces) = (rb_disk_place_t){subject->target, subject->drive};
}

static void add_disk(rb_health_sources_t *sources, const char *disk, const rb_subject_t *subject)
{
    RB_AUTO(rb_free_str) char *key = rb_drive_facts_controller(disk);
    if (key == NULL)
        key = rb_strdup(disk);
    rb_health_source_t *source = find_key(sources, key);
    if (source == NULL && sources->n == RB_MAX_HEALTH_DRIVES)
        return;
    if (source == NULL) {
        source = RB_PUSH(sources->items, sources->n);
        *source = (rb_health_source_t){
            .path = rb_block_name(disk), .disk = rb_strdup(disk), .key = RB_MOVE(key), .fd = -1};
    }
    add_place(source, subject);
}

/* The block device that a subject is, or whose file system it is on; 0: there is none. */
static dev_t device_of(const rb_subject_t *subject)
{
    struct stat st;
    RB_AUTO(rb_free_str)
    char *path = subject->is_device ? rb_drive_block_path(subject->path) : rb_strdup(subject->path);
    char *slash = strrchr(path, '/');
    if (!subject->is_device && slash != NULL && slash != path)
        *slash = '\0'; /* the file itself may not be there yet */
    if (stat(path, &st) != 0)
        return 0;
    return subject->is_device ? st.st_rdev : st.st_dev;
}

void rb_health_sources_find(rb_health_sources_t *sources, const rb_subject_t *subjects, size_t n)
{
    *sources = (rb_health_sources_t){0};
    for (size_t i = 0; i < n; i++) {
        dev_t device = device_of(&subjects[i]);
        RB_AUTO(rb_free_str) char *dir = device == 0 ? NULL : rb_sysfs_dir(device);
        RB_AUTO(rb_drive_list_destroy)
        char **disks = dir == NULL ? NULL : rb_drive_facts_disks(dir);
        for (size_t k = 0; disks != NULL && disks[k] != NULL; k++)
            add_disk(sources, disks[k], &subjects[i]);
    }
}

void rb_health_sources_clear(rb_health_sources_t *sources)
{
    for (size_t i = 0; i < sources->n; i++) {
        rb_health_source_t *s = &sources->items[i];
        if (s->fd >= 0)
            close(s->fd);
        free(s->path);
        free(s->disk);
        free(s->key);
        free(s->places);
    }
    free(sources->items);
    *sources = (rb_health_sources_t){0};
}

/* ---- a reading ---- */

/* What the kernel's drivers (drivetemp, nvme) measure, where the drive cannot be asked. */
static void ask_hwmon(const rb_health_source_t *source, rb_health_drive_t *ret)
{
    static const char *const patterns[] = {"device/hwmon/hwmon*", "device/hwmon[0-9]*"};
    char text[32];
    for (size_t i = 0; i < RB_LEN(patterns); i++) {
        glob_t found = {0};
        RB_AUTO(rb_free_str) char *pattern = rb_asprintf("%s/%s", source->disk, patterns[i]);
        if (glob(pattern, 0, NULL, &found) == 0 &&
            rb_sysfs_read(found.gl_pathv[0], "temp1_input", text, sizeof(text)) > 0)
            ret->figure[RB_HEALTH_TEMPERATURE] = strtoll(text, NULL, 10) / 1000;
        globfree(&found);
    }
}

static bool is_nvme(const rb_health_source_t *source)
{
    return strcmp(source->key, source->disk) != 0;
}

static void ask_nvme(rb_health_source_t *s, rb_health_drive_t *ret)
{
    if (s->fd < 0)
        s->fd = open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return;
    s->no_smart = s->no_smart || rb_nvme_ask_smart(s->fd, ret->figure) != 0;
    s->no_power = s->no_power || rb_nvme_ask_power_state(s->fd, ret->figure) != 0;
    s->no_ocp = s->no_ocp || rb_nvme_ask_ocp(s->fd, ret->figure) != 0;
}

void rb_health_source_read(rb_health_source_t *source, rb_health_drive_t *ret)
{
    rb_drive_link_t link = rb_drive_facts_link(source->disk);
    *ret = (rb_health_drive_t){.path = rb_strdup(source->path),
                               .serial = rb_drive_facts_serial(source->disk),
                               .firmware = rb_drive_facts_firmware(source->disk),
                               .link_mts = link.mts,
                               .link_width = link.width,
                               .link_max_mts = link.max_mts,
                               .link_max_width = link.max_width};
    for (size_t i = 0; i < source->nplaces; i++)
        *RB_PUSH(ret->places, ret->nplaces) = source->places[i];
    for (size_t i = 0; i < RB_HEALTH_COUNT; i++)
        ret->figure[i] = RB_HEALTH_UNKNOWN;
    if (is_nvme(source))
        ask_nvme(source, ret);
    if (ret->figure[RB_HEALTH_TEMPERATURE] == RB_HEALTH_UNKNOWN)
        ask_hwmon(source, ret);
}
