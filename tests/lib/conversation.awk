# The conversation trace of the Mooncake FAST'25 release, as it is published, from its compact form: a line there has
# the time since the last request [ms], tokens in, tokens out, and the last block that an earlier request had (-1: none).
# Blocks form a tree and are numbered as they come, so that is all there is to know.
{
    at += $1
    n = int(($2 + 511) / 512)
    k = 0
    for (id = $4; id >= 0; id = parent[id])
        path[k++] = id
    printf "{\"timestamp\": %d, \"input_length\": %d, \"output_length\": %d, \"hash_ids\": [", at, $2, $3
    id = $4
    for (i = 0; i < n; i++) {
        if (i >= k) {
            parent[next_id + 0] = id
            id = next_id++
        }
        printf "%s%d", i ? ", " : "", i < k ? path[k - 1 - i] : id
    }
    print "]}"
}
