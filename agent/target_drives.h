/* target_drives.h - the drives of this host that a target means: by path, by what they are, or all.
 *
 * A part of agent/targets. A probe's thread: it may block on a drive (agent/drives).
 */
#pragma once

#include "agent/drives.h"
#include "rackbench.pb-c.h"

typedef struct {
    size_t n;
    rb_drive_t **items; /* [n], each once, in the version order of their paths */
} rb_target_drives_t;

/* `devices` are paths, globs, `all` (what the inventory lists) or `all-unused` (of these the ones
 * that nobody uses and no signature marks); of them those that match a glob of each of model,
 * serial and pci that is given. RB_ERR_INPUT: none, more than RB_MAX_DRIVES, or one that is no
 * block device. How far it looks at them: `all-unused` looks for signatures in any case. */
int rb_target_drives_find(const Rackbench__Target *target, rb_drive_look_t look,
                          rb_target_drives_t *drives, rb_err_t *err);
void rb_target_drives_clear(rb_target_drives_t *drives);
