#include "coordinator/report/report.h"

#include "coordinator/report/csv.h"
#include "coordinator/report/json.h"
#include "coordinator/report/text.h"

int rb_report(FILE *out, const rb_result_t *result, const rb_options_t *options, rb_err_t *err)
{
    rb_report_opts_t opts = {.units = options->units, .quantiles = options->quantiles};
    switch (options->format) {
    case RB_FORMAT_TEXT:
        return rb_report_text(out, result, &opts, err);
    case RB_FORMAT_JSON:
        return rb_report_json(out, result, err);
    case RB_FORMAT_CSV:
        return rb_report_csv(out, result, err);
    }
    return 0;
}
