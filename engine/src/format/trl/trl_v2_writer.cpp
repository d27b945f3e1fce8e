#include "format/trl/trl_v2_writer.h"

#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// Positions pass through int32 in TRL.
constexpr std::uint64_t LargestPosition = 0x7FFF'FFFF;
constexpr std::uint32_t LargestNarrowGap = 0xFFFF;
/// Positions that are encoded at a time.
constexpr std::size_t BatchItems = 4096;

/// As Python's repr() writes a float between 0 and 1.
std::string pythonFloat(double value)
{
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos)
        text += ".0";
    return text;
}

/// docs/formats/trl-v2.md section 3.
VersionFactMap patchMetadata(const TrlV2WriterOptions& options, const PatchTotals& totals)
{
    const double sparsity =
        totals.sparse ? 1.0 - static_cast<double>(totals.changed) / static_cast<double>(totals.elements) : 0.0;
    VersionFactMap metadata = options.facts;
    metadata["format"] = "sparse_weight_patch";
    metadata["version"] = "1";
    metadata["sparse"] = totals.sparse ? "True" : "False";
    metadata["model_version"] = std::to_string(options.step);
    metadata["num_changed_params"] = std::to_string(totals.params);
    metadata["total_changed_elements"] = std::to_string(totals.changed);
    metadata["total_elements"] = std::to_string(totals.elements);
    metadata["sparsity"] = pythonFloat(sparsity);
    metadata["encoding"] = options.encoding == TrlV2Encoding::Raw ? "raw" : "gap_delta";
    return metadata;
}

Result<void> checkOptions(const TrlV2WriterOptions& options)
{
    if (options.step < 0)
        return fail(Code::Usage, fmt::format("a step has a number from 0 on, not {}", options.step));
    return checkFacts(options.facts);
}

std::string keyOfStep(const TrlV2WriterOptions& options, std::string_view folder)
{
    return joinKey(options.root, fmt::format("{}/step_{:06}.safetensors", folder, options.step));
}

Result<std::vector<ObjectInfo>> committed(Result<ObjectInfo> object, const TrlV2WriterOptions& options)
{
    if (!object)
        return fail(atStep(std::move(object.error()), options.step));
    return std::vector<ObjectInfo> { std::move(*object) };
}

class DeltaTensor final : public TensorWriter {
public:
    DeltaTensor(TrlV2DeltaWriter& writer, const TensorInfo& tensor)
        : m_writer(writer)
        , m_tensor(tensor)
        , m_cursor(tensor)
        , m_narrow(writer.spool())
        , m_wide(writer.spool())
        , m_values(writer.spool())
    {
    }

    Result<void> add(const TensorBlock& block) override
    {
        const ElementChanges& changes = block.changes;
        DS_CHECK(m_cursor.take(block.after.size(), &changes));
        if (changes.positions.empty())
            return {};
        DS_CHECK(checkCarried(changes));
        if (m_writer.encoding() == TrlV2Encoding::Raw)
            DS_CHECK(addPositions(changes));
        else
            DS_CHECK(addGaps(changes));
        DS_CHECK(m_values.append(changes.values));
        m_count += changes.positions.size();
        return {};
    }

    Result<void> end(TaskContext& task) override
    {
        DS_CHECK(task.checkpoint());
        DS_CHECK(m_cursor.expectEnd());
        if (m_count == 0)
            return {};
        TrlV2DeltaWriter::Stored stored;
        stored.elements = m_tensor.elements();
        stored.count = m_count;
        DS_TRY(stored.narrow, m_narrow.finish());
        DS_TRY(stored.wide, m_wide.finish());
        DS_TRY(stored.values, m_values.finish());
        return m_writer.keep(m_tensor.name, std::move(stored));
    }

private:
    Result<void> checkCarried(const ElementChanges& changes) const
    {
        DS_CHECK(expectTrlV2Carries(m_tensor));
        const std::uint64_t last = changes.firstElement + changes.positions.back();
        if (last > LargestPosition) {
            return fail(Code::Unsupported,
                        fmt::format("{} changed at element {}: positions of trl-v2 end at {}", quoteName(m_tensor.name),
                                    last, LargestPosition),
                        {}, "Publish as slime-v2 with --encoding xor, which has no such limit.");
        }
        return {};
    }

