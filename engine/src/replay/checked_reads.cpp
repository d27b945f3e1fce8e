#include "replay/checked_reads.h"

#include "catalog/sights.h"
#include "deltascope/base/address.h"
#include "deltascope/base/hex.h"
#include "deltascope/engine/parallel.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

namespace deltascope {

namespace {

using Sight = Records::Sight;

/// What can be compared with a stretch of an object. A sight of version 0.1 has no leaves; but other sights of the same
/// bytes may, and an object of one leaf has the digest of the whole.
std::vector<Digest128> leavesOf(const Sight& sight, const std::vector<Sight>& sights)
{
    for (const Sight& other : sights) {
        if (!other.leaves.empty() && other.xxh3 == sight.xxh3 && other.sizeBytes == sight.sizeBytes)
            return other.leaves;
    }
    const std::optional<Digest128> only =
        sight.sizeBytes <= LeafBytes ? bytesFromHex<sizeof(Digest128)>(sight.xxh3) : std::nullopt;
    return only && sight.sizeBytes > 0 ? std::vector<Digest128> { *only } : std::vector<Digest128>();
}

/// Errors that say nothing about the bytes that were read.
bool concernsTheAct(Code code)
{
    switch (code) {
    case Code::Usage:
    case Code::Auth:
    case Code::NoSpace:
    case Code::Exists:
    case Code::Catalog:
    case Code::Transient:
    case Code::Canceled:
    case Code::Internal:
        return true;
    default:
        return false;
    }
}

/// Says what is read of a mirror, and what tells that it is what the source held: true also before the first read.
Error mirrorNotice(const std::string& address, std::size_t objects, std::size_t notCompared)
{
    const std::string what = fmt::format("{} object{} of this state {} read from the mirror; ", objects,
                                         objects == 1 ? "" : "s", objects == 1 ? "is" : "are");
    if (notCompared == 0)
        return Error { Code::Mirror,
                       what + "what is read of it is compared with the digests on record of the source's objects",
                       address,
                       std::nullopt,
                       {} };
    return Error { Code::Mirror,
                   fmt::format("{}of {} of them nothing is on record of the source's, so names, sizes and the digests "
                               "of the publisher, if there are any, are all that tells that they are the same",
                               what, notCompared),
                   address,
                   std::nullopt,
                   {} };
}

/// Whether bytes that were read are not those that they should be.
bool speaksOfBytes(const Result<void>& outcome)
{
    return !outcome && (outcome.error().code == Code::Digest || outcome.error().code == Code::Rewritten);
}

struct WholeDigest {
    std::string xxh3;
    std::vector<Digest128> leaves;
};

Result<WholeDigest> digestWhole(const ObjectStore& store, const ObjectInfo& object, TaskContext& task)
{
    const std::unique_ptr<StreamingDigest> whole = makeXxh3();
    LeafHasher leaves(LeafHasher::Strength::Fast);
    std::vector<std::byte> chunk(std::min<std::uint64_t>(LeafBytes, object.sizeBytes));
    for (std::uint64_t at = 0; at < object.sizeBytes; at += chunk.size()) {
        DS_CHECK(task.checkpoint());
        chunk.resize(std::min<std::uint64_t>(LeafBytes, object.sizeBytes - at));
        DS_CHECK(readAsListed(store, object, at, chunk, task));
        whole->update(chunk);
        leaves.update(chunk);
    }
    leaves.finish();
    return WholeDigest { whole->hex(), leaves.fast() };
}

}

void CheckedStore::add(std::unique_ptr<ObjectReads> reads)
{
    std::string key = reads->object().key;
    m_reads.try_emplace(std::move(key), std::move(reads));
}

Result<void> CheckedStore::read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                                TaskContext& task) const
{
    const auto reads = m_reads.find(object.key);
    if (reads == m_reads.end())
        return below().read(object, offset, out, task);
    Result<void> outcome = readAndNote(*reads->second, offset, out, task);
    if (speaksOfBytes(outcome) && forgets(*reads->second))
        outcome = readAndNote(*reads->second, offset, out, task);
    return blame(std::move(outcome), *reads->second, task);
}

