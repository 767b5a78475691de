#include "agent/inventory.h"

#include <sys/utsname.h>
#include <unistd.h>

#include "agent/drives.h"

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

/* A drive that is there and cannot be looked at. */
static Rackbench__Drive *closed_drive(const char *path, const rb_err_t *why)
{
    Rackbench__Drive *drive = rb_calloc(1, sizeof(*drive));
    rackbench__drive__init(drive);
    drive->path = rb_strdup(path);
    drive->in_use = rb_strdup(why->text);
    return drive;
}

static void add_drives(Rackbench__Inventory *inventory)
{
    RB_AUTO(rb_drive_list_destroy) char **paths = rb_drive_list();
    for (size_t i = 0; paths[i] != NULL; i++) {
        rb_err_t err;
        RB_AUTO(rb_drive_destroy) rb_drive_t *drive = rb_drive_new(paths[i], &err);
        Rackbench__Drive **slot = RB_PUSH(inventory->drives, inventory->n_drives);
        *slot = drive != NULL ? rb_drive_message(drive) : closed_drive(paths[i], &err);
    }
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
    add_drives(inventory);
    return inventory;
}
