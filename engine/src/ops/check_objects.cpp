#include "check_objects.h"

#include "catalog/sights.h"
#include "deltascope/base/address.h"
#include "deltascope/engine/parallel.h"
#include "format/common/read_chunks.h"
#include "replay/object_reads.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope {

namespace {

using KeyedSight = std::pair<std::string, Records::Sight>;

/// Digests of a whole object.
struct ObjectDigest {
    std::string xxh3;
    std::vector<Digest128> leaves;
};

/// An object of a version, or of another form of it.
struct OwnedObject {
    const VersionObjects* version;
    const VersionObjects* form;
    const ObjectInfo* object;
    ObjectCheckup checkup;
};

/// Hashes objects and compares them with what was seen first. Any thread.
class ObjectCheck {
public:
    /// `here`: the last sights of objects of this very source, which keep what was there known if it goes away.
    ObjectCheck(Workbench& bench, const ObjectStore& store, std::map<std::string, Records::KnownObject> here,
                bool acceptRewritten)
        : m_bench(bench)
        , m_store(store)
        , m_source(store.uri())
        , m_here(std::move(here))
        , m_acceptRewritten(acceptRewritten)
    {
    }

    Result<ObjectFindings> check(const OwnedObject& owned, TaskContext& task) const
    {
        const VersionObjects& version = *owned.version;
        const ObjectInfo& object = *owned.object;
        ObjectFindings findings;
        if (owned.checkup == ObjectCheckup::Known) {
            DS_TRY(const bool isKnown, compareByRecord(version, *owned.form, object, findings));
            if (isKnown) {
                task.addDone(object.sizeBytes);
                return findings;
            }
        }
        Result<ObjectDigest> hashed = hashMended(object, task);
        if (!hashed && (hashed.error().code == Code::Truncated || hashed.error().code == Code::NotFound)) {
            findings.problems.push_back(atStep(std::move(hashed.error()), version.step));
            return findings;
        }
        DS_TRY(const ObjectDigest digest, std::move(hashed));
        if (object.sizeBytes > 0)
            count(m_store.proofOf(object), findings.storeDigests);
        DS_TRY(const ObjectInfo after, m_store.stat(object.key, task));
        if (after.identity != object.identity) {
            findings.isChanging = true;
            findings.problems.push_back(Error { Code::Rewritten, "the object changed while it was being read",
                                                object.key, version.step, "verify again when the trainer is quiet" });
        } else if (m_bench.records)
            DS_CHECK(owned.form->mirror.empty() ? compareWithSights(version, object, digest, findings)
                                                : compareWithSource(version, *owned.form, object, digest, findings));
        return findings;
    }

private:
    static void count(ReadProof proof, StoreDigests& digests)
    {
        switch (proof) {
        case ReadProof::Proven:
            ++digests.equal;
            return;
        case ReadProof::Partial:
            ++digests.uncompared;
            return;
        case ReadProof::None:
            ++digests.none;
            return;
        }
    }

    /// Returns whether the record tells what the object is: it was read before under its identity.
    Result<bool> compareByRecord(const VersionObjects& version, const VersionObjects& form, const ObjectInfo& object,
                                 ObjectFindings& findings) const
    {
        if (!m_bench.records || m_acceptRewritten || !form.mirror.empty())
            return false;
        const Result<std::vector<Records::Sight>> sights = m_bench.records->sights(m_source, object.key);
        if (!sights && sights.error().code == Code::Catalog)
            return false;
        DS_CHECK(sights);
        const Records::Sight* const known = sightUnder(*sights, object.identity);
        const Records::Sight* const trusted = trustedSight(*sights);
        if (!known || !known->hasDigest() || !trusted)
            return false;
        if (known->xxh3 != trusted->xxh3)
            findings.problems.push_back(rewritten(version, object, *trusted, known->xxh3));
        return true;
    }

    static Error rewritten(const VersionObjects& version, const ObjectInfo& object, const Records::Sight& trusted,
                           const std::string& xxh3)
    {
        return { Code::Rewritten,
                 fmt::format("the object was rewritten: identity {} had digest {}, identity {} has {}",
                             trusted.identity, trusted.xxh3, object.identity, xxh3),
                 object.key,
                 version.step,
                 {} };
    }

