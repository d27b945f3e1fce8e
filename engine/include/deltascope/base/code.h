#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace deltascope {

/// What went wrong, as a stable word that users meet in every face of the program ("DS-CHAIN-GAP").
/// The enumerators are not persisted; the words are, and never change their meaning.
enum class Code : std::uint8_t {
    Usage, ///< the request itself is wrong
    NotFound, ///< source, version, object or file does not exist
    Layout, ///< the objects do not form a known layout
    Auth, ///< permission denied
    Io, ///< the operating system or the store failed
    NoSpace, ///< disk or quota is full
    Exists, ///< the target is already there
    Truncated, ///< an object is shorter or longer than its header promises
    Malformed, ///< an object is something else than its name says, or breaks the rules of its format
    Hostile, ///< an object claims what only an attack claims: endless lengths, paths that escape, ranges that overlap
    Digest, ///< bytes do not have the digest that was recorded for them
    ChainGap, ///< a version that others build on is missing or lost
    BaseMissing, ///< the chain starts at an external checkpoint that was not given
    BaseMismatch, ///< the state before is not the one that the delta was written against
    Noop, ///< a delta assigns bits that are already there although its writer never does
    AnchorDrift, ///< an anchor and the replayed state before it differ more than deltas do
    Missed, ///< a writer's change detection has missed changes; an anchor shows how many
    PartialAnchor, ///< a full object holds only some tensors of the model
    DuplicateName, ///< one tensor name occurs in several objects of a version
    Unfinished, ///< payload without the marker that ends a publication
    Publishing, ///< a version is being written right now
    Unproven, ///< a missing number or unexplained no-ops on the way: nothing proves that nothing was lost
    Fork, ///< two incarnations of a trainer share the prefix
    Rewritten, ///< an object changed after it was first seen
    Mirror, ///< a mirror is offered, read in the place of the source, or holds something else
    Lossy, ///< rebuilt by adding rounded differences, so no proof of the trainer's bits
    Claim, ///< a header states something that its own content contradicts
    SuspectValues, ///< a version moves values in a way that the deltas of its run do not explain
    Infinite, ///< tensors hold infinities from the first state on, as masks and the ranges of observers do
    FormsDiffer, ///< two forms of one version lead to different bits, and nothing tells which are right
    MissingTensor, ///< a version lacks a tensor that its own names, or the versions around it, say it holds
    Unlisted, ///< a file of a checkpoint holds tensors that its index does not name; they are read
    TwoModels, ///< a folder holds a second model: some readers take the one, some the other
    Stray, ///< an object that no version needs; nothing is read from it
    Unsupported, ///< understood but not readable by this build
    ListSuspect, ///< a listing failed or shrank suddenly
    Vanished, ///< a version or an object of it that was there is gone, and something needs it or nothing newer is there
    Reverted, ///< a complete state takes back what deltas had changed: it is an earlier one, in whole or in part
    Repeated, ///< a file of a complete state is that of an earlier one: its tensors are frozen, or were not saved again
    Retired, ///< versions that were there are gone, and nothing that is there needs them
    Catalog, ///< the local catalog is unusable
    Transient, ///< worth retrying
    Refetched, ///< bytes came wrong from a store, as its own checksum proves, and came right when fetched again
    Canceled, ///< stopped on request; what exists can be resumed
    Internal, ///< a defect of this program
};

/// "DS-CHAIN-GAP" and so on; a static string.
std::string_view word(Code code) noexcept;

/// The code with this word, or nothing.
std::optional<Code> parseCode(std::string_view word) noexcept;

/// Whether a problem with this code is only worth knowing: it takes nothing away from what can be rebuilt or proven.
bool isNotice(Code code) noexcept;

/// Whether a version with such a problem of its own, and what builds on it, is neither verified nor consistent,
/// whatever digests say.
bool forbidsTrust(Code code) noexcept;

/// What a user can usually do about it; a static string, one sentence.
std::string_view remedy(Code code) noexcept;

} // namespace deltascope
