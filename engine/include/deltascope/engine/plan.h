#pragma once

#include "deltascope/engine/lineage.h"

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// One form of a version.
struct PlanLink {
    std::size_t version = 0; ///< index in Run::versions
    std::size_t form = 0; ///< as Version::objectsOf() counts them

    auto operator<=>(const PlanLink&) const = default;
};

/// What rebuilds a version: a complete state at or below it, then patches in order.
struct Plan {
    std::vector<PlanLink> links; ///< oldest first; the first is full unless external
    bool fromExternalBase = false;
    Evidence weakest = Evidence::None; ///< of the forms that it reads
    std::uint64_t readBytes = 0; ///< objects that have to be read
    bool acrossGap = false; ///< a missing number lies on the way
    bool lossProven = false; ///< the no-op test speaks against a version on the way
    bool lossy = false; ///< a version on the way adds rounded differences

    std::size_t deltas() const noexcept { return links.empty() ? 0 : links.size() - (fromExternalBase ? 0 : 1); }
};

/// Which state of a version is meant. They differ where the writer's deltas drift from what it trained.
enum class StateChoice : std::uint8_t {
    Served, ///< what replicas have that follow the deltas
    Trained, ///< what the trainer published in full
};

struct PlanOptions {
    /// A gap whose loss is proven by the no-op test alone is no obstacle.
    bool acrossGap = false;
    /// For versions with both forms whose difference is known; others have one state.
    StateChoice state = StateChoice::Served;
    std::vector<PlanLink> without = {}; ///< forms that are not to be used
};

/// The plans of all versions of a run under the same options, from one search. Of several ways that lead to a version
/// the one with the best evidence is taken, that of its weakest form; among equals the one with the least to read.
/// The run outlives it and does not change meanwhile. Any thread.
class Planner {
public:
    explicit Planner(const Run& run, const PlanOptions& options = {});
    Planner(Planner&&) noexcept;
    ~Planner();

    /// Errors: the obstacle of the version or of what it builds on, naming object, step and remedy.
    Result<Plan> planFor(const Version& version) const;

    /// The best plan that ends with a form of the version. Errors: as planFor(), and why that form cannot be used.
    Result<Plan> planOver(const Version& version, std::size_t form) const;

    /// How many versions of the run cannot be rebuilt any more if an object is lost, by the keys of all objects of its
    /// versions. An object that another way makes up for has 0.
    std::map<std::string, std::uint64_t> versionsLostByObject() const;

private:
    struct Forms;
    Plan planOf(const std::vector<std::uint32_t>& path) const;

    const Run& m_run;
    std::unique_ptr<const Forms> m_forms;
};

/// The plan of one version. For several of them, one Planner is faster.
Result<Plan> planFor(const Run& run, const Version& version, const PlanOptions& options = {});

/// The plans of one version, the best first: where a form of it proves damaged or lost while it is used, the next one
/// does without that form. What was begun along one plan is never continued along another.
class FallbackPlans {
public:
    /// The run outlives it and does not change meanwhile. Errors: as Planner::planFor().
    static Result<FallbackPlans> of(const Run& run, const Version& version, const PlanOptions& options = {});

    const Plan& plan() const noexcept { return m_plan; }
    /// Moves on to the next plan. False if `error` speaks of no form of this one, or no other way leads to the version.
    bool moveOn(const Error& error);
    /// The errors of the forms that were left out, with what is used in their place.
    const std::vector<Error>& replaced() const noexcept { return m_replaced; }

private:
    /// Moves on to the best plan without a form that the error `told` speaks of. False: there is none.
    bool moveOnWithout(PlanLink link, Error told);
    FallbackPlans(const Run& run, const Version& version, PlanOptions options, Plan plan);

    const Run* m_run;
    const Version* m_version;
    PlanOptions m_options;
    Plan m_plan;
    std::vector<Error> m_replaced;
};

/// Does `act` with the first plan, and from the beginning with the next one where a form proves damaged or lost.
/// `act`: from a Plan to a Result.
template <class Act> auto tryPlans(FallbackPlans& plans, const Act& act)
{
    auto outcome = act(plans.plan());
    while (!outcome && plans.moveOn(outcome.error()))
        outcome = act(plans.plan());
    return outcome;
}

/// The link of a plan that an error speaks of: the form of its step that holds the object it names. `links.size()` if
/// there is none.
std::size_t linkOf(const Run& run, const std::vector<PlanLink>& links, const Error& error);

/// Whether an error speaks of the bytes of an object: damaged, gone or not what its header says.
bool speaksOfAnObject(Code code) noexcept;

} // namespace deltascope
