#include "bucket_api.h"

#include "../../base/percent_code.h"
#include "hub_names.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace deltascope::hub {

namespace {

using nlohmann::json;

constexpr std::size_t PageFiles = 1000; // hf-mount asks for 5000; a page is one answer in memory
constexpr std::size_t MostPageBytes = std::size_t { 16 } << 20;
constexpr std::size_t InfoPaths = 1000; // as huggingface_hub asks

/// Length of the UTF-8 sequence at the front, 0 if it is none.
std::size_t sequenceBytes(std::string_view text) noexcept
{
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = at(0);
    if (first < 0x80)
        return 1;
    const std::size_t count = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < count)
        return 0;
    for (std::size_t i = 1; i < count; ++i) {
        if ((at(i) & 0xC0) != 0x80)
            return 0;
    }
    const bool isOverlong = (first == 0xE0 && at(1) < 0xA0) || (first == 0xF0 && at(1) < 0x90);
    const bool isSurrogate = first == 0xED && at(1) >= 0xA0;
    const bool isTooHigh = first == 0xF4 && at(1) >= 0x90;
    return isOverlong || isSurrogate || isTooHigh ? 0 : count;
}

} // namespace

Result<void> checkHubPath(std::string_view path)
{
    DS_CHECK(checkKey(path));
    if (path.find('\\') != std::string_view::npos)
        return fail(Code::Usage, "the Hub has no paths with a backslash", std::string(path));
    for (std::string_view rest = path; !rest.empty();) {
        const std::size_t count = sequenceBytes(rest);
        if (count == 0)
            return fail(Code::Usage, "the Hub has no paths that are not UTF-8");
        rest.remove_prefix(count);
    }
    return {};
}

std::string listedPrefix(std::string_view prefix)
{
    std::string_view kept = prefix;
    for (std::size_t begin = 0; begin < prefix.size();) {
        const std::size_t end = std::min(prefix.find('/', begin), prefix.size());
        const std::string_view component = prefix.substr(begin, end - begin);
        if (component.empty() || component == "." || component == "..") { // a URL is shortened there
            kept = prefix.substr(0, begin);
            break;
        }
        begin = end + 1;
    }
    while (!kept.empty() && kept.back() == '/') // "tree/" is redirected to "tree"
        kept.remove_suffix(1);
    return std::string(kept);
}

BucketApi::BucketApi(std::shared_ptr<const HubApi> hub, std::string ns, std::string name)
    : m_hub(std::move(hub))
    , m_id(ns + "/" + name)
    , m_route("/api/buckets/" + m_id)
{
}

Result<std::vector<HubFile>> BucketApi::tree(const std::string& prefix, std::size_t mostFiles, TaskContext& task) const
{
    const std::string listed = listedPrefix(prefix);
    const std::string folder = listed.empty() ? "" : "/" + percentEncode(listed, "/");
    return fetchTree(*m_hub, m_route + "/tree" + folder + "?recursive=true&limit=" + std::to_string(PageFiles),
                     subject(), prefix, mostFiles, task);
}

Result<std::vector<HubFile>> BucketApi::pathsInfo(const std::vector<std::string>& paths, TaskContext& task) const
{
    std::vector<HubFile> files;
    for (std::size_t begin = 0; begin < paths.size(); begin += InfoPaths) {
        json list = json::array();
        std::unordered_set<std::string_view> asked;
        for (std::size_t i = begin; i < std::min(begin + InfoPaths, paths.size()); ++i) {
            DS_CHECK(checkHubPath(paths[i])); // what dump() cannot write is found here
            if (asked.insert(paths[i]).second)
                list.push_back(paths[i]);
        }
        http::Request request = m_hub->request("POST", m_route + "/paths-info");
        request.headers.add("Content-Type", "application/json");
        request.body = http::bodyOf(json { { "paths", std::move(list) } }.dump());
        request.repeatable = true;
        request.destination = http::Keep { MostPageBytes };
        request.mayBeCompressed = true;
        DS_TRY(const http::Response answer, m_hub->ask(request, subject(paths.size() == 1 ? paths[0] : ""), task));
        DS_TRY(std::vector<HubFile> some, parseHubFiles(answer.body));
        for (HubFile& file : some) {
            if (asked.erase(file.path) == 0)
                return fail(Code::Hostile, "the Hub tells of a file that it was not asked for", m_id);
            files.push_back(std::move(file));
        }
    }
    return files;
}

Result<BucketInfo> BucketApi::info(TaskContext& task) const
{
    DS_TRY(const http::Response answer, m_hub->ask(m_hub->request("GET", m_route), subject(), task));
    return parseBucketInfo(answer.body);
}

Result<bool> BucketApi::create(bool isPrivate, TaskContext& task) const
{
    http::Request request = m_hub->request("POST", m_route);
    request.headers.add("Content-Type", "application/json");
    request.body = http::bodyOf(json { { "visibility", isPrivate ? "private" : "public" } }.dump());
    request.repeatable = true; // what exists is 409; after a lost reply that may be what this call has made
    DS_TRY(const http::Response answer, m_hub->retrying()->send(request, task));
    if (answer.isGood())
        return true;
    if (answer.status == 409)
        return false;
    // A token that may not create may still use what exists.
    if ((answer.status == 401 || answer.status == 403) && info(task))
        return false;
    return fail(hubError(answer, subject(), m_hub->hasToken()));
}

} // namespace deltascope::hub
