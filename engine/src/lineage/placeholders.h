#pragma once

#include "deltascope/engine/layout.h"
#include "deltascope/engine/state.h"

#include <string>

namespace deltascope {

// A rank of a sharded trainer that saves by itself writes tensors of shape [0] where other ranks hold the elements.

/// What is said of a version that holds them (SuspectValues).
Error placeholderNote(std::string text);

/// Whether a tensor has no elements although a model needs some. Not `_extra_state` and the like, which may be empty.
bool isPlaceholder(const TensorInfo& tensor) noexcept;

/// "7 of 20 tensors hold no elements, a.weight first: placeholders of a sharded save"; empty: there are none.
std::string placeholdersIn(const VersionIndex& index);
/// The same. What is empty in the state before, too, is none, and what has elements there is one under any name.
/// `before`: null: there is no such state.
std::string placeholdersIn(const State& state, const State* before);

} // namespace deltascope
