/* keys.h - the keys that coordinators and agents know each other by: their files and their text.
 *
 * A key is the 32 bytes of Curve25519 as 64 hexadecimal digits: unlike ZeroMQ's own Z85 they need
 * no quotes in a shell or in YAML. rb_key_make makes a pair. A pair lives in two files: PATH,
 * "secret KEY", readable by its owner alone, and PATH.pub, the public key. A list of public keys is
 * a file of lines "KEY" or "NAME KEY", # begins a comment. Main thread; pure but for the files
 * named.
 */
#pragma once

#include "common/err.h"

enum {
    RB_KEY_BYTES = 32,
    RB_KEY_SIZE = 2 * RB_KEY_BYTES + 1, /* characters with NUL */
    RB_MAX_KEYS = 65536                 /* entries of a list */
};

typedef struct {
    char public_key[RB_KEY_SIZE], secret_key[RB_KEY_SIZE];
} rb_key_pair_t;

typedef struct {
    char *name; /* owned; NULL: a line without one */
    char key[RB_KEY_SIZE];
} rb_key_entry_t;

typedef struct {
    size_t nkeys;
    rb_key_entry_t *keys; /* [nkeys] in the order of the file */
} rb_key_list_t;

/* 64 hexadecimal digits? */
bool rb_key_valid(const char *text);

/* To and from the 32 bytes; the text must be valid. */
void rb_key_to_bytes(uint8_t bytes[RB_KEY_BYTES], const char *text);
void rb_key_from_bytes(char text[RB_KEY_SIZE], const uint8_t *bytes);

/* Reads PATH. RB_ERR_INPUT: missing, no key in it; RB_ERR_UNSAFE: others than its owner may read
 * it. */
int rb_key_pair_load(const char *path, rb_key_pair_t *ret, rb_err_t *err);
/* Makes PATH, PATH.pub and the directory they lie in (0700); never overwrites PATH, and where it
 * fails (RB_ERR_INPUT: there already, an empty path; RB_ERR_IO) leaves neither. */
int rb_key_pair_save(const char *path, const rb_key_pair_t *pair, rb_err_t *err);

/* "$XDG_CONFIG_HOME/rackbench/FILE", else "$HOME/.config/rackbench/FILE"; owned by the caller. */
char *rb_key_home(const char *file);

void rb_key_list_add(rb_key_list_t *list, const char *name, const char *key); /* name may be NULL */
/* Appends the keys of a file, which may have none. RB_ERR_INPUT "FILE:LINE: ...". */
int rb_key_list_load(rb_key_list_t *list, const char *path, rb_err_t *err);
/* Appends WHAT: a key itself, else the keys of the file of that name. RB_ERR_INPUT: it has none. */
int rb_key_list_take(rb_key_list_t *list, const char *what, rb_err_t *err);
void rb_key_list_clear(rb_key_list_t *list);
/* Of the first entry with this name; NULL: none. */
const char *rb_key_list_find(const rb_key_list_t *list, const char *name);