    Result<void> addPositions(const ElementChanges& changes)
    {
        std::array<std::uint32_t, BatchItems> batch;
        const auto first = static_cast<std::uint32_t>(changes.firstElement);
        for (std::size_t at = 0; at < changes.positions.size(); at += BatchItems) {
            const auto positions = changes.positions.subspan(at, std::min(BatchItems, changes.positions.size() - at));
            for (std::size_t i = 0; i < positions.size(); ++i)
                batch[i] = first + positions[i];
            DS_CHECK(m_wide.append(std::as_bytes(std::span(batch.data(), positions.size()))));
        }
        return {};
    }

    Result<void> addGaps(const ElementChanges& changes)
    {
        std::array<std::uint32_t, BatchItems> gaps;
        const auto first = static_cast<std::uint32_t>(changes.firstElement);
        for (std::size_t at = 0; at < changes.positions.size(); at += BatchItems) {
            const auto positions = changes.positions.subspan(at, std::min(BatchItems, changes.positions.size() - at));
            gaps[0] = first + positions[0] - m_next;
            std::uint32_t widest = gaps[0];
            for (std::size_t i = 1; i < positions.size(); ++i) {
                gaps[i] = positions[i] - positions[i - 1] - 1;
                widest = std::max(widest, gaps[i]);
            }
            m_next = first + positions.back() + 1;
            DS_CHECK(appendGaps(std::span(gaps.data(), positions.size()), widest));
        }
        return {};
    }

    Result<void> appendGaps(std::span<const std::uint32_t> gaps, std::uint32_t widest)
    {
        if (m_wide.size() != 0 || widest > LargestNarrowGap)
            return m_wide.append(std::as_bytes(gaps));
        std::array<std::uint16_t, BatchItems> narrow;
        std::transform(gaps.begin(), gaps.end(), narrow.begin(),
                       [](std::uint32_t gap) { return static_cast<std::uint16_t>(gap); });
        return m_narrow.append(std::as_bytes(std::span(narrow.data(), gaps.size())));
    }

    TrlV2DeltaWriter& m_writer;
    TensorInfo m_tensor;
    BlockCursor m_cursor;
    SpooledBytes m_narrow;
    SpooledBytes m_wide;
    SpooledBytes m_values;
    std::uint64_t m_count = 0;
    std::uint32_t m_next = 0; ///< element behind the last change; at most 2^31
};

class AnchorTensor final : public TensorWriter {
public:
    AnchorTensor(TrlV2AnchorWriter& writer, const TensorInfo& tensor, std::size_t place, std::uint64_t offset)
        : m_writer(writer)
        , m_cursor(tensor)
        , m_place(place)
        , m_offset(offset)
    {
    }

    Result<void> add(const TensorBlock& block) override
    {
        const std::uint64_t at = m_cursor.at();
        DS_CHECK(m_cursor.take(block.after.size(), nullptr));
        return m_writer.write(m_offset + at, block.after);
    }

    Result<void> end(TaskContext& task) override
    {
        DS_CHECK(task.checkpoint());
        DS_CHECK(m_cursor.expectEnd());
        m_writer.keep(m_place);
        return {};
    }

private:
    TrlV2AnchorWriter& m_writer;
    BlockCursor m_cursor;
    std::size_t m_place;
    std::uint64_t m_offset;
};

/// Errors: Usage.
Result<void> expectDifferentNames(const std::vector<TensorInfo>& tensors)
{
    std::vector<std::string_view> names;
    names.reserve(tensors.size());
    for (const TensorInfo& tensor : tensors)
        names.push_back(tensor.name);
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    return twice == names.end() ? Result<void>() : occursTwice(*twice);
}

} // namespace

Result<void> expectTrlV2Carries(const TensorInfo& tensor)
{
    if (tensor.dtype == Dtype::BF16)
        return {};
    return fail(Code::Unsupported,
                fmt::format("{} changed and is {}: trl-v2 carries changes of BF16 tensors only", quoteName(tensor.name),
                            describe(tensor)),
                {},
                tensor.shape.empty() ? "Give the tensor the shape [1] and publish as slime-v2, which carries every "
                                       "element type, and no scalars."
                                     : "Publish as slime-v2, which carries every element type.");
}

TrlV2DeltaWriter::TrlV2DeltaWriter(TrlV2WriterOptions options, std::unique_ptr<SpoolFile> spool)
    : m_options(std::move(options))
    , m_spool(std::move(spool))
{
}

