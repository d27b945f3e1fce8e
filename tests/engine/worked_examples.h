#pragma once

#include "layout_fixture.h"

#include <string>

// The tensor of the worked examples in docs/formats before and after a step, [2, 4] in BF16.

namespace deltascope::layout_test {

// trl-v1, trl-v2 and grail: elements 1, 4 and 7 of "layer.weight"
inline const std::string TrlBefore = fromHex("80 3f 00 c0 00 3f 00 00 80 3e 40 40 00 be c8 42");
inline const std::string TrlAfter = fromHex("80 3f 01 c0 00 3f 00 00 81 3e 40 40 00 be c9 42");
inline const std::string TrlDeltaKey = "deltas/step_000002.safetensors";

// slime-v1, slime-v2, skyrl and modelexpress: elements 1 and 6 of "model.w"
inline const std::string SlimeBefore = fromHex("80 3f 00 40 40 40 80 40 a0 40 c0 40 e0 40 00 41");
inline const std::string SlimeAfter = fromHex("80 3f 01 40 40 40 80 40 a0 40 c0 40 e1 40 00 41");
inline const std::string SlimeFrame = fromHex("28b52ffd201081000000000100000000000000000001000000"); ///< the two as xor
inline const std::string SlimeDigest = "6d901f9af17229db9d11d7952aaacce0"; ///< xxh3-128 of what comes after

} // namespace deltascope::layout_test
