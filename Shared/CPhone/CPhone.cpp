#include "CPhone.h"

#include <cstring>
#include <list>
#include <string>

#include <phonenumbers/phonenumberutil.h>
#include <phonenumbers/shortnumberinfo.h>

using i18n::phonenumbers::PhoneNumber;
using i18n::phonenumbers::PhoneNumberUtil;
using i18n::phonenumbers::ShortNumberInfo;

namespace {

int32_t status_of(PhoneNumberUtil::ErrorType error) {
    switch (error) {
        case PhoneNumberUtil::NO_PARSING_ERROR: return cphone_ok;
        case PhoneNumberUtil::INVALID_COUNTRY_CODE_ERROR: return cphone_unknown_country;
        case PhoneNumberUtil::TOO_SHORT_AFTER_IDD: return cphone_too_short;
        case PhoneNumberUtil::TOO_SHORT_NSN: return cphone_too_short;
        case PhoneNumberUtil::TOO_LONG_NSN: return cphone_too_long;
        default: return cphone_not_a_number;
    }
}

int32_t status_of(PhoneNumberUtil::ValidationResult verdict) {
    switch (verdict) {
        case PhoneNumberUtil::IS_POSSIBLE: return cphone_ok;
        case PhoneNumberUtil::INVALID_COUNTRY_CODE: return cphone_unknown_country;
        case PhoneNumberUtil::IS_POSSIBLE_LOCAL_ONLY: return cphone_too_short;
        case PhoneNumberUtil::TOO_SHORT: return cphone_too_short;
        case PhoneNumberUtil::TOO_LONG: return cphone_too_long;
        default: return cphone_bad_length;
    }
}

int32_t kind_of(PhoneNumberUtil::PhoneNumberType type) {
    switch (type) {
        case PhoneNumberUtil::MOBILE: return cphone_kind_mobile;
        case PhoneNumberUtil::FIXED_LINE: return cphone_kind_fixed;
        case PhoneNumberUtil::FIXED_LINE_OR_MOBILE: return cphone_kind_either;
        default: return cphone_kind_other;
    }
}

/// A valid number tells its region; another only when its country code has one region.
std::string region_of(const PhoneNumberUtil &util, const PhoneNumber &number, bool is_valid) {
    std::string region;
    if (is_valid) {
        util.GetRegionCodeForNumber(number, &region);
    } else {
        std::list<std::string> regions;
        util.GetRegionCodesForCountryCallingCode(number.country_code(), &regions);
        if (regions.size() == 1) region = regions.front();
    }
    return region.size() == 2 && region != "ZZ" ? region : "";
}

void parse(const char *text, size_t length, const char *region, cphone_result *result) {
    const PhoneNumberUtil &util = *PhoneNumberUtil::GetInstance();
    static const ShortNumberInfo short_numbers;
    PhoneNumber number;
    const auto error = util.Parse(std::string(text, length), region, &number);
    result->status = status_of(error);
    if (error != PhoneNumberUtil::NO_PARSING_ERROR) return;

    result->is_read = true;
    result->country_code = number.country_code();
    result->has_extension = number.has_extension() && !number.extension().empty();
    std::string national;
    util.GetNationalSignificantNumber(number, &national);
    result->national_digits = static_cast<int32_t>(national.size());
    result->status = status_of(util.IsPossibleNumberWithReason(number));
    result->is_valid = util.IsValidNumber(number);
    result->is_short = !result->is_valid && short_numbers.IsValidShortNumber(number);
    result->kind = result->is_valid ? kind_of(util.GetNumberType(number)) : cphone_kind_other;

    std::string formatted;
    util.Format(number, PhoneNumberUtil::E164, &formatted);
    if (formatted.size() < sizeof result->e164) {
        std::memcpy(result->e164, formatted.c_str(), formatted.size() + 1);
    }
    const std::string code = region_of(util, number, result->is_valid);
    std::memcpy(result->region, code.c_str(), code.size() + 1);
}

}  // namespace

extern "C" void cphone_parse(
    const char *text, size_t length, const char *region, cphone_result *result) {
    std::memset(result, 0, sizeof *result);
    try {
        parse(text, length, region, result);
    } catch (...) {
        std::memset(result, 0, sizeof *result);
        result->status = cphone_fault;
    }
}
