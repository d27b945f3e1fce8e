#include "rebuild_folder.h"

#include "deltascope/base/hex.h"
#include "deltascope/engine/hash_tree.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <unistd.h>

namespace deltascope {

namespace {

using nlohmann::json;

constexpr int MostAttempts = 8; ///< to have a new folder that nobody else takes for a leftover
constexpr std::uint64_t MaxRecordBytes = 1U << 30;

/// Whether the same command may succeed later, with nothing wrong in what was built so far.
bool mayPass(Code code)
{
    return code == Code::Canceled || code == Code::Transient || code == Code::Auth || code == Code::NoSpace
        || code == Code::ListSuspect || code == Code::Rewritten;
}

std::string leavesToHex(const ShortList<Digest128, 1>& leaves)
{
    std::string text;
    text.reserve(leaves.size() * 32);
    for (const Digest128& leaf : leaves)
        text += toHex(leaf);
    return text;
}

std::optional<std::vector<Digest128>> leavesFromHex(std::string_view text)
{
    constexpr std::size_t Digits = 2 * sizeof(Digest128);
    if (text.size() % Digits != 0)
        return std::nullopt;
    std::vector<Digest128> leaves;
    for (; !text.empty(); text.remove_prefix(Digits)) {
        const std::optional<Digest128> leaf = bytesFromHex<sizeof(Digest128)>(text.substr(0, Digits));
        if (!leaf)
            return std::nullopt;
        leaves.push_back(*leaf);
    }
    return leaves;
}

std::string hexOfSources(const std::vector<std::uint64_t>& sources)
{
    std::string text;
    for (const std::uint64_t source : sources)
        text += fmt::format("{:016x}", source);
    return text;
}

std::optional<std::vector<std::uint64_t>> sourcesFromHex(const std::string& text)
{
    constexpr std::size_t Digits = 16;
    if (text.size() % Digits != 0)
        return std::nullopt;
    std::vector<std::uint64_t> sources(text.size() / Digits);
    for (std::size_t i = 0; i < sources.size(); ++i) {
        const char* begin = text.data() + Digits * i;
        if (std::from_chars(begin, begin + Digits, sources[i], 16).ptr != begin + Digits)
            return std::nullopt;
    }
    return sources;
}

/// A line of the progress record; nothing for what no writer of ours has written.
std::optional<std::pair<std::string, ClaimedTensor>> parseNote(const json& line)
{
    const bool whole = line.is_object() && line.contains("tensor") && line["tensor"].is_string()
        && line.contains("leaves") && line["leaves"].is_string() && line.contains("digests")
        && line["digests"].is_number_unsigned() && line.contains("noops") && line["noops"].is_boolean()
        && line.contains("compared") && line["compared"].is_number_unsigned() && line["compared"] < ComparedKinds
        && line.contains("sources") && line["sources"].is_string();
    std::optional<std::vector<Digest128>> leaves;
    std::optional<std::vector<std::uint64_t>> sources;
    if (whole) {
        leaves = leavesFromHex(line["leaves"].get_ref<const std::string&>());
        sources = sourcesFromHex(line["sources"].get_ref<const std::string&>());
    }
    if (!leaves || !sources)
        return std::nullopt;
    FinishedTensor tensor { std::move(*leaves), line["digests"].get<std::uint32_t>(), line["noops"].get<bool>(),
                            static_cast<Compared>(line["compared"].get<unsigned>()) };
    return std::pair(line["tensor"].get<std::string>(), ClaimedTensor { std::move(tensor), std::move(*sources) });
}

/// Of a line that says that an object was rewritten.
std::optional<std::uint64_t> parseRewritten(const json& line)
{
    if (!line.is_object() || !line.contains("rewritten") || !line["rewritten"].is_string())
        return std::nullopt;
    const std::optional<std::vector<std::uint64_t>> source =
        sourcesFromHex(line["rewritten"].get_ref<const std::string&>());
    return source && source->size() == 1 ? std::optional(source->front()) : std::nullopt;
}

/// How many parts the folders of a shared rebuild speak of. Errors: Usage if they do not agree.
Result<std::optional<std::uint32_t>> divisionOf(const std::vector<std::string>& names, const std::string& path)
{
    std::optional<std::uint32_t> parts;
    for (const std::string& name : names) {
        const std::size_t of = name.rfind("-of-");
        if (!name.starts_with("part-") || of == std::string::npos)
            continue;
        const std::optional<std::int64_t> number = parseNumber(std::string_view(name).substr(of + 4));
        if (!number || (parts && *parts != static_cast<std::uint32_t>(*number)))
            return fail(Code::Usage, "parts of differently divided rebuilds lie beside each other", path,
                        "remove that folder and rebuild with one division");
        parts = static_cast<std::uint32_t>(*number);
    }
    return parts;
}

}

std::pair<std::string, std::string> splitPath(std::string path)
{
    while (path.size() > 1 && path.back() == '/')
        path.pop_back();
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos)
        return { ".", path };
    return { slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1) };
}

