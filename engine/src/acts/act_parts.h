#pragma once

#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/beside.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/plan.h"
#include "deltascope/engine/publish.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace deltascope {

// What several acts have in common.

/// The objects that an act reads: of a run, of its mirrors and of its external base, each once.
class PlannedReads {
public:
    explicit PlannedReads(const Run& run)
        : m_run(run)
    {
    }

    /// `bytes`: of it that are read; nothing: all.
    void add(const ObjectInfo& object, const VersionObjects& version, std::optional<std::uint64_t> bytes = {});
    void addOfBase(const ObjectInfo& object);
    /// Every object that rebuilds a state along the plan: all of its versions but for the trainer's own files.
    void add(const Plan& plan);
    std::vector<PlannedObject> take() const;

private:
    void insert(PlannedObject object);

    const Run& m_run;
    std::map<std::tuple<std::string, std::string, std::string>, std::uint64_t> m_bytes; ///< by store, key and identity
};

/// Every object that rebuilding the versions reads: of the run, of its mirrors and of its external base. Errors: those
/// of FallbackPlans::of.
Result<std::vector<PlannedObject>> objectsRead(const Run& run, const std::vector<const Version*>& versions);

/// What a plan says it does not know where versions have several forms.
inline constexpr const char* OtherWays = "which other objects are read where one of these proves to be damaged";
/// Whether a version of the run has several forms.
bool hasOtherWays(const Run& run);

/// What vouches for a version whose state an act is going to use, from a replay (level 3). `warnings`: gets what
/// speaks against its values, although its bytes are as published. Errors: what is wrong with it; Unproven (nothing
/// vouches for it).
Result<Verdict> verifyTarget(Workbench& bench, Run& run, const Version& target, std::vector<Error>& warnings,
                             TaskContext& task);
/// That a version can be rebuilt, from a replay. Errors: why it cannot.
Result<void> expectReplays(Workbench& bench, Run& run, const Version& version, TaskContext& task);
/// That the state behind a version that was just published has the root that was recorded with it, which is that of the
/// state that was meant; what is doubtful in front of it says nothing against that. Errors: Digest.
Result<void> expectOwnRoot(Workbench& bench, Run& run, const Version& written, TaskContext& task);

/// What came of looking at what an act has published. Errors: those of `looked`; where the source could not be reached,
/// the error says that the step is published all the same.
Result<void> behindPublication(Result<void> looked, const PublishedVersion& version);
/// Whether an error of behindPublication() leaves open what stands there, so that the act has not failed.
bool mayStand(const Error& error);

/// The newest entry of an act that wrote below this key, or that object.
std::optional<JournalEntry> newestEntry(const std::vector<JournalEntry>& journal, std::string_view act,
                                        const std::string& key);

/// An act in the journal beside the run that it changes.
class ActStory {
public:
    /// `plan`: its kind, hash and the keys that it writes are in every entry. `text`: what the act does.
    ActStory(const Workbench& bench, std::shared_ptr<ObjectStore> run, const std::string& by, const ActPlan& plan,
             std::string text);
    /// Appends an entry: "begun", "done", "failed". `more`: why; may be empty.
    Result<void> tell(std::string phase, const std::string& more, TaskContext& task);
    /// The same on this machine alone: of what is kept there.
    Result<void> tellHere(std::string phase, TaskContext& task);

private:
    JournalEntry entryOf(std::string phase, const std::string& more) const;

    Beside m_beside;
    JournalEntry m_entry;
    std::string m_text;
};

} // namespace deltascope
