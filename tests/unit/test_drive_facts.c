/* test_drive_facts.c - what a captured sysfs says about drives and processors. */
#include "tests/unit/sysfs_tree.h"

#include "agent/drive_facts.h"
#include "agent/drives.h"
#include "agent/health_host.h"
#include "proto/sample.h"

#define NVME      "devices/pci0000:80/0000:80:01.1/0000:81:00.0/nvme/nvme0/nvme0n1"
#define MULTIPATH "devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1"
#define SATA      "devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda"

static char *root;

static int set_up(void **state)
{
    (void)state;
    root = sysfs_make("nvme");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    sysfs_remove(&root);
    return 0;
}

static Rackbench__Drive *facts_of(const char *device)
{
    RB_AUTO(rb_free_str) char *dir = rb_asprintf("%s/%s", root, device);
    Rackbench__Drive *drive = rb_calloc(1, sizeof(*drive));
    rackbench__drive__init(drive);
    drive->path = rb_strdup("/dev/x");
    rb_drive_facts_fill(dir, drive);
    return drive;
}

static void drop(Rackbench__Drive **drive)
{
    rackbench__drive__free_unpacked(*drive, NULL);
}

static void an_nvme_drive(void **state)
{
    (void)state;
    RB_AUTO(drop) Rackbench__Drive *d = facts_of(NVME);
    assert_string_equal(d->firmware, "GDC5602Q");
    assert_string_equal(d->wwid, "eui.36344830525065140025384500000001");
    assert_string_equal(d->pci, "0000:81:00.0");
    assert_true(d->has_nsid && d->nsid == 1);
    assert_true(d->has_link_mts && d->link_mts == 16000 && d->link_max_mts == 16000);
    assert_true(d->has_link_width && d->link_width == 2 && d->link_max_width == 4);
    assert_true(d->has_numa_node && d->numa_node == 1);
    assert_true(d->has_queues && d->queues == 3);
    assert_string_equal(d->scheduler, "none");
    assert_string_equal(d->write_cache, "write through");
    assert_int_equal(d->n_members, 0);
    assert_int_equal(d->n_member_drives, 0);
    assert_true(d->has_diskseq && d->diskseq == 11);
}

static void a_partition_has_what_its_disk_has(void **state)
{
    (void)state;
    RB_AUTO(drop) Rackbench__Drive *d = facts_of(NVME "/nvme0n1p1");
    assert_string_equal(d->firmware, "GDC5602Q");
    assert_string_equal(d->pci, "0000:81:00.0");
    assert_true(d->nsid == 1 && d->link_width == 2);
}

/* The disk hangs on no PCI device: its controller does. */
static void behind_multipath(void **state)
{
    (void)state;
    RB_AUTO(rb_free_str) char *dir = rb_asprintf("%s/" MULTIPATH, root);
    RB_AUTO(rb_free_str) char *model = rb_drive_facts_model(dir);
    RB_AUTO(rb_free_str) char *serial = rb_drive_facts_serial(dir);
    RB_AUTO(drop) Rackbench__Drive *d = facts_of(MULTIPATH);
    assert_string_equal(model, "KIOXIA KCMYXVUG3T20");
    assert_string_equal(serial, "5DK0A00NTJ5A");
    assert_string_equal(d->firmware, "0102");
    assert_string_equal(d->pci, "0000:3b:00.0");
    assert_true(d->link_mts == 32000 && d->link_width == 4);
    assert_true(d->has_queues && d->queues == 32); /* without the admin queue */
    assert_false(d->has_numa_node);
}

