#include "deltascope/engine/plan.h"

#include "deltascope/engine/form_graph.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace deltascope {

namespace {

bool isExcused(const Version& version, const PlanOptions& options) { return options.acrossGap && version.lossProven; }

/// Whether the full form beside a delta leads to another state than the delta.
bool hasTwoStates(const Version& version)
{
    return !version.ownFormObstacle && version.fullFormDiffers().value_or(0) > 0;
}

bool isLeftOut(const PlanLink& link, const PlanOptions& options)
{
    return std::find(options.without.begin(), options.without.end(), link) != options.without.end();
}

/// Whether something speaks against the deltas of a version, whatever their bytes are.
bool isDoubtful(const Version& version)
{
    return version.acrossGap || version.mayGrow || version.noopsUnexplained || version.lossProven || version.lossy;
}

/// What vouches for the own objects of a version.
Evidence evidenceOf(const Version& version)
{
    if (isDoubtful(version))
        return Evidence::None;
    if (!version.facts)
        return Evidence::FirstSight;
    const VersionFacts& facts = *version.facts;
    if (facts.rootCheck == VersionFacts::RootCheck::Matches)
        return Evidence::Root;
    if (version.summary && facts.digestsChecked > 0 && facts.digestsChecked == version.summary->tensors)
        return version.summary->digests == DigestAlgorithm::Adler32 ? Evidence::Weak : Evidence::Digest;
    const bool agrees = version.kind == VersionKind::Anchor && facts.changedVsPrevious && !version.driftAlarm;
    return agrees ? Evidence::Anchor : Evidence::FirstSight;
}

/// What vouches for another form of it: what vouches for the own one, where both lead to the same bits.
Evidence evidenceOf(const Version& version, std::size_t form)
{
    if (form == 0)
        return evidenceOf(version);
    const FormFacts* facts = version.factsOf(form);
    const std::optional<std::size_t> original = version.originalOf(form);
    if (original == 0U && isDoubtful(version))
        return Evidence::None; // the same bytes twice are no answer to what may be missing before them
    if (original && facts && facts->differs == 0U && facts->comparedWith == *original)
        return evidenceOf(version, *original);
    const OtherForm& other = version.otherForms[form - 1];
    const bool complete = other.isComplete();
    if (!complete && (other.summary->lossy || other.acrossGap))
        return Evidence::None;
    if (facts && facts->vouchedFor)
        return Evidence::Root;
    if (!facts || !facts->differs)
        return Evidence::FirstSight;
    if (*facts->differs > 0)
        return version.fullForm() == form ? Evidence::FirstSight : Evidence::None;
    const Evidence own = facts->comparedWith == 0 ? evidenceOf(version) : Evidence::FirstSight;
    return std::min(own, complete ? Evidence::Anchor : Evidence::FirstSight); // of equal ones the better one counts
}

}

/// The forms of a run as a graph. States: Nothing, the served state of each version in turn, the checkpoint outside of
/// the source, then the trained states that are known to differ from the served ones.
struct Planner::Forms {
    /// What a form of the graph reads, ascending; no link: the checkpoint outside of the source.
    std::vector<std::optional<PlanLink>> links;
    std::vector<StateId> targets; ///< of each version: the state that is meant
    FormGraph graph;
    PathTree paths;

    static std::unique_ptr<const Forms> of(const Run& run, const PlanOptions& options);
    static StateId servedState(std::size_t version) { return static_cast<StateId>(version + 1); }

private:
    struct Parts {
        std::vector<std::optional<PlanLink>> links;
        std::vector<StateId> targets;
        std::vector<Form> forms;
        std::size_t states = 0;
    };
    explicit Forms(Parts parts)
        : links(std::move(parts.links))
        , targets(std::move(parts.targets))
        , graph(parts.states, std::move(parts.forms))
        , paths(graph)
    {
    }
};

std::unique_ptr<const Planner::Forms> Planner::Forms::of(const Run& run, const PlanOptions& options)
{
    const StateId outside = servedState(run.versions.size());
    const std::uint64_t perRequest = run.store->traits().requestBytes;
    Parts parts;
    parts.states = outside + std::size_t { 1 };
    const auto add = [&](std::optional<PlanLink> link, StateId from, StateId to, const VersionObjects& objects,
                         Evidence evidence) {
        parts.links.push_back(link);
        parts.forms.push_back(Form { from, to, objects.wireBytes() + objects.objects.size() * perRequest, evidence });
    };
    if (run.base)
        add(std::nullopt, FormGraph::Nothing, outside, run.base->objects, Evidence::Base);
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        parts.targets.push_back(servedState(i));
        if (version.obstacle && version.obstacleAt == i && !isExcused(version, options))
            continue;
        if (!version.ownFormObstacle && !isLeftOut(PlanLink { i, 0 }, options)) {
            const Evidence evidence = evidenceOf(version);
            if (version.kind == VersionKind::Anchor)
                add(PlanLink { i, 0 }, FormGraph::Nothing, servedState(i), version.objects, evidence);
            else if (version.base)
                add(PlanLink { i, 0 }, servedState(*version.base), servedState(i), version.objects, evidence);
            else if (version.onExternalBase && run.base)
                add(PlanLink { i, 0 }, outside, servedState(i), version.objects, evidence);
        }
        const std::optional<StateId> trained =
            hasTwoStates(version) ? std::optional(static_cast<StateId>(parts.states++)) : std::nullopt;
        if (trained && options.state == StateChoice::Trained)
            parts.targets[i] = *trained;
        for (std::size_t number = 1; number < version.forms(); ++number) {
            const OtherForm& form = version.otherForms[number - 1];
            if (form.obstacle || isLeftOut(PlanLink { i, number }, options))
                continue;
            const bool leadsToTrained = trained
                && (version.fullForm() == number || version.fullForm() == version.originalOf(number).value_or(0));
            const StateId to = leadsToTrained ? *trained : servedState(i);
            const StateId from = form.isComplete() ? FormGraph::Nothing : form.base ? servedState(*form.base) : outside;
            add(PlanLink { i, number }, from, to, version.objectsOf(number), evidenceOf(version, number));
        }
    }
    return std::unique_ptr<const Forms>(new Forms(std::move(parts)));
}