Result<void> CheckedStore::readAndNote(ObjectReads& reads, std::uint64_t offset, MutableByteSpan out,
                                       TaskContext& task) const
{
    const ObjectInfo& listed = reads.object();
    DS_CHECK(m_replaced == Replaced::Followed ? readAsListed(below(), listed, offset, out, task)
                                              : below().read(listed, offset, out, task));
    return reads.note(offset, out);
}

/// Whether the store may give other bytes now than before: one wrong answer of a network is not kept as damage.
bool CheckedStore::forgets(const ObjectReads& reads) const
{
    if (!below().traits().keepsReads)
        return false;
    below().forget(reads.object());
    return true;
}

Result<void> CheckedStore::compareLeaf(ObjectReads& reads, std::size_t leaf, bool fromStore, MutableByteSpan buffer,
                                       TaskContext& task) const
{
    Result<void> outcome = reads.compareLeaf(leaf, below(), fromStore, buffer, task);
    if (speaksOfBytes(outcome) && forgets(reads) && !fromStore)
        outcome = reads.compareLeaf(leaf, below(), fromStore, buffer, task);
    return blame(std::move(outcome), reads, task);
}

/// Other bytes under the identity of the listing speak against the storage only if the identity is still that one.
Result<void> CheckedStore::blame(Result<void> outcome, const ObjectReads& reads, TaskContext& task) const
{
    if (outcome && reads.rewritten()) // and accepted
        recordDifference(reads, task);
    if (!speaksOfBytes(outcome))
        return outcome;
    Error error = outcome.error();
    if (error.code == Code::Rewritten)
        recordDifference(reads, task);
    else if (!isAsListed(reads, task))
        error = reads.changed().value();
    const std::lock_guard lock(m_mutex);
    if (!m_failure)
        m_failure = error;
    return fail(std::move(error));
}

bool CheckedStore::isAsListed(const ObjectReads& reads, TaskContext& task) const
{
    const Result<ObjectInfo> now = below().stat(reads.object().key, task);
    return now && now->identity == reads.object().identity;
}

/// So that everybody knows it who does not read the object. Without the record, the next read finds the difference
/// again.
void CheckedStore::recordDifference(const ObjectReads& reads, TaskContext& task) const
{
    if (!m_records || reads.expected().ofMirror)
        return;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_recorded.insert(reads.object().key).second)
            return;
    }
    if (!isAsListed(reads, task))
        return;
    const ObjectInfo& object = reads.object();
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::int64_t nowUs = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
    static_cast<void>(
        m_records->add(uri(), { { object.key, { object.identity, object.sizeBytes, {}, nowUs, false, {} } } }));
}

Result<void> CheckedStore::expectNoFailure() const
{
    const std::lock_guard lock(m_mutex);
    return m_failure ? Result<void>(fail(*m_failure)) : Result<void>();
}

Result<std::shared_ptr<CheckedReads>> CheckedReads::of(const Run& run, const Plan& plan, const ReadRules& rules,
                                                       TaskContext& task)
{
    std::shared_ptr<CheckedReads> reads(new CheckedReads(rules));
    reads->m_source = std::make_shared<CheckedStore>(run.store, rules);
    if (plan.fromExternalBase) {
        reads->m_base = std::make_shared<CheckedStore>(run.base->store, rules);
        DS_CHECK(reads->addAll(*reads->m_base, run.base->objects, true, task));
    }
    for (const PlanLink& link : plan.links) {
        const Version& version = run.versions[link.version];
        const bool byAddress = rules.replaced == Replaced::Followed && run.isNamedByAddress(version); // facts need keys
        DS_CHECK(reads->addAll(*reads->m_source, version.objectsOf(link.form), byAddress, task));
    }
    return reads;
}