/* The PCI device of a SATA drive is not the drive: its link is not the drive's. */
static void a_sata_drive(void **state)
{
    (void)state;
    RB_AUTO(drop) Rackbench__Drive *d = facts_of(SATA);
    assert_string_equal(d->firmware, "0110");
    assert_string_equal(d->wwid, "naa.55cd2e414f4e4b2a");
    assert_string_equal(d->pci, "0000:00:17.0");
    assert_string_equal(d->scheduler, "mq-deadline");
    assert_false(d->has_link_width || d->has_link_mts || d->has_nsid || d->has_queues);
    assert_null(d->write_cache);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void an_array_names_its_members(void **state)
{
    (void)state;
    RB_AUTO(drop) Rackbench__Drive *d = facts_of("devices/virtual/block/md0");
    assert_int_equal(d->n_members, 2);
    qsort(d->members, d->n_members, sizeof(*d->members), by_name);
    assert_string_equal(d->members[0], "/dev/nvme0n1");
    assert_string_equal(d->members[1], "/dev/sda");
    assert_null(d->pci);
    assert_null(d->firmware);
    assert_int_equal(d->n_member_drives, 2);
    const Rackbench__MemberDrive *nvme = d->member_drives[0], *sda = d->member_drives[1];
    assert_string_equal(nvme->path, "/dev/nvme0n1");
    assert_string_equal(nvme->model, "SAMSUNG MZQL23T8HCLS-00A07");
    assert_string_equal(nvme->serial, "S64HNE0R506514");
    assert_string_equal(nvme->firmware, "GDC5602Q");
    assert_string_equal(nvme->wwid, "eui.36344830525065140025384500000001");
    assert_true(nvme->size_bytes == 7501476528ull * 512);
    assert_string_equal(sda->path, "/dev/sda");
    assert_string_equal(sda->model, "INTEL SSDSC2KG48");
    assert_null(sda->serial);
    assert_false(sda->has_size_bytes);
}

/* An LVM volume on an array and on a partition of one of its drives: two drives. */
static void an_array_of_arrays(void **state)
{
    (void)state;
    RB_AUTO(drop) Rackbench__Drive *d = facts_of("devices/virtual/block/dm-0");
    assert_int_equal(d->n_members, 2);
    assert_int_equal(d->n_member_drives, 2);
    assert_string_equal(d->member_drives[0]->path, "/dev/nvme0n1");
    assert_string_equal(d->member_drives[1]->path, "/dev/sda");
}

/* 255: the device does not answer. */
static void a_link_that_is_not_known(void **state)
{
    (void)state;
    const char *file = "devices/pci0000:80/0000:80:01.1/0000:81:00.0/current_link_width";
    sysfs_set(root, file, "255");
    RB_AUTO(drop) Rackbench__Drive *d = facts_of(NVME);
    sysfs_set(root, file, "2");
    assert_false(d->has_link_width);
    assert_true(d->has_link_max_width);
}

static void processors(void **state)
{
    (void)state;
    assert_true(rb_health_cpu_mhz(root) == 3000);
    assert_true(rb_health_cpu_mhz("/nowhere") == RB_HEALTH_UNKNOWN);
}

/* Both packages, over the end of the first one's counter; dram is a part of its package. */
static void energy_wraps(void **state)
{
    (void)state;
    rb_energy_t energy = {0};
    assert_true(rb_health_energy_uj(&energy, root) == 0);
    sysfs_set(root, "class/powercap/intel-rapl:0/energy_uj", "71150");
    sysfs_set(root, "class/powercap/intel-rapl:1/energy_uj", "1600");
    sysfs_set(root, "class/powercap/intel-rapl:0:0/energy_uj", "500000");
    assert_true(rb_health_energy_uj(&energy, root) == 328850 + 71150 + 600);
    assert_true(rb_health_energy_uj(&energy, root) == 328850 + 71150 + 600);
    rb_energy_t none = {0};
    assert_true(rb_health_energy_uj(&none, "/nowhere") == RB_HEALTH_UNKNOWN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_nvme_drive),
        cmocka_unit_test(a_partition_has_what_its_disk_has),
        cmocka_unit_test(behind_multipath),
        cmocka_unit_test(a_sata_drive),
        cmocka_unit_test(an_array_names_its_members),
        cmocka_unit_test(an_array_of_arrays),
        cmocka_unit_test(a_link_that_is_not_known),
        cmocka_unit_test(processors),
        cmocka_unit_test(energy_wraps),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
