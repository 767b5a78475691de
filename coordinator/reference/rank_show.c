#include "coordinator/reference/rank_parts.h"

#include "coordinator/report/json_parts.h"

#include <errno.h>

double rb_rank_gap(const rb_rank_row_t *row, double other)
{
    return 100 * (RB_MAX(row->value, other) / RB_MIN(row->value, other) - 1);
}

static json_t *next_json(const rb_rank_row_t *r, const rb_reference_drive_t *drive, double value)
{
    return json_pack("{s:s,s:f,s:f}", "drive", drive->id, "value", value, "percent",
                     rb_rank_gap(r, value));
}

static json_t *row_json(const rb_rank_row_t *r)
{
    bool is_rate = r->kind == RB_RANK_RATE || r->kind == RB_RANK_PEAK;
    json_t *o = json_object();
    json_object_set_new(o, "test", json_string(r->test));
    json_object_set_new(o, "figure", json_string(rb_rank_names[r->kind]));
    json_object_set_new(o, "iodepth", rb_json_u64(r->iodepth));
    json_object_set_new(o, "numjobs", rb_json_u64(r->numjobs));
    json_object_set_new(o, "value", json_real(r->value));
    json_object_set_new(o, "unit", json_string(is_rate ? "bytes_per_s" : "ns"));
    json_object_set_new(o, "rank", rb_json_u64(r->rank));
    json_object_set_new(o, "of", rb_json_u64(r->of));
    if (r->ahead != NULL)
        json_object_set_new(o, "ahead", next_json(r, r->ahead, r->ahead_value));
    if (r->behind != NULL)
        json_object_set_new(o, "behind", next_json(r, r->behind, r->behind_value));
    return o;
}

static json_t *rating_json(const rb_rating_t *r)
{
    json_t *o = json_object();
    json_object_set_new(o, "spec", json_string(r->spec->name));
    json_object_set_new(o, "rated", json_real(r->spec->value));
    json_object_set_new(o, "unit", json_string(r->spec->unit));
    json_object_set_new(o, "in_grid", json_boolean(r->in_grid));
    if (!r->in_grid)
        return o;
    json_object_set_new(o, "percent", json_real(100 * r->value / r->rated));
    json_object_set_new(o, "iodepth", rb_json_u64(r->iodepth));
    json_object_set_new(o, "numjobs", rb_json_u64(r->numjobs));
    json_object_set_new(o, "at_edge", json_boolean(r->at_edge));
    return o;
}

static json_t *drive_json(const rb_ranked_t *d)
{
    json_t *o = json_object(), *rows = json_array(), *ratings = json_array();
    json_t *reasons = json_array();
    for (size_t i = 0; i < d->nrows; i++)
        json_array_append_new(rows, row_json(&d->rows[i]));
    for (size_t i = 0; i < d->nratings; i++)
        json_array_append_new(ratings, rating_json(&d->ratings[i]));
    for (size_t i = 0; i < d->nreasons; i++)
        json_array_append_new(reasons, rb_json_text(d->reasons[i]));
    json_object_set_new(o, "host", rb_json_text(d->host));
    json_object_set_new(o, "drive", rb_json_text(d->drive));
    json_object_set_new(o, "model", rb_json_text(d->model));
    if (d->known != NULL)
        json_object_set_new(o, "known", json_string(d->known->id));
    json_object_set_new(o, "ranks", rows);
    json_object_set_new(o, "ratings", ratings);
    json_object_set_new(o, "not_comparable", reasons);
    return o;
}

static json_t *specs_json(const rb_reference_drive_t *a, const rb_reference_drive_t *b)
{
    json_t *specs = json_array();
    for (size_t i = 0; i < a->nspecs; i++) {
        const rb_reference_spec_t *x = &a->specs[i], *y = rb_reference_spec(b, x->name);
        if (y != NULL && strcmp(x->unit, y->unit) == 0 && x->value > 0)
            json_array_append_new(specs, json_pack("{s:s,s:s,s:f,s:f,s:f}", "spec", x->name, "unit",
                                                   x->unit, "a", x->value, "b", y->value, "ratio",
                                                   y->value / x->value));
    }
    return json_pack("{s:s,s:s,s:o}", "a", a->id, "b", b->id, "specs", specs);
}

/* Takes the reference. */
static void dump(FILE *out, json_t *root)
{
    json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(root);
    fputc('\n', out);
}

static int finish(FILE *out, rb_err_t *err)
{
    if (fflush(out) != 0 || ferror(out))
        return rb_err_errno(err, errno != 0 ? errno : EIO, "writing the ranks");
    return 0;
}

int rb_rank_show(FILE *out, const rb_ranking_t *ranking, const rb_options_t *options, rb_err_t *err)
{
    errno = 0;
    if (options->format == RB_FORMAT_TEXT) {
        rb_rank_text(out, ranking, options->units);
        return finish(out, err);
    }
    json_t *drives = json_array();
    for (size_t i = 0; i < ranking->ndrives; i++)
        json_array_append_new(drives, drive_json(&ranking->drives[i]));
    dump(out, json_pack("{s:o}", "drives", drives));
    return finish(out, err);
}

int rb_specs_show(FILE *out, const rb_reference_drive_t *a, const rb_reference_drive_t *b,
                  const rb_options_t *options, rb_err_t *err)
{
    errno = 0;
    if (options->format == RB_FORMAT_TEXT)
        rb_specs_text(out, a, b);
    else
        dump(out, specs_json(a, b));
    return finish(out, err);
}
