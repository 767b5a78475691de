#include "agent/drive_facts.h"

#include <ctype.h>
#include <dirent.h>

#include "agent/block_graph.h"
#include "agent/drive_node.h"
#include "agent/drives.h"

enum { TEXT = 260 };

static char *read_text(const char *dir, const char *file)
{
    char text[TEXT];
    rb_sysfs_read(dir, file, text, sizeof(text));
    return rb_strdup(text);
}

/* The first of them that is there. */
static char *first_text(const char *dir, const char *const *files, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (rb_sysfs_has(dir, files[i]))
            return read_text(dir, files[i]);
    return read_text(dir, files[n - 1]);
}

char *rb_drive_facts_model(const char *disk)
{
    return read_text(disk, "device/model");
}

char *rb_drive_facts_firmware(const char *disk)
{
    static const char *const files[] = {"device/firmware_rev", "device/rev"};
    return first_text(disk, files, RB_LEN(files));
}

char *rb_drive_facts_serial(const char *disk)
{
    char text[TEXT];
    if (rb_sysfs_read(disk, "device/serial", text, sizeof(text)) > 0 ||
        rb_sysfs_read(disk, "serial", text, sizeof(text)) > 0)
        return rb_strdup(text);
    if (rb_sysfs_read(disk, "device/vpd_pg80", text, sizeof(text)) >
        4) /* SCSI: 4 bytes of header */
        return rb_strdup(text + 4 + strspn(text + 4, " "));
    return rb_strdup("");
}

/* ---- where it hangs ---- */

static bool is_pci_address(const char *name, size_t size)
{
    static const char shape[] = "xxxx:xx:xx.x";
    if (size != sizeof(shape) - 1)
        return false;
    for (size_t i = 0; i < size; i++)
        if (shape[i] == 'x' ? !isxdigit((unsigned char)name[i]) : name[i] != shape[i])
            return false;
    return true;
}

/* The way down to the last PCI device on it; NULL: there is none. */
static char *pci_dir(const char *dir)
{
    size_t end = 0;
    for (const char *at = strchr(dir, '/'); at != NULL; at = strchr(at + 1, '/')) {
        size_t size = strcspn(at + 1, "/");
        if (is_pci_address(at + 1, size))
            end = (size_t)(at + 1 - dir) + size;
    }
    return end > 0 ? rb_strndup(dir, end) : NULL;
}

/* "nvme0", not "nvme0n1" nor "nvme0c0n1". */
static bool is_controller_name(const char *name)
{
    if (strncmp(name, "nvme", 4) != 0 || name[4] == '\0')
        return false;
    return name[4 + strspn(name + 4, "0123456789")] == '\0';
}

/* The name of the first entry of dir that `is`; NULL: none. */
static char *find_entry(const char *dir, bool (*is)(const char *name))
{
    char *found = NULL;
    DIR *d = opendir(dir);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (!is(e->d_name) || (found != NULL && strverscmp(e->d_name, found) > 0))
            continue;
        free(found);
        found = rb_strdup(e->d_name);
    }
    if (d != NULL)
        closedir(d);
    return found;
}

char *rb_drive_facts_controller(const char *disk)
{
    RB_AUTO(rb_free_str) char *link = rb_asprintf("%s/device", disk);
    RB_AUTO(rb_free_str) char *device = realpath(link, NULL);
    if (device == NULL || strncmp(strrchr(disk, '/'), "/nvme", 5) != 0)
        return NULL;
    if (is_controller_name(strrchr(device, '/') + 1))
        return RB_MOVE(device);
    /* Behind multipath it is the subsystem, which has the controllers in it. */
    RB_AUTO(rb_free_str) char *name = find_entry(device, is_controller_name);
    RB_AUTO(rb_free_str) char *path = rb_asprintf("%s/%s", device, name == NULL ? "" : name);
    return name == NULL ? NULL : realpath(path, NULL);
}

static char *pci_dir_of(const char *disk)
{
    RB_AUTO(rb_free_str) char *controller = rb_drive_facts_controller(disk);
    return pci_dir(controller != NULL ? controller : disk);
}

