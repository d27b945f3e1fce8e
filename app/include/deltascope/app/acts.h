#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace deltascope::app {

/// What stands for one argument of an act.
using ActValue = std::variant<bool, std::int64_t, std::string>;
/// By ActField::name. What is absent has the standard value of its field.
using ActArgs = std::map<std::string, ActValue, std::less<>>;

/// An act that is asked for: something that a plan is made of, and that is carried out as a task.
struct ActRequest {
    std::string kind; ///< ActInfo::kind
    ActArgs args;
};

/// One argument of an act: faces make their fields from it.
struct ActField {
    enum class Type : std::uint8_t {
        Text,
        Step, ///< "12", "0:12"
        Steps, ///< as in VerifyRequest::range
        Folder, ///< a new one
        Place, ///< a folder or address of an object store, where a run is written
        Whole,
        Flag,
        Choice,
    };

    std::string_view name; ///< as in JSON: "accept_rewritten"
    Type type = Type::Text;
    std::string_view label; ///< "Step"
    std::string_view help; ///< one sentence
    std::string_view standard; ///< as text; of a choice: the first one
    bool isRequired = false;
    std::int64_t most = 0; ///< of a whole number, which is at least 0
    std::vector<std::string_view> choices {};
    /// On the command line it stands behind the address, without the name of an option.
    bool isOperand = false;
};

/// How the command line begins an act.
enum class ActWay : std::uint8_t {
    AtOnce, ///< the command line shows its plan only if asked
    Confirmed, ///< the command line begins it only if the user confirms the plan
    OwnCommand, ///< the command line has a command of its own for it, with more options
};

struct ActInfo {
    std::string_view kind; ///< "rollback"; also the command
    std::string_view title; ///< of the button that begins it: "Roll back"
    std::string_view help; ///< of that command; empty: it has one of its own
    std::vector<ActField> fields;
    ActWay way = ActWay::AtOnce;
    bool namesRun = true; ///< the command is about a run, whose address it begins with

    const ActField* field(std::string_view name) const noexcept; ///< null: it has none of that name
};

/// Every act that a plan can be made of.
std::vector<ActInfo> actInfos();

// The arguments of the acts that faces have sheets of their own for.

struct MaterializeArgs {
    std::string step; ///< "12", "0:12"
    /// Name below the output folder, at most 8 parts of at most 255 bytes, or any path where that is allowed; empty:
    /// RUN-step_N.
    std::string to;
    std::uint64_t shardBytes = 0;
    bool trained = false;
    bool acrossGap = false;
    bool acceptRewritten = false; ///< as in VersionRequest
    bool forTraining = false; ///< as in MaterializeRequest

    operator ActRequest() const; // NOLINT(google-explicit-constructor): it is one
};
struct VerifyArgs {
    std::string range; ///< as in VerifyRequest
    int level = 2;
    bool acceptRewritten = false; ///< as in VerifyRequest

    operator ActRequest() const; // NOLINT(google-explicit-constructor)
};
struct DiffArgs {
    std::string a, b; ///< steps
    bool acceptRewritten = false;

    operator ActRequest() const; // NOLINT(google-explicit-constructor)
};
struct PublishArgs {
    std::string from, to; ///< checkpoints or addresses of steps, as VersionRequest::parse() takes them
    std::string encoding = {}; ///< as in PublishRequest, and so on
    std::string checksum = {};
    std::uint32_t anchorEvery = 10;
    bool anchorWhenCheaper = false;
    double restoresPerAnchor = 1;
    bool newEpoch = false;
    bool allowSuspect = false;
    bool acceptRewritten = false;
    bool soleWriter = false;
    std::string mapPrefix = {}; ///< "A=B", as parsePrefixMap() takes it; empty: names stay

    operator ActRequest() const; // NOLINT(google-explicit-constructor)
};

} // namespace deltascope::app