Result<std::shared_ptr<CheckedReads>> CheckedReads::ofFile(const std::shared_ptr<const ObjectStore>& store,
                                                           const ObjectInfo& object, const ReadRules& rules,
                                                           TaskContext& task)
{
    std::shared_ptr<CheckedReads> reads(new CheckedReads(rules));
    reads->m_source = std::make_shared<CheckedStore>(store, rules);
    const std::string where = Address(store->uri()).below(object.key).text();
    ExpectedLeaves expected;
    if (rules.records) {
        DS_TRY(expected,
               reads->expectedOf(*store, object, rules.records->sights(store->uri(), object.key), false, where,
                                 std::nullopt, task));
    }
    reads->m_source->add(std::make_unique<ObjectReads>(object, where, std::nullopt, std::move(expected)));
    return reads;
}

Result<std::shared_ptr<CheckedReads>> CheckedReads::ofObjects(std::shared_ptr<const ObjectStore> store,
                                                              const VersionObjects& objects, bool isOutside,
                                                              const ReadRules& rules, TaskContext& task)
{
    std::shared_ptr<CheckedReads> reads(new CheckedReads(rules));
    reads->m_source = std::make_shared<CheckedStore>(std::move(store), rules);
    DS_CHECK(reads->addAll(*reads->m_source, objects, isOutside, task));
    return reads;
}

Result<void> CheckedReads::addAll(CheckedStore& store, const VersionObjects& version, bool isOutside, TaskContext& task)
{
    for (const ObjectInfo& object : version.objects) {
        if (store.has(object.key))
            continue;
        if (!version.mirror.empty())
            ++m_mirrored[version.mirror].objects;
        const std::string where = isOutside ? Address(store.uri()).below(object.key).text() : object.key;
        const std::optional<std::int64_t> step = isOutside ? std::nullopt : std::optional(version.step);
        ExpectedLeaves expected;
        if (m_rules.records) {
            DS_TRY(expected,
                   expectedOf(store.inner(), object,
                              m_rules.records->sights(store.uri(), std::string(version.inSource(object.key))),
                              !version.mirror.empty(), where, step, task));
        }
        if (!version.mirror.empty() && expected.trusted.empty() && object.sizeBytes > 0)
            ++m_mirrored[version.mirror].notCompared;
        store.add(std::make_unique<ObjectReads>(object, where, step, std::move(expected)));
    }
    return {};
}

Result<ExpectedLeaves> CheckedReads::expectedOf(const ObjectStore& store, const ObjectInfo& object,
                                                Result<std::vector<Sight>> found, bool ofMirror,
                                                const std::string& where, std::optional<std::int64_t> step,
                                                TaskContext& task)
{
    ExpectedLeaves expected;
    expected.acceptRewritten = m_rules.acceptRewritten && !ofMirror;
    expected.ofMirror = ofMirror;
    if (!found) {
        if (found.error().code != Code::Catalog)
            return fail(std::move(found.error()));
        std::string text = found.error().text; // the same for every object where the file as a whole is damaged
        m_notices.emplace(std::move(text), std::move(found.error()));
        return expected;
    }
    const std::vector<Sight>& sights = *found;
    const Sight* const same = sightUnder(sights, object.identity);
    if (same)
        expected.sameIdentity = leavesOf(*same, sights);
    const Sight* const trusted = trustedSight(sights);
    if (!trusted)
        return expected;
    expected.trustedIdentity = trusted->identity;

    bool rewritten = trusted->sizeBytes != object.sizeBytes || (same && same->xxh3 != trusted->xxh3);
    if (!rewritten)
        expected.trusted = leavesOf(*trusted, sights);
    const bool asWholeOnly = !rewritten && expected.trusted.empty() && object.sizeBytes > 0;
    const bool isRefused = !m_rules.acceptRewritten || ofMirror;
    if (asWholeOnly && !same && !isRefused && m_rules.replaced == Replaced::Fails)
        return expected; // facts are learned of what is there now
    if (asWholeOnly && !same) { // only its bytes tell a rewrite from a copy
        DS_TRY(WholeDigest now, digestWhole(store, object, task));
        rewritten = now.xxh3 != trusted->xxh3;
        expected.trusted = rewritten ? std::vector<Digest128>() : std::move(now.leaves);
    } else if (asWholeOnly) {
        m_notices.emplace(
            where,
            Error { Code::Unproven,
                    "an earlier version of this program put it on record only as a whole, so the parts that were read "
                    "of it could not be compared with their first sight",
                    where, step, "verify reads it whole, and compares the parts from then on" });
    }
    if (!rewritten)
        return expected;
    if (ofMirror)
        return fail(Error { Code::Rewritten, std::string(UnlikeRecord), where, step,
                            "fetch the object again from where it was published" });
    if (!m_rules.acceptRewritten)
        return fail(Error { Code::Rewritten,
                            fmt::format("the object was rewritten since it was first seen (identity {} was {})",
                                        object.identity, trusted->identity),
                            where, step, std::string(AcceptRewrittenAction) });
    m_knownRewritten.push_back(where);
    return expected;
}