std::string stemOf(const std::string& name)
{
    constexpr std::size_t Longest = 255 - 41; // ".", ".ds-", 16 digits, "-", 10 digits, "-", 8 digits
    constexpr std::size_t DigestDigits = 16;
    if (name.size() <= Longest)
        return name;
    std::size_t kept = Longest - DigestDigits - 1;
    while (kept > 0 && (static_cast<unsigned char>(name[kept]) & 0xC0U) == 0x80U) // within a character of UTF-8
        --kept;
    return name.substr(0, kept) + "~" + toHex(xxh3(asBytes(name))).substr(0, DigestDigits);
}

Result<RebuildFolder> RebuildFolder::open(FileSystem& disk, const Request& request)
{
    const auto [parent, name] = splitPath(request.destination);
    if (name.empty() || name == "." || name == "..")
        return fail(Code::Usage, "the destination must be a new folder", request.destination);
    if (disk.exists(request.destination))
        return fail(Code::Exists, "the destination exists already and is never overwritten", request.destination,
                    "choose another destination or remove it first");
    if (!disk.exists(parent))
        return fail(Code::NotFound, "the folder that shall hold the checkpoint does not exist", parent);

    RebuildFolder folder(disk, request);
    const std::string plan = toHex(xxh3(asBytes(request.plan))).substr(0, 16);
    const std::string prefix = fmt::format(".{}.ds-{}-", stemOf(name), plan);
    if (request.commit) {
        folder.m_path = fmt::format("{}/{}shared", parent, prefix);
        DS_CHECK(folder.findParts());
        return folder;
    }
    if (request.parts > 1) {
        DS_CHECK(folder.openShared(parent, prefix));
        DS_CHECK(folder.openProgress());
        return folder;
    }
    DS_TRY(folder.m_adopted, folder.adopt(parent, prefix));
    if (Result<void> begun = folder.begin(parent, prefix); !begun) {
        folder.discard();
        return fail(std::move(begun.error()));
    }
    return folder;
}

Result<void> RebuildFolder::holdNew()
{
    DS_TRY(m_lock, m_disk->lock(m_path));
    return writeTextFile(*m_disk, fmt::format("{}/{}", m_path, RebuildPlanName), m_request.plan);
}

Result<void> RebuildFolder::begin(const std::string& parent, const std::string& prefix)
{
    Result<void> made;
    for (int attempt = 0; !m_adopted && attempt < MostAttempts; ++attempt) {
        std::random_device random;
        m_path = fmt::format("{}/{}{}-{:08x}", parent, prefix, ::getpid(), random());
        DS_CHECK(m_disk->createFolder(m_path));
        made = holdNew();
        // Another process that looks for leftovers takes a folder without lock and plan for one, and removes it.
        if (made || (made.error().code != Code::NotFound && made.error().code != Code::Exists))
            break;
    }
    DS_CHECK(made);
    return openProgress();
}

Result<bool> RebuildFolder::adopt(const std::string& parent, const std::string& prefix)
{
    DS_TRY(const std::vector<std::string> names, m_disk->list(parent));
    for (const std::string& name : names) {
        if (!name.starts_with(prefix) || name.ends_with("-shared"))
            continue;
        const std::string path = parent + "/" + name;
        Result<std::unique_ptr<FolderLock>> lock = m_disk->lock(path);
        if (!lock)
            continue; // its process lives
        const Result<std::string> plan =
            readTextFile(*m_disk, fmt::format("{}/{}", path, RebuildPlanName), MaxRecordBytes);
        if (!plan || *plan != m_request.plan) {
            if (!plan || plan->empty() || m_request.plan.starts_with(*plan)) // killed before its plan was whole
                static_cast<void>(m_disk->removeTree(path));
            continue;
        }
        m_path = path;
        m_lock = std::move(*lock);
        return true;
    }
    return false;
}

