#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// One object of a series: "00000012.json", in stores that cannot put under a condition "00000012-1a2b3c4d.json".
struct SeriesObject {
    std::uint64_t number = 0;
    std::string suffix; ///< eight hex digits, or empty
    ObjectInfo object;
};

/// Objects with ascending numbers in one folder, each put once and never changed.
class Series {
public:
    /// `folder` ends with '/'. `store` outlives this.
    Series(ObjectStore& store, std::string folder)
        : m_store(store)
        , m_folder(std::move(folder))
    {
    }

    /// Those of the folder in a listing, ascending by number, then suffix; names that are none of a series are left
    /// out.
    static std::vector<SeriesObject> in(const std::vector<ObjectInfo>& listing, std::string_view folder);
    /// Of those with the highest number the first: it counts where only one may. Null: there is none.
    static const SeriesObject* newest(const std::vector<SeriesObject>& objects) noexcept;

    using Text = std::function<std::string(std::uint64_t number)>;
    /// Puts an object behind all that are there. Returns its number. Errors: those of the store, Exists (others were
    /// faster each time).
    Result<std::uint64_t> append(const Text& text, TaskContext& task);
    /// Puts an object that only counts if `seen` is the highest number. Returns its number. Errors: Exists (it is not,
    /// or another writer put one at the same time that counts), those of the store.
    Result<std::uint64_t> putBehind(std::uint64_t seen, const Text& text, TaskContext& task);

private:
    Result<std::vector<SeriesObject>> list(TaskContext& task) const;
    Result<void> put(const std::string& key, const std::string& text, TaskContext& task);
    Result<void> putAndCompare(std::uint64_t number, const Text& text, TaskContext& task);
    std::string keyOf(std::uint64_t number, std::string_view suffix) const;

    ObjectStore& m_store;
    std::string m_folder;
};

} // namespace deltascope