Planner::Planner(const Run& run, const PlanOptions& options)
    : m_run(run)
    , m_forms(Forms::of(run, options))
{
}

Planner::Planner(Planner&&) noexcept = default;
Planner::~Planner() = default;

Result<Plan> Planner::planFor(const Version& version) const
{
    const StateId target = m_forms->targets[static_cast<std::size_t>(&version - m_run.versions.data())];
    if (!m_forms->paths.reach(target))
        return fail(version.obstacle.value_or(Error { Code::ChainGap,
                                                      "no way that may be used leads to this version",
                                                      version.objects.name,
                                                      version.step(),
                                                      {} }));
    return planOf(m_forms->paths.pathTo(target));
}

Result<Plan> Planner::planOver(const Version& version, std::size_t form) const
{
    const PlanLink wanted { static_cast<std::size_t>(&version - m_run.versions.data()), form };
    const auto found = std::lower_bound(m_forms->links.begin(), m_forms->links.end(), std::optional(wanted));
    const auto id = static_cast<FormId>(found - m_forms->links.begin());
    const bool reached = found != m_forms->links.end() && *found == wanted
        && (m_forms->graph.forms()[id].from == FormGraph::Nothing
            || m_forms->paths.reach(m_forms->graph.forms()[id].from));
    if (!reached) {
        const std::optional<Error>& ofOwn = version.obstacle ? version.obstacle : version.ownFormObstacle;
        const std::optional<Error>& why = form == 0 ? ofOwn : version.otherForms[form - 1].obstacle;
        return fail(why.value_or(Error { Code::ChainGap,
                                         "no way that may be used leads to this form",
                                         version.objectsOf(form).name,
                                         version.step(),
                                         {} }));
    }
    std::vector<FormId> path = m_forms->paths.pathTo(m_forms->graph.forms()[id].from);
    path.push_back(id);
    return planOf(path);
}

Plan Planner::planOf(const std::vector<FormId>& path) const
{
    Plan plan;
    plan.weakest = Evidence::Digest;
    for (const FormId form : path) {
        plan.weakest = std::max(plan.weakest, m_forms->graph.forms()[form].evidence);
        const std::optional<PlanLink>& link = m_forms->links[form];
        if (!link) {
            plan.fromExternalBase = true;
            plan.readBytes += m_run.base->objects.wireBytes();
            continue;
        }
        plan.links.push_back(*link);
        const Version& at = m_run.versions[link->version];
        plan.readBytes += at.objectsOf(link->form).wireBytes();
        plan.lossy = plan.lossy || at.summaryOf(link->form)->lossy;
        plan.acrossGap = plan.acrossGap || (link->form == 0 ? at.acrossGap : at.otherForms[link->form - 1].acrossGap);
        plan.lossProven = plan.lossProven || (link->form == 0 && at.lossProven);
    }
    return plan;
}

std::map<std::string, std::uint64_t> Planner::versionsLostByObject() const
{
    const FormGraph& graph = m_forms->graph;
    std::vector<std::uint32_t> weights(graph.states(), 0);
    for (const StateId target : m_forms->targets)
        weights[target] = 1;
    std::map<std::string, std::vector<FormId>> formsOf;
    for (const Version& version : m_run.versions) {
        for (std::size_t form = 0; form < version.forms(); ++form) {
            for (const ObjectInfo& object : version.objectsOf(form).objects)
                formsOf[object.key];
        }
    }
    for (FormId form = 0; form < m_forms->links.size(); ++form) {
        const std::optional<PlanLink>& link = m_forms->links[form];
        if (!link)
            continue;
        for (const ObjectInfo& object : m_run.versions[link->version].objectsOf(link->form).objects)
            formsOf[object.key].push_back(form);
    }
    const std::vector<std::uint64_t> byForm = lossesByForm(graph, weights);
    std::map<std::string, std::uint64_t> lost;
    for (const auto& [key, forms] : formsOf) {
        std::uint64_t& count = lost[key];
        if (forms.size() == 1) {
            count = byForm[forms.front()];
            continue;
        }
        for (const StateId state : statesLostWithout(graph, forms))
            count += weights[state];
    }
    return lost;
}

Result<Plan> planFor(const Run& run, const Version& version, const PlanOptions& options)
{
    return Planner(run, options).planFor(version);
}

} // namespace deltascope
