#include "xml.h"

#include <expat.h>
#include <fmt/format.h>
#include <memory>
#include <new>

namespace deltascope::s3 {

namespace {

constexpr std::size_t MostElements = 200'000;
constexpr std::size_t MostLevels = 16;
constexpr std::size_t MostXmlBytes = std::size_t { 32 } << 20;

struct FreeParser {
    void operator()(XML_Parser parser) const noexcept { XML_ParserFree(parser); }
};
using ParserHandle = std::unique_ptr<std::remove_pointer_t<XML_Parser>, FreeParser>;

/// Collects elements while expat reads. No exception may pass through expat.
struct TreeBuilder {
    XML_Parser parser = nullptr;
    XmlElement root;
    std::vector<XmlElement*> open; ///< a parent does not grow while one of its children is open
    std::size_t elements = 0;
    std::string refusal;

    void stop(const char* why)
    {
        refusal = why;
        XML_StopParser(parser, XML_FALSE);
    }

    template <class Work> void guarded(Work&& work) noexcept
    {
        try {
            work();
        } catch (const std::bad_alloc&) {
            XML_StopParser(parser, XML_FALSE);
        }
    }
};

void onStart(void* data, const XML_Char* name, const XML_Char**)
{
    auto& tree = *static_cast<TreeBuilder*>(data);
    tree.guarded([&] {
        if (++tree.elements > MostElements)
            return tree.stop("it holds too many elements");
        if (tree.open.size() >= MostLevels)
            return tree.stop("its elements are nested too deep");
        std::string_view plain(name);
        plain.remove_prefix(plain.find(':') + 1); // npos + 1 is 0
        if (tree.open.empty()) {
            tree.root.name = plain;
            tree.open.push_back(&tree.root);
            return;
        }
        XmlElement& parent = *tree.open.back();
        parent.children.emplace_back().name = plain;
        tree.open.push_back(&parent.children.back());
    });
}

void onEnd(void* data, const XML_Char*)
{
    auto& tree = *static_cast<TreeBuilder*>(data);
    if (!tree.open.empty())
        tree.open.pop_back();
}

void onText(void* data, const XML_Char* text, int size)
{
    auto& tree = *static_cast<TreeBuilder*>(data);
    tree.guarded([&] {
        if (!tree.open.empty())
            tree.open.back()->text.append(text, static_cast<std::size_t>(size));
    });
}

void onDoctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int)
{
    static_cast<TreeBuilder*>(data)->stop("it declares a document type");
}

} // namespace

const XmlElement* XmlElement::child(std::string_view childName) const noexcept
{
    for (const XmlElement& element : children) {
        if (element.name == childName)
            return &element;
    }
    return nullptr;
}

std::string_view XmlElement::textOf(std::string_view childName) const noexcept
{
    const XmlElement* const found = child(childName);
    return found ? std::string_view(found->text) : std::string_view();
}

Result<XmlElement> parseXml(std::string_view text)
{
    if (text.size() > MostXmlBytes)
        return fail(Code::Hostile, "the server's answer is too large for XML of its kind");
    const ParserHandle parser(XML_ParserCreate("UTF-8"));
    if (!parser)
        return fail(Code::Internal, "no memory to read XML with");
    TreeBuilder tree;
    tree.parser = parser.get();
    XML_SetUserData(parser.get(), &tree);
    XML_SetElementHandler(parser.get(), onStart, onEnd);
    XML_SetCharacterDataHandler(parser.get(), onText);
    XML_SetStartDoctypeDeclHandler(parser.get(), onDoctype); // without one there are no entities to expand
    if (XML_Parse(parser.get(), text.data(), static_cast<int>(text.size()), XML_TRUE) != XML_STATUS_OK)
        return fail(
            Code::Hostile,
            fmt::format("the server's answer is no XML that can be read: {}",
                        tree.refusal.empty() ? XML_ErrorString(XML_GetErrorCode(parser.get())) : tree.refusal.c_str()));
    return std::move(tree.root);
}

std::string xmlEscaped(std::string_view text)
{
    std::string escaped;
    for (const char letter : text) {
        switch (letter) {
        case '<':
            escaped += "&lt;";
            break;
        case '>':
            escaped += "&gt;";
            break;
        case '&':
            escaped += "&amp;";
            break;
        case '"':
            escaped += "&quot;";
            break;
        default:
            if (static_cast<unsigned char>(letter) < 0x20)
                escaped += fmt::format("&#{};", static_cast<int>(letter));
            else
                escaped += letter;
        }
    }
    return escaped;
}

} // namespace deltascope::s3
