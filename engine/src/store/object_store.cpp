#include "deltascope/engine/object_store.h"

#include "deltascope/engine/local_path.h"

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t MaxListedKeys = 10'000'000;

std::optional<unsigned> hexDigit(char digit) noexcept
{
    if (digit >= '0' && digit <= '9')
        return static_cast<unsigned>(digit - '0');
    if (digit >= 'a' && digit <= 'f')
        return static_cast<unsigned>(digit - 'a' + 10);
    if (digit >= 'A' && digit <= 'F')
        return static_cast<unsigned>(digit - 'A' + 10);
    return std::nullopt;
}

Result<std::string> percentDecode(std::string_view text)
{
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            out += text[at];
            continue;
        }
        const auto high = at + 2 < text.size() ? hexDigit(text[at + 1]) : std::nullopt;
        const auto low = at + 2 < text.size() ? hexDigit(text[at + 2]) : std::nullopt;
        if (!high || !low || (*high == 0 && *low == 0))
            return fail(Code::Usage, "\"%\" in the address is not followed by two hexadecimal digits of a character");
        out += static_cast<char>(*high * 16 + *low);
        at += 2;
    }
    return out;
}

/// "s3" of "s3://bucket/x" in lower case; empty for a plain path.
std::string schemeOf(std::string_view address)
{
    const std::size_t length = address.find("://");
    if (length == std::string_view::npos || length == 0)
        return {};
    std::string scheme;
    for (const char letter : address.substr(0, length)) {
        const char lower = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
        const bool isLetter = lower >= 'a' && lower <= 'z';
        const bool isOther = (lower >= '0' && lower <= '9') || lower == '+' || lower == '-' || lower == '.';
        if (!isLetter && (!isOther || scheme.empty()))
            return {};
        scheme += lower;
    }
    return scheme;
}

Result<std::string> pathOfFileUri(std::string_view address)
{
    std::string_view rest = address.substr(std::string_view("file://").size());
    constexpr std::string_view Host = "localhost";
    if (rest.starts_with(Host))
        rest.remove_prefix(Host.size());
    if (!rest.starts_with('/'))
        return fail(Code::Usage, "a file address names an absolute path on this machine: file:///folder",
                    std::string(address));
    return percentDecode(rest);
}

/// Pages must advance and hold only what was asked for: a store that repeats a page would never end.
Result<void> checkPage(const ListPage& page, const ListRequest& request)
{
    const std::string* last = &request.startAfter;
    for (const ObjectInfo& object : page.objects) {
        if (object.key <= *last)
            return fail(Code::ListSuspect, "the store lists its objects out of order or repeats a page", object.key);
        if (!object.key.starts_with(request.prefix))
            return fail(Code::ListSuspect, "the store lists an object that was not asked for", object.key);
        last = &object.key;
    }
    if (page.more && page.objects.empty())
        return fail(Code::ListSuspect, "the store announces more objects but shows none", request.prefix);
    return {};
}

} // namespace

Result<std::size_t> MemorySource::read(MutableByteSpan out)
{
    const std::size_t bytes = std::min(out.size(), m_bytes.size() - m_at);
    std::copy_n(m_bytes.begin() + static_cast<std::ptrdiff_t>(m_at), bytes, out.begin());
    m_at += bytes;
    return bytes;
}

Result<void> checkKey(std::string_view key)
{
    if (key.find('\0') != std::string_view::npos)
        return fail(Code::Usage, "an object key holds a NUL byte");
    std::size_t begin = 0;
    for (;;) {
        const std::size_t end = std::min(key.find('/', begin), key.size());
        const std::string_view component = key.substr(begin, end - begin);
        if (component.empty() || component == "." || component == "..")
            return fail(Code::Usage, fmt::format("an object key must not hold the component \"{}\"", component),
                        std::string(key));
        if (end == key.size())
            return {};
        begin = end + 1;
    }
}

Result<bool> ObjectStore::hasEmptyFolder(std::string_view) const { return false; }

Result<std::vector<ObjectInfo>> listAll(const ObjectStore& store, std::string_view prefix, TaskContext& task)
{
    std::vector<ObjectInfo> objects;
    ListRequest request;
    request.prefix = prefix;
    for (;;) {
        DS_CHECK(task.checkpoint());
        DS_TRY(ListPage page, store.list(request, task));
        DS_CHECK(checkPage(page, request));
        if (page.objects.size() > MaxListedKeys - objects.size())
            return fail(Code::Hostile, fmt::format("more than {} objects", MaxListedKeys), std::string(prefix));
        objects.insert(objects.end(), std::make_move_iterator(page.objects.begin()),
                       std::make_move_iterator(page.objects.end()));
        if (!page.more)
            return objects;
        request.startAfter = objects.back().key;
    }
}

Result<std::vector<std::byte>> readWhole(const ObjectStore& store, std::string_view key, std::uint64_t limitBytes)
{
    DS_TRY(const ObjectInfo before, store.stat(key));
    if (before.sizeBytes > limitBytes)
        return fail(Code::Hostile, fmt::format("{} bytes, where at most {} make sense", before.sizeBytes, limitBytes),
                    std::string(key));
    std::vector<std::byte> bytes(before.sizeBytes);
    DS_CHECK(store.read(key, 0, bytes));
    DS_TRY(const ObjectInfo after, store.stat(key));
    if (after.identity != before.identity)
        return fail(Code::Transient, "the object changed while it was read", std::string(key));
    return bytes;
}

Result<std::string> localPathOf(std::string_view address)
{
    if (address.empty() || address.find('\0') != std::string_view::npos)
        return fail(Code::Usage, "an address is a folder, a file or a URI such as file:///folder");
    const std::string scheme = schemeOf(address);
    if (scheme.empty())
        return std::string(address);
    if (scheme == "file")
        return pathOfFileUri(address);
    if (scheme == "s3")
        return fail(Code::Unsupported, "this build does not read S3 buckets", std::string(address),
                    "Copy the prefix to a local folder, for instance with \"aws s3 sync\", and open that folder.");
    if (scheme == "hf")
        return fail(Code::Unsupported, "this build does not read Hugging Face repositories or buckets",
                    std::string(address),
                    "Download the files to a local folder, for instance with \"hf download\", and open that folder.");
    return fail(Code::Unsupported, fmt::format("this build does not know addresses with {}://", scheme),
                std::string(address), "Give a local folder or a file:/// address.");
}

Result<std::unique_ptr<ObjectStore>> openStore(std::string_view address)
{
    DS_TRY(const std::string path, localPathOf(address));
    return openLocalStore(path);
}

} // namespace deltascope
