#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    /// JSON of the document and of the line of each key (`{"value":{…},"lines":{"a.b":3}}`); null
    /// on an error.
    char *json;
    /// A sentence; null without an error. `line` and `column` count from 1.
    char *message;
    uint32_t line;
    uint32_t column;
} ctoml_result;

/// Reads a TOML 1.0 document of `length` bytes of UTF-8. Dates and times become strings; nan and
/// inf are errors. Never throws. Give the result to `ctoml_free`.
void ctoml_parse(const char *text, size_t length, ctoml_result *result);
void ctoml_free(ctoml_result *result);

#ifdef __cplusplus
}
#endif
