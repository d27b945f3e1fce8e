#pragma once

#include "layout_fixture.h"
#include "run_steps.h"
#include "session.h"

#include <algorithm>
#include <map>
#include <random>

namespace deltascope::layout_test {

using EngineRun = deltascope::Run;
using Words16 = std::vector<std::uint16_t>;
using Change = std::map<std::uint32_t, std::uint16_t>;

inline std::string anchorKey(std::int64_t step) { return fmt::format("anchors/step_{:06}.safetensors", step); }
inline std::string deltaKey(std::int64_t step) { return fmt::format("deltas/step_{:06}.safetensors", step); }

template <class Items> std::string asBytesOf(const Items& items)
{
    return std::string(asText(std::as_bytes(std::span(items))));
}

/// What a trainer makes of a first state: states and changes by step, the first one at 1.
struct Training {
    static constexpr std::size_t Elements = 6000;

    Training(std::int64_t steps, unsigned seed, unsigned firstSeed = 1)
        : states(static_cast<std::size_t>(steps) + 1)
        , changes(states.size())
        , m_random(seed)
    {
        std::mt19937 first(firstSeed);
        states[1].resize(Elements);
        for (std::uint16_t& word : states[1])
            word = static_cast<std::uint16_t>(0x3C00 + first() % 256);
        for (std::size_t step = 2; step < states.size(); ++step) {
            changes[step] = changeOf(states[step - 1]);
            states[step] = states[step - 1];
            for (const auto& [at, word] : changes[step])
                states[step][at] = word;
        }
    }
    /// Of 60 elements, never to what is there.
    Change changeOf(const Words16& state)
    {
        Change change;
        while (change.size() < 60) {
            const auto at = static_cast<std::uint32_t>(m_random() % Elements);
            change[at] = static_cast<std::uint16_t>(state[at] ^ (1 + m_random() % 7));
        }
        return change;
    }

    std::vector<Words16> states;
    std::vector<Change> changes;

private:
    std::mt19937 m_random;
};

/// The fast root of a state of a training.
inline std::string rootOf(const Words16& state)
{
    LeafHasher leaves(LeafHasher::Strength::Fast);
    leaves.update(std::as_bytes(std::span(state)));
    leaves.finish();
    const TensorInfo info { "w", Dtype::BF16, { Training::Elements } };
    return toHex(checkpointRoot({ tensorNode(info, leaves.fast(), {}) }, false).fast);
}

/// A run of TRL in memory; each object is written a minute after the one with the number before it.
class Bucket {
public:
    void putAnchor(std::int64_t step, const Words16& state, std::int64_t minute = -1, const Metadata& facts = {})
    {
        put(anchorKey(step), minute < 0 ? step : minute,
            safetensorsFile({ { { "w", Dtype::BF16, { Training::Elements } }, asBytesOf(state) } },
                            metadataOf(false, facts)));
    }
    void putDelta(std::int64_t step, const Change& change, std::int64_t minute = -1, const Metadata& facts = {})
    {
        std::vector<std::uint32_t> places;
        Words16 values;
        for (const auto& [at, word] : change) {
            places.push_back(at);
            values.push_back(word);
        }
        put(deltaKey(step), minute < 0 ? step : minute,
            safetensorsFile({ { { "w.idx", Dtype::I32, { places.size() } }, asBytesOf(places) },
                              { { "w.val", Dtype::BF16, { values.size() } }, asBytesOf(values) } },
                            metadataOf(true, facts)));
    }
    void putRun(const Training& training, std::int64_t last, const std::vector<std::int64_t>& anchors,
                std::int64_t first = 1)
    {
        for (std::int64_t step = first; step <= last; ++step) {
            const auto at = static_cast<std::size_t>(step);
            if (std::find(anchors.begin(), anchors.end(), step) != anchors.end())
                putAnchor(step, training.states[at]);
            else
                putDelta(step, training.changes[at]);
        }
    }
    void remove(const std::string& key) { EXPECT_TRUE(store->remove(key)); }
    void put(const std::string& key, std::int64_t minute, const std::string& bytes)
    {
        EXPECT_TRUE(putText(*store, key, bytes));
        EXPECT_TRUE(store->setModified(key, 60'000'000LL * (minute + 1)));
    }

    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    Session session;

    EngineRun analyzed() { return session.analyzed(store); }
    /// Whether a step is rebuilt with exactly these elements.
    bool holds(const EngineRun& run, std::int64_t number, const Words16& state, std::optional<int> epoch = {})
    {
        const auto plan = planFor(run, step(run, number, epoch));
        if (!plan)
            return false;
        const auto path = openPath(run, *plan, { 2 }, session.task);
        if (!path)
            return false;
        const auto digest = digestState(session.bench, **path, session.task);
        return digest && digest->tensors.at(0).xxh3 == xxh3(std::as_bytes(std::span(state)));
    }

private:
    static Metadata metadataOf(bool sparse, Metadata facts)
    {
        facts.merge(Metadata {
            { "format", "sparse_weight_patch" }, { "sparse", sparse ? "True" : "False" }, { "encoding", "raw" } });
        return facts;
    }
};

} // namespace deltascope::layout_test
