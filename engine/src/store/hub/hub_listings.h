#pragma once

#include "deltascope/engine/object_store.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::hub {

/// The Hub lists from the start only, and in an order that nobody promises. So a listing is fetched whole, put in order
/// and handed out in pages; the rest waits here for whoever asks for the next page. Holds at most four of them, and a
/// million objects unless one alone has more, each for half a minute. Any thread.
class HubListings {
public:
    using Objects = std::vector<ObjectInfo>;
    using Time = std::chrono::steady_clock::time_point;

    /// The page that `request` asks for, where it goes on with a listing that is under way.
    std::optional<ListPage> next(const ListRequest& request, Time now);
    /// The page of a listing that was just fetched: all with this prefix, in order. The rest is kept, unless something
    /// was changed since `generation`.
    ListPage first(const ListRequest& request, Objects all, Time now, std::uint64_t generation);
    /// Something was changed by this store: listings that began before must not be continued.
    void drop();
    std::uint64_t generation() const; ///< changes with each drop()

private:
    struct Waiting {
        std::string prefix;
        std::string lastKey; ///< of the page that was handed out last
        Objects all;
        std::size_t at = 0; ///< of the first one that was not handed out
        Time since;
    };

    ListPage page(const ListRequest& request, Waiting waiting, Time now);

    mutable std::mutex m_mutex; ///< guards what follows
    std::list<Waiting> m_waiting; ///< the oldest first
    std::uint64_t m_generation = 0;
};

} // namespace deltascope::hub