Result<std::unique_ptr<TensorWriter>> TrlV2DeltaWriter::begin(const TensorInfo& tensor)
{
    DS_CHECK(checkTensorName(tensor.name + ".val"));
    DS_CHECK(checkedSize(tensor));
    const std::lock_guard lock(m_mutex);
    if (m_stored.contains(tensor.name))
        return occursTwice(tensor.name);
    return std::unique_ptr<TensorWriter>(std::make_unique<DeltaTensor>(*this, tensor));
}

Result<void> TrlV2DeltaWriter::addFact(std::string_view key, std::string_view value)
{
    DS_CHECK(checkFact(key, value));
    const std::lock_guard lock(m_mutex);
    m_options.facts.insert_or_assign(std::string(key), std::string(value));
    return {};
}

Result<void> TrlV2DeltaWriter::keep(const std::string& name, Stored stored)
{
    const std::lock_guard lock(m_mutex);
    return m_stored.emplace(name, std::move(stored)).second ? Result<void>() : occursTwice(name);
}

Result<std::vector<ObjectInfo>> TrlV2DeltaWriter::finish(ObjectStore& store, TaskContext& task)
{
    const std::lock_guard lock(m_mutex);
    if (m_stored.empty())
        return std::vector<ObjectInfo>();
    DS_TRY(SpoolPayload file, source());
    return committed(store.put(keyOfStep(m_options, "deltas"), file, PutMode::IfAbsent, task), m_options);
}

Result<SpoolPayload> TrlV2DeltaWriter::source() const
{
    struct Part {
        TensorInfo info;
        const Stored* stored = nullptr;
        bool values = false;
    };
    std::vector<Part> parts;
    PatchTotals totals;
    totals.sparse = true;
    totals.params = m_stored.size();
    parts.reserve(2 * m_stored.size());
    for (const auto& [name, stored] : m_stored) {
        Dtype index = Dtype::I32;
        if (m_options.encoding == TrlV2Encoding::GapDelta)
            index = stored.wide.empty() ? Dtype::U16 : Dtype::U32;
        parts.push_back({ TensorInfo { name + ".idx", index, { stored.count } }, &stored, false });
        parts.push_back({ TensorInfo { name + ".val", Dtype::BF16, { stored.count } }, &stored, true });
        totals.changed += stored.count;
        totals.elements += stored.elements;
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return canonicalBefore(a.info, b.info); });
    std::vector<TensorInfo> infos;
    infos.reserve(parts.size());
    for (Part& part : parts)
        infos.push_back(std::move(part.info));
    DS_TRY(std::string header, versionHeader(infos, patchMetadata(m_options, totals)));
    SpoolPayload out(*m_spool, std::move(header));
    for (const Part& part : parts) {
        if (part.values) {
            out.add(part.stored->values);
        } else if (part.stored->wide.empty()) {
            out.add(part.stored->narrow);
        } else {
            out.addWidened(part.stored->narrow);
            out.add(part.stored->wide);
        }
    }
    return out;
}

TrlV2AnchorWriter::TrlV2AnchorWriter(TrlV2WriterOptions options, std::vector<TensorInfo> tensors,
                                     std::unique_ptr<SpoolFile> spool)
    : m_options(std::move(options))
    , m_tensors(std::move(tensors))
    , m_places(m_tensors.size())
    , m_spool(std::move(spool))
{
    std::uint64_t bytes = 0;
    for (const TensorInfo& tensor : m_tensors)
        bytes += tensor.bytes();
    m_data = m_spool->reserve(bytes);
    std::uint64_t offset = m_data.offset;
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        m_places[i].offset = offset;
        offset += m_tensors[i].bytes();
    }
}

Result<std::unique_ptr<TensorWriter>> TrlV2AnchorWriter::begin(const TensorInfo& tensor)
{
    const auto found = std::lower_bound(m_tensors.begin(), m_tensors.end(), tensor, canonicalBefore);
    if (found == m_tensors.end() || *found != tensor)
        return fail(Code::Usage,
                    fmt::format("{} {} is not in the list of the anchor", quoteName(tensor.name), describe(tensor)));
    const std::lock_guard lock(m_mutex);
    const auto at = static_cast<std::size_t>(found - m_tensors.begin());
    Place& place = m_places[at];
    if (place.progress == Progress::Ended)
        return occursTwice(tensor.name);
    if (m_streamed && place.progress == Progress::Begun) // bytes that were sent already are written again
        m_streamed->giveUp();
    place.progress = Progress::Begun;
    return std::unique_ptr<TensorWriter>(std::make_unique<AnchorTensor>(*this, tensor, at, place.offset));
}

