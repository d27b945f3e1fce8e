#include "format/dcp/nearby_reader.h"

#include <algorithm>

namespace deltascope {

namespace {

constexpr std::uint64_t WindowBytes = 4096;

}

Result<void> NearbyReader::read(std::uint64_t offset, MutableByteSpan out)
{
    if (offset > m_object->sizeBytes || out.size() > m_object->sizeBytes - offset)
        return fail(Code::Truncated, "the file ends before what it is said to hold", m_object->key);
    for (const Window& window : m_windows) {
        if (window.holds(offset, out.size())) {
            std::copy_n(window.bytes.begin() + static_cast<std::ptrdiff_t>(offset - window.begin), out.size(),
                        out.begin());
            return {};
        }
    }
    if (out.size() >= WindowBytes)
        return m_store->read(m_object->key, offset, out, *m_task);
    Window& window = m_windows[0].begin < m_windows[1].begin ? m_windows[0] : m_windows[1]; // the one left behind
    window.begin = offset;
    window.bytes.resize(std::min(WindowBytes, m_object->sizeBytes - offset));
    if (Result<void> outcome = m_store->read(m_object->key, offset, window.bytes, *m_task); !outcome) {
        window.bytes.clear();
        return outcome;
    }
    std::copy_n(window.bytes.begin(), out.size(), out.begin());
    return {};
}

} // namespace deltascope
