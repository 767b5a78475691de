/* Feeds every file of the folders given to a fuzz target, so that any compiler replays the corpus.
 */
#include "common/base.h"

#include <dirent.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool feed(const char *path)
{
    struct stat st;
    FILE *file = fopen(path, "rbe");
    if (file == NULL || fstat(fileno(file), &st) != 0) {
        perror(path);
        exit(1);
    }
    if (!S_ISREG(st.st_mode)) {
        fclose(file);
        return false;
    }
    size_t size = (size_t)st.st_size;
    uint8_t *data = size > 0 ? malloc(size) : NULL; /* of the exact size, for the sanitizers */
    RB_ASSERT(size == 0 || fread(data, size, 1, file) == 1);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    fclose(file);
    return true;
}

static unsigned feed_folder(const char *folder)
{
    unsigned files = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        perror(folder);
        exit(1);
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        RB_AUTO(rb_free_str) char *path = rb_asprintf("%s/%s", folder, entry->d_name);
        files += feed(path);
    }
    closedir(dir);
    return files;
}

int main(int argc, char **argv)
{
    unsigned files = 0;
    for (int i = 1; i < argc; i++)
        files += feed_folder(argv[i]);
    printf("%u inputs\n", files);
    return files > 0 ? 0 : 1;
}
