/* drive_facts.h - what sysfs says about a disk: identity, PCIe link, queues, caches.
 *
 * All by the disk's resolved sysfs directory, so that a captured tree serves as well. Any thread;
 * no state; asks no drive.
 */
#pragma once

#include "proto/wire.h"

/* All are owned by the caller; "" where there is none. */
char *rb_drive_facts_model(const char *disk);
char *rb_drive_facts_serial(const char *disk);
char *rb_drive_facts_firmware(const char *disk);
char *rb_drive_facts_pci(const char *disk); /* address of its controller */
/* Resolved directory of an NVMe namespace's controller, also behind multipath; NULL: not NVMe. */
char *rb_drive_facts_controller(const char *disk);

typedef struct {
    uint32_t mts; /* mega-transfers per second and lane; 0: not known */
    uint32_t width;
    uint32_t max_mts, max_width; /* of the drive itself */
} rb_drive_link_t;
/* Of an NVMe drive; another's PCI device is not the drive. */
rb_drive_link_t rb_drive_facts_link(const char *disk);

/* Names of the devices that an array (md, dm, LVM) is made of, NULL at the end: "/dev/sda1";
 * empty for others. Free each and the list. */
char **rb_drive_facts_members(const char *dir);

/* The sysfs directories of the disks that an array lies on in the end, through arrays of arrays, in
 * the version order of their names and NULL at the end; of another device its own disk. Free with
 * rb_drive_list_destroy. */
char **rb_drive_facts_disks(const char *dir);

/* Fills whatever there is; dir: of the device itself (a partition or a disk). */
void rb_drive_facts_fill(const char *dir, Rackbench__Drive *drive);
