#include "coordinator/plan/presets.h"

#include "common/base.h"

const char *rb_preset_find(const char *name)
{
    for (const struct rb_preset *p = rb_presets; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p->yaml;
    return NULL;
}

char *rb_preset_summary(const char *name)
{
    const char *yaml = rb_preset_find(name);
    RB_ASSERT(yaml);
    const char *text = yaml + strspn(yaml, "# ");
    return rb_strndup(text, strcspn(text, "\n"));
}
