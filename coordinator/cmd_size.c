#include "coordinator/cmd.h"
#include "coordinator/report/size_report.h"

int cmd_size(const rb_options_t *options, rb_err_t *err)
{
    if (strcmp(options->args[0], "kv") != 0) {
        rb_err_set(err, RB_ERR_INPUT, "'%s' has no size here: rackbench size kv", options->args[0]);
        return RB_ERR_INPUT;
    }
    RB_AUTO(rb_size_destroy) rb_size_t *size = rb_size_kv(&options->size, err);
    if (size == NULL || rb_report_size(stdout, size, options->format, err) != 0)
        return (int)err->code;
    return RB_OK;
}
