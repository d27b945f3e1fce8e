#pragma once

#include "beside/trace/span_objects.h"

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace deltascope {

/// Keeps the objects with the spans of one actor few: once more than 128 stand alone, the oldest 64 become one. Does
/// nothing where the store lets no object be removed, and nothing more once something has failed. One thread at a time.
class SpanTidy {
public:
    /// `folder`: of the actor, with its slash. The store must live as long.
    SpanTidy(ObjectStore& store, std::string folder)
        : m_store(store)
        , m_folder(std::move(folder))
    {
    }

    /// An object that is there.
    void note(const SpanObject& object, const ObjectInfo& info);
    /// Merges and removes what is due.
    void run(TaskContext& task);

private:
    bool findMerged(const SpanObject& object, TaskContext& task);
    bool merge(TaskContext& task);
    bool removeMerged(TaskContext& task);
    std::string keyOf(const SpanObject& object) const { return m_folder + spanObjectName(object); }

    ObjectStore& m_store;
    const std::string m_folder;
    std::map<std::int64_t, ObjectInfo> m_single; ///< objects that were put alone and are not merged, by number
    std::vector<SpanObject> m_unchecked; ///< merged ones whose parts may still be there
    std::vector<std::string> m_merged; ///< keys of parts that are merged and still there
    bool m_hasFailed = false;
};

} // namespace deltascope
