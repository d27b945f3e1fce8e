#pragma once

#include "deltascope/engine/layout.h"
#include "deltascope/engine/object_store.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace deltascope {

/// Where new keys of a run can appear: below a prefix, behind a key.
struct GrowthPlace {
    std::string prefix;
    std::string startAfter; ///< empty: anywhere below the prefix

    bool operator==(const GrowthPlace&) const = default;
};

/// Where the next versions of a run and what is written beside it will be listed, as the names that are there tell:
/// behind the newest name of a folder whose names grow with their steps, else anywhere in the folder. `beside`: what is
/// there of ".deltascope/", in byte order of keys (Run::beside).
std::vector<GrowthPlace> growthPlaces(const std::vector<VersionObjects>& versions,
                                      const std::vector<ObjectInfo>& beside);

/// The listing of a remote run that is looked at again and again. A look asks where new keys can appear. What was
/// overwritten or deleted shows in a whole listing alone, which is made now and then; and a key counts as deleted once
/// two whole listings at least a minute apart lack it and the store says of the key itself that it is not there. One
/// thread at a time.
class KeptListing {
public:
    struct Periods {
        std::chrono::microseconds whole = std::chrono::minutes(10); ///< between two whole listings
        std::chrono::microseconds gone = std::chrono::minutes(1); ///< between two that both lack a key
    };
    /// `nowUs`: microseconds since 1970, or of any clock that does not go back.
    explicit KeptListing(std::function<std::int64_t()> nowUs)
        : KeptListing(std::move(nowUs), Periods())
    {
    }
    KeptListing(std::function<std::int64_t()> nowUs, Periods periods);

    /// Everything that is there, in byte order of keys, as far as this look can tell. `changed`: something may have
    /// changed since the last look; else only what is due is asked. Errors: those of listAll and stat; what was known
    /// before stays known. `seen`: of a whole listing.
    Result<std::vector<ObjectInfo>> look(const ObjectStore& store, bool changed, TaskContext& task,
                                         const ListingSeen& seen = {});
    /// Where the next looks ask. Small sources are listed whole at every look.
    void growsAt(std::vector<GrowthPlace> places) { m_places = std::move(places); }
    /// Something is strange: the next look lists everything.
    void suspect() noexcept { m_suspicious = true; }
    /// When the last whole listing ended, by `nowUs`; 0: there was none.
    std::int64_t wholeAtUs() const noexcept { return m_wholeUs; }

private:
    bool wantsWhole(const ObjectStore& store, std::int64_t now) const;
    Result<void> listWhole(const ObjectStore& store, TaskContext& task, const ListingSeen& seen);
    Result<void> listPlaces(const ObjectStore& store, TaskContext& task);

    std::function<std::int64_t()> m_nowUs;
    Periods m_periods;
    std::map<std::string, ObjectInfo, std::less<>> m_objects; ///< by key
    std::map<std::string, std::int64_t, std::less<>> m_missing; ///< keys, and when a whole listing first lacked them
    std::vector<GrowthPlace> m_places;
    std::int64_t m_wholeUs = 0;
    bool m_suspicious = false;
};

} // namespace deltascope
