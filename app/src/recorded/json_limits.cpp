#include "json_limits.h"

#include <nlohmann/json.hpp>

namespace deltascope::app {

namespace {

using json = nlohmann::json;

/// Counts what a parser would keep, and stops at the limits.
class Counter final : public nlohmann::json_sax<json> {
public:
    bool null() override { return one(); }
    bool boolean(bool) override { return one(); }
    bool number_integer(number_integer_t) override { return one(); }
    bool number_unsigned(number_unsigned_t) override { return one(); }
    bool number_float(number_float_t, const string_t&) override { return one(); }
    bool string(string_t&) override { return one(); }
    bool binary(binary_t&) override { return one(); }
    bool start_object(std::size_t) override { return deeper(); }
    bool start_array(std::size_t) override { return deeper(); }
    bool end_object() override { return shallower(); }
    bool end_array() override { return shallower(); }
    bool key(string_t&) override { return one(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

private:
    bool one() { return ++m_values <= MostJsonValues; }
    bool deeper() { return ++m_depth <= MostJsonDepth && one(); }
    bool shallower()
    {
        --m_depth;
        return true;
    }

    std::size_t m_values = 0;
    std::size_t m_depth = 0;
};

}

bool keepsJsonLimits(std::string_view text)
{
    Counter counter;
    return json::sax_parse(text, &counter);
}

} // namespace deltascope::app
