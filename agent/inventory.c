#include "agent/inventory.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "agent/drives.h"
#include "agent/nvme_id.h"
#include "common/wall_clock.h"

enum { EACH_BEAT = 16 }; /* so many apart are those that ask for the wall clock: 8 s */

static char *cpu_model(void)
{
    char line[512], *model = NULL;
    FILE *f = fopen("/proc/cpuinfo", "re");
    if (f == NULL)
        return NULL;
    while (model == NULL && fgets(line, sizeof(line), f) != NULL) {
        char *value = strstr(line, ": ");
        if (strncmp(line, "model name", 10) == 0 && value != NULL)
            model = rb_strndup(value + 2, strcspn(value + 2, "\n"));
    }
    fclose(f);
    return model;
}

Rackbench__Drive *rb_inventory_closed_drive(const char *path, const rb_err_t *why)
{
    Rackbench__Drive *drive = rb_calloc(1, sizeof(*drive));
    rackbench__drive__init(drive);
    drive->path = rb_strdup(path);
    drive->in_use = rb_strdup(why->text);
    return drive;
}

Rackbench__Drive *rb_inventory_drive(const char *path)
{
    rb_err_t err;
    RB_AUTO(rb_drive_destroy) rb_drive_t *drive = rb_drive_new(path, RB_DRIVE_USES, &err);
    if (drive == NULL)
        return rb_inventory_closed_drive(path, &err);
    Rackbench__Drive *m = rb_drive_message(drive);
    rb_nvme_identify(m);
    return m;
}

static void read_wall_clock(Rackbench__Inventory *inventory)
{
    rb_wall_clock_t wall;
    if (inventory->wall_clock == NULL) {
        inventory->wall_clock = rb_calloc(1, sizeof(*inventory->wall_clock));
        rackbench__wall_clock__init(inventory->wall_clock);
    }
    rb_wall_clock_read(&wall);
    inventory->wall_clock->ahead_ns = wall.ahead_ns;
    inventory->wall_clock->synchronised = wall.synchronised;
    inventory->wall_clock->maxerror_ns = wall.maxerror_ns;
    inventory->wall_clock->has_tai_s = true;
    inventory->wall_clock->tai_s = wall.tai_s;
}

const Rackbench__WallClock *rb_inventory_wall_clock(Rackbench__Inventory *inventory,
                                                    const Rackbench__ToAgent *msg)
{
    bool hello = msg->body_case == RACKBENCH__TO_AGENT__BODY_HELLO;
    bool beat = msg->body_case == RACKBENCH__TO_AGENT__BODY_BEAT && msg->beat->seq % EACH_BEAT == 1;
    if (!hello && !beat)
        return NULL;
    read_wall_clock(inventory);
    return inventory->wall_clock;
}

Rackbench__Inventory *rb_inventory_new(void)
{
    Rackbench__Inventory *inventory = rb_calloc(1, sizeof(*inventory));
    struct utsname uts;
    rackbench__inventory__init(inventory);
    if (uname(&uts) == 0) {
        inventory->hostname = rb_strdup(uts.nodename);
        inventory->kernel = rb_strdup(uts.release);
    }
    inventory->cpu_model = cpu_model();
    inventory->has_cpus = true;
    inventory->cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
    inventory->has_memory_bytes = true;
    inventory->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    inventory->agent_version = rb_strdup(RB_VERSION);
    read_wall_clock(inventory);
    return inventory;
}
