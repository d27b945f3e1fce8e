#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace deltascope {

/// Which identity the last objects have that this process has written through a store. Any thread.
class WrittenKeys {
public:
    /// `identity`: empty: none that could be read is known.
    void note(std::string_view key, std::string identity);
    /// False: this process has replaced or removed that identity of the key.
    bool mayStand(std::string_view key, std::string_view identity) const;

private:
    static constexpr std::size_t MostWritten = 4096; ///< older ones are forgotten

    mutable std::mutex m_mutex;
    std::map<std::string, std::string, std::less<>> m_identities;
    std::deque<std::string> m_order; ///< of the keys, as they came
};

} // namespace deltascope
