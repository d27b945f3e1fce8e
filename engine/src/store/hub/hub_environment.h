#pragma once

#include "deltascope/engine/hub_store.h"

#include <string>

namespace deltascope::hub {

constexpr const char* UsualEndpoint = "https://huggingface.co";

/// HF_ENDPOINT without slashes at its end, else the usual one (huggingface_hub 2.4.0, constants.py, ENDPOINT).
std::string endpointOf(Variables variables);

/// HF_HUB_OFFLINE, else TRANSFORMERS_OFFLINE, is 1, on, yes or true (constants.py).
bool isOffline(Variables variables);

/// The path with "~" and "$NAME" replaced as Python's expanduser and expandvars do; "~other" stays as it is.
std::string expandedPath(const std::string& path, Variables variables);

/// Where the token of a login lies.
std::string tokenPath(Variables variables);

/// std::getenv where `variables` is null.
Variables orEnvironment(Variables variables);

} // namespace deltascope::hub