Result<void> RebuildFolder::findParts()
{
    Result<std::vector<std::string>> names = m_disk->list(m_path);
    if (!names)
        return fail(Code::NotFound, "no part of this rebuild has been written beside the destination",
                    m_request.destination,
                    "run materialize --shard 0/n … n-1/n first, with the same source, step and options");
    DS_TRY(const std::optional<std::uint32_t> parts, divisionOf(*names, m_path));
    if (!parts)
        return fail(Code::Unfinished, "no part of this rebuild has been started", m_path);
    m_request.parts = *parts;
    DS_TRY(m_lock, m_disk->lock(m_path));
    return {};
}

Result<void> RebuildFolder::openShared(const std::string& parent, const std::string& prefix)
{
    m_path = fmt::format("{}/{}shared", parent, prefix);
    if (Result<void> made = m_disk->createFolder(m_path); !made && made.error().code != Code::Exists)
        return made;
    m_adopted = true; // files of other parts may be there already
    DS_TRY(const std::vector<std::string> names, m_disk->list(m_path));
    DS_TRY(const std::optional<std::uint32_t> parts, divisionOf(names, m_path));
    if (parts && *parts != m_request.parts)
        return fail(Code::Usage, fmt::format("this rebuild was begun in {} parts, not in {}", *parts, m_request.parts),
                    m_path, "use the same --shard i/n for all of its processes, or remove that folder first");
    const std::string part = fmt::format("{}/part-{}-of-{}", m_path, m_request.part, m_request.parts);
    if (Result<void> made = m_disk->createFolder(part); !made && made.error().code != Code::Exists)
        return made;
    Result<std::unique_ptr<FolderLock>> lock = m_disk->lock(part);
    if (!lock)
        return fail(Code::Exists, "another process works on this part of the rebuild", part, "wait for it or stop it");
    m_lock = std::move(*lock);
    return {};
}

std::string RebuildFolder::progressName(std::uint32_t part) const
{
    return m_request.parts > 1 || m_request.commit
        ? fmt::format("{}/part-{}-of-{}/progress.jsonl", m_path, part, m_request.parts)
        : m_path + "/deltascope-progress.jsonl";
}

Result<void> RebuildFolder::readProgress(std::uint32_t part, ClaimedTensors& into, bool& ended) const
{
    ended = false;
    if (!m_disk->exists(progressName(part)))
        return {};
    DS_TRY(const std::string text, readTextFile(*m_disk, progressName(part), MaxRecordBytes));
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = text.find('\n', begin);
        if (end == std::string::npos)
            break; // torn by the end of its process
        const json line = json::parse(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                      text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
        begin = end + 1;
        if (line.is_object() && line.contains("end"))
            ended = true;
        else if (const std::optional<std::uint64_t> rewritten = parseRewritten(line))
            std::erase_if(into, [&](const auto& finished) {
                const std::vector<std::uint64_t>& sources = finished.second.sources;
                return std::binary_search(sources.begin(), sources.end(), *rewritten);
            });
        else if (std::optional<std::pair<std::string, ClaimedTensor>> finished = parseNote(line))
            into[finished->first] = std::move(finished->second);
    }
    return {};
}

Result<void> RebuildFolder::openProgress()
{
    bool ended = false;
    DS_CHECK(readProgress(m_request.part, m_claimed, ended));
    const std::string name = progressName(m_request.part);
    if (m_disk->exists(name)) {
        DS_TRY(m_progress, m_disk->openExisting(name));
        DS_TRY(m_progressEnd, m_disk->sizeOf(name));
        if (m_progressEnd > 0) { // closes a torn last line
            DS_CHECK(m_progress->write(m_progressEnd, asBytes("\n")));
            ++m_progressEnd;
        }
    } else {
        DS_TRY(m_progress, m_disk->create(name));
    }
    return {};
}

Result<void> RebuildFolder::keepOnly(const OutputLayout& layout)
{
    std::set<std::string, std::less<>> kept { std::string(RebuildPlanName),
                                              splitPath(progressName(m_request.part)).second };
    for (const OutputShard& shard : layout.shards)
        kept.insert(shard.name);
    DS_TRY(const std::vector<std::string> names, m_disk->list(m_path));
    for (const std::string& name : names) {
        if (!kept.contains(name))
            DS_CHECK(m_disk->removeFile(fmt::format("{}/{}", m_path, name)));
    }
    return {};
}

Result<std::unique_ptr<OutputFile>> RebuildFolder::openShard(const OutputShard& shard)
{
    const std::string path = m_path + "/" + shard.name;
    std::unique_ptr<OutputFile> file;
    bool isThere = m_adopted && m_disk->exists(path);
    if (isThere) {
        DS_TRY(const std::uint64_t size, m_disk->sizeOf(path));
        if (size > shard.sizeBytes) { // its source was rewritten since
            DS_CHECK(m_disk->removeFile(path));
            isThere = false;
        }
    }
    if (isThere) {
        DS_TRY(file, m_disk->openExisting(path));
    } else {
        DS_TRY(file, m_disk->create(path));
    }
    DS_CHECK(file->preallocate(shard.sizeBytes));
    return file;
}

