#pragma once

#include "peer.h"

#include <cstddef>
#include <map>
#include <string>

namespace deltascope::server {

/// How many connections there are, in all and of each client. Not thread-safe.
class ConnectionSlots {
public:
    /// One connection, counted as long as this lives; `slots` outlives it.
    class Slot {
    public:
        /// `client`: empty: counts in all only.
        Slot(ConnectionSlots& slots, std::string client);
        Slot(Slot&& other) noexcept;
        Slot& operator=(Slot&&) = delete;
        ~Slot();

        const std::string& client() const noexcept { return m_client; }

    private:
        ConnectionSlots* m_slots;
        std::string m_client;
    };

    std::size_t all() const noexcept { return m_all; }
    std::size_t of(const std::string& client) const;

private:
    std::size_t m_all = 0;
    std::map<std::string, std::size_t> m_byClient;
};

} // namespace deltascope::server
