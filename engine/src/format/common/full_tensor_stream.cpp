#include "format/common/full_tensor_stream.h"

#include "format/common/object_names.h"

#include "format/common/quote_name.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope {

FullTensorStream::FullTensorStream(BufferedExtent data)
    : m_data(std::move(data))
{
}

Result<PatchPiece> FullTensorStream::next(std::uint64_t begin, std::uint64_t end)
{
    if (begin < m_at || end < begin || end - m_at > m_data.left())
        return fail(Code::Internal, "blocks of a tensor were asked for out of order", m_data.key());
    m_data.skip(begin - m_at);
    m_at = end;
    DS_TRY(const ByteSpan bytes, m_data.take(end - begin));
    return PatchPiece(FullBlock { bytes });
}

Result<void> FullTensorStream::finish()
{
    if (m_data.left() != 0)
        return fail(Code::Malformed, fmt::format("{} bytes are left behind the tensor", m_data.left()), m_data.key());
    return {};
}

Result<void> checkTarget(const TensorEntry& entry, const TensorInfo& target, const std::string& key)
{
    if (entry.info() && (entry.info()->dtype != target.dtype || entry.info()->shape != target.shape)) {
        return fail(Code::BaseMismatch,
                    fmt::format("{} is {} here and {} in the state before", quoteName(entry.name()),
                                describe(*entry.info()), describe(target)),
                    key);
    }
    return {};
}

Result<std::unique_ptr<PatchStream>> openFullTensor(const ObjectStore& store, const VersionObjects& version,
                                                    const TensorEntry& entry, const TensorInfo& target,
                                                    const StreamOptions& options)
{
    const Extent& extent = entry.extents.at(0);
    const std::string& key = version.objects.at(extent.object).key;
    DS_CHECK(checkTarget(entry, target, key));
    if (target.bytes() != extent.bytes)
        return fail(Code::BaseMismatch,
                    fmt::format("{} has another size than in the state before", quoteName(entry.name())), key);
    return std::unique_ptr<PatchStream>(std::make_unique<FullTensorStream>(
        BufferedExtent(store, key, extent.begin, extent.bytes, options.bufferBytes, *options.task)));
}

TensorEntry fullTensorEntry(StoredTensor stored, std::uint32_t object)
{
    TensorEntry entry(std::move(stored.info));
    entry.setStoredElements(entry.info()->elements());
    entry.extents = { Extent { object, stored.begin, stored.bytes } };
    return entry;
}

VersionIndex fullIndexOf(SafetensorsHeader header, std::uint32_t object)
{
    VersionIndex index;
    index.full = true;
    addFullTensors(header.takeTensors(), object, index.tensors);
    sortByName(index.tensors);
    return index;
}

void addFullTensors(std::vector<StoredTensor> tensors, std::uint32_t object, std::vector<TensorEntry>& entries)
{
    if (entries.empty())
        entries.reserve(tensors.size()); // of a million, growing would hold them twice
    for (StoredTensor& stored : tensors)
        entries.push_back(fullTensorEntry(std::move(stored), object));
}

std::string describe(const TensorInfo& tensor)
{
    return fmt::format("{} [{}]", word(tensor.dtype), fmt::join(tensor.shape, ", "));
}

} // namespace deltascope
