#pragma once

#include "deltascope/engine/object_store.h"

#include <string_view>
#include <vector>

namespace deltascope {

/// Takes out of a listing what file managers, copy tools and file systems leave beside objects: AppleDouble files
/// ("._NAME"), temporary files of rsync, rclone and the aws command, copies of Finder, and the like. Returns a notice
/// (Stray) for each kind, with how many there are. `listing`: in byte order of keys, as stores list.
std::vector<Error> takeDroppings(std::vector<ObjectInfo>& listing);

} // namespace deltascope