char *rb_drive_facts_pci(const char *disk)
{
    RB_AUTO(rb_free_str) char *dir = pci_dir_of(disk);
    return rb_strdup(dir == NULL ? "" : strrchr(dir, '/') + 1);
}

/* "8.0 GT/s PCIe" */
static uint32_t read_mts(const char *dir, const char *file)
{
    char text[TEXT];
    rb_sysfs_read(dir, file, text, sizeof(text));
    double gts = strtod(text, NULL);
    return gts > 0 && gts < 1e6 ? (uint32_t)(gts * 1000 + 0.5) : 0;
}

/* The kernel says 255 where the device does not answer. */
static uint32_t read_width(const char *dir, const char *file)
{
    uint64_t width = rb_sysfs_number(dir, file);
    return width <= 32 ? (uint32_t)width : 0;
}

rb_drive_link_t rb_drive_facts_link(const char *disk)
{
    RB_AUTO(rb_free_str) char *controller = rb_drive_facts_controller(disk);
    RB_AUTO(rb_free_str) char *dir = controller == NULL ? NULL : pci_dir(controller);
    if (dir == NULL)
        return (rb_drive_link_t){0};
    return (rb_drive_link_t){read_mts(dir, "current_link_speed"),
                             read_width(dir, "current_link_width"), read_mts(dir, "max_link_speed"),
                             read_width(dir, "max_link_width")};
}

char **rb_drive_facts_members(const char *dir)
{
    char **list = NULL;
    size_t n = 0;
    RB_AUTO(rb_free_str) char *slaves = rb_asprintf("%s/slaves", dir);
    DIR *d = opendir(slaves);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.') {
            RB_AUTO(rb_free_str) char *entry = rb_asprintf("%s/%s", slaves, e->d_name);
            *RB_PUSH(list, n) = rb_block_name(entry);
        }
    if (d != NULL)
        closedir(d);
    *RB_PUSH(list, n) = NULL;
    return list;
}

enum { MAX_DEPTH = 8 }; /* of arrays of arrays */

typedef struct {
    char **items; /* [n] */
    size_t n;
} disks_t;

static void add_disk(disks_t *disks, const char *disk)
{
    for (size_t i = 0; i < disks->n; i++)
        if (strcmp(disks->items[i], disk) == 0)
            return;
    *RB_PUSH(disks->items, disks->n) = rb_strdup(disk);
}

static void add_disks(disks_t *disks, const char *dir, int depth)
{
    bool is_array = false;
    RB_AUTO(rb_free_str) char *disk = rb_sysfs_disk(dir);
    RB_AUTO(rb_free_str) char *slaves = rb_asprintf("%s/slaves", disk);
    DIR *d = depth < MAX_DEPTH ? opendir(slaves) : NULL;
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        RB_AUTO(rb_free_str) char *link = rb_asprintf("%s/%s", slaves, e->d_name);
        RB_AUTO(rb_free_str) char *member = e->d_name[0] == '.' ? NULL : realpath(link, NULL);
        if (member == NULL)
            continue;
        is_array = true;
        add_disks(disks, member, depth + 1);
    }
    if (d != NULL)
        closedir(d);
    if (!is_array)
        add_disk(disks, disk);
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(strrchr(*(char *const *)a, '/'), strrchr(*(char *const *)b, '/'));
}

char **rb_drive_facts_disks(const char *dir)
{
    disks_t disks = {0};
    add_disks(&disks, dir, 0);
    qsort(disks.items, disks.n, sizeof(*disks.items), by_name);
    *RB_PUSH(disks.items, disks.n) = NULL;
    return disks.items;
}

/* ---- as a message ---- */

static char *non_empty(char *text)
{
    if (text[0] != '\0')
        return text;
    free(text);
    return NULL;
}

static bool is_queue(const char *name)
{
    return name[0] >= '0' && name[0] <= '9';
}

