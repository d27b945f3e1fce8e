#include "deltascope/engine/statistics.h"

#include "deltascope/engine/tensor_view.h"

#include "deltascope/engine/backend.h"
#include "hash/hashers.h"
#include "show_links.h"
#include "touched_links.h"

namespace deltascope {

namespace {

/// The state behind one link, as it passes by.
class Marker {
public:
    Marker(Dtype dtype, const Backend& backend)
        : m_dtype(dtype)
        , m_backend(backend)
    {
        if (statisticsPasses(dtype) > 0)
            m_nan = 0;
    }

    void add(ByteSpan state)
    {
        m_hasher.update(state);
        m_bytes += state.size();
        if (m_nan)
            *m_nan += m_backend.countNan(state, m_dtype);
    }
    std::uint64_t bytes() const { return m_bytes; }
    TensorMark mark() const { return { m_hasher.digest(), m_nan }; }

private:
    Dtype m_dtype;
    const Backend& m_backend;
    Xxh3Hasher m_hasher;
    std::uint64_t m_bytes = 0;
    std::optional<std::uint64_t> m_nan;
};

/// Shows what is behind some links to a marker each.
class LinkMarker final : public ReplayObserver {
public:
    explicit LinkMarker(std::map<std::size_t, Marker>& markers)
        : m_markers(markers)
    {
    }

    void onBlock(std::size_t link, std::uint64_t, ByteSpan state, const PatchCounts&) override
    {
        if (const auto wanted = m_markers.find(link); wanted != m_markers.end())
            wanted->second.add(state);
    }

private:
    std::map<std::size_t, Marker>& m_markers;
};

}

Result<std::map<std::size_t, TensorMark>> marksBehind(Workbench& bench, const PathState& chain,
                                                      const std::vector<std::size_t>& links, std::string_view tensor,
                                                      TaskContext& task)
{
    DS_TRY(const TensorInfo* info, tensorIn(chain, tensor));
    DS_TRY(const WalkMeans means, bench.means());
    std::map<std::size_t, Marker> markers; // by the link that made the state
    for (const std::size_t link : links) {
        if (const std::optional<std::size_t> touched = touchedAt(chain, tensor, link))
            markers.try_emplace(*touched, info->dtype, *means.backend);
    }
    LinkMarker marker(markers);
    DS_CHECK(showLinks(chain, *info, marker, means, task));
    std::map<std::size_t, TensorMark> marks;
    for (const std::size_t link : links) {
        const std::optional<std::size_t> touched = touchedAt(chain, tensor, link);
        if (touched && markers.at(*touched).bytes() == info->bytes()) // else the replay passed over it
            marks.emplace(link, markers.at(*touched).mark());
    }
    return marks;
}

} // namespace deltascope