Result<void> CheckedReads::compare(const std::vector<std::pair<CheckedStore*, ObjectReads*>>& objects,
                                   ObjectReads::Which which, TaskContext& task)
{
    struct Item {
        CheckedStore* store;
        ObjectReads* reads;
        std::vector<std::size_t> leaves; ///< few, so that threads share a large object
    };
    constexpr std::size_t LeavesAtOnce = 16;
    // What was read may have been kept, and is the same bytes as long as the identity is. What nobody has read, and
    // what has taken the place of an identity, only the store knows.
    const bool fromStore = which != ObjectReads::Which::ReadInPieces;
    std::vector<Item> items;
    for (const auto& [store, reads] : objects) {
        const std::vector<std::size_t> leaves = reads->leaves(which);
        for (auto at = leaves.begin(); at != leaves.end();) {
            const auto end = at + std::min<std::ptrdiff_t>(LeavesAtOnce, leaves.end() - at);
            items.push_back(Item { store, reads, { at, end } });
            at = end;
        }
    }
    return forEachParallel(m_rules.threads, items.size(), task, [&](std::size_t n) -> Result<void> {
        const Item& item = items[n];
        std::vector<std::byte> buffer(std::min<std::uint64_t>(LeafBytes, item.reads->object().sizeBytes));
        for (const std::size_t leaf : item.leaves) {
            DS_CHECK(task.checkpoint());
            Result<void> outcome = item.store->compareLeaf(*item.reads, leaf, fromStore, buffer, task);
            if (!outcome && outcome.error().code == Code::NotFound) {
                noteGone(*item.reads);
                return {};
            }
            DS_CHECK(outcome);
        }
        return {};
    });
}

Result<bool> CheckedReads::looksTheSame(CheckedStore& store, const ObjectReads& reads, TaskContext& task) const
{
    const Result<ObjectInfo> now = store.inner().stat(reads.object().key, task);
    if (!now && now.error().code == Code::NotFound) // everything that was wanted of it was read
        return true;
    if (!now)
        return fail(now.error());
    return now->identity == reads.object().identity;
}

