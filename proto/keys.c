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

char *rb_key_home(const char *file)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (config != NULL && config[0] == '/')
        return rb_asprintf("%s/rackbench/%s", config, file);
    return rb_asprintf("%s/.config/rackbench/%s", home != NULL && home[0] ? home : "/root", file);
}

/* ---- a pair ---- */

int rb_key_pair_load(const char *path, rb_key_pair_t *ret, rb_err_t *err)
{
    RB_AUTO(close_file) FILE *in = fopen(path, "re");
    struct stat st;
    char line[MAX_LINE], secret[RB_KEY_SIZE];
    if (in == NULL)
        return rb_err_errno(err, errno, "key %s", path);
    if (fstat(fileno(in), &st) == 0 && (st.st_mode & 077) != 0)
        return rb_err_set(err, RB_ERR_UNSAFE,
                          "key %s: others may read it (mode %03o); make a new one, or chmod 600 if "
                          "nobody has",
                          path, st.st_mode & 0777);
    while (fgets(line, sizeof(line), in) != NULL) {
        if (sscanf(line, "secret %64s", secret) != 1 || !rb_key_valid(secret))
            continue;
        memcpy(ret->secret_key, secret, RB_KEY_SIZE);
        rb_key_public(ret);
        return 0;
    }
    return rb_err_set(err, RB_ERR_INPUT,
                      "key %s: holds no line 'secret KEY'; rackbench keygen makes one", path);
}

/* Makes the directory of path and those above it. */
static int make_parents(const char *path, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *copy = rb_strdup(path);
    for (char *slash = strchr(copy + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            return rb_err_errno(err, errno, "make the directory %s for the key", copy);
        *slash = '/';
    }
    return 0;
}

static int write_file(const char *path, mode_t mode, const char *text, rb_err_t *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd < 0 && errno == EEXIST)
        return rb_err_set(err, RB_ERR_INPUT, "key %s is there already; it is not overwritten",
                          path);
    if (fd < 0)
        return rb_err_errno(err, errno, "make the key %s", path);
    bool written = write(fd, text, strlen(text)) == (ssize_t)strlen(text) && fsync(fd) == 0;
    int why = errno;
    close(fd);
    return written ? 0 : rb_err_errno(err, why, "write the key %s", path);
}

int rb_key_pair_save(const char *path, const rb_key_pair_t *pair, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *secret = rb_asprintf("secret %s\n", pair->secret_key);
    RB_AUTO(rb_free_str) char *public_text = rb_asprintf("%s\n", pair->public_key);
    RB_AUTO(rb_free_str) char *public_path = rb_asprintf("%s.pub", path);
    if (make_parents(path, err) != 0 || write_file(path, 0600, secret, err) != 0)
        return -1;
    unlink(public_path); /* of a secret that is gone */
    return write_file(public_path, 0644, public_text, err);
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
    if (in == NULL && errno == ENOENT)
        return rb_err_set(err, RB_ERR_INPUT,
                          "'%s' is neither a key (64 hexadecimal digits) nor a file of keys", path);
    if (in == NULL)
        return rb_err_errno(err, errno, "keys %s", path);
    for (uint32_t number = 1; fgets(line, sizeof(line), in) != NULL; number++)
        if (take_line(list, line, err) != 0)
            return rb_err_wrap(err, "%s:%u", path, number);
    if (ferror(in))
        return rb_err_errno(err, errno, "keys %s", path);
    return 0;
}

int rb_key_list_take(rb_key_list_t *list, const char *what, rb_err_t *err)
{
    if (!rb_key_valid(what))
        return rb_key_list_load(list, what, err);
    rb_key_list_add(list, NULL, what);
    return 0;
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
