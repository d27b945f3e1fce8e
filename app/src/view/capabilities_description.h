#pragma once

#include "deltascope/app/view/capabilities_view.h"

#include "io/forms.h"

namespace deltascope::app {

template <class Io> void describe(Io& io, Of<Io, CapabilitiesView>& capabilities)
{
    io.type("Capabilities", "Describes a daemon and the client that asks.");
    io("api_version", capabilities.apiVersion);
    io("version", capabilities.version);
    io("read_only", capabilities.readOnly, "acts are off at start, whatever the scopes");
    io("signed_in", capabilities.signedIn);
    io("principal", capabilities.principal, "\"local\", or the name of the token");
    io("scopes", capabilities.scopes, "read, act, admin");
    io("backends", capabilities.backends, "\"avx2\", \"cuda\", …");
    io("demo", capabilities.demo, "one of the runs is a demo");
    io("now_us", capabilities.nowUs);
}

} // namespace deltascope::app
