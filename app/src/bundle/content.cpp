#include "content.h"

#include "server/assets.h"
#include "view/base64.h"
#include "view/json_parts.h"

#include <fmt/format.h>

namespace deltascope::bundle {

using nlohmann::ordered_json;

namespace {

/// JSON that cannot end the element that it stands in: "<" occurs in nothing but strings.
std::string inert(const std::string& json)
{
    std::string text;
    for (const char c : json) {
        if (c == '<')
            text += "\\u003c";
        else
            text += c;
    }
    return text;
}

/// First and last step of each epoch.
ordered_json rangesOf(const Recording& recording)
{
    ordered_json ranges = ordered_json::array();
    for (const ordered_json& step : recording.of("steps")["steps"]) {
        if (ranges.empty() || ranges.back()["epoch"] != step["epoch"])
            ranges.push_back({ { "epoch", step["epoch"] }, { "first_step", step["step"] } });
        ranges.back()["last_step"] = step["kind"] == "gap" ? step["last_step"] : step["step"];
    }
    return ranges;
}

}

std::string manifestOf(const Recording& recording, std::int64_t createdUs)
{
    const ordered_json& run = recording.answers.at("runs/" + recording.run);
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
        lines += linesOf(recording.of(fmt::format("timeline?epoch={}", epoch))["spans"]);
    return lines;
}

std::string tensorsOf(const Recording& recording)
{
    ordered_json tables = ordered_json::array();
    for (const int epoch : recording.epochs) {
        const auto table = recording.answers.find(fmt::format("runs/{}/tensors?epoch={}", recording.run, epoch));
        if (table != recording.answers.end())
            tables.push_back(table->second);
    }
    return app::dump(tables) + "\n";
}

std::string pageOf(const Recording& recording, std::int64_t createdUs)
{
    ordered_json tiles = ordered_json::object();
    for (const auto& [address, body] : recording.tiles)
        tiles[address] = app::base64(body);
    const ordered_json data = { { "format_version", 1 },           { "tool_version", DELTASCOPE_VERSION },
                                { "created_us", createdUs },       { "run", recording.run },
                                { "left_out", recording.leftOut }, { "answers", recording.answers },
                                { "tiles", std::move(tiles) } };
    constexpr std::string_view Place = "<script id=\"bundle\" type=\"application/json\">";
    std::string page(server::bundlePage());
    if (const std::size_t at = page.find(Place); at != std::string::npos)
        page.insert(at + Place.size(), inert(app::dump(data)));
    return page;
}

} // namespace deltascope::bundle
