#include "audit/value_history.h"
#include "deltascope/engine/safetensors.h"
#include "demo/demo_model.h"
#include "support/sanitizer.h"
#include "support/slice.h"

#include <cmath>
#include <gtest/gtest.h>

// The demo trains as a sound run does: in no step of it may a value be suspect, nor where its learning rate drops.

namespace deltascope::app {
namespace {

constexpr int Backfill = 60; ///< as the demo does
constexpr int RateDrops = Backfill + 15;

double fractionOf(int step)
{
    if (step <= Backfill)
        return 0.005 + 0.007 * std::exp(-(step - 1) / 25.0);
    const double drift = 1.0 + 0.15 * std::sin((step - Backfill) / 20.0);
    return (step >= RateDrops ? 0.0025 : 0.0055) * drift;
}

/// The tensors of a file of the model.
class Watched {
public:
    explicit Watched(ByteSpan file)
        : m_before(file.begin(), file.end())
    {
        const std::uint64_t headerBytes = loadLe<std::uint64_t>(file, 0);
        const auto header = SafetensorsHeader::parse(file.subspan(8, headerBytes), file.size());
        EXPECT_TRUE(header);
        m_tensors = header->tensors();
    }

    /// What is suspect of the step that led to `file`.
    std::vector<std::string> judge(ByteSpan file)
    {
        std::vector<std::string> suspect;
        for (const StoredTensor& tensor : m_tensors) {
            const auto meter = MoveMeter::of(tensor.info.dtype, 2, *Backends::builtin().choose(""));
            const ByteSpan before = ByteSpan(m_before).subspan(tensor.begin, tensor.bytes);
            const ByteSpan after = file.subspan(tensor.begin, tensor.bytes);
            meter->onBlock(0, before);
            meter->onPiece(1, before, FullBlock { after });
            meter->onBlock(1, after);
            meter->finish();
            const std::vector<TensorMoves>& moves = meter->moves();
            ValueHistory& history = m_histories[tensor.info.name];
            if (const auto found = history.judge(moves[0], moves[1], meter->squares(), tensor.info.elements()))
                suspect.push_back(tensor.info.name + " " + std::string(word(found->suspicion)));
            if (moves[1].changed == 0 && history.alwaysChanged())
                suspect.push_back(tensor.info.name + " does not change");
            history.add(moves[1], meter->squares());
        }
        m_before.assign(file.begin(), file.end());
        return suspect;
    }

private:
    std::vector<std::byte> m_before;
    std::vector<StoredTensor> m_tensors;
    std::map<std::string, ValueHistory> m_histories; ///< by tensor
};

TEST(DemoHealth, NothingIsSuspectInASoundRun)
{
    const int steps = test::isWholeSweep() ? 2000 : test::UnderSanitizer ? 20 : RateDrops + 15;
    DemoModel model(1);
    Watched watched(model.file());
    for (int step = 1; step <= steps; ++step) {
        model.train(fractionOf(step));
        EXPECT_EQ(watched.judge(model.file()), std::vector<std::string>()) << "step " << step;
    }
}

} // namespace
} // namespace deltascope::app
