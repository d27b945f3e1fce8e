#pragma once

#include "layout_fixture.h"
#include "support/memory_store.h"

#include <fmt/format.h>

namespace deltascope::layout_test {

inline std::string words16(const std::vector<std::uint16_t>& items)
{
    return std::string(asText(std::as_bytes(std::span(items))));
}

/// A small TRL run in memory: one tensor "w" of eight elements, and "v" that never changes.
class TinyRun {
public:
    TinyRun()
        : store(std::make_shared<MemoryStore>())
    {
    }
    TinyRun& anchor(int step, const std::vector<std::uint16_t>& w)
    {
        return put(step, true, { { tensor("w", { w.size() }), words16(w) }, { tensor("v", { 2 }), "abcd" } });
    }
    TinyRun& delta(int step, const std::vector<std::uint16_t>& positions, const std::vector<std::uint16_t>& values)
    {
        std::vector<std::uint32_t> wide(positions.begin(), positions.end());
        return put(
            step, false,
            { { tensor("w.idx", { wide.size() }, Dtype::I32), std::string(asText(std::as_bytes(std::span(wide)))) },
              { tensor("w.val", { values.size() }), words16(values) } });
    }
    /// Steps 1 to 6 with an anchor at 5.
    static TinyRun sound()
    {
        TinyRun run;
        run.anchor(1, { 0, 0, 0, 0, 0, 0, 0, 0 })
            .delta(2, { 0, 1 }, { 1, 1 })
            .delta(3, { 2 }, { 1 })
            .delta(4, { 0, 7 }, { 2, 2 })
            .anchor(5, { 2, 1, 1, 0, 0, 9, 9, 2 })
            .delta(6, { 3 }, { 5 });
        return run;
    }
    TinyRun& put(int step, bool full, const std::vector<FileTensor>& tensors)
    {
        const std::string key = keyOf(step, full);
        const std::string file = safetensorsFile(
            tensors,
            { { "format", "sparse_weight_patch" }, { "sparse", full ? "False" : "True" }, { "encoding", "raw" } });
        EXPECT_TRUE(putText(*store, key, file));
        EXPECT_TRUE(store->setModified(key, 1'000'000LL * step));
        return *this;
    }
    static std::string keyOf(int step, bool full)
    {
        return fmt::format("{}/step_{:06}.safetensors", full ? "anchors" : "deltas", step);
    }

    std::shared_ptr<MemoryStore> store;
};

} // namespace deltascope::layout_test
