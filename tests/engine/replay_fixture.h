#pragma once

#include "deltascope/engine/path_state.h"

#include "layout_fixture.h"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>
#include <zstd.h>

// Chains made from random numbers, stored in the byte layouts of the trainers.

namespace deltascope::replay_test {

using namespace layout_test;

using Model = std::map<std::string, FileTensor>;

inline std::string zstd(const std::string& payload)
{
    std::string frame(ZSTD_compressBound(payload.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), payload.data(), payload.size(), 1));
    return frame;
}

template <class Integer> std::string packed(const std::vector<Integer>& items)
{
    return std::string(asText(std::as_bytes(std::span(items))));
}

/// New values for some elements of one tensor.
struct Assignment {
    std::string name;
    std::vector<std::uint32_t> positions; ///< ascending
    std::string values;
};

/// A chain in memory: what is stored, and the state behind every version.
class History {
public:
    explicit History(std::string layout)
        : m_layout(builtinLayouts().find(layout))
        , m_store(std::make_shared<MemoryStore>())
    {
    }

    const Model& now() const { return m_states.back(); }
    const std::vector<Model>& states() const { return m_states; }
    std::shared_ptr<MemoryStore> store() { return m_store; }

    /// TRL: an anchor that holds these tensors and leaves the others alone.
    void anchor(const Model& tensors)
    {
        std::vector<FileTensor> list;
        for (const auto& [name, tensor] : tensors)
            list.push_back(tensor);
        put(fmt::format("anchors/step_{:06}.safetensors", nextStep()), safetensorsFile(list, trlMetadata("False")));
        Model state = m_states.empty() ? Model() : now();
        for (const auto& [name, tensor] : tensors)
            state[name] = tensor;
        m_states.push_back(std::move(state));
    }

    /// TRL: a delta.
    void delta(const std::vector<Assignment>& assignments, bool gaps)
    {
        Model state = now();
        std::vector<FileTensor> list;
        for (const Assignment& assignment : assignments) {
            FileTensor& target = state.at(assignment.name);
            const std::size_t width = bitsOf(target.info.dtype) / 8;
            for (std::size_t i = 0; i < assignment.positions.size(); ++i)
                target.data.replace(assignment.positions[i] * width, width, assignment.values, i * width, width);
            list.push_back(indexTensor(assignment, gaps));
            list.push_back({ tensor(assignment.name + ".val", { assignment.positions.size() }, target.info.dtype),
                             assignment.values });
        }
        put(fmt::format("deltas/step_{:06}.safetensors", nextStep()),
            safetensorsFile(list, trlMetadata("True", gaps ? "gap_delta" : "raw")));
        m_states.push_back(std::move(state));
    }

    /// slime: the checkpoint that the chain stands on, and a version that turns the state into `next`.
    void base(const Model& tensors)
    {
        std::vector<FileTensor> list;
        for (const auto& [name, tensor] : tensors)
            list.push_back(tensor);
        m_base = std::make_shared<MemoryStore>();
        EXPECT_TRUE(putText(*m_base, "model.safetensors", safetensorsFile(list)));
        m_states.push_back(tensors);
    }
    void slime(const Model& next, bool overwrite)
    {
        const std::string file = "model-00000-of-00001.safetensors";
        const std::size_t step = m_states.size();
        const std::string folder = fmt::format("weight_v{:06}/", step);
        std::vector<FileTensor> list;
        Json map = Json::object();
        for (const auto& [name, tensor] : next) {
            const std::string& before = now().at(name).data;
            if (before == tensor.data)
                continue;
            const std::string frame = zstd(overwrite ? changedBytes(before, tensor.data) : mask(before, tensor.data));
            list.push_back({ layout_test::tensor(name, { frame.size() }, Dtype::U8), frame });
            map[name] = file;
        }
        if (!list.empty())
            put(folder + file, safetensorsFile(list));
        put(folder + "model.safetensors.index.json",
            Json { { "metadata",
                     { { "version", fmt::format("{:06}", step) },
                       { "base_version", fmt::format("{:06}", step - 1) },
                       { "delta_encoding", overwrite ? "overwrite" : "xor" },
                       { "compression_format", "zstd" } } },
                   { "weight_map", map } }
                .dump());
        m_states.push_back(next);
    }

    /// All versions as one path, read through `store` if it is given.
    Result<PathPtr> path(std::shared_ptr<const ObjectStore> store = {})
    {
        run = {};
        run.store = store ? std::move(store) : m_store;
        run.layout = m_layout;
        Plan plan;
        TaskContext task;
        DS_TRY(const std::vector<ObjectInfo> listing, listAll(*m_store, "", task));
        for (VersionObjects& objects : m_layout->group(listing)) {
            plan.links.push_back(PlanLink { run.versions.size(), false });
            run.versions.emplace_back().objects = std::move(objects);
        }
        if (m_base) {
            plan.fromExternalBase = true;
            run.base.emplace();
            run.base->store = m_base;
            run.base->layout = builtinLayouts().find("hf");
            DS_TRY(const std::vector<ObjectInfo> ofBase, listAll(*m_base, "", task));
            run.base->objects = run.base->layout->group(ofBase).at(0);
        }
        return openPath(run, plan, { 2 }, task);
    }

