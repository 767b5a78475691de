#include "coordinator/report/report.h"

#include "coordinator/report/csv.h"
#include "coordinator/report/fio_json.h"
#include "coordinator/report/fio_logs.h"
#include "coordinator/report/json.h"
#include "coordinator/report/text.h"

static int print(FILE *out, const rb_result_t *result, const rb_options_t *options, rb_err_t *err)
{
    rb_report_opts_t opts = {.units = options->units, .quantiles = options->quantiles};
    switch (options->format) {
    case RB_FORMAT_TEXT:
        return rb_report_text(out, result, &opts, err);
    case RB_FORMAT_JSON:
        return rb_report_json(out, result, err);
    case RB_FORMAT_CSV:
        return rb_report_csv(out, result, err);
    case RB_FORMAT_FIO_JSON:
        return rb_report_fio_json(out, result, RB_FIO_JSON, options->host, err);
    case RB_FORMAT_FIO_JSON_PLUS:
        return rb_report_fio_json(out, result, RB_FIO_JSON_PLUS, options->host, err);
    }
    return 0;
}

int rb_report(FILE *out, const rb_result_t *result, const rb_options_t *options, rb_err_t *err)
{
    if (print(out, result, options, err) != 0)
        return -1;
    return options->fio_logs ? rb_report_fio_logs(options->fio_logs, result, err) : 0;
}
