/* conversation.h - the Mooncake conversation trace, read by our own loader. */
#pragma once

#include "common/llm/trace_load.h"

static inline rb_trace_t *conversation(void)
{
    const char *command = "awk -f " RB_SOURCE_DIR "/tests/lib/conversation.awk " RB_SOURCE_DIR
                          "/tests/data/traces/conversation.txt";
    const rb_trace_load_opts_t opts = {0};
    size_t size = 0, room = 4 * RB_MIB;
    char *text = rb_calloc(room, 1);
    FILE *in = popen(command, "re");
    RB_ASSERT(in != NULL);
    size = fread(text, 1, room, in);
    RB_ASSERT(pclose(in) == 0 && size < room);
    rb_err_t err = {0};
    rb_trace_t *trace = rb_trace_read("conversation", text, size, &opts, &err);
    free(text);
    if (trace == NULL)
        fail_msg("%s", err.text);
    return trace;
}