    void put(const std::string& key, const std::string& bytes) { EXPECT_TRUE(putText(*m_store, key, bytes)) << key; }

    deltascope::Run run;

private:
    std::size_t nextStep() const { return m_states.size() + 1; }

    static Metadata trlMetadata(const std::string& sparse, const std::string& encoding = "raw")
    {
        return { { "format", "sparse_weight_patch" }, { "sparse", sparse }, { "encoding", encoding } };
    }

    static FileTensor indexTensor(const Assignment& assignment, bool gaps)
    {
        const std::uint64_t count = assignment.positions.size();
        if (!gaps)
            return { tensor(assignment.name + ".idx", { count }, Dtype::I32), packed(assignment.positions) };
        std::vector<std::uint32_t> wide;
        std::uint32_t next = 0;
        for (const std::uint32_t position : assignment.positions) {
            wide.push_back(position - next);
            next = position + 1;
        }
        if (std::any_of(wide.begin(), wide.end(), [](std::uint32_t gap) { return gap > 0xffff; }))
            return { tensor(assignment.name + ".idx", { count }, Dtype::U32), packed(wide) };
        return { tensor(assignment.name + ".idx", { count }, Dtype::U16),
                 packed(std::vector<std::uint16_t>(wide.begin(), wide.end())) };
    }

    static std::string mask(const std::string& before, const std::string& after)
    {
        std::string out = before;
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<char>(before[i] ^ after[i]);
        return out;
    }

    static std::string changedBytes(const std::string& before, const std::string& after)
    {
        std::vector<std::uint32_t> positions;
        std::string values;
        for (std::size_t i = 0; i < before.size(); ++i) {
            if (before[i] == after[i])
                continue;
            positions.push_back(static_cast<std::uint32_t>(i));
            values += after[i];
        }
        return packed(std::vector<std::uint32_t> { static_cast<std::uint32_t>(values.size()) }) + packed(positions)
            + values;
    }

    std::shared_ptr<const Layout> m_layout;
    std::shared_ptr<MemoryStore> m_store;
    std::shared_ptr<MemoryStore> m_base;
    std::vector<Model> m_states; ///< behind the base, then behind each version
};

inline std::string randomBytes(std::size_t count, std::mt19937_64& random)
{
    std::string out(count, '\0');
    for (char& byte : out)
        byte = static_cast<char>(random());
    return out;
}

inline FileTensor randomTensor(const TensorInfo& info, std::mt19937_64& random)
{
    return { info, randomBytes(info.bytes(), random) };
}

/// About `count` random elements; some of them get the bits that they have.
inline Assignment randomAssignment(const FileTensor& target, std::size_t count, std::mt19937_64& random)
{
    Assignment out { target.info.name, {}, {} };
    const std::uint64_t elements = target.info.elements();
    const std::size_t width = bitsOf(target.info.dtype) / 8;
    std::set<std::uint32_t> positions;
    for (std::size_t i = 0; i < count && elements > 0; ++i)
        positions.insert(static_cast<std::uint32_t>(random() % elements));
    for (const std::uint32_t position : positions) {
        out.positions.push_back(position);
        out.values += random() % 8 == 0 ? target.data.substr(position * width, width) : randomBytes(width, random);
    }
    return out;
}

/// A tensor of three blocks that every one of `links` deltas touches.
inline History longTrlChain(std::size_t links)
{
    std::mt19937_64 random(links);
    History history("trl-v2");
    const TensorInfo info = tensor("w", { 150'001 });
    history.anchor({ { "w", randomTensor(info, random) } });
    for (std::size_t i = 0; i < links; ++i)
        history.delta({ randomAssignment(history.now().at("w"), 20, random) }, i % 2 == 0);
    return history;
}

inline History longSlimeChain(std::size_t links, const TensorInfo& info)
{
    std::mt19937_64 random(links);
    History history("slime-v2");
    history.base({ { "w", randomTensor(info, random) } });
    for (std::size_t i = 0; i < links; ++i) {
        Model next = history.now();
        for (int n = 0; n < 20; ++n)
            next["w"].data[random() % next["w"].data.size()] ^= static_cast<char>(1U << (random() % 8));
        history.slime(next, i % 3 == 0);
    }
    return history;
}

} // namespace deltascope::replay_test
