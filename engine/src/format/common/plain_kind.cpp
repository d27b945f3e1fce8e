#include "format/common/plain_kind.h"

#include "deltascope/base/bytes.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

namespace deltascope {

namespace {

using namespace std::string_view_literals;

constexpr std::string_view FromPublisher = "Fetch the file again from where it was published; this is another one.";
constexpr std::string_view Unpack = "Unpack it, and give the files that are in it the names that they have there.";
constexpr std::string_view Convert =
    "Have the model saved as safetensors (save_pretrained does so), or convert the file; nothing here runs a pickle.";
constexpr std::string_view ConvertFormat = "Convert it to safetensors, or fetch the safetensors file of this model.";

struct Magic {
    std::size_t at;
    std::string_view bytes;
    std::string_view what;
    std::string_view remedy;
};

constexpr std::array Magics {
    Magic { 0, "\x1f\x8b"sv, "gzip data", Unpack },
    Magic { 0, "\x28\xb5\x2f\xfd"sv, "zstd data", Unpack },
    Magic { 0, "\x04\x22\x4d\x18"sv, "LZ4 data", Unpack },
    Magic { 0, "BZh"sv, "bzip2 data", Unpack },
    Magic { 0, "\xfd\x37\x7a\x58\x5a\x00"sv, "xz data", Unpack },
    Magic { 0, "7z\xbc\xaf\x27\x1c"sv, "a 7z archive", Unpack },
    Magic { 0, "Rar!\x1a\x07"sv, "a RAR archive", Unpack },
    Magic { 257, "ustar"sv, "a tar archive", Unpack },
    Magic { 0, "GGUF"sv, "a GGUF file of llama.cpp", ConvertFormat },
    Magic { 0, "lmgg"sv, "a GGML file of llama.cpp", ConvertFormat },
    Magic { 0, "tjgg"sv, "a GGML file of llama.cpp", ConvertFormat },
    Magic { 0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file", ConvertFormat },
    Magic { 0, "\x93NUMPY"sv, "a NumPy array", ConvertFormat },
    Magic { 0, "PAR1"sv, "a Parquet file", FromPublisher },
    Magic { 0, "SQLite format 3\0"sv, "an SQLite database", FromPublisher },
    Magic { 0, "\x00\x05\x16\x07"sv, "an AppleDouble file, in which macOS keeps attributes of another one",
            FromPublisher },
    Magic { 0, "%PDF-"sv, "a PDF document", FromPublisher },
    Magic { 0, "\x89PNG\r\n\x1a\n"sv, "a PNG image", FromPublisher },
    Magic { 0,
            "\x7f"
            "ELF"sv,
            "a program", FromPublisher },
};

bool startsWithWord(std::string_view text, std::string_view lowerCase)
{
    return text.size() >= lowerCase.size()
        && std::equal(lowerCase.begin(), lowerCase.end(), text.begin(),
                      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

/// The value of a line "key value".
std::string_view lineOf(std::string_view text, std::string_view key)
{
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ' ')
            return line.substr(key.size() + 1);
        at = end + 1;
    }
    return {};
}

std::optional<PlainKind> pointerKind(std::string_view text)
{
    if (text.starts_with("version http") && text.find("\noid ") != std::string_view::npos) {
        const std::string_view size = lineOf(text, "size");
        const std::string_view oid = lineOf(text, "oid");
        std::string what = "a Git LFS pointer";
        if (!size.empty())
            what += fmt::format("; the file that it stands for has {} bytes", quoteName(size));
        if (!oid.empty())
            what += fmt::format("{} {}", size.empty() ? "; the file that it stands for has" : " and", quoteName(oid));
        std::erase(what, '"');
        return PlainKind { std::move(what),
                           "Fetch the file itself: git lfs pull in the clone, or hf download from the Hub.",
                           {} };
    }
    if (text.starts_with("/annex/objects/") || text.find("/.git/annex/objects/") < 64)
        return PlainKind { "a pointer of git-annex", "Fetch the file itself: git annex get in the clone.", {} };
    if (text.starts_with("# xet version"))
        return PlainKind { "a pointer of git-xet", "Fetch the file itself: git xet checkout, or hf download.", {} };
    return std::nullopt;
}

/// Whether bytes are UTF-8 without control characters. The last character may break off.
bool isText(std::string_view text)
{
    constexpr std::size_t LongestRest = 3;
    const auto isPlain = [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte >= 0x20 ? byte != 0x7f : c == '\n' || c == '\r' || c == '\t';
    };
    if (!std::all_of(text.begin(), text.end(), isPlain))
        return false;
    for (std::size_t rest = 0; rest <= std::min(LongestRest, text.size()); ++rest) {
        if (isUtf8(text.substr(0, text.size() - rest)))
            return rest < text.size();
    }
    return false;
}

/// What a text is. `text` may break off in the middle of a character.
std::optional<PlainKind> textKind(std::string_view text)
{
    constexpr std::size_t LeastText = 8; // shorter ones can be anything
    constexpr std::size_t Shown = 40;
    if (text.size() < LeastText || !isText(text))
        return std::nullopt;
    if (std::optional<PlainKind> pointer = pointerKind(text))
        return pointer;
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    constexpr std::string_view Answer =
        "Look at the text: a server may have sent it in the place of the file, for example because it asks for a "
        "login. Then fetch the file again.";
    const std::string front = quoteName(text.substr(0, std::min(text.find('\n'), Shown)));
    if (startsWithWord(text, "<!doctype html") || startsWithWord(text, "<html"))
        return PlainKind { "an HTML page", std::string(Answer), {} };
    if (text.starts_with('<'))
        return PlainKind { fmt::format("an XML text that begins with {}", front), std::string(Answer), {} };
    if (text.starts_with('{') || text.starts_with('['))
        return PlainKind { fmt::format("a JSON text that begins with {}", front), std::string(Answer), Wanted::Json };
    return PlainKind { fmt::format("a text that begins with {}", front), std::string(Answer), {} };
}

std::optional<PlainKind> archiveOrPickleKind(std::string_view bytes)
{
    if (bytes.starts_with("PK\3\4") || bytes.starts_with("PK\5\6")) {
        if (bytes.find("/data.pkl") != std::string_view::npos
            || bytes.find("/.format_version") != std::string_view::npos)
            return PlainKind { "a pickle of PyTorch, as torch.save writes it", std::string(Convert),
                               Wanted::TorchItems };
        return PlainKind { "a ZIP archive", std::string(Unpack), Wanted::TorchItems };
    }
    // Protocols 2 to 5; a frame, a tuple, a dict or the like follows.
    if (bytes.size() >= 8 && bytes[0] == '\x80' && bytes[1] >= 2 && bytes[1] <= 5)
        return PlainKind { bytes.substr(2).starts_with("\x8a\x0a\x6c\xfc\x9c\x46\xf9")
                               ? "a pickle of PyTorch, as torch.save wrote it before 1.6"
                               : "a pickle of Python",
                           std::string(Convert), Wanted::Pickle };
    return std::nullopt;
}

std::string_view nameOf(Wanted wanted)
{
    switch (wanted) {
    case Wanted::Tensors:
        return "safetensors file";
    case Wanted::Json:
        return "JSON text";
    case Wanted::Pickle:
        return "pickle";
    case Wanted::TorchItems:
        return "file of items of torch.save";
    case Wanted::Zstd:
        break;
    }
    return "zstd frame";
}

/// Whether a refusal speaks of the bytes of an object.
bool speaksOfContent(Code code)
{
    return code == Code::Malformed || code == Code::Hostile || code == Code::Truncated || code == Code::Unfinished
        || code == Code::Unsupported;
}

}

std::optional<PlainKind> plainKindOf(ByteSpan start)
{
    const std::string_view bytes = asText(start);
    for (const Magic& magic : Magics) {
        if (bytes.size() >= magic.at + magic.bytes.size() && bytes.substr(magic.at, magic.bytes.size()) == magic.bytes)
            return PlainKind { std::string(magic.what), std::string(magic.remedy), {} };
    }
    if (std::optional<PlainKind> kind = archiveOrPickleKind(bytes))
        return kind;
    return textKind(bytes);
}

Error orPlainKind(Error refusal, Wanted wanted, const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    if (!speaksOfContent(refusal.code) || object.sizeBytes == 0)
        return refusal;
    std::vector<std::byte> start(std::min(object.sizeBytes, PlainKindBytes));
    if (!store.read(object.key, 0, start, task))
        return refusal;
    std::optional<PlainKind> kind = plainKindOf(start);
    if (!kind || kind->is == wanted)
        return refusal;
    return Error { Code::Malformed, fmt::format("the file is not a {}: it is {}", nameOf(wanted), kind->what),
                   object.key, refusal.step, std::move(kind->remedy) };
}

} // namespace deltascope
