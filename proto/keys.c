#include "proto/keys.h"

#include "proto/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINE = 1024 };

bool rb_key_valid(const char *text)
{
    return strlen(text) == RB_KEY_SIZE - 1 && strspn(text, "0123456789abcdef") == RB_KEY_SIZE - 1;
}

static uint8_t digit(char c)
{
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

void rb_key_to_bytes(uint8_t bytes[RB_KEY_BYTES], const char *text)
{
    RB_ASSERT(rb_key_valid(text));
    for (size_t i = 0; i < RB_KEY_BYTES; i++)
        bytes[i] = (uint8_t)(digit(text[2 * i]) << 4 | digit(text[2 * i + 1]));
}

void rb_key_from_bytes(char text[RB_KEY_SIZE], const uint8_t *bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < RB_KEY_BYTES; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[RB_KEY_SIZE - 1] = '\0';
}

static void close_file(FILE **file)
{
    if (*file != NULL)
        fclose(*file);
}

/* 1: a line is read, 0: the end, -1: one that cannot be read whole. What does not fit must not
 * count as a line of its own: the tail of a comment could be a key. */
static int next_line(FILE *in, char line[MAX_LINE], rb_err_t *err)
{
    if (fgets(line, MAX_LINE, in) == NULL)
        return ferror(in) ? rb_err_errno(err, errno, "read") : 0;
    if (strchr(line, '\n') != NULL || feof(in))
        return 1;
    return rb_err_set(err, RB_ERR_INPUT,
                      "is longer than %d characters or holds a NUL; make it shorter", MAX_LINE - 2);
}

char *rb_key_home(const char *file)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && config[0] == '/')
        return rb_asprintf("%s/rackbench/%s", config, file);
    return rb_asprintf("%s/.config/rackbench/%s", home != NULL && home[0] ? home : "/root", file);
}

/* ---- a pair ---- */

static int find_secret(FILE *in, rb_key_pair_t *ret, const char *path, rb_err_t *err)
{
    char line[MAX_LINE], secret[RB_KEY_SIZE];
    int rc;
    for (uint32_t number = 1; (rc = next_line(in, line, err)) != 0; number++) {
        if (rc < 0)
            return rb_err_wrap(err, "key %s:%u", path, number);
        if (sscanf(line, "secret %64s", secret) != 1 || !rb_key_valid(secret))
            continue;
        memcpy(ret->secret_key, secret, RB_KEY_SIZE);
        rb_key_public(ret);
        return 0;
    }
    return rb_err_set(err, RB_ERR_INPUT,
                      "key %s: holds no line 'secret KEY'; rackbench keygen makes one", path);
}

int rb_key_pair_load(const char *path, rb_key_pair_t *ret, rb_err_t *err)
{
    RB_AUTO(close_file) FILE *in = fopen(path, "re");
    struct stat st;
    if (in == NULL)
        return rb_err_errno(err, errno, "key %s", path);
    if (fstat(fileno(in), &st) == 0 && (st.st_mode & 077) != 0)
        return rb_err_set(err, RB_ERR_UNSAFE,
                          "key %s: others may read it (mode %03o); make a new one, or chmod 600 if "
                          "nobody has",
                          path, st.st_mode & 0777);
    return find_secret(in, ret, path, err);
}

/* Makes the directory of path and those above it. */
static int make_parents(const char *path, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(path);
    if (*path == '\0')
        return rb_err_set(err, RB_ERR_INPUT, "a key with an empty path; name a file");
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            return rb_err_errno(err, errno, "make the directory %s for the key", copy);
        *slash = '/';
    }
    return 0;
}

static void drop_file(char **path)
{
    if (*path != NULL)
        unlink(*path);
    rb_free_str(path);
}

/* Text in a file beside path, whole and on the disk; it goes with the name that is returned. */
static char *write_beside(const char *path, mode_t mode, const char *text, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *name = rb_asprintf("%s.XXXXXX", path);
    int fd = mkostemp(name, O_CLOEXEC);
    if (fd < 0) {
        rb_err_errno(err, errno, "make the key %s", path);
        return NULL;
    }
    RB_AUTO(drop_file) char *beside = RB_MOVE(name);
    bool written = fchmod(fd, mode) == 0 &&
                   write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    int why = errno;
    close(fd);
    if (written)
        return RB_MOVE(beside);
    rb_err_errno(err, why, "write the key %s", path);
    return NULL;
}