static uint32_t count_queues(const char *disk)
{
    uint32_t n = 0;
    RB_AUTO(rb_free_str) char *mq = rb_asprintf("%s/mq", disk);
    DIR *d = opendir(mq);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        n += is_queue(e->d_name);
    if (d != NULL)
        closedir(d);
    return n;
}

static void fill_queue(const char *disk, const char *controller, Rackbench__Drive *drive)
{
    char text[TEXT];
    uint32_t queues = count_queues(disk);
    /* A multipath device has none of its own; the controller counts the admin queue, too. */
    if (queues == 0 && controller != NULL && rb_sysfs_number(controller, "queue_count") > 1)
        queues = (uint32_t)rb_sysfs_number(controller, "queue_count") - 1;
    drive->has_queues = queues > 0;
    drive->queues = queues;
    drive->write_cache = non_empty(read_text(disk, "queue/write_cache"));
    rb_sysfs_read(disk, "queue/scheduler", text, sizeof(text)); /* "[none] mq-deadline" */
    const char *from = strchr(text, '[');
    from = from == NULL ? text : from + 1;
    drive->scheduler = non_empty(rb_strndup(from, strcspn(from, "] ")));
}

static void fill_link(const char *disk, Rackbench__Drive *drive)
{
    rb_drive_link_t link = rb_drive_facts_link(disk);
    drive->has_link_mts = link.mts > 0;
    drive->link_mts = link.mts;
    drive->has_link_width = link.width > 0;
    drive->link_width = link.width;
    drive->has_link_max_mts = link.max_mts > 0;
    drive->link_max_mts = link.max_mts;
    drive->has_link_max_width = link.max_width > 0;
    drive->link_max_width = link.max_width;
}

static char *read_wwid(const char *disk)
{
    static const char *const files[] = {"wwid", "device/wwid"};
    return non_empty(first_text(disk, files, RB_LEN(files)));
}

static void fill_members(const char *disk, Rackbench__Drive *drive)
{
    char **members = rb_drive_facts_members(disk);
    for (size_t i = 0; members[i] != NULL; i++)
        *RB_PUSH(drive->members, drive->n_members) = members[i];
    free(members);
    RB_AUTO(rb_drive_list_destroy) char **disks = rb_drive_facts_disks(disk);
    for (size_t i = 0; drive->n_members > 0 && disks[i] != NULL; i++) {
        Rackbench__MemberDrive *m = rb_calloc(1, sizeof(*m));
        rackbench__member_drive__init(m);
        m->path = rb_block_name(disks[i]);
        m->model = non_empty(rb_drive_facts_model(disks[i]));
        m->serial = non_empty(rb_drive_facts_serial(disks[i]));
        m->firmware = non_empty(rb_drive_facts_firmware(disks[i]));
        m->wwid = read_wwid(disks[i]);
        m->size_bytes = rb_sysfs_number(disks[i], "size") * 512; /* sysfs' unit on every drive */
        m->has_size_bytes = m->size_bytes > 0;
        *RB_PUSH(drive->member_drives, drive->n_member_drives) = m;
    }
}

void rb_drive_facts_fill(const char *dir, Rackbench__Drive *drive)
{
    RB_AUTO(rb_free_str) char *disk = rb_sysfs_disk(dir);
    RB_AUTO(rb_free_str) char *controller = rb_drive_facts_controller(disk);
    drive->firmware = non_empty(rb_drive_facts_firmware(disk));
    drive->wwid = read_wwid(disk);
    drive->diskseq = rb_sysfs_number(disk, "diskseq");
    drive->has_diskseq = drive->diskseq > 0;
    drive->nsid = (uint32_t)rb_sysfs_number(disk, "nsid");
    drive->has_nsid = drive->nsid > 0;
    drive->pci = non_empty(rb_drive_facts_pci(disk));
    fill_link(disk, drive);
    drive->numa_node = rb_drive_node_of_dir(dir);
    drive->has_numa_node = drive->numa_node >= 0;
    fill_queue(disk, controller, drive);
    fill_members(disk, drive);
}
