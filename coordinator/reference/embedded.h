/* embedded.h - the file of published figures, compiled in by the build. Main thread. */
#pragma once

struct rb_embedded {
    const char *name; /* without suffix; NULL ends the list */
    const char *text;
};
extern const struct rb_embedded rb_embedded_references[];
