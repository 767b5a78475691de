#include "agent/backend/backend.h"

int rb_backend_refuse(const rb_backend_opts_t *opts, const char *why, const char *remedy,
                      const char *taken, rb_err_t *err)
{
    if (!opts->fallback)
        return rb_err_set(err, RB_ERR_INPUT, "%s; %s or set fallback: allow", why, remedy);
    RB_ASSERT(opts->told->n < RB_MAX_TOLD);
    snprintf(opts->told->text[opts->told->n++], RB_TOLD_SIZE, "%s: %s", why, taken);
    return 0;
}
