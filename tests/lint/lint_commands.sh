#!/usr/bin/env bash
# No program is started but the embedded agent (coordinator/fleet.c): nothing of a plan can become a
# command.
source "$(dirname "$0")/files.sh"

calls=$(sources '^(agent|common|coordinator|proto)/.*\.[ch]$' |
    xargs grep -nE '\b(system|popen|exec[lv][pe]*|execveat|posix_spawnp?|fork|vfork|wordexp)\(' |
    grep -v '^coordinator/fleet\.c:' || true)
verdict "$calls" "the agent starts no program, the coordinator only agents"
