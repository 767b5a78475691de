#include "coordinator/cmd.h"
#include "coordinator/plan/presets.h"
#include "coordinator/plan_source.h"

static int list(void)
{
    for (const struct rb_preset *p = rb_presets; p->name != NULL; p++) {
        RB_AUTO(rb_free_str) char *summary = rb_preset_summary(p->name);
        printf("%-16s %s\n", p->name, summary);
    }
    return RB_OK;
}

static int import(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_fio_import_destroy)
    rb_fio_import_t *import = rb_plan_source_import(options->args[1], options, err);
    if (import == NULL)
        return (int)err->code;
    /* What run would refuse is no plan to be handed out. */
    RB_AUTO(rb_plan_source_destroy)
    rb_plan_source_t *source = rb_plan_source_new(options->args[1], options, err);
    if (source == NULL)
        return (int)err->code;
    RB_AUTO(rb_free_str) char *yaml = rb_fio_import_yaml(import);
    fputs(yaml, stdout);
    return RB_OK;
}

int cmd_plan(const rb_options_t *options, rb_err_t *err)
{
    if (strcmp(options->args[0], "list") == 0 && options->nargs == 1)
        return list();
    if (strcmp(options->args[0], "show") == 0 && options->nargs == 2) {
        const char *yaml = rb_preset_find(options->args[1]);
        if (yaml != NULL) {
            fputs(yaml, stdout);
            return RB_OK;
        }
        rb_err_set(err, RB_ERR_INPUT, "'%s' is no preset; see rackbench plan list",
                   options->args[1]);
        return RB_ERR_INPUT;
    }
    if (strcmp(options->args[0], "import") == 0 && options->nargs == 2)
        return import(options, err);
    rb_err_set(err, RB_ERR_INPUT, "usage: rackbench plan list | show PRESET | import JOB.fio");
    return RB_ERR_INPUT;
}
