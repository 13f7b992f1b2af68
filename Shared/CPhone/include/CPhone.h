#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Why a text is no number; `cphone_ok` is 0.
enum {
    cphone_ok = 0,
    cphone_not_a_number,
    cphone_unknown_country,
    cphone_too_short,
    cphone_too_long,
    /// Of a length that no number of the country has.
    cphone_bad_length,
    /// The library threw: out of memory, or a fault of its own.
    cphone_fault,
};

enum { cphone_kind_other = 0, cphone_kind_mobile, cphone_kind_fixed, cphone_kind_either };

typedef struct {
    /// The verdict on the length is here too: the fields below are filled whenever the text could
    /// be read at all (`is_read`).
    int32_t status;
    int32_t country_code;
    int32_t kind;
    /// Digits of the national (significant) number, leading zeros included.
    int32_t national_digits;
    bool is_read;
    bool is_valid;
    /// A number that only its own country can dial, such as 10086.
    bool is_short;
    bool has_extension;
    /// `+` and digits; empty when it would not fit.
    char e164[24];
    /// Two letters, or empty when the code has several regions or none.
    char region[4];
} cphone_result;

/// Reads `text` (UTF-8, `length` bytes). `region`: two capital letters, or "ZZ" for none.
/// Never throws; safe from any thread.
void cphone_parse(const char *text, size_t length, const char *region, cphone_result *result);

#ifdef __cplusplus
}
#endif
