#include "same_source.h"

namespace deltascope::app {

SourceRequest canonical(SourceRequest request)
{
    request.source = request.source.canonical();
    request.base = request.base.canonical();
    for (Address& mirror : request.mirrors)
        mirror = mirror.canonical();
    return request;
}

bool isSameSource(const SourceRequest& a, const SourceRequest& b)
{
    const SourceRequest left = canonical(a);
    const SourceRequest right = canonical(b);
    return left.source == right.source && left.base == right.base && left.layout == right.layout
        && left.epochs == right.epochs && left.mirrors == right.mirrors && left.searchDepth == right.searchDepth;
}

} // namespace deltascope::app
