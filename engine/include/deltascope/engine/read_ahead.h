#pragma once

#include <memory>
#include <vector>

namespace deltascope {

/// What a store fetches ahead of a pass (ObjectStore::readAhead). The destructor stops it and waits for the requests
/// that are under way.
class ReadAhead {
public:
    ReadAhead() = default;
    virtual ~ReadAhead() = default;
    ReadAhead(const ReadAhead&) = delete;
    ReadAhead& operator=(const ReadAhead&) = delete;
};

/// One for each store that the pass reads from and that fetches ahead.
using ReadsAhead = std::vector<std::unique_ptr<ReadAhead>>;

} // namespace deltascope
