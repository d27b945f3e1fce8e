#pragma once

#include "deltascope/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace deltascope::test {

enum class Repeat : std::uint8_t { Once, Forever };

/// Counts calls per operation and decides which of them fail. `Operation` is an enum whose last enumerator is Any. Any
/// thread.
template <class Operation> class FaultPlan {
public:
    /// The `nth` call from now on (1 = the next) of `operation` fails with `error`; Forever: all later ones too.
    void failNth(Operation operation, std::uint64_t nth, Error error, Repeat repeat)
    {
        const std::lock_guard lock(m_mutex);
        m_rules.push_back(Rule { operation, m_calls[index(operation)] + nth, std::move(error), repeat });
    }

    void clearFaults()
    {
        const std::lock_guard lock(m_mutex);
        m_rules.clear();
    }

    /// Calls of an operation so far; of Any: of all together.
    std::uint64_t calls(Operation operation) const
    {
        const std::lock_guard lock(m_mutex);
        return m_calls[index(operation)];
    }

    /// How many calls were made to fail.
    std::uint64_t faults() const
    {
        const std::lock_guard lock(m_mutex);
        return m_faults;
    }

    /// Counts a call; the error if it is to fail.
    Result<void> enter(Operation operation)
    {
        const std::lock_guard lock(m_mutex);
        ++m_calls[index(operation)];
        ++m_calls[index(Operation::Any)];
        for (const Rule& rule : m_rules) {
            if (rule.operation != operation && rule.operation != Operation::Any)
                continue;
            const std::uint64_t call = m_calls[index(rule.operation)];
            if (call == rule.call || (rule.repeat == Repeat::Forever && call > rule.call)) {
                ++m_faults;
                return fail(rule.error);
            }
        }
        return {};
    }

private:
    struct Rule {
        Operation operation;
        std::uint64_t call;
        Error error;
        Repeat repeat;
    };

    static constexpr std::size_t index(Operation operation) noexcept { return static_cast<std::size_t>(operation); }

    mutable std::mutex m_mutex;
    std::array<std::uint64_t, index(Operation::Any) + 1> m_calls {};
    std::vector<Rule> m_rules;
    std::uint64_t m_faults = 0;
};

} // namespace deltascope::test
