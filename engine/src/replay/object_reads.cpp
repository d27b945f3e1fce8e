#include "replay/object_reads.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

bool isExpected(const std::vector<Digest128>& expected, std::size_t leaf, const Digest128& actual)
{
    return expected.empty() || (leaf < expected.size() && expected[leaf] == actual);
}

}

Result<void> readAsListed(const ObjectStore& store, const ObjectInfo& object, std::uint64_t offset, MutableByteSpan out,
                          TaskContext& task)
{
    Result<void> outcome = store.read(object, offset, out, task);
    if (!outcome && outcome.error().code == Code::Rewritten)
        outcome = store.read(object.key, offset, out, task);
    return outcome;
}

void ObjectReads::Leaf::closeFront()
{
    if (!front)
        return;
    stretches.push_back(Stretch { 0, frontEnd, front->digest() });
    front.reset();
    frontEnd = 0;
}

ObjectReads::ObjectReads(ObjectInfo object, std::string where, std::optional<std::int64_t> step,
                         ExpectedLeaves expected)
    : m_object(std::move(object))
    , m_where(std::move(where))
    , m_step(step)
    , m_expected(std::move(expected))
    , m_leaves((m_object.sizeBytes + LeafBytes - 1) / LeafBytes)
{
}

std::uint64_t ObjectReads::bytesOf(std::size_t leaf) const noexcept
{
    return std::min<std::uint64_t>(LeafBytes, m_object.sizeBytes - leaf * LeafBytes);
}

Result<void> ObjectReads::note(std::uint64_t offset, ByteSpan bytes)
{
    m_anyRead = true;
    while (!bytes.empty()) {
        const std::size_t leaf = offset / LeafBytes;
        if (leaf >= m_leaves.size() || offset >= m_object.sizeBytes)
            return changed(); // it was longer than it was listed
        const std::uint64_t begin = offset % LeafBytes;
        const ByteSpan part = bytes.first(std::min<std::uint64_t>(bytes.size(), bytesOf(leaf) - begin));
        DS_CHECK(noteInLeaf(leaf, static_cast<std::uint32_t>(begin), part));
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
    return {};
}

Result<void> ObjectReads::noteInLeaf(std::size_t leaf, std::uint32_t begin, ByteSpan bytes)
{
    const auto end = static_cast<std::uint32_t>(begin + bytes.size());
    if (bytes.size() == bytesOf(leaf)) {
        const Digest128 whole = xxh3(bytes);
        const std::lock_guard lock(mutexOf(leaf));
        return take(m_leaves[leaf], leaf, whole);
    }
    const std::lock_guard lock(mutexOf(leaf));
    Leaf& state = m_leaves[leaf];
    if (begin == 0) {
        state.closeFront();
        state.front.emplace();
    } else if (!state.front || state.frontEnd != begin) {
        state.stretches.push_back(Stretch { begin, end, xxh3(bytes) });
        return {};
    }
    state.front->update(bytes);
    state.frontEnd = end;
    if (end != bytesOf(leaf))
        return {};
    const Digest128 whole = state.front->digest();
    state.front.reset();
    state.frontEnd = 0;
    return take(state, leaf, whole);
}

Result<void> ObjectReads::take(Leaf& leaf, std::size_t number, const Digest128& whole)
{
    if (leaf.whole && *leaf.whole != whole)
        return changed();
    const std::uint64_t first = number * LeafBytes;
    const std::uint64_t last = first + bytesOf(number) - 1;
    if (!isExpected(m_expected.sameIdentity, number, whole))
        return fail(Error { Code::Digest,
                            fmt::format("something in its bytes {} to {} is not what it was when they were first seen, "
                                        "and neither size nor times of the object changed: the storage is damaged",
                                        first, last),
                            m_where, m_step,
                            "fetch the object again from where it was published; verify names every object that is "
                            "damaged" });
    const bool isTrusted = isExpected(m_expected.trusted, number, whole);
    m_rewritten = m_rewritten || !isTrusted;
    if (isTrusted || m_expected.acceptRewritten) {
        leaf.whole = whole;
        return {};
    }
    if (m_expected.ofMirror)
        return fail(Error { Code::Rewritten, std::string(UnlikeRecord), m_where, m_step,
                            "fetch the object again from where it was published" });
    return fail(Error { Code::Rewritten,
                        fmt::format("the object was rewritten since it was first seen: its bytes {} to {} are others "
                                    "(identity {} was {})",
                                    first, last, m_object.identity, m_expected.trustedIdentity),
                        m_where, m_step, std::string(AcceptRewrittenAction) });
}

std::vector<std::size_t> ObjectReads::leaves(Which which) const
{
    std::vector<std::size_t> wanted;
    for (std::size_t leaf = 0; leaf < m_leaves.size(); ++leaf) {
        const std::lock_guard lock(mutexOf(leaf));
        const Leaf& state = m_leaves[leaf];
        const bool inPieces = state.inPieces();
        if (inPieces || (which == Which::Read && state.whole) || (which == Which::NotCompared && !state.whole))
            wanted.push_back(leaf);
    }
    return wanted;
}

Result<void> ObjectReads::compareLeaf(std::size_t leaf, const ObjectStore& store, bool fromStore,
                                      MutableByteSpan buffer, TaskContext& task)
{
    const MutableByteSpan bytes = buffer.first(bytesOf(leaf));
    const Result<void> read = fromStore ? store.read(m_object.key, leaf * LeafBytes, bytes, task)
                                        : readAsListed(store, m_object, leaf * LeafBytes, bytes, task);
    if (!read && read.error().code == Code::Truncated)
        return changed();
    DS_CHECK(read);
    const Digest128 whole = xxh3(bytes);
    const std::lock_guard lock(mutexOf(leaf));
    Leaf& state = m_leaves[leaf];
    state.closeFront();
    for (const Stretch& stretch : state.stretches) {
        if (xxh3(ByteSpan(bytes).subspan(stretch.begin, stretch.end - stretch.begin)) != stretch.digest) {
            DS_CHECK(take(state, leaf, whole)); // damage that is on record says more
            return changed();
        }
    }
    state.stretches.clear();
    return take(state, leaf, whole);
}

tl::unexpected<Error> ObjectReads::changed() const
{
    return fail(Error { Code::Rewritten,
                        "the object changed while it was being read: not all bytes that were used are those that stand "
                        "there now or are on record",
                        m_where, m_step, "run the command again when nothing writes to the object any more" });
}

} // namespace deltascope
