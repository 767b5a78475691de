#include "coordinator/cmd.h"

#include "proto/socket.h"

#include <unistd.h>

int cmd_keygen(const rb_options_t *options, rb_err_t *err)
{
    RB_AUTO(rb_free_str) char *home = rb_key_home("key");
    const char *path = options->key != NULL ? options->key : home;
    rb_key_pair_t pair;
    bool there = access(path, F_OK) == 0;
    if (!there)
        rb_key_make(&pair);
    int rc = there ? rb_key_pair_load(path, &pair, err) : rb_key_pair_save(path, &pair, err);
    if (rc == 0) {
        fprintf(stderr, "%s %s; its public key, for agents to --authorize:\n",
                there ? "there already:" : "made", path);
        puts(pair.public_key);
    }
    explicit_bzero(&pair, sizeof(pair));
    return rc == 0 ? RB_OK : (int)err->code;
}