int rb_key_pair_save(const char *path, const rb_key_pair_t *pair, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *secret = rb_asprintf("secret %s\n", pair->secret_key);
    RB_AUTO(rb_free_str) char *public_text = rb_asprintf("%s\n", pair->public_key);
    RB_AUTO(rb_free_str) char *public_path = rb_asprintf("%s.pub", path);
    if (make_parents(path, err) != 0)
        return -1;
    RB_AUTO(drop_file) char *secret_beside = write_beside(path, 0600, secret, err);
    if (secret_beside == NULL)
        return -1;
    RB_AUTO(drop_file) char *public_beside = write_beside(public_path, 0644, public_text, err);
    if (public_beside == NULL)
        return -1;
    if (link(secret_beside, path) != 0)
        return errno == EEXIST ? rb_err_set(err, RB_ERR_INPUT,
                                            "key %s is there already; it is not overwritten", path)
                               : rb_err_errno(err, errno, "make the key %s", path);
    if (rename(public_beside, public_path) == 0) /* an old one is of a secret that is gone */
        return 0;
    rb_err_errno(err, errno, "make the key %s", public_path);
    unlink(path);
    return -1;
}

/* ---- a list ---- */

void rb_key_list_add(rb_key_list_t *list, const char *name, const char *key)
{
    rb_key_entry_t *entry = RB_PUSH(list->keys, list->nkeys);
    entry->name = name != NULL ? rb_strdup(name) : NULL;
    snprintf(entry->key, sizeof(entry->key), "%s", key);
}

static int take_line(rb_key_list_t *list, char *line, rb_err_t *err)
{
    static const char blank[] = " \t\r\n";
    char *rest = NULL;
    line[strcspn(line, "#")] = '\0';
    char *first = strtok_r(line, blank, &rest), *second = strtok_r(NULL, blank, &rest);
    if (first == NULL)
        return 0;
    const char *key = second != NULL ? second : first;
    if (!rb_key_valid(key) || strtok_r(NULL, blank, &rest) != NULL)
        return rb_err_set(err, RB_ERR_INPUT,
                          "is no 'KEY' or 'NAME KEY'; a key has 64 digits, as rackbench keygen "
                          "and rackbench-agent --show-key print it");
    if (list->nkeys == RB_MAX_KEYS)
        return rb_err_set(err, RB_ERR_INPUT, "more than %d keys", RB_MAX_KEYS);
    rb_key_list_add(list, second != NULL ? first : NULL, key);
    return 0;
}

int rb_key_list_load(rb_key_list_t *list, const char *path, rb_err_t *err)
{
    RB_AUTO(close_file) FILE *in = fopen(path, "re");
    char line[MAX_LINE];
    int rc;
    if (in == NULL && errno == ENOENT)
        return rb_err_set(err, RB_ERR_INPUT,
                          "'%s' is neither a key (64 hexadecimal digits) nor a file of keys", path);
    if (in == NULL)
        return rb_err_errno(err, errno, "keys %s", path);
    for (uint32_t number = 1; (rc = next_line(in, line, err)) != 0; number++)
        if (rc < 0 || take_line(list, line, err) != 0)
            return rb_err_wrap(err, "%s:%u", path, number);
    return 0;
}

int rb_key_list_take(rb_key_list_t *list, const char *what, rb_err_t *err)
{
    size_t before = list->nkeys;
    if (rb_key_valid(what))
        rb_key_list_add(list, NULL, what);
    else if (rb_key_list_load(list, what, err) != 0)
        return -1;
    return list->nkeys > before
               ? 0
               : rb_err_set(err, RB_ERR_INPUT, "'%s' holds no key; a line of it is KEY or NAME KEY",
                            what);
}

void rb_key_list_clear(rb_key_list_t *list)
{
    for (size_t i = 0; i < list->nkeys; i++)
        free(list->keys[i].name);
    free(list->keys);
    *list = (rb_key_list_t){0};
}

const char *rb_key_list_find(const rb_key_list_t *list, const char *name)
{
    for (size_t i = 0; i < list->nkeys; i++)
        if (list->keys[i].name != NULL && strcmp(list->keys[i].name, name) == 0)
            return list->keys[i].key;
    return NULL;
}
