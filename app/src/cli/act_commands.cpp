#include "act_commands.h"

#include "act_confirmation.h"
#include "exit_codes.h"
#include "job_console.h"
#include "text.h"

#include "deltascope/app/command_line.h"
#include "deltascope/app/view/json.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

namespace deltascope::cli {

namespace {

constexpr std::array<std::string_view, 9> ActCommands { "rollback", "undo", "branch", "ref",    "pin",
                                                        "unpin",    "note", "refs",   "journal" };

/// One of the commands with its options.
class ActCommand {
public:
    ActCommand(app::Service& service, const std::string& command, const Options& options, const Style& style)
        : m_service(service)
        , m_command(command)
        , m_options(options)
        , m_style(style)
    {
    }

    Result<int> run()
    {
        if (m_command == "rollback" || m_command == "undo")
            return rollBack();
        if (m_command == "branch")
            return branch();
        return m_command == "refs" || m_command == "journal" ? list() : annotate();
    }

private:
    template <class View, class Start> Result<std::shared_ptr<const View>> job(const Start& start) const
    {
        return runJob<View>(m_service, m_style, start);
    }

    template <class View> void print(const View& view, const std::string& text) const
    {
        writeOut(m_options.json ? app::toJson(view) + "\n" : text);
    }

    Result<int> list() const
    {
        DS_CHECK(m_options.expectWholeRun(m_command));
        DS_TRY(const auto view,
               job<app::AnnotationsView>([&](app::Service& s) { return s.annotations(m_options.sourceRequest()); }));
        print(*view, m_command == "journal" ? journalText(*view, m_style) : refsText(*view, m_style));
        return Success;
    }

    Result<int> annotate() const
    {
        app::AnnotateRequest request;
        request.kind = m_command == "ref" ? app::AnnotateRequest::Kind::Ref
            : m_command == "note"         ? app::AnnotateRequest::Kind::Note
                                          : app::AnnotateRequest::Kind::Pin;
        request.version = m_options.versionRequest(m_options.source);
        request.name = m_options.name;
        request.text = m_options.text;
        request.remove = m_options.remove || m_command == "unpin";
        if (request.remove)
            DS_CHECK(m_options.expectWholeRun(m_command));
        DS_TRY(const auto view, job<app::AnnotatedView>([&](app::Service& s) { return s.annotate(request); }));
        print(*view, annotatedText(*view));
        return Success;
    }

    Result<int> rollBack() const
    {
        app::RollBackRequest request;
        request.version = m_options.versionRequest(m_options.source);
        request.undo = m_command == "undo";
        if (request.undo)
            DS_CHECK(m_options.expectWholeRun(m_command));
        const auto start = [&](app::Service& s) { return s.rollBack(request); };
        return planned<app::RollBackView>(request, start, rollBackText, "");
    }

    Result<int> branch() const
    {
        app::BranchRequest request;
        request.version = m_options.versionRequest(m_options.source);
        request.into = m_options.into;
        request.soleWriter = m_options.soleWriter;
        const auto start = [&](app::Service& s) { return s.branch(request); };
        return planned<app::BranchView>(request, start, branchText, " --into " + app::quotedPath(m_options.into));
    }

    /// Makes a plan and shows it, or carries it out if the user means that. `more`: options of the command line that
    /// does it.
    template <class View, class Request, class Start>
    Result<int> planned(Request& request, const Start& start,
                        std::string (*textOf)(const View&, const std::string&, const Style&),
                        const std::string& more) const
    {
        DS_TRY(const auto plan, job<View>(start));
        DS_TRY(const bool isMeant, confirmAct(m_options, plan->run, plan->plan.hash));
        if (!m_options.planFile.empty())
            DS_CHECK(writePlan(m_options.planFile, app::toJson(*plan)));
        if (!isMeant) {
            const std::string doIt =
                fmt::format("deltascope {} {}{} --yes", m_command, app::quotedPath(m_options.source), more);
            print(*plan, textOf(*plan, m_options.dryRun ? "" : doIt, m_style));
            return Success;
        }
        request.planHash = plan->plan.hash;
        DS_TRY(const auto done, job<View>(start));
        print(*done, textOf(*done, "", m_style));
        return Success;
    }

    app::Service& m_service;
    const std::string& m_command;
    const Options& m_options;
    const Style& m_style;
};

}

bool isActCommand(const std::string& command)
{
    return std::find(ActCommands.begin(), ActCommands.end(), command) != ActCommands.end();
}

Result<int> runAct(app::Service& service, const std::string& command, const Options& options, const Style& style)
{
    return ActCommand(service, command, options, style).run();
}

} // namespace deltascope::cli
