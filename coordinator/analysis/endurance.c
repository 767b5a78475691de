#include "coordinator/analysis/endurance.h"

enum { DAY_S = 86400, YEAR_DAYS = 365, RATING_YEARS = 5, DATA_UNIT_BYTES = 512000 };

/* As drives are sold. */
static double class_of(double dwpd)
{
    static const double classes[] = {1, 3, 5, 10, 25, 60, 100};
    for (size_t i = 0; i < RB_LEN(classes); i++)
        if (dwpd <= classes[i])
            return classes[i];
    return 0;
}

rb_endurance_t rb_endurance(const rb_endurance_in_t *in)
{
    RB_ASSERT(in->drives > 0 && in->rated_bytes > 0);
    rb_endurance_t r = {0};
    r.drive_bytes_per_day = in->bytes_per_s * in->duty * DAY_S * in->copies / in->drives;
    r.dwpd = r.drive_bytes_per_day / in->rated_bytes;
    r.dwpd_needed = r.dwpd * in->years / RATING_YEARS;
    r.class_dwpd = class_of(r.dwpd_needed);
    return r;
}

double rb_endurance_written_bytes(double dwpd, double years, double rated_bytes)
{
    return dwpd * rated_bytes * YEAR_DAYS * years;
}

double rb_endurance_years(double allowed_bytes, double drive_bytes_per_day)
{
    return allowed_bytes / drive_bytes_per_day / YEAR_DAYS;
}

double rb_endurance_waf(double physical_bytes, double data_units)
{
    return data_units > 0 ? physical_bytes / (data_units * DATA_UNIT_BYTES) : 0;
}