    /// Again where what came wrong from the store comes right by now.
    Result<ObjectDigest> hashMended(const ObjectInfo& object, TaskContext& task) const
    {
        constexpr int MostReads = 3;
        for (int reads = 1;; ++reads) {
            const std::size_t mended = task.noticeCount();
            Result<ObjectDigest> digest = hash(object, task);
            const bool cameWrong = !digest && digest.error().code == Code::Digest && task.noticeCount() > mended;
            if (!cameWrong || reads == MostReads)
                return digest;
        }
    }

    Result<ObjectDigest> hash(const ObjectInfo& object, TaskContext& task) const
    {
        const std::unique_ptr<StreamingDigest> digest = makeXxh3();
        LeafHasher leaves(LeafHasher::Strength::Fast);
        DS_CHECK(readChunks(m_store, object.key, 0, object.sizeBytes, task, m_spare, [&](ByteSpan chunk) {
            digest->update(chunk);
            leaves.update(chunk);
            task.addDone(chunk.size());
        }));
        leaves.finish();
        return ObjectDigest { digest->hex(), leaves.fast() };
    }

    /// Reports a rewritten object every time until a user accepts it: looking at an object must not change its record.
    Result<void> compareWithSights(const VersionObjects& version, const ObjectInfo& object, const ObjectDigest& digest,
                                   ObjectFindings& findings) const
    {
        Result<std::vector<Records::Sight>> found = m_bench.records->sights(m_source, object.key);
        if (!found && found.error().code == Code::Catalog) {
            if (m_acceptRewritten)
                findings.sights.emplace_back(object.key, sightOf(object, digest, true));
            else
                findings.problems.push_back(atStep(std::move(found.error()), version.step));
            return {};
        }
        DS_TRY(const std::vector<Records::Sight> sights, std::move(found));
        const Records::Sight* const known = sightUnder(sights, object.identity);
        const bool isKnown = known && known->hasDigest();
        if (isKnown && known->xxh3 != digest.xxh3) {
            findings.problems.push_back(
                Error { Code::Digest,
                        fmt::format("its bytes have digest {}, at first sight they had {}, and neither size nor "
                                    "times of the object changed: the storage is damaged",
                                    digest.xxh3, known->xxh3),
                        object.key,
                        version.step,
                        {} });
            return {};
        }
        const Records::Sight* const trusted = trustedSight(sights);
        const bool asTrusted = !trusted || trusted->xxh3 == digest.xxh3;
        if (!asTrusted && !m_acceptRewritten)
            findings.problems.push_back(rewritten(version, object, *trusted, digest.xxh3));
        if (!asTrusted && m_acceptRewritten)
            findings.accepted.push_back(object.key);
        const bool trust = asTrusted || m_acceptRewritten;
        const bool lacksLeaves = isKnown && known->leaves.empty() && !digest.leaves.empty();
        const auto here = m_here.find(object.key);
        const bool isSeenHere = here != m_here.end() && here->second.identity == object.identity;
        if (!isSeenHere || !isKnown || lacksLeaves || (trust && !known->trusted))
            findings.sights.emplace_back(object.key, sightOf(object, digest, trust));
        return {};
    }

    /// An object of a mirror is held against what is on record of the source's, and is no sight of its own. Where the
    /// source has the object, one that is unlike it is only worth knowing: it is never read.
    Result<void> compareWithSource(const VersionObjects& version, const VersionObjects& form, const ObjectInfo& object,
                                   const ObjectDigest& digest, ObjectFindings& findings) const
    {
        Result<std::vector<Records::Sight>> sights =
            m_bench.records->sights(m_source, std::string(form.inSource(object.key)));
        if (!sights && sights.error().code == Code::Catalog)
            return {}; // told of the source's own object, or where the mirror is read in its place
        DS_CHECK(sights);
        const Records::Sight* const trusted = trustedSight(*sights);
        if (trusted && trusted->xxh3 != digest.xxh3)
            findings.problems.push_back(Error { &form == &version ? Code::Rewritten : Code::Mirror,
                                                std::string(UnlikeRecord), object.key, version.step,
                                                "fetch the object again from where it was published" });
        return {};
    }

    Records::Sight sightOf(const ObjectInfo& object, const ObjectDigest& digest, bool trusted) const
    {
        return { object.identity, object.sizeBytes, digest.xxh3, m_bench.nowUs(), trusted, digest.leaves };
    }

