/* block_graph.h - which block devices share blocks with a given one.
 *
 * Partitions, the disk of a partition, what is built on it (md, dm, bcache, ...), what it is built
 * on, loop devices over it, the device under a loop device and other loop devices over the same
 * file, each followed further, by sysfs and agent/loop_device. Other partitions of the same disk
 * share nothing, other LVM volumes of the same group only the drives. Also the few readers of sysfs
 * that agent/drives needs. Any thread; no state; well under a millisecond
 * a drive.
 */
#pragma once

#include <sys/types.h>

#include "common/guard.h"

typedef struct {
    char *dir;  /* sysfs directory, resolved: identifies the device */
    char *name; /* "/dev/sdb1" */
    dev_t rdev;
    rb_relation_t relation; /* to the device the graph was made for */
} rb_block_node_t;

typedef struct {
    size_t nnodes;
    rb_block_node_t *nodes; /* [nnodes], the device itself first */
    size_t nuses;
    rb_use_t *uses; /* [nuses] PATH, HOLDER, LOOP and NEIGHBOUR, as the edges show them */
} rb_block_graph_t;

/* NULL where sysfs does not describe rdev, or more than RB_MAX_BLOCK_NODES devices hang together.
 */
rb_block_graph_t *rb_block_graph_new(dev_t rdev);
/* Of a block device's directory in sysfs; apart for tests. */
rb_block_graph_t *rb_block_graph_of_dir(const char *dir);
void rb_block_graph_destroy(rb_block_graph_t **graph);
void rb_block_graph_use(rb_block_graph_t *graph, const rb_block_node_t *node, rb_use_kind_t kind,
                        const char *what);        /* adds a use of node; what may be NULL */
void rb_uses_clear(rb_use_t *uses, size_t nuses); /* frees what they own and the array */

enum { RB_MAX_BLOCK_NODES = 4096 };

/* Attribute dir/file without trailing blanks into buf [size]; returns its length, 0 if not there.
 */
size_t rb_sysfs_read(const char *dir, const char *file, char *buf, size_t size);
uint64_t rb_sysfs_number(const char *dir, const char *file); /* 0 if not there */
bool rb_sysfs_has(const char *dir, const char *file);
bool rb_sysfs_rdev(const char *dir, dev_t *ret_rdev); /* false: dir is no block device's */
char *rb_block_name(const char *dir); /* "/dev/sdb1" of its sysfs directory; owned by the caller */
char *rb_sysfs_dir(dev_t rdev); /* of a block device, owned by the caller; NULL if not there */
char *
rb_sysfs_disk(const char *dir); /* dir, or its disk's if it is a partition; owned by the caller */
