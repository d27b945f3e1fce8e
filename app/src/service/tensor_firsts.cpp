#include "tensor_firsts.h"

#include "opening.h"
#include "stretches.h"
#include "tensor_jobs.h"
#include "view/make_views.h"

#include "deltascope/engine/statistics.h"
#include "deltascope/engine/tensor_view.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope::app {

namespace {

/// What is known of the tensor at each step of an epoch.
class Search {
public:
    /// `last`: index of the step up to which is looked. `tensor`: as it is there: bytes of another form tell nothing.
    Search(const StatePair& pair, std::size_t last, TensorInfo tensor)
        : m_run(pair.run)
        , m_acceptRewritten(pair.acceptRewritten)
        , m_last(last)
        , m_tensor(std::move(tensor))
    {
        while (m_first < last && m_run.versions[m_first].epoch != m_run.versions[last].epoch)
            ++m_first;
    }

    Result<void> read(Workbench& bench, TaskContext& task)
    {
        std::vector<Stretch> stretches =
            stretchesOf(m_run, m_run.versions[m_last], m_last - m_first + 1, m_acceptRewritten);
        std::reverse(stretches.begin(), stretches.end());
        for (const Stretch& stretch : stretches) {
            for (const auto& [link, version] : stretch.links)
                m_pending.insert(indexOf(*version));
        }
        for (const Stretch& stretch : stretches) {
            if (answeredAt())
                break;
            DS_CHECK(readStretch(bench, stretch, task));
            for (const auto& [link, version] : stretch.links)
                m_pending.erase(indexOf(*version));
        }
        return {};
    }

    TensorFirstsView view() const
    {
        TensorFirstsView view;
        view.tensor = m_tensor.name;
        view.dtype = word(m_tensor.dtype);
        view.epoch = m_run.versions[m_last].epoch;
        view.begin = m_run.versions[m_first].step();
        view.end = m_run.versions[m_last].step();
        view.onBase = m_base.has_value();
        view.stepsRead = static_cast<std::uint32_t>(m_marks.size());
        view.stepsInAll = static_cast<std::uint32_t>(m_last - m_first + 1);
        view.nanInBase = m_base && m_base->nan.value_or(0) > 0;
        view.changed = viewOf(firstChanged());
        if (const std::optional<First> nan = firstNan())
            view.nan = viewOf(*nan);
        view.unread = unread();
        view.reads = m_reads;
        return view;
    }

private:
    const Version& version(std::size_t at) const { return m_run.versions[at]; }
    std::size_t indexOf(const Version& version) const
    {
        return static_cast<std::size_t>(&version - &m_run.versions[0]);
    }

    /// Reads one chain; where an object on it proves damaged, what stands before that.
    Result<void> readStretch(Workbench& bench, Stretch stretch, TaskContext& task)
    {
        while (!stretch.links.empty()) {
            const Result<void> outcome = readChain(bench, stretch, task);
            if (outcome)
                return {};
            const Error& error = outcome.error();
            std::vector<PlanLink>& links = stretch.plan.links;
            const std::size_t broken = linkOf(m_run, links, error);
            const bool isOfOthers = error.code == Code::Rewritten && indexOf(*stretch.links.rbegin()->second) != m_last;
            if (!(speaksOfAnObject(error.code) || isOfOthers) || broken == links.size())
                return fail(error);
            const std::size_t base = stretch.plan.fromExternalBase ? 1 : 0;
            giveUp(stretch, base + broken, reasonOf(error));
            links.erase(links.begin() + static_cast<std::ptrdiff_t>(broken), links.end());
        }
        return {};
    }

    Result<void> readChain(Workbench& bench, Stretch& stretch, TaskContext& task)
    {
        DS_TRY(const PathPtr path, openChecked(bench, m_run, stretch.plan, m_acceptRewritten, task));
        std::vector<std::size_t> links;
        for (const auto& [link, version] : stretch.links)
            links.push_back(link);
        if (path->onExternalBase())
            links.push_back(0);
        const TensorInfo* tensor = path->find(m_tensor.name);
        if (!tensor || tensor->dtype != m_tensor.dtype || tensor->shape != m_tensor.shape) {
            giveUp(stretch, 0, tensor ? OtherForm : "there is no such tensor");
            return {};
        }
        task.beginPhase(fmt::format("read up to step {}", path->links().back()->objects.step), tensor->bytes());
        DS_TRY(const auto marks, ifSound(marksBehind(bench, *path, links, m_tensor.name, task), { path.get() }, task));
        addReads(m_reads, *path);
        if (const auto base = marks.find(0); path->onExternalBase() && base != marks.end())
            m_base = base->second;
        for (const auto& [link, version] : stretch.links) {
            const auto mark = marks.find(link);
            if (mark == marks.end())
                m_why[indexOf(*version)] = OtherForm;
            else
                m_marks[indexOf(*version)] = mark->second;
        }
        return {};
    }

