#pragma once

#include "deltascope/app/service.h"
#include "deltascope/app/view/json.h"

#include "terminal.h"

#include <string>
#include <string_view>

namespace deltascope::cli {

// The JSON of a command: that of its view, and what must be known of the backend behind it.

/// Keys for the end of an object: `,"device_bytes":1048576,"batch_bytes":1048576,"backend_notices":[…]`. Empty: no
/// device was asked for, and there is nothing to tell.
std::string backendKeys(const app::Service& service);

/// Writes an object that comes piece by piece, with keys at its end.
class ObjectPieces {
public:
    void write(std::string_view piece);
    void end(const std::string& keys);

private:
    std::string m_last; ///< is not written yet: the end of the object may be in it
};

/// `keys`: for its end.
template <class View> void printJson(const View& view, const std::string& keys)
{
    ObjectPieces pieces;
    const auto write = [&](std::string_view piece) { pieces.write(piece); };
    if constexpr (requires { writeJson(view, write); })
        writeJson(view, write);
    else
        write(toJson(view));
    pieces.end(keys);
}

} // namespace deltascope::cli
