#pragma once

#include "layout_fixture.h"
#include "session.h"
#include "support/any_task.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace deltascope::layout_test {

/// The layout of WaysRun: "anchor_000000", "delta_000008_from_000004" and "copy_000512", each a TRL v2 file. The own
/// form of a step is its anchor, else the delta on the step before, else the smallest delta, else a copy.
class WaysLayout final : public Layout {
public:
    WaysLayout()
        : m_files(builtinLayouts().find("trl-v2"))
    {
    }

    struct Name {
        std::string kind;
        std::int64_t step = 0;
        std::int64_t from = 0;
    };
    static std::optional<Name> parse(std::string_view key)
    {
        key.remove_prefix(key.rfind('/') + 1); // of a mirror's object its address; npos + 1 is 0
        const std::size_t line = key.find('_');
        const std::size_t dot = key.find('.');
        if (line == std::string_view::npos || dot == std::string_view::npos)
            return std::nullopt;
        Name name { std::string(key.substr(0, line)), 0, 0 };
        std::from_chars(&key[line + 1], &key[dot], name.step);
        if (const std::size_t from = key.find("_from_"); from != std::string_view::npos)
            std::from_chars(&key[from + 6], &key[dot], name.from);
        return name;
    }

    std::string_view word() const noexcept override { return "ways"; }
    Result<bool> recognizes(const ObjectStore&, const std::vector<ObjectInfo>&, TaskContext&) const override
    {
        return true;
    }
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const override
    {
        std::map<std::int64_t, std::vector<VersionObjects>> steps;
        for (const ObjectInfo& object : listing) {
            const std::optional<Name> name = parse(object.key);
            if (!name)
                continue;
            VersionObjects form;
            form.step = name->step;
            form.name = object.key;
            form.objects = { object };
            steps[form.step].push_back(std::move(form));
        }
        std::vector<VersionObjects> versions;
        for (auto& [step, forms] : steps) {
            std::stable_sort(forms.begin(), forms.end(),
                             [](const VersionObjects& a, const VersionObjects& b) { return rankOf(a) < rankOf(b); });
            VersionObjects own = std::move(forms.front());
            own.otherForms.assign(std::make_move_iterator(forms.begin() + 1), std::make_move_iterator(forms.end()));
            versions.push_back(std::move(own));
        }
        return versions;
    }
    Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                               TaskContext& task) const override
    {
        DS_TRY(VersionIndex index, m_files->index(store, version, task));
        if (!index.full)
            index.declaredBase = parse(version.name)->from;
        return index;
    }
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                              const VersionIndex& index, const TensorEntry& entry,
                                              const TensorInfo& target, const StreamOptions& options) const override
    {
        return m_files->open(store, version, index, entry, target, options);
    }

private:
    static std::tuple<int, std::uint64_t> rankOf(const VersionObjects& form)
    {
        const Name name = *parse(form.name);
        if (name.kind == "anchor")
            return { 0, 0 };
        if (name.kind == "copy")
            return { 3, 0 };
        return { name.from + 1 == name.step ? 1 : 2, form.wireBytes() };
    }

    std::shared_ptr<const Layout> m_files;
};

/// A run whose steps can be reached in many ways: a chain of deltas, a ladder of squashed ones over 2 to 512 steps, a
/// star of deltas on one step, and a second complete copy.
class WaysRun {
public:
    /// `roots`: each object records the root of the state behind it.
    explicit WaysRun(std::int64_t steps, bool roots = true)
        : hub(steps / 2)
        , store(std::make_shared<MemoryStore>())
        , m_roots(roots)
    {
        session.bench.layouts = LayoutRegistry();
        session.bench.layouts.add(std::make_shared<WaysLayout>());
        session.openDisk();
        m_states.push_back(firstState());
        putFull("anchor", 0);
        for (std::int64_t step = 1; step <= steps; ++step) {
            m_states.push_back(nextState(step));
            putDelta(step, step - 1);
            for (std::int64_t width = 2; width <= 512 && step % width == 0; width *= 2)
                putDelta(step, step - width);
            if (step > hub + 1 && step <= hub + steps / 20)
                putDelta(step, hub);
            if (step == hub)
                putFull("copy", hub);
        }
    }

    static std::string deltaKey(std::int64_t step, std::int64_t from)
    {
        return fmt::format("delta_{:06}_from_{:06}.safetensors", step, from);
    }
    static std::string fullKey(std::string_view kind, std::int64_t step)
    {
        return fmt::format("{}_{:06}.safetensors", kind, step);
    }