    Workbench& m_bench;
    const ObjectStore& m_store;
    std::string m_source;
    const std::map<std::string, Records::KnownObject> m_here;
    bool m_acceptRewritten;
    mutable SpareRequests m_spare { 16 };
};

std::vector<OwnedObject> objectsOf(const VersionObjects& version, ObjectCheckup checkup)
{
    std::vector<OwnedObject> objects;
    const auto add = [&](const VersionObjects& form) {
        for (const ObjectInfo& object : form.objects) {
            if (object.oddity.empty()) // what the version needs is a file here, or its failure
                objects.push_back({ &version, &form, &object, checkup });
        }
    };
    add(version);
    std::for_each(version.otherForms.begin(), version.otherForms.end(), add);
    return objects;
}

/// Checks the objects of the versions; those of one version are findings of their own. What was read before an
/// interruption is on record all the same. `checkups`: by version.
Result<std::vector<ObjectFindings>> checkObjects(Workbench& bench, const ObjectStore& store,
                                                 const std::vector<const VersionObjects*>& versions,
                                                 const std::vector<ObjectCheckup>& checkups, bool acceptRewritten,
                                                 TaskContext& task)
{
    constexpr unsigned LeastAtOnce = 4; // where most of them wait for the store
    std::vector<OwnedObject> objects;
    std::vector<std::size_t> ofVersion; ///< index of each object's version
    for (std::size_t i = 0; i < versions.size(); ++i) {
        if (checkups[i] == ObjectCheckup::None)
            continue;
        const std::vector<OwnedObject> own = objectsOf(*versions[i], checkups[i]);
        objects.insert(objects.end(), own.begin(), own.end());
        ofVersion.resize(objects.size(), i);
    }
    std::vector<ObjectFindings> ofObjects(objects.size());
    std::map<std::string, Records::KnownObject> here;
    if (bench.records) {
        DS_TRY(here, bench.records->objects(store.uri()));
    }
    const ObjectCheck check(bench, store, std::move(here), acceptRewritten);
    const unsigned atOnce = store.traits().keepsReads ? std::max(LeastAtOnce, bench.threads) : bench.threads;
    const Result<void> outcome = forEachParallel(atOnce, objects.size(), task, [&](std::size_t i) -> Result<void> {
        DS_TRY(ofObjects[i], check.check(objects[i], task));
        return {};
    });
    std::vector<ObjectFindings> findings(versions.size());
    std::vector<KeyedSight> fresh;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        std::move(ofObjects[i].sights.begin(), ofObjects[i].sights.end(), std::back_inserter(fresh));
        findings[ofVersion[i]].add(std::move(ofObjects[i]));
    }
    if (!fresh.empty())
        DS_CHECK(bench.records->add(store.uri(), fresh));
    DS_CHECK(outcome);
    return findings;
}

} // namespace

void addTo(StoreDigests& sum, const StoreDigests& more)
{
    sum.equal += more.equal;
    sum.uncompared += more.uncompared;
    sum.none += more.none;
}

Result<std::vector<ObjectFindings>> checkRun(Workbench& bench, const Run& run,
                                             const std::vector<ObjectCheckup>& checkups, bool acceptRewritten,
                                             TaskContext& task)
{
    std::uint64_t bytes = 0;
    std::vector<const VersionObjects*> versions;
    std::vector<ObjectCheckup> meant = checkups;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        versions.push_back(&version.objects);
        if (version.beingWritten || version.failure) // what is not whole yet has no first sight: it will change
            meant[i] = ObjectCheckup::None;
        bytes += meant[i] == ObjectCheckup::None ? 0 : version.objects.wireBytes();
    }
    task.beginPhase("objects", bytes);
    return checkObjects(bench, *run.store, versions, meant, acceptRewritten, task);
}

Result<ObjectFindings> checkBase(Workbench& bench, const ExternalBase& base, bool acceptRewritten, TaskContext& task)
{
    task.beginPhase("base", base.objects.wireBytes());
    DS_TRY(std::vector<ObjectFindings> findings,
           checkObjects(bench, *base.store, { &base.objects }, { ObjectCheckup::Read }, acceptRewritten, task));
    const std::vector<ObjectInfo>& objects = base.objects.objects;
    for (Error& problem : findings.front().problems) {
        problem.text = "in the base checkpoint: " + problem.text;
        problem.step.reset();
        if (std::any_of(objects.begin(), objects.end(),
                        [&](const auto& object) { return object.key == problem.where; }))
            problem.where = Address(base.store->uri()).below(problem.where).text();
    }
    return std::move(findings.front());
}

} // namespace deltascope
