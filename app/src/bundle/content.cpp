#include "content.h"

#include "server/assets.h"
#include "view/base64.h"
#include "view/json_parts.h"

#include <fmt/format.h>

namespace deltascope::bundle {

using nlohmann::ordered_json;

namespace {

/// Appends JSON so that it cannot end the element that it stands in: "<" occurs in nothing but strings.
void appendInert(std::string& out, std::string_view json)
{
    std::size_t begin = 0;
    for (std::size_t at = 0; (at = json.find('<', begin)) != std::string_view::npos; begin = at + 1)
        out.append(json.substr(begin, at - begin)).append("\\u003c");
    out.append(json.substr(begin));
}

/// First and last step of each epoch.
ordered_json rangesOf(const Recording& recording)
{
    ordered_json ranges = ordered_json::array();
    const ordered_json steps = recording.of("steps");
    for (const ordered_json& step : steps["steps"]) {
        if (ranges.empty() || ranges.back()["epoch"] != step["epoch"])
            ranges.push_back({ { "epoch", step["epoch"] }, { "first_step", step["step"] } });
        ranges.back()["last_step"] = step["kind"] == "gap" ? step["last_step"] : step["step"];
    }
    return ranges;
}

}

std::string manifestOf(const Recording& recording, std::int64_t createdUs)
{
    const ordered_json run = recording.answer("runs/" + recording.run);
    const ordered_json manifest = { { "format_version", 3 },          { "tool_version", DELTASCOPE_VERSION },
                                    { "created_us", createdUs },      { "run", run["name"] },
                                    { "source", run["source"] },      { "base", run["base"] },
                                    { "layout", run["layout"] },      { "ranges", rangesOf(recording) },
                                    { "left_out", recording.leftOut } };
    return manifest.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string linesOf(const ordered_json& list)
{
    std::string lines;
    for (const ordered_json& entry : list)
        lines += app::dump(entry) + "\n";
    return lines;
}

std::string spansOf(const Recording& recording)
{
    std::string lines;
    for (const int epoch : recording.epochs)
        lines += linesOf(recording.of(fmt::format("timeline?epoch={}", epoch)).at("spans"));
    return lines;
}

std::string tensorsOf(const Recording& recording)
{
    std::string tables;
    for (const int epoch : recording.epochs) {
        const auto table = recording.answers.find(fmt::format("runs/{}/tensors?epoch={}", recording.run, epoch));
        if (table != recording.answers.end())
            tables += (tables.empty() ? "" : ",") + table->second;
    }
    return "[" + tables + "]\n";
}

std::string pageOf(const Recording& recording, std::int64_t createdUs)
{
    const ordered_json head = { { "format_version", 1 },
                                { "tool_version", DELTASCOPE_VERSION },
                                { "created_us", createdUs },
                                { "run", recording.run },
                                { "left_out", recording.leftOut } };
    constexpr std::string_view Place = "<script id=\"bundle\" type=\"application/json\">";
    const std::string_view bare = server::bundlePage();
    const std::size_t begin = bare.find(Place);
    if (begin == std::string_view::npos)
        return std::string(bare);
    std::string page(bare.substr(0, begin + Place.size()));
    std::string text = app::dump(head);
    text.back() = ',';
    appendInert(page, text);
    page += "\"answers\":{";
    const char* separator = "";
    for (const auto& [address, answer] : recording.answers) {
        appendInert(page.append(separator), app::dump(address));
        appendInert(page.append(":"), answer);
        separator = ",";
    }
    page.append("},\"tiles\":{");
    separator = "";
    for (const auto& [address, body] : recording.tiles) {
        appendInert(page.append(separator), app::dump(address));
        page.append(":\"").append(app::base64(body)).append("\"");
        separator = ",";
    }
    return page.append("}}").append(bare.substr(begin + Place.size()));
}

} // namespace deltascope::bundle