    /// The steps from a link of a stretch on cannot be read.
    void giveUp(Stretch& stretch, std::size_t from, const std::string& why)
    {
        for (auto link = stretch.links.lower_bound(from); link != stretch.links.end();) {
            m_why[indexOf(*link->second)] = why;
            link = stretch.links.erase(link);
        }
    }

    struct First {
        std::optional<std::size_t> at; ///< index of the version
        bool certain = true; ///< as in FirstView
    };
    FirstView viewOf(const First& first) const
    {
        return { first.at ? std::optional(version(*first.at).step()) : std::nullopt, first.certain };
    }

    /// The step behind which nothing has to be read any more.
    std::optional<std::size_t> answeredAt() const
    {
        const First changed = firstChanged();
        const std::optional<First> nan = firstNan();
        if (m_marks.empty() || !changed.at || (nan && !nan->at))
            return std::nullopt;
        const std::size_t last = std::max(*changed.at, nan ? *nan->at : 0);
        const bool open = !m_pending.empty() && *m_pending.begin() < last;
        return open ? std::nullopt : std::optional(last);
    }

    /// Whether a number between a step and the one before it belongs to no object.
    bool isBehindGap(std::size_t at) const
    {
        return std::any_of(m_run.gaps.begin(), m_run.gaps.end(), [&](const Gap& gap) {
            return gap.epoch == version(at).epoch && gap.last + 1 == version(at).step();
        });
    }

    /// Asks each step in turn, with the one that was read before it.
    template <class Is> First firstThat(const Is& is) const
    {
        First first;
        const TensorMark* before = m_base ? &*m_base : nullptr;
        for (std::size_t at = m_first; at <= m_last; ++at) {
            if (isBehindGap(at))
                first.certain = false;
            const auto mark = m_marks.find(at);
            if (mark == m_marks.end()) {
                first.certain = false;
                continue;
            }
            if (is(before, mark->second)) {
                first.at = at;
                return first;
            }
            before = &mark->second;
        }
        return first;
    }
    First firstChanged() const
    {
        return firstThat(
            [](const TensorMark* before, const TensorMark& mark) { return before && before->digest != mark.digest; });
    }
    std::optional<First> firstNan() const
    {
        if (m_marks.empty() || !m_marks.begin()->second.nan)
            return std::nullopt;
        return firstThat([](const TensorMark*, const TensorMark& mark) { return mark.nan.value_or(0) > 0; });
    }

    /// Up to the last step that was read, or had to be.
    std::vector<UnreadStepsView> unread() const
    {
        const std::size_t end = answeredAt().value_or(m_last);
        const Planner planner(m_run);
        std::vector<UnreadStepsView> list;
        for (std::size_t at = m_first; at <= end; ++at) {
            for (const Gap& gap : m_run.gaps) {
                if (gap.epoch == version(at).epoch && gap.last + 1 == version(at).step())
                    addUnreadStep(list, gap.first, gap.last, "no object has this number");
            }
            if (m_marks.contains(at))
                continue;
            const auto why = m_why.find(at);
            const Result<Plan> plan = planner.planFor(version(at));
            addUnreadStep(list, version(at).step(), version(at).step(),
                          why != m_why.end() ? why->second
                              : plan         ? std::string("it was not read")
                                             : plan.error().text);
        }
        return list;
    }

    const Run& m_run;
    bool m_acceptRewritten;
    std::size_t m_first = 0;
    std::size_t m_last;
    TensorInfo m_tensor;
    std::optional<TensorMark> m_base;
    std::map<std::size_t, TensorMark> m_marks; ///< by index of the version
    std::map<std::size_t, std::string> m_why; ///< of those that could not be read
    std::set<std::size_t> m_pending; ///< those that are still to be read
    ReadsView m_reads; ///< of the chains that were read
};

}

Result<TensorFirstsView> tensorFirstsOf(Workbench& bench, const TensorRequest& request, TaskContext& task)
{
    DS_TRY(const StatePair pair, planPair(bench, request, task));
    DS_TRY(const PathPtr path, openChecked(bench, pair.run, pair.plan, pair.acceptRewritten, task));
    DS_TRY(const TensorInfo* tensor, tensorIn(*path, request.tensor));
    Search search(pair, static_cast<std::size_t>(pair.version - pair.run.versions.data()), *tensor);
    DS_CHECK(search.read(bench, task));
    return search.view();
}

} // namespace deltascope::app
