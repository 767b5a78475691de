#include "coordinator/run_report.h"

#include "coordinator/report/json.h"
#include "coordinator/report/json_lines.h"
#include "coordinator/report/report.h"
#include "coordinator/run_dir.h"

#include <errno.h>
#include <unistd.h>

static int write_json(const char *directory, const rb_result_t *result, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *path = rb_run_dir_path(directory, "result.json");
    RB_AUTO(rb_free_str) char *fresh = rb_run_dir_path(directory, "result.json.new");
    unlink(fresh); /* of a process that was killed */
    FILE *out = rb_run_dir_create(fresh, err);
    if (out == NULL)
        return -1;
    int rc = rb_report_json(out, result, err);
    if (fclose(out) != 0 && rc == 0)
        rc = rb_err_errno(err, errno, "write %s", path);
    if (rc == 0 && rename(fresh, path) != 0)
        rc = rb_err_errno(err, errno, "write %s", path);
    if (rc != 0)
        unlink(fresh);
    return rc;
}

int rb_run_report(const char *directory, const rb_fold_t *fold, const rb_options_t *options,
                  const rb_err_t *outcome, rb_err_t *err)
{
    RB_AUTO(rb_result_destroy) rb_result_t *result = rb_result_new(fold, err);
    if (result == NULL)
        return -1;
    int rc = write_json(directory, result, err);
    bool show = result->nphases > 0 || options->format != RB_FORMAT_TEXT;
    if (options->json_lines)
        rb_json_line_result(stdout, result, (int)outcome->code, outcome->text);
    if (show && !options->json_lines) {
        rb_err_t print_err;
        if (rb_report(stdout, result, options, rc == 0 ? err : &print_err) != 0)
            rc = -1;
    }
    return rc;
}

void rb_run_hint(const char *directory, size_t hosts)
{
    fprintf(stderr, "%zu host%s may still hold rows: rackbench resume %s fetches them\n", hosts,
            hosts == 1 ? "" : "s", directory);
}
