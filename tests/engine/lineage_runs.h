#pragma once

#include "deltascope/engine/lineage.h"

#include "run_steps.h"
#include "support/memory_store.h"
#include "support/times.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

// Runs as names, headers and facts tell of them, for tests of lineage: no object is ever read.

namespace deltascope::lineage_test {

using layout_test::obstructed;
using layout_test::step;
using layout_test::Steps;
using test::Begin;
using test::LongAfter;
using test::Second;

struct LayoutTraits {
    bool standAlone = false;
    bool needsExternalBase = false;
};

/// A layout that only says what kind of layout it is.
class NamedLayout final : public Layout {
public:
    explicit NamedLayout(LayoutTraits traits)
        : m_traits(traits)
    {
    }
    std::string_view word() const noexcept override { return "test"; }
    Result<bool> recognizes(const ObjectStore&, const std::vector<ObjectInfo>&, TaskContext&) const override
    {
        return true;
    }
    std::vector<VersionObjects> group(const std::vector<ObjectInfo>&) const override { return {}; }
    Result<VersionIndex> index(const ObjectStore&, const VersionObjects&, TaskContext&) const override
    {
        return fail(Code::Internal, "lineage must not read");
    }
    Result<std::unique_ptr<PatchStream>> open(const ObjectStore&, const VersionObjects&, const VersionIndex&,
                                              const TensorEntry&, const TensorInfo&,
                                              const StreamOptions&) const override
    {
        return fail(Code::Internal, "lineage must not read");
    }
    bool standAlone() const noexcept override { return m_traits.standAlone; }
    bool needsExternalBase() const noexcept override { return m_traits.needsExternalBase; }
    bool anchorsMayBePartial() const noexcept override { return !m_traits.standAlone && !m_traits.needsExternalBase; }
    bool mayCompareLowBytes() const noexcept override { return true; }

private:
    LayoutTraits m_traits;
};

/// Versions of a run as a reader of headers reports them.
class RunOf {
public:
    explicit RunOf(LayoutTraits traits = {})
        : m_layout(std::make_shared<NamedLayout>(traits))
    {
    }

    RunOf& anchor(std::int64_t step, std::uint32_t tensors = 4)
    {
        VersionSummary summary;
        summary.full = true;
        summary.tensors = tensors;
        summary.storedElements = tensors * 100ULL;
        summary.countsKnown = true;
        return add(step, summary);
    }
    RunOf& delta(std::int64_t step, std::uint32_t tensors = 2) { return add(step, deltaSummary(tensors)); }
    RunOf& deltas(std::int64_t first, std::int64_t last)
    {
        for (std::int64_t step = first; step <= last; ++step)
            delta(step);
        return *this;
    }
    /// A delta that says what it builds on and has digests.
    RunOf& deltaOn(std::int64_t step, std::int64_t base, std::uint32_t tensors = 2)
    {
        VersionSummary summary = deltaSummary(tensors);
        summary.declaredBase = base;
        summary.digests = DigestAlgorithm::Xxh3_128;
        return add(step, summary);
    }
    RunOf& unreadable(std::int64_t step, Code code)
    {
        m_versions.push_back(IndexedObjects { objects(step), {}, Error { code, "the header is bad", {}, {}, {} }, {} });
        return *this;
    }
    /// Another form of the version added last, which lacks something.
    RunOf& unreadableForm()
    {
        IndexedObjects& version = m_versions.back();
        version.objects.otherForms.push_back(objects(version.objects.step));
        version.otherForms.emplace_back().failure = Error { Code::Unfinished, "it lacks a file", {}, {}, {} };
        return *this;
    }
    /// Of the version added last.
    RunOf& at(std::int64_t us)
    {
        m_versions.back().objects.objects[0].modifiedUs = us;
        return *this;
    }
    RunOf& seenAt(std::int64_t us)
    {
        m_versions.back().seenUs = us;
        return *this;
    }
    RunOf& halfWritten()
    {
        m_versions.back().objects.objects[0].hasUnwrittenPart = true;
        return *this;
    }
    RunOf& withBase()
    {
        ExternalBase base;
        base.store = std::make_shared<test::MemoryStore>();
        base.layout = m_layout;
        base.objects = objects(0);
        base.summary.storedElements = 400;
        m_base = base;
        return *this;
    }

    Run build(std::int64_t nowUs = LongAfter) const
    {
        return buildLineage(std::make_shared<test::MemoryStore>(), m_layout, m_base, m_versions, nowUs);
    }

private:
    static VersionSummary deltaSummary(std::uint32_t tensors)
    {
        VersionSummary summary;
        summary.encoding = "raw";
        summary.tensors = tensors;
        summary.storedElements = 10;
        summary.countsKnown = true;
        return summary;
    }
    static VersionObjects objects(std::int64_t step)
    {
        VersionObjects version;
        version.step = step;
        version.name = fmt::format("step_{}", step);
        version.objects = { ObjectInfo {
            version.name, 100, fmt::format("id{}", step), Begin + step * Second, false, {} } };
        return version;
    }
    RunOf& add(std::int64_t step, VersionSummary summary)
    {
        m_versions.push_back(IndexedObjects { objects(step), std::move(summary), {}, {} });
        return *this;
    }

    std::shared_ptr<const Layout> m_layout;
    std::optional<ExternalBase> m_base;
    std::vector<IndexedObjects> m_versions;
};

inline Version& step(Run& run, std::int64_t number)
{
    return const_cast<Version&>(step(static_cast<const Run&>(run), number));
}

inline VersionFacts factsOf(std::uint64_t assigned, std::uint64_t noops = 0)
{
    VersionFacts facts;
    facts.assigned = assigned;
    facts.noops = noops;
    facts.changedElements = assigned - noops;
    return facts;
}

inline Steps stepsOf(const Run& run, const Plan& plan)
{
    std::vector<std::int64_t> steps;
    for (const PlanLink& link : plan.links)
        steps.push_back(run.versions[link.version].step());
    return steps;
}

inline std::size_t count(const std::vector<Error>& problems, Code code)
{
    return static_cast<std::size_t>(
        std::count_if(problems.begin(), problems.end(), [&](const Error& problem) { return problem.code == code; }));
}

inline const Error& problem(const std::vector<Error>& problems, Code code)
{
    static const Error None;
    const auto at =
        std::find_if(problems.begin(), problems.end(), [&](const Error& error) { return error.code == code; });
    EXPECT_NE(at, problems.end()) << "no " << word(code);
    return at == problems.end() ? None : *at;
}

} // namespace deltascope::lineage_test
