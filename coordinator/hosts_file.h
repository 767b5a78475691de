/* hosts_file.h - the argument of --hosts: an expression (common/hostlist.h) or a hosts.yaml.
 *
 *   hosts:
 *     - {name: "node[01-08]", address: "10.77.0.[1-8]", labels: {rack: r1, generation: gen15}}
 *
 * name is an expression, so one entry can be many hosts, which then share the labels; address is
 * one too, for as many hosts, and may be left out. An entry of one host may also have `key`, the
 * agent's public key (proto/keys.h). Any thread; no state.
 */
#pragma once

#include "common/hostlist.h"

/* spec that ends in .yaml or .yml is a file of that form, anything else an expression. NULL and
 * RB_ERR_INPUT: "hosts.yaml:3:5: what is wrong", or what rb_hostlist_parse says. */
rb_hostlist_t *rb_hosts_load(const char *spec, rb_err_t *err);

/* The text of a hosts.yaml [size]; file stands in messages. NULL and RB_ERR_INPUT as above. */
rb_hostlist_t *rb_hosts_parse(const char *text, size_t size, const char *file, rb_err_t *err);
