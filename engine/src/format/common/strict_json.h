#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"
#include "deltascope/engine/object_store.h"

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// Foreign JSON of bounded depth without duplicate keys. `what`: "the manifest", for error texts; `key`: the object.
/// Errors: Unfinished (not whole JSON: writers are caught in the act), Hostile.
Result<nlohmann::json> parseStrictJson(ByteSpan text, std::string_view what, const std::string& key);

/// What is done with each record of a long list. Errors end the parse.
using RecordVisitor = std::function<Result<void>(const nlohmann::json& record)>;

/// The same for a text that is mostly one list: the member `list` of its object, or the text itself if `list` is empty.
/// Its records are handed to `visit` one after another and not kept; returns the rest, with `list` empty in it.
/// Members that stand before the list are given to `visitHead` first.
Result<nlohmann::json> parseRecords(ByteSpan text, std::string_view what, const std::string& key, std::string_view list,
                                    const RecordVisitor& visit, const RecordVisitor& visitHead = {});

/// Reads an object of at most 64 MiB. Errors: those of parseStrictJson and of the store; Malformed, with what it is,
/// for an object that plainly is something else.
Result<nlohmann::json> readStrictJson(const ObjectStore& store, const ObjectInfo& object, std::string_view what,
                                      TaskContext& task);

/// A member of an object, null if it is absent or `json` is no object.
const nlohmann::json& member(const nlohmann::json& json, const char* key);
/// The text of a member, empty if it is absent or no text.
std::string memberText(const nlohmann::json& json, const char* key);
/// A member that is a whole number, not negative.
std::optional<std::uint64_t> memberNumber(const nlohmann::json& json, const char* key);
/// A list of such numbers. Nothing if it is anything else.
std::optional<std::vector<std::uint64_t>> memberShape(const nlohmann::json& json, const char* key);

} // namespace deltascope
