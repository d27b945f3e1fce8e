#include "deltascope/engine/layout.h"

#include "deltascope/base/ascii.h"
#include "deltascope/engine/beside_keys.h"
#include "format/common/checkpoint_folders.h"
#include "format/common/checkpoint_names.h"
#include "format/common/found_folders.h"
#include "format/common/object_names.h"
#include "format/dcp/dcp_layout.h"
#include "format/fireworks/fireworks_layout.h"
#include "format/foreign_publications.h"
#include "format/grail/grail_layout.h"
#include "format/hf/hf_layout.h"
#include "format/modelexpress/modelexpress_layout.h"
#include "format/prime_rl/prime_rl_layout.h"
#include "format/skyrl/skyrl_layout.h"
#include "format/slime_v1/slime_v1_layout.h"
#include "format/slime_v2/slime_v2_layout.h"
#include "format/trl/trl_layout.h"
#include "format/trl_adapter/trl_adapter_layout.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <vector>

namespace deltascope {

namespace {

/// Layouts that have a name although no reader for them is built in. Patterns fit the last components of a key;
/// '#' stands for digits, '*' for anything but a slash.
struct KnownName {
    std::string_view layout;
    std::string_view pattern;
};
constexpr KnownName KnownNames[] = {
    { "a checkpoint callback of grail's research code (delta_N.pt is a pickle, which is never loaded)", "delta_#.pt" },
    { "Miles' gpu-delta (protocol 4)", "weight_v#/manifest.json" },
    { "a payload that NeMo-RL left behind, which is never a usable chain", "*/#/#.pt" },
    { "prime-rl's additive deltas", "delta.stream" },
    { "TRL's delta sync with unreadable or stripped headers (name its dialect with --layout)",
      "anchors/step_#.safetensors" },
    { "TRL's delta sync with unreadable or stripped headers (name its dialect with --layout)",
      "deltas/step_#.safetensors" },
    { "TRL's delta sync with unreadable or stripped headers (name its dialect with --layout)",
      "steps/step_#.safetensors" },
    { "a chain of full or unfinished weight_v folders without any delta", "weight_v#/*" },
};
constexpr std::size_t MaxNamedKeys = 3;

/// Whether all of `text` fits `pattern`. Recursion is as deep as the pattern has '#' and '*'.
bool fits(std::string_view text, std::string_view pattern)
{
    while (!pattern.empty() && pattern.front() != '#' && pattern.front() != '*') {
        if (text.empty() || text.front() != pattern.front())
            return false;
        text.remove_prefix(1);
        pattern.remove_prefix(1);
    }
    if (pattern.empty())
        return text.empty();
    const bool digits = pattern.front() == '#';
    pattern.remove_prefix(1);
    for (std::size_t length = 0;; ++length) {
        if ((!digits || length > 0) && fits(text.substr(length), pattern))
            return true;
        if (length == text.size() || text[length] == '/' || (digits && !isDigit(text[length])))
            return false;
    }
}

/// The last components of a key, as many as the pattern has.
std::string_view tailFor(std::string_view key, std::string_view pattern)
{
    auto slashes = std::count(pattern.begin(), pattern.end(), '/');
    for (std::size_t at = key.size(); at-- > 0;) {
        if (key[at] == '/' && slashes-- == 0)
            return key.substr(at + 1);
    }
    return key;
}

std::vector<const ObjectInfo*> foreignObjects(const std::vector<ObjectInfo>& listing)
{
    std::vector<const ObjectInfo*> out;
    for (const ObjectInfo& object : listing) {
        if (!beside::holds(object.key))
            out.push_back(&object);
    }
    return out;
}

/// The word of a known layout that has no reader, empty if none fits.
std::string_view knownLayout(const std::vector<const ObjectInfo*>& objects)
{
    for (const KnownName& known : KnownNames) {
        const auto isOne = [&](const ObjectInfo* object) {
            return fits(tailFor(object->key, known.pattern), known.pattern);
        };
        if (std::any_of(objects.begin(), objects.end(), isOne))
            return known.layout;
    }
    return {};
}

/// How deep weights of checkpoints lie below their steps where they lie deeper than it was looked. 0: they do not.
std::size_t depthOfWeights(const std::vector<ObjectInfo>& listing)
{
    const LayoutRegistry searching = builtinLayouts(MostSearchDepth);
    for (const std::shared_ptr<const Layout>& layout : searching.all()) {
        if (layout->searchDepth() == DefaultSearchDepth)
            continue;
        for (const VersionObjects& version : layout->group(listing)) {
            const std::string_view step = stepFolderOf(version.name, version.step);
            const std::size_t components = componentsOf(version.name).size() - componentsOf(step).size();
            if (components > DefaultSearchDepth)
                return components;
        }
    }
    return 0;
}

std::string describeListing(const std::vector<const ObjectInfo*>& objects)
{
    if (objects.empty())
        return "the source holds no objects";
    std::vector<std::string_view> named; // one of each folder first: several runs may lie here
    std::set<std::string_view> folders;
    const auto name = [&](const ObjectInfo* object, bool isOfNewFolder) {
        const std::string_view key = object->key;
        if (named.size() < MaxNamedKeys && folders.insert(key.substr(0, key.find('/'))).second == isOfNewFolder)
            named.push_back(key);
    };
    for (const ObjectInfo* object : objects)
        name(object, true);
    for (const ObjectInfo* object : objects) {
        if (std::find(named.begin(), named.end(), object->key) == named.end())
            name(object, false);
    }
    return fmt::format("the source holds {} object{} ({}{})", objects.size(), objects.size() == 1 ? "" : "s",
                       fmt::join(named, ", "), objects.size() > named.size() ? ", …" : "");
}

} // namespace

std::shared_ptr<const Layout> LayoutRegistry::find(std::string_view word) const noexcept
{
    const auto found =
        std::find_if(m_layouts.begin(), m_layouts.end(), [&](const auto& layout) { return layout->word() == word; });
    return found != m_layouts.end() ? *found : nullptr;
}

Result<std::shared_ptr<const Layout>>
LayoutRegistry::detect(const ObjectStore& store, const std::vector<ObjectInfo>& listing, TaskContext& task) const
{
    std::string words;
    for (const std::shared_ptr<const Layout>& layout : m_layouts) {
        DS_TRY(const bool recognized, layout->recognizes(store, listing, task));
        if (recognized)
            return layout;
        words += fmt::format("{}{}", words.empty() ? "" : ", ", layout->word());
    }
    const std::vector<const ObjectInfo*> objects = foreignObjects(listing);
    const std::string seen = describeListing(objects);
    DS_TRY(std::string known, foreignPublication(store, objects, task));
    if (known.empty())
        known = knownLayout(objects);
    if (!known.empty()) {
        return fail(
            Code::Layout,
            fmt::format("{}; it looks like {}, which this build does not read; it reads {}", seen, known, words),
            store.uri());
    }
    const std::vector<FoundFolder> folders = foundFolders(listing);
    const std::string found = describeFound(folders);
    std::string remedy = folders.empty() ? std::string() : folders.back().remedy;
    if (const std::size_t depth = depthOfWeights(listing); depth > 0)
        remedy =
            fmt::format("--depth {} reads the weights, which lie deeper below their steps than is searched", depth);
    return fail(
        Code::Layout,
        fmt::format(
            "{}; none of the layouts {} was found (anchors/step_NNNNNN.safetensors, "
            "weight_vNNNNNN/model.safetensors.index.json, .metadata with .distcp files, model.safetensors or its "
            "index, checkpoint-N/){}",
            seen, words, found.empty() ? found : "; " + found),
        store.uri(), remedy.empty() ? "name the folder that holds the anchors, deltas or checkpoints" : remedy);
}

LayoutRegistry builtinLayouts(std::size_t searchDepth)
{
    LayoutRegistry registry;
    registry.add(std::make_shared<GrailLayout>());
    registry.add(std::make_shared<PrimeRlLayout>());
    for (const TrlDialect* dialect : { &TrlV10, &TrlV11, &TrlV12, &TrlV2 })
        registry.add(std::make_shared<TrlLayout>(*dialect));
    registry.add(std::make_shared<TrlAdapterLayout>(searchDepth));
    registry.add(std::make_shared<SkyrlLayout>());
    registry.add(std::make_shared<SlimeV1Layout>());
    registry.add(std::make_shared<SlimeV2Layout>());
    registry.add(std::make_shared<ModelExpressLayout>());
    registry.add(std::make_shared<DcpLayout>(searchDepth));
    registry.add(std::make_shared<HfLayout>(searchDepth));
    registry.add(std::make_shared<FireworksLayout>()); // only by name
    return registry;
}

} // namespace deltascope
