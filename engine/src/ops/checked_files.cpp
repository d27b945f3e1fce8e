#include "checked_files.h"

#include "replay/checked_reads.h"

#include <algorithm>

namespace deltascope {

Result<void> CheckedFiles::read(const File& file,
                                const std::function<Result<void>(std::uint64_t at, ByteSpan bytes)>& use,
                                TaskContext& task)
{
    constexpr std::uint64_t PieceBytes = 8U << 20;
    VersionObjects alone;
    alone.step = file.step.value_or(0);
    alone.mirror = file.mirror;
    alone.objects = { file.object };
    const ReadRules rules { m_bench.threads, m_bench.records, m_acceptRewritten, Replaced::Followed };
    DS_TRY(const std::shared_ptr<CheckedReads> reads,
           CheckedReads::ofObjects(file.store, alone, !file.step.has_value(), rules, task));
    std::vector<std::byte> piece;
    for (std::uint64_t at = 0; at < file.object.sizeBytes; at += piece.size()) {
        DS_CHECK(task.checkpoint());
        piece.resize(std::min(PieceBytes, file.object.sizeBytes - at));
        DS_CHECK(reads->source()->read(file.object, at, piece, task));
        DS_CHECK(use(at, piece));
    }
    DS_CHECK(reads->expectSound(false, task));
    for (std::string& name : reads->rewritten())
        m_rewritten.push_back(std::move(name));
    return {};
}

} // namespace deltascope
