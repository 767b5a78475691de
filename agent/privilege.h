/* privilege.h - what the agent gives up: it runs as root and needs little of what root may do.
 *
 * The main thread keeps, and every thread it makes begins with,
 *
 *   CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH  drives, and directories of --allow-path that belong to
 *                                          others
 *   CAP_SYS_ADMIN                          NVMe commands (passthrough before Linux 6.2, identify),
 *                                          loop and block ioctls
 *   CAP_SYS_PTRACE                         mounts in namespaces of processes of other users
 *   CAP_IPC_LOCK                           registered buffers beyond the limit of locked memory
 *   CAP_SYS_RESOURCE                       more open files than the hard limit
 *   CAP_NET_ADMIN                          the filter on the listening socket while strangers are
 *                                          too many (proto/socket_guard)
 *   CAP_SYS_NICE                           workers and memory placed on any processor
 *
 * of those it has; a worker that is ready has none, but for CAP_SYS_ADMIN where it passes commands
 * through; the thread that asks drives how they are has that alone. Nobody ever gains any again
 * (no_new_privs, an empty bounding set beyond these): a program that the agent would start could
 * not either, and it starts none.
 *
 * Source: capabilities(7); io_uring and SQPOLL act with the rights of whoever submits or made the
 * ring.
 */
#pragma once

typedef enum {
    RB_PRIVILEGE_MAIN,        /* the whole process; before any thread is made */
    RB_PRIVILEGE_PASSTHROUGH, /* this thread: one that passes NVMe commands through */
    RB_PRIVILEGE_WORKER       /* this thread: any other worker, its files and ring open */
} rb_privilege_t;

/* Keeps of what this thread has what is named above. Cannot fail: giving up is always allowed. */
void rb_privilege_keep(rb_privilege_t privilege);