Result<void> RebuildFolder::note(const std::string& tensor, const FinishedTensor& finished,
                                 const std::vector<std::uint64_t>& sources)
{
    const std::string line =
        json {
            { "tensor", tensor },
            { "leaves", leavesToHex(finished.leaves) },
            { "digests", finished.digestsChecked },
            { "noops", finished.noopsSeen },
            { "compared", static_cast<unsigned>(finished.compared) },
            { "sources", hexOfSources(sources) }
        }.dump()
        + "\n";
    return appendProgress(line);
}

Result<void> RebuildFolder::notePartEnd()
{
    DS_CHECK(appendProgress(json { { "end", true } }.dump() + "\n"));
    return m_progress->sync();
}

Result<void> RebuildFolder::appendProgress(const std::string& line)
{
    const std::lock_guard lock(*m_mutex);
    DS_CHECK(m_progress->write(m_progressEnd, asBytes(line)));
    m_progressEnd += line.size();
    return {};
}

/// Whether something is left that does not stand on the object.
bool RebuildFolder::forget(std::uint64_t source) noexcept
{
    const std::string line = json { { "rewritten", hexOfSources({ source }) } }.dump() + "\n";
    ClaimedTensors left;
    bool ended = false;
    return appendProgress(line) && readProgress(m_request.part, left, ended) && !left.empty();
}

std::string RebuildFolder::howToRepeat(std::size_t shard) const
{
    return fmt::format("run materialize --shard {}/{} again, then --commit", shard % m_request.parts, m_request.parts);
}

Result<ClaimedTensors> RebuildFolder::collectParts() const
{
    ClaimedTensors all;
    for (std::uint32_t part = 0; part < m_request.parts; ++part) {
        bool ended = false;
        DS_CHECK(readProgress(part, all, ended));
        if (!ended)
            return fail(Code::Unfinished,
                        fmt::format("part {} of {} has not finished its files", part, m_request.parts), m_path,
                        howToRepeat(part));
    }
    return all;
}

Result<void> RebuildFolder::writeText(std::string_view name, const std::string& text)
{
    const std::string path = fmt::format("{}/{}", m_path, name);
    if (m_disk->exists(path))
        DS_CHECK(m_disk->removeFile(path));
    return writeTextFile(*m_disk, path, text);
}

Result<void> RebuildFolder::publish()
{
    m_progress.reset();
    if (m_request.parts > 1 || m_request.commit) {
        for (std::uint32_t part = 0; part < m_request.parts; ++part)
            DS_CHECK(m_disk->removeTree(fmt::format("{}/part-{}-of-{}", m_path, part, m_request.parts)));
    } else {
        DS_CHECK(m_disk->removeFile(progressName(0)));
        DS_CHECK(m_disk->removeFile(fmt::format("{}/{}", m_path, RebuildPlanName)));
    }
    DS_CHECK(m_disk->syncFolder(m_path));
    DS_CHECK(m_disk->renameNoReplace(m_path, m_request.destination));
    if (Result<void> synced = m_disk->syncFolder(splitPath(m_request.destination).first); !synced) {
        // A name that may be lost again must not be there when we say that we failed.
        static_cast<void>(m_disk->renameNoReplace(m_request.destination, m_path));
        return synced;
    }
    m_lock.reset();
    return {};
}

void RebuildFolder::leave(Error& why, std::optional<std::uint64_t> rewritten) noexcept
{
    const bool isStop = why.code == Code::Canceled;
    bool hasFinished = !m_claimed.empty() || m_progressEnd > 0;
    if (why.code == Code::Rewritten && hasFinished && rewritten)
        hasFinished = forget(*rewritten);
    if (!mayPass(why.code) || !(isStop || hasFinished))
        discard();
    else if (why.code == Code::Rewritten)
        why.text +=
            "; what does not stand on this object is kept beside the destination, and the rebuild goes on from it";
    else if (!isStop) // a user who stops it needs no hint
        why.text += "; what is built is kept beside the destination, and the same command goes on from it";
}

void RebuildFolder::discard() noexcept
{
    m_progress.reset();
    if (!m_path.empty())
        static_cast<void>(m_disk->removeTree(m_path));
    m_lock.reset();
}

} // namespace deltascope
