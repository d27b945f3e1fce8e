#pragma once

#include "deltascope/engine/lineage.h"

#include <cstddef>

namespace deltascope {

/// Whether a version stands for two objects of one number of which its writers publish one alone, so that one of them
/// may be of another run: a layout notes that (Fork) where it gives the second one as another form.
bool existsTwice(const VersionObjects& version);

/// Whether a form of a version is the other one of two such objects.
bool isCandidate(const Version& version, std::size_t form);

/// Whether an other form leads to other values than what it was compared with; the signs of zeros are none of a
/// complete one.
bool differsInBits(const OtherForm& form, const FormFacts& facts);

/// Of two objects of one number that lead to two states, one is of another run: where nothing tells which, none is
/// used. `self`: index of the version in its run.
void refuseUndecided(Version& version, std::size_t self);

} // namespace deltascope
