// Files of the pages in ../pages, part of the executable: it needs none of them at run time.

#ifndef CPAGES_H
#define CPAGES_H

#include <stddef.h>

typedef struct {
    const char *_Nonnull name;
    const unsigned char *_Nonnull bytes;
    size_t count;
} cpages_file;

/// How many files there are.
size_t cpages_files_count(void);

/// - Parameter index: below `cpages_files_count()`.
cpages_file cpages_file_at(size_t index);

#endif