Result<void> CheckedReads::expectSound(bool whole, TaskContext& task)
{
    std::vector<std::pair<CheckedStore*, ObjectReads*>> read;
    std::vector<std::pair<CheckedStore*, ObjectReads*>> onRecord;
    for (CheckedStore* store : { m_source.get(), m_base.get() }) {
        if (!store)
            continue;
        DS_CHECK(store->expectNoFailure());
        for (const auto& [key, reads] : store->reads()) {
            if (reads->anyRead())
                read.emplace_back(store, reads.get());
            if (reads->expected().any() && (whole || reads->anyRead()))
                onRecord.emplace_back(store, reads.get());
        }
    }
    DS_CHECK(compare(onRecord, whole ? ObjectReads::Which::NotCompared : ObjectReads::Which::ReadInPieces, task));
    if (m_rules.replaced == Replaced::Fails) // what was read is of the objects that were listed
        return {};
    constexpr unsigned AnswersAtOnce = 8; // of a store that is far away, whatever there is of processors
    const bool isFar = m_source->traits().keepsReads || (m_base && m_base->traits().keepsReads);
    std::vector<char> isChanged(read.size(), 0); // one byte for each thread to write
    DS_CHECK(forEachParallel(isFar ? std::max(m_rules.threads, AnswersAtOnce) : m_rules.threads, read.size(), task,
                             [&](std::size_t at) -> Result<void> {
                                 DS_TRY(const bool same, looksTheSame(*read[at].first, *read[at].second, task));
                                 isChanged[at] = same ? 0 : 1;
                                 return {};
                             }));
    std::vector<std::pair<CheckedStore*, ObjectReads*>> changed;
    for (std::size_t at = 0; at < read.size(); ++at) {
        if (isChanged[at] != 0)
            changed.push_back(read[at]);
    }
    return compare(changed, ObjectReads::Which::Read, task);
}

Result<void> CheckedReads::expectKnown(TaskContext& task)
{
    std::vector<std::pair<CheckedStore*, ObjectReads*>> unknown;
    for (CheckedStore* store : { m_source.get(), m_base.get() }) {
        if (!store)
            continue;
        for (const auto& [key, reads] : store->reads()) {
            const ExpectedLeaves& expected = reads->expected();
            if (!expected.trusted.empty() && expected.sameIdentity.empty())
                unknown.emplace_back(store, reads.get());
        }
    }
    return compare(unknown, ObjectReads::Which::NotCompared, task);
}

Error CheckedReads::reasonOf(Error error, TaskContext& task)
{
    if (concernsTheAct(error.code))
        return error;
    const Result<void> sound = expectSound(false, task);
    if (speaksOfBytes(sound))
        return sound.error();
    const Result<void> again = compareWithStores(task);
    return speaksOfBytes(again) ? again.error() : error;
}

/// Reads again what a store that keeps its reads gave: a network, or the disk of the cache, may have given other bytes
/// than are stored.
Result<void> CheckedReads::compareWithStores(TaskContext& task)
{
    std::vector<std::pair<CheckedStore*, ObjectReads*>> read;
    for (CheckedStore* store : { m_source.get(), m_base.get() }) {
        if (!store || !store->traits().keepsReads)
            continue;
        for (const auto& [key, reads] : store->reads()) {
            if (reads->anyRead())
                read.emplace_back(store, reads.get());
        }
    }
    return compare(read, ObjectReads::Which::Read, task);
}

void CheckedReads::noteGone(const ObjectReads& reads)
{
    if (!reads.expected().any())
        return;
    const std::lock_guard lock(m_mutex);
    m_notices.emplace(reads.where(),
                      Error { Code::Unproven,
                              "it was deleted before all that was read of it could be compared with its first sight",
                              reads.where(), reads.step(), "rebuild the step from a copy that holds it" });
}

std::vector<std::string> CheckedReads::rewritten() const
{
    std::vector<std::string> names = m_knownRewritten;
    for (const CheckedStore* store : { m_source.get(), m_base.get() }) {
        if (!store)
            continue;
        for (const auto& [key, reads] : store->reads()) {
            if (reads->rewritten())
                names.push_back(reads->where());
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<Error> CheckedReads::notices() const
{
    const std::lock_guard lock(m_mutex);
    std::vector<Error> notices;
    for (const auto& [name, notice] : m_notices)
        notices.push_back(notice);
    for (const auto& [address, read] : m_mirrored)
        notices.push_back(mirrorNotice(address, read.objects, read.notCompared));
    return notices;
}

} // namespace deltascope
