/* endurance.h - what a stream of writes costs drives: DWPD, years, the class to buy.
 *
 *   bytes of a drive = bytes of the data x copies / drives
 *   DWPD             = bytes a day of a drive / rated capacity
 *   PBW              = DWPD x rated capacity x 365 x years of the rating; the same PBW over 3 years
 *                      instead of 5 is 5/3 of the DWPD
 *   class needed     = DWPD x years / 5: classes are rated over 5 years
 *   WAF              = physical media units written [bytes] / (data units written x 512000)
 *
 * Bytes are the host's: ratings are, too (JESD219), and large sequential writes have a WAF near 1.
 * Capacities are decimal and as rated, not as formatted. Pure; any thread.
 *
 * Source: JESD218 and JESD219; NVM Express base specification (data units of 1000 x 512 bytes);
 * OCP datacenter NVMe SSD specification, log page C0h.
 */
#pragma once

#include "common/base.h"

typedef struct {
    double bytes_per_s; /* of the data, one copy, while there is traffic */
    double duty;        /* share of the day that has traffic, (0, 1] */
    double copies;      /* striped 1, mirrored r */
    uint32_t drives;
    double rated_bytes; /* of a drive */
    double years;       /* that it is to last */
} rb_endurance_in_t;

typedef struct {
    double drive_bytes_per_day;
    double dwpd;
    double dwpd_needed; /* of a rating over 5 years, to last `years` */
    double class_dwpd;  /* the smallest class that is that; 0: none is */
} rb_endurance_t;

rb_endurance_t rb_endurance(const rb_endurance_in_t *in);

/* Bytes that a rating of dwpd over years allows. */
double rb_endurance_written_bytes(double dwpd, double years, double rated_bytes);
/* Until a drive has written so many bytes. */
double rb_endurance_years(double allowed_bytes, double drive_bytes_per_day);
/* 0: data_units is 0. */
double rb_endurance_waf(double physical_bytes, double data_units);