Result<void> TrlV2AnchorWriter::addFact(std::string_view key, std::string_view value)
{
    DS_CHECK(checkFact(key, value));
    const std::lock_guard lock(m_mutex);
    m_options.facts.insert_or_assign(std::string(key), std::string(value));
    return {};
}

bool TrlV2AnchorWriter::putWhileAdding(ObjectStore& store, const VersionFactMap& late)
{
    if (!store.traits().putsWhatComes)
        return false;
    TrlV2WriterOptions complete = m_options;
    complete.facts.insert(late.begin(), late.end());
    const Result<std::string> header = versionHeader(m_tensors, patchMetadata(complete, totals()));
    if (!header) // finish() tells it
        return false;
    m_streamed =
        std::make_unique<StreamedPut>(store, keyOfStep(m_options, "anchors"), *m_spool, m_data, header->size());
    return true;
}

Result<void> TrlV2AnchorWriter::write(std::uint64_t offset, ByteSpan bytes)
{
    DS_CHECK(m_spool->write(offset, bytes));
    return m_streamed ? m_streamed->added({ offset, bytes.size() }) : Result<void>();
}

PatchTotals TrlV2AnchorWriter::totals() const
{
    PatchTotals totals;
    totals.params = m_tensors.size();
    for (const TensorInfo& tensor : m_tensors)
        totals.elements += tensor.elements();
    totals.changed = totals.elements;
    return totals;
}

void TrlV2AnchorWriter::keep(std::size_t place)
{
    const std::lock_guard lock(m_mutex);
    m_places[place].progress = Progress::Ended;
}

Result<std::vector<ObjectInfo>> TrlV2AnchorWriter::finish(ObjectStore& store, TaskContext& task)
{
    const std::lock_guard lock(m_mutex);
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        if (m_places[i].progress != Progress::Ended) {
            return fail(atStep(Error { Code::Internal,
                                       fmt::format("{} of the anchor was never written", quoteName(m_tensors[i].name)),
                                       {},
                                       {},
                                       {} },
                               m_options.step));
        }
    }
    DS_TRY(std::string header, versionHeader(m_tensors, patchMetadata(m_options, totals())));
    if (const std::unique_ptr<StreamedPut> streamed = std::move(m_streamed); streamed && streamed->fits(header))
        return committed(streamed->finish(std::move(header), task), m_options);
    SpoolPayload source(*m_spool, std::move(header));
    source.add({ m_data });
    return committed(store.put(keyOfStep(m_options, "anchors"), source, PutMode::IfAbsent, task), m_options);
}

Result<std::unique_ptr<VersionWriter>> makeTrlV2DeltaWriter(TrlV2WriterOptions options)
{
    DS_CHECK(checkOptions(options));
    DS_TRY(std::unique_ptr<SpoolFile> spool, SpoolFile::create(options.spoolFolder));
    return std::unique_ptr<VersionWriter>(std::make_unique<TrlV2DeltaWriter>(std::move(options), std::move(spool)));
}

Result<std::unique_ptr<VersionWriter>> makeTrlV2AnchorWriter(TrlV2WriterOptions options,
                                                             std::vector<TensorInfo> tensors)
{
    DS_CHECK(checkOptions(options));
    std::uint64_t total = 0;
    for (const TensorInfo& tensor : tensors) {
        DS_CHECK(checkTensorName(tensor.name));
        DS_TRY(const std::uint64_t bytes, checkedSize(tensor));
        const std::optional<std::uint64_t> sum = checkedAdd(total, bytes);
        if (!sum)
            return fail(Code::Hostile, "the tensors of the anchor are larger than any file");
        total = *sum;
    }
    DS_CHECK(expectDifferentNames(tensors));
    std::sort(tensors.begin(), tensors.end(), canonicalBefore);
    DS_TRY(std::unique_ptr<SpoolFile> spool, SpoolFile::create(options.spoolFolder));
    return std::unique_ptr<VersionWriter>(
        std::make_unique<TrlV2AnchorWriter>(std::move(options), std::move(tensors), std::move(spool)));
}

} // namespace deltascope
