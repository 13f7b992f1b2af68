#include "CToml.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>

/// The parser asserts on some broken documents (a key that ends in the middle of a character). In a
/// daemon that is an error of the file, not the end of the process; so an assertion throws, in
/// release builds too.
struct BrokenDocument {};
#undef NDEBUG
#define TOML_ASSERT(expression) \
    do { \
        if (!(expression)) throw BrokenDocument{}; \
    } while (false)
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace {

struct Fault {
    std::string message;
    toml::source_position place;
};

void append_string(std::string &out, std::string_view text) {
    out += '"';
    for (const char character : text) {
        const auto byte = static_cast<unsigned char>(character);
        if (byte == '"' || byte == '\\') {
            out += '\\';
            out += character;
        } else if (byte < 0x20) {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", byte);
            out += escape;
        } else {
            out += character;
        }
    }
    out += '"';
}

template <typename Stamp>
void append_stamp(std::string &out, const Stamp &stamp) {
    std::ostringstream text;
    text << stamp;
    append_string(out, text.str());
}

class Writer {
public:
    std::string value;
    std::string lines;
    Fault fault;
    bool has_fault = false;

    void write(const toml::node &node, const std::string &path) {
        if (const auto *table = node.as_table()) {
            write_table(*table, path);
        } else if (const auto *array = node.as_array()) {
            value += '[';
            size_t index = 0;
            for (const toml::node &item : *array) {
                if (index > 0) value += ',';
                write(item, path + "[" + std::to_string(index++) + "]");
            }
            value += ']';
        } else {
            write_scalar(node);
        }
    }

private:
    void write_table(const toml::table &table, const std::string &path) {
        value += '{';
        bool is_first = true;
        for (const auto &[key, item] : table) {
            if (!is_first) value += ',';
            is_first = false;
            const std::string name(key.str());
            append_string(value, name);
            value += ':';
            const std::string place = path.empty() ? name : path + "." + name;
            if (!lines.empty()) lines += ',';
            append_string(lines, place);
            lines += ':' + std::to_string(key.source().begin.line);
            write(item, place);
        }
        value += '}';
    }

    void write_scalar(const toml::node &node) {
        if (const auto *text = node.as_string()) {
            append_string(value, text->get());
        } else if (const auto *integer = node.as_integer()) {
            value += std::to_string(integer->get());
        } else if (const auto *flag = node.as_boolean()) {
            value += flag->get() ? "true" : "false";
        } else if (const auto *number = node.as_floating_point()) {
            write_number(number->get(), node);
        } else if (const auto *date = node.as_date()) {
            append_stamp(value, date->get());
        } else if (const auto *time = node.as_time()) {
            append_stamp(value, time->get());
        } else if (const auto *both = node.as_date_time()) {
            append_stamp(value, both->get());
        } else {
            value += "null";
        }
    }

    void write_number(double number, const toml::node &node) {
        if (!std::isfinite(number)) {
            if (!has_fault) fault = {"nan and inf are no settings", node.source().begin};
            has_fault = true;
            value += "0";
            return;
        }
        char text[40];
        std::snprintf(text, sizeof text, "%.17g", number);
        value += text;
    }
};

void fail(ctoml_result *result, std::string_view message, toml::source_position place) {
    result->message = strndup(message.data(), message.size());
    result->line = place.line;
    result->column = place.column;
}

}  // namespace

extern "C" void ctoml_parse(const char *text, size_t length, ctoml_result *result) {
    std::memset(result, 0, sizeof *result);
    try {
        const toml::table document = toml::parse(std::string_view(text, length));
        Writer writer;
        writer.write(document, "");
        if (writer.has_fault) {
            fail(result, writer.fault.message, writer.fault.place);
            return;
        }
        const std::string json =
            "{\"value\":" + writer.value + ",\"lines\":{" + writer.lines + "}}";
        result->json = strndup(json.data(), json.size());
    } catch (const toml::parse_error &error) {
        fail(result, error.description(), error.source().begin);
    } catch (const BrokenDocument &) {
        fail(result, "not a TOML document", {1, 1});
    } catch (...) {
        fail(result, "the document cannot be read", {1, 1});
    }
}

extern "C" void ctoml_free(ctoml_result *result) {
    std::free(result->json);
    std::free(result->message);
    std::memset(result, 0, sizeof *result);
}