    deltascope::Run open()
    {
        auto run = session.open(store);
        EXPECT_TRUE(run) << run.error().text;
        return std::move(*run);
    }
    deltascope::Run analyzed() { return session.analyzed(store); }
    std::vector<std::string> keys() { return { m_keys.begin(), m_keys.end() }; }
    /// The root that the state of a step must have.
    std::string rootOf(std::int64_t step) const { return m_states.at(static_cast<std::size_t>(step)).root; }
    /// The root that a plan leads to.
    Result<std::string> rootAlong(const deltascope::Run& run, const Plan& plan)
    {
        DS_TRY(const PathPtr path, openChecked(session.bench, run, plan, false, session.task));
        DS_TRY(const CheckpointDigest digest, digestState(session.bench, *path, session.task));
        return toHex(digest.root.fast);
    }
    /// Turns over one bit of the last value that an object holds.
    void flip(const std::string& key)
    {
        std::string bytes = read(key);
        bytes[bytes.size() - 2] = static_cast<char>(bytes[bytes.size() - 2] ^ 4);
        EXPECT_TRUE(putText(*store, key, bytes));
    }
    std::string read(const std::string& key) const
    {
        std::string bytes(store->stat(key, test::anyTask())->sizeBytes, '\0');
        EXPECT_TRUE(store->read(key, 0, writable(bytes), test::anyTask()));
        return bytes;
    }

    const std::int64_t hub; ///< what the star builds on, and what there is a copy of
    std::shared_ptr<MemoryStore> store;
    Session session;

private:
    static constexpr std::size_t Tensors = 3;
    static constexpr std::size_t Elements = 96;
    struct State {
        std::vector<std::vector<std::uint16_t>> tensors;
        std::string root;
    };

    static TensorInfo infoOf(std::size_t tensor)
    {
        return { fmt::format("layer.{}.weight", tensor), Dtype::BF16, { Elements } };
    }
    static ByteSpan bytesOf(const std::vector<std::uint16_t>& items) { return std::as_bytes(std::span(items)); }
    static State withRoot(std::vector<std::vector<std::uint16_t>> tensors)
    {
        State state { std::move(tensors), {} };
        std::vector<TensorNode> nodes;
        for (std::size_t i = 0; i < Tensors; ++i) {
            LeafHasher leaves(LeafHasher::Strength::Fast);
            leaves.update(bytesOf(state.tensors[i]));
            leaves.finish();
            nodes.push_back(tensorNode(infoOf(i), leaves.fast(), {}));
        }
        state.root = toHex(checkpointRoot(nodes, false).fast);
        return state;
    }
    static State firstState()
    {
        std::vector<std::vector<std::uint16_t>> tensors(Tensors, std::vector<std::uint16_t>(Elements));
        for (std::size_t i = 0; i < Tensors * Elements; ++i)
            tensors[i / Elements][i % Elements] = static_cast<std::uint16_t>(0x3C00 + i);
        return withRoot(std::move(tensors));
    }
    State nextState(std::int64_t step) const
    {
        std::vector<std::vector<std::uint16_t>> tensors = m_states.back().tensors;
        for (std::uint64_t n = 0; n < 4; ++n) { // always other bits than before
            const std::uint64_t place = (static_cast<std::uint64_t>(step) * 131 + n * 71) % (Tensors * Elements);
            tensors[place / Elements][place % Elements] ^= static_cast<std::uint16_t>(1 + (step + n) % 15);
        }
        return withRoot(std::move(tensors));
    }

    Metadata metadataOf(bool full, std::int64_t step, std::optional<std::int64_t> from) const
    {
        Metadata metadata { { "format", "sparse_weight_patch" },
                            { "sparse", full ? "False" : "True" },
                            { "encoding", "raw" } };
        if (!m_roots)
            return metadata;
        metadata.emplace("ds.v", "1");
        metadata.emplace("ds.root", rootOf(step));
        if (from)
            metadata.emplace("ds.base", rootOf(*from));
        return metadata;
    }
    void put(const std::string& key, std::int64_t step, const std::string& bytes)
    {
        EXPECT_TRUE(putText(*store, key, bytes));
        EXPECT_TRUE(store->setModified(key, 1'000'000LL * (step + 1)));
        m_keys.insert(key);
    }
    void putFull(std::string_view kind, std::int64_t step)
    {
        std::vector<FileTensor> tensors;
        for (std::size_t i = 0; i < Tensors; ++i)
            tensors.push_back({ infoOf(i), std::string(asText(bytesOf(m_states.back().tensors[i]))) });
        put(fullKey(kind, step), step, safetensorsFile(tensors, metadataOf(true, step, {})));
    }
    void putDelta(std::int64_t step, std::int64_t from)
    {
        const State& before = m_states.at(static_cast<std::size_t>(from));
        std::vector<FileTensor> tensors;
        for (std::size_t i = 0; i < Tensors; ++i) {
            std::vector<std::uint32_t> places;
            std::vector<std::uint16_t> values;
            for (std::size_t at = 0; at < Elements; ++at) {
                if (before.tensors[i][at] == m_states.back().tensors[i][at])
                    continue;
                places.push_back(static_cast<std::uint32_t>(at));
                values.push_back(m_states.back().tensors[i][at]);
            }
            if (places.empty())
                continue;
            const std::string name = infoOf(i).name;
            tensors.push_back({ { name + ".idx", Dtype::I32, { places.size() } },
                                std::string(asText(std::as_bytes(std::span(places)))) });
            tensors.push_back(
                { { name + ".val", Dtype::BF16, { values.size() } }, std::string(asText(bytesOf(values))) });
        }
        put(deltaKey(step, from), step, safetensorsFile(tensors, metadataOf(false, step, from)));
    }

    bool m_roots;
    std::vector<State> m_states;
    std::set<std::string> m_keys;
};

} // namespace deltascope::layout_test
