#pragma once

#include "deltascope/engine/catalog.h"

#include <string_view>
#include <vector>

namespace deltascope {

/// The newest of the sights that a user trusts; null: none. `sights`: oldest first.
const Records::Sight* trustedSight(const std::vector<Records::Sight>& sights) noexcept;

/// What is known of the bytes under an identity: the newest sight with their digest, else one that says only that they
/// differ; null: nothing. `sights`: oldest first.
const Records::Sight* sightUnder(const std::vector<Records::Sight>& sights, std::string_view identity) noexcept;

} // namespace deltascope
