/* presets.h - plans that are compiled in: presets/NAME.yaml, embedded by presets/embed.cmake.
 *
 * The first line of each is a comment that says what the preset does. Any thread; no state.
 */
#pragma once

struct rb_preset {
    const char *name;
    const char *yaml;
};

extern const struct rb_preset rb_presets[]; /* by name; ends with {0, 0} */

/* The YAML text of a preset; NULL if there is none of that name. */
const char *rb_preset_find(const char *name);
/* The first line's comment of a preset that exists; owned by the caller. */
char *rb_preset_summary(const char *name);
