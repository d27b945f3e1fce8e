#include "commands.h"

#include "act_commands.h"
#include "act_confirmation.h"
#include "bundle/bundle.h"
#include "bundle_text.h"
#include "exit_codes.h"
#include "gui.h"
#include "job_console.h"
#include "json_output.h"
#include "leftovers_text.h"
#include "live_text.h"
#include "numbers.h"
#include "serving.h"
#include "text.h"

#include "deltascope/app/command_line.h"
#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"
#include "deltascope/base/bytes.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>

namespace deltascope::cli {

namespace {

/// Runs one command against the service and prints what comes of it.
class Commands {
public:
    Commands(const Options& options, Style style, std::vector<CommandWords> words)
        : m_options(options)
        , m_style(style)
        , m_words(std::move(words))
    {
    }

    int run(const std::string& command)
    {
        if (command == "completion")
            return completion();
        if (command == "leftovers") {
            const Result<int> status = leftovers();
            return status ? *status : report(status.error(), m_options.json);
        }
        if (command == "gui")
            return report(becomeGui(m_options).error(), m_options.json);
        const auto began = std::chrono::steady_clock::now();
        Result<app::Settings> settings = settingsFor(command);
        if (!settings)
            return report(settings.error(), m_options.json);
        Result<std::unique_ptr<app::Service>> service = app::Service::create(*settings);
        m_service = service ? service->get() : nullptr;
        const Result<int> status = service ? dispatch(command, **service) : fail(std::move(service.error()));
        if (service && !m_options.quiet) {
            const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
            writeErr(metersText(service->get()->meters()));
            if (command != "serve") // which has no end that a rate could be of
                writeErr(deviceText(service->get()->deviceShare(), took.count()));
        }
        if (service) // also where everything else is quiet: who asked for a device learns that it was not used
            writeErr(backendNoticesText(service->get()->backendNotices()));
        return status ? *status : report(status.error(), m_options.json);
    }

private:
    Result<app::Settings> settingsFor(const std::string& command) const
    {
        app::Settings settings = app::Settings::fromEnvironment();
        settings.threads = m_options.threads;
        if (!m_options.backend.empty())
            settings.backend = m_options.backend;
        if (!m_options.limitRate.empty()) {
            DS_TRY(settings.bytesPerSecond, parseSize(m_options.limitRate));
        }
        if (!m_options.deviceMemory.empty()) {
            if (settings.backend != "cuda")
                return fail(Code::Usage, "--device-memory does nothing without --backend cuda");
            DS_TRY(settings.deviceMemory, parseSize(m_options.deviceMemory));
        }
        if (command == "serve" || command == "export" || m_options.serve)
            settings.jobsAtOnce = 4; // following a run must not hold up what is asked about it
        return settings;
    }

    Result<int> dispatch(const std::string& command, app::Service& service)
    {
        // Of those that use one only now and then, each refuses what this machine cannot run. doctor says why it
        // cannot.
        if (command != "doctor")
            DS_CHECK(service.backend());
        if (command == "log")
            return log(service);
        if (command == "show")
            return show(service);
        if (command == "ls")
            return list(service);
        if (command == "verify")
            return verify(service);
        if (command == "materialize")
            return materialize(service);
        if (command == "diff")
            return diff(service);
        if (command == "stats")
            return statistics(service);
        if (command == "publish")
            return publish(service);
        if (command == "demo")
            return demo(service);
        if (command == "digest")
            return digest(service);
        if (command == "cost")
            return cost(service);
        if (command == "watch")
            return watch(service);
        if (command == "serve")
            return serveRuns(service);
        if (command == "export")
            return exportRun(service);
        if (isActCommand(command))
            return runAct(service, command, m_options, m_style);
        return doctor(service);
    }

    template <class View> void print(const View& view, const std::function<std::string(const View&)>& text) const
    {
        if (!m_options.json) {
            writeOut(text(view));
        } else {
            printJson(view, m_service ? backendKeys(*m_service) : std::string());
        }
    }

    void suggest(const std::string& command) const
    {
        if (!m_options.json && !m_options.quiet)
            writeErr("next: " + safe(command) + "\n");
    }

    /// The folder that the destination lies in.
    std::string parentWord() const
    {
        const std::size_t end = m_options.destination.find_last_not_of('/');
        const std::size_t slash = m_options.destination.rfind('/', end);
        return slash == std::string::npos
            ? "."
            : app::quotedPath(m_options.destination.substr(0, std::max<std::size_t>(slash, 1)));
    }

    std::string baseWords() const { return m_options.base.empty() ? "" : " --base " + app::quotedPath(m_options.base); }
    std::string depthWords() const
    {
        return m_options.searchDepth == DefaultSearchDepth ? "" : fmt::format(" --depth {}", m_options.searchDepth);
    }

    Result<int> log(app::Service& service)
    {
        DS_CHECK(m_options.expectWholeRun("log"));
        const app::LogRequest request { m_options.sourceRequest(), m_options.depth(), m_options.tensors,
                                        m_options.compare };
        DS_TRY(const auto view,
               runJob<app::LogView>(service, m_style, [&](app::Service& s) { return s.log(request); }));
        constexpr std::size_t ScreenSteps = 60;
        const std::size_t limit = m_options.all || !m_style.progress ? 0 : ScreenSteps;
        print<app::LogView>(*view,
                            [&](const app::LogView& log) { return logText(log, m_style, limit, m_options.all); });
        if (view->run.latest)
            suggest(fmt::format("deltascope materialize {} -o DIR{}",
                                app::quotedPath(fmt::format("{}@{}", m_options.source, *view->run.latest)),
                                baseWords() + depthWords()));
        return Success;
    }

    Result<int> show(app::Service& service)
    {
        DS_TRY(const auto view, runJob<app::StepDetailView>(service, m_style, [&](app::Service& s) {
                   return s.showStep(m_options.versionRequest(m_options.source), m_options.depth());
               }));
        print<app::StepDetailView>(*view, [&](const app::StepDetailView& step) { return stepText(step, m_style); });
        return Success;
    }

    Result<int> list(app::Service& service)
    {
        DS_CHECK(m_options.expectWholeRun("ls"));
        DS_TRY(const auto view, runJob<app::ListingView>(service, m_style, [&](app::Service& s) {
                   return s.listObjects(m_options.sourceRequest());
               }));
        print<app::ListingView>(*view, [&](const app::ListingView& listing) { return listingText(listing, m_style); });
        return Success;
    }

    Result<std::shared_ptr<const app::VerifyView>> verified(app::Service& service, app::SourceRequest source,
                                                            std::string range)
    {
        const app::VerifyRequest request { std::move(source), std::move(range), m_options.level,
                                           m_options.acceptRewritten };
        return runJob<app::VerifyView>(service, m_style, [&](app::Service& s) { return s.verify(request); });
    }

    /// Each run below the source, the one that is shown first.
    Result<int> verifyEach(app::Service& service)
    {
        DS_CHECK(m_options.expectWholeRun("verify --all"));
        const app::SourceRequest whole = m_options.sourceRequest();
        DS_TRY(const auto run, runJob<app::RunView>(service, m_style, [&](app::Service& s) {
                   return s.openRun(whole, app::Depth::Headers);
               }));
        std::vector<app::SourceRequest> sources;
        for (const app::RunPlaceView& place : run->runs) {
            if (place.isFolder || place.shown)
                sources.push_back(place.isFolder ? whole.below(place.place) : whole);
        }
        if (sources.empty())
            sources.push_back(whole);
        Exit worst = Success;
        std::string documents;
        for (const app::SourceRequest& source : sources) {
            DS_TRY(const auto view, verified(service, source, {}));
            worst = worseOf(worst, exitForVerdict(*view, m_options.strict));
            if (m_options.json)
                documents += (documents.empty() ? "" : ",") + app::toJson(*view);
            else
                writeOut(paint(m_style, Paint::Bold, safe(view->source)) + "\n" + verifyText(*view, m_style)
                         + (&source == &sources.back() ? "" : "\n"));
        }
        if (m_options.json)
            writeOut("{\"runs\":[" + documents + "]}\n");
        return worst;
    }

    Result<int> verify(app::Service& service)
    {
        if (m_options.all)
            return verifyEach(service);
        const app::VersionRequest version = m_options.versionRequest(m_options.source);
        DS_TRY(const auto view, verified(service, version.source, version.version));
        print<app::VerifyView>(*view, [&](const app::VerifyView& report) { return verifyText(report, m_style); });
        return exitForVerdict(*view, m_options.strict);
    }

    Result<int> checkDigests(app::Service& service)
    {
        DS_TRY(const auto view, runJob<app::DigestCheckView>(service, m_style, [&](app::Service& s) {
                   return s.checkDigests(m_options.versionRequest(m_options.source), m_options.digests,
                                         m_options.acrossGap);
               }));
        print<app::DigestCheckView>(*view, [&](const app::DigestCheckView& check) {
            return digestCheckText(check, m_options.digests, m_style);
        });
        return view->equal ? Success : Failure;
    }

    Result<int> digest(app::Service& service)
    {
        if (!m_options.digests.empty())
            return checkDigests(service);
        const auto hashes =
            m_options.json ? TensorHashes::Xxh3AndSha256 : TensorHashes::Xxh3; // the text shows no other
        DS_TRY(const auto view, runJob<app::DigestView>(service, m_style, [&](app::Service& s) {
                   return s.digest(m_options.versionRequest(m_options.source), m_options.acrossGap, hashes);
               }));
        print<app::DigestView>(*view, [&](const app::DigestView& digest) { return digestText(digest, m_style); });
        return Success;
    }

    Result<int> diff(app::Service& service)
    {
        const app::VersionRequest a = m_options.versionRequest(m_options.source);
        const app::VersionRequest b = m_options.versionRequest(m_options.other);
        if (!m_options.mirrors.empty() && a.source.source != b.source.source)
            return fail(Code::Usage, "a mirror holds the objects of one source, and these are two",
                        b.source.source.text(), "rebuild one of the states with --mirror, and compare the checkpoint");
        const app::DiffChoice choice { m_options.tensors, m_options.mapPrefix };
        DS_TRY(const auto view,
               runJob<app::DiffView>(service, m_style, [&](app::Service& s) { return s.diff(a, b, choice); }));
        print<app::DiffView>(*view, [&](const app::DiffView& diff) { return diffText(diff, m_style); });
        return m_options.exitCode && !view->equal ? Failure : Success;
    }

    Result<int> statistics(app::Service& service)
    {
        const app::TensorRequest request { m_options.versionRequest(m_options.source), m_options.against,
                                           m_options.tensor };
        const bool all = m_options.history == "all";
        const std::uint32_t steps =
            all ? app::Service::AllSteps : static_cast<std::uint32_t>(parseNumber(m_options.history).value_or(0));
        if (m_options.costOnly) {
            DS_TRY(const auto view, runJob<app::StatisticsCostView>(service, m_style, [&](app::Service& s) {
                       return s.statisticsCost(request, steps);
                   }));
            print<app::StatisticsCostView>(*view, statisticsCostText);
        } else if (all) {
            DS_TRY(const auto view, runJob<app::TensorFirstsView>(service, m_style, [&](app::Service& s) {
                       return s.tensorFirsts(request);
                   }));
            print<app::TensorFirstsView>(
                *view, [&](const app::TensorFirstsView& firsts) { return tensorFirstsText(firsts, m_style); });
        } else if (steps > 0) {
            DS_TRY(const auto view, runJob<app::StatisticsHistoryView>(service, m_style, [&](app::Service& s) {
                       return s.statisticsHistory(request, steps);
                   }));
            print<app::StatisticsHistoryView>(*view, [&](const app::StatisticsHistoryView& history) {
                return statisticsHistoryText(history, m_style);
            });
        } else {
            DS_TRY(const auto view, runJob<app::StatisticsView>(service, m_style, [&](app::Service& s) {
                       return s.statistics(request);
                   }));
            print<app::StatisticsView>(
                *view, [&](const app::StatisticsView& values) { return statisticsText(values, m_style); });
        }
        return Success;
    }

    Result<int> materialize(app::Service& service)
    {
        DS_CHECK(m_options.expectFit("materialize"));
        app::MaterializeRequest request;
        request.version = m_options.versionRequest(m_options.source);
        request.destination = m_options.destination;
        request.readBackFromDisk = m_options.readBack == "disk";
        request.acrossGap = m_options.acrossGap;
        request.forTraining = m_options.forTraining;
        request.trained = m_options.state == "trained";
        request.commit = m_options.commit;
        if (!m_options.shardSize.empty()) {
            DS_TRY(request.shardBytes, parseSize(m_options.shardSize));
        }
        if (!m_options.shard.empty()) {
            DS_TRY(const auto part, parsePart(m_options.shard));
            request.part = part.first;
            request.parts = part.second;
        }
        Result<std::shared_ptr<const app::MaterializeView>> view =
            runJob<app::MaterializeView>(service, m_style, [&](app::Service& s) { return s.materialize(request); });
        if (!view && view.error().code == Code::Canceled) {
            view.error().text = "stopped; what is written is kept beside the destination";
            view.error().where = m_options.destination;
            view.error().action =
                fmt::format("run the same command again to go on; to give up: deltascope discard {}", parentWord());
        }
        if (!view)
            return fail(std::move(view.error()));
        print<app::MaterializeView>(
            **view, [&](const app::MaterializeView& result) { return materializeText(result, m_style); });
        if ((*view)->committed)
            suggest("deltascope digest " + app::quotedPath(m_options.destination));
        else
            suggest(fmt::format("when all parts are done: deltascope materialize {} -o {}{} --commit{}",
                                app::quotedPath(m_options.source), app::quotedPath(m_options.destination),
                                m_options.shardSize.empty() ? "" : " --shard-size " + app::quoted(m_options.shardSize),
                                baseWords() + depthWords()));
        return Success;
    }

    Result<int> publish(app::Service& service)
    {
        DS_CHECK(m_options.expectFit("publish"));
        const app::SourceRequest into {
            m_options.into, m_options.base, m_options.layout, {}, m_options.epochs, {}, m_options.searchDepth
        };
        const app::PublishArgs args { m_options.source,
                                      m_options.other,
                                      m_options.encoding,
                                      m_options.checksum,
                                      m_options.anchorEvery.value_or(app::PublishArgs().anchorEvery),
                                      m_options.anchorWhenCheaper,
                                      m_options.restoresPerAnchor,
                                      m_options.newEpoch,
                                      m_options.allowSuspect,
                                      m_options.acceptRewritten,
                                      m_options.soleWriter,
                                      m_options.mapPrefix };
        if (!m_options.watchFolder.empty())
            return publishFolder(service, app::PublishRequest(into, args));
        return m_options.isPlanned() ? publishPlanned(service, into, args) : publishBetween(service, into, args);
    }

    Result<int> publishPlanned(app::Service& service, const app::SourceRequest& into, const app::PublishArgs& args)
    {
        app::ActCall call { into, args, {}, {} };
        const auto act = [&](app::Service& s) { return s.start(call); };
        DS_TRY(const auto plan, runJob<app::PublishView>(service, m_style, act));
        if (!m_options.planFile.empty())
            DS_CHECK(writePlan(m_options.planFile, app::toJson(*plan)));
        DS_TRY(const bool isMeant, confirmAct(m_options, plan->run, app::toJson(*plan), app::ActWay::AtOnce));
        if (!isMeant) {
            std::string command = app::publishCommand(into, args);
            if (!m_options.planFile.empty())
                command += " --apply " + app::quotedPath(m_options.planFile);
            print<app::PublishView>(*plan, [&](const app::PublishView& result) {
                return plannedPublicationText(result, m_options.dryRun ? std::string() : command, m_style);
            });
            return Success;
        }
        call.planHash = plan->plan.hash;
        DS_TRY(const auto done, runJob<app::PublishView>(service, m_style, act));
        return tellPublished(*done);
    }

    Result<int> publishBetween(app::Service& service, const app::SourceRequest& into, const app::PublishArgs& args)
    {
        const app::PublishRequest request(into, args);
        DS_TRY(const auto view,
               runJob<app::PublishView>(service, m_style, [&](app::Service& s) { return s.publish(request); }));
        return tellPublished(*view);
    }

    Result<int> tellPublished(const app::PublishView& view)
    {
        print<app::PublishView>(view, [&](const app::PublishView& result) { return publishText(result, m_style); });
        std::string base = baseWords();
        if (base.empty() && m_options.layout == "slime-v2") // the run stands on what it was published from
            base = " --base " + (namesFolder(m_options.source) ? app::quotedPath(m_options.source) : "DIR");
        suggest("deltascope log " + app::quotedPath(m_options.into) + base);
        return Success;
    }

    Result<int> publishFolder(app::Service& service, app::PublishRequest request)
    {
        request.watchFolder = m_options.watchFolder;
        request.marker = m_options.marker;
        request.quietSeconds = m_options.quietSeconds;
        request.settleSeconds = m_options.settleSeconds;
        request.once = m_options.once;
        PublicationPrinter printer(m_style, m_options.json);
        DS_CHECK(untilStopped(service, { {}, [&](const app::PublishView& view) { printer.show(view); } },
                              [&] { return service.publish(request); }));
        return Success;
    }

    Result<int> cost(app::Service& service)
    {
        DS_CHECK(m_options.expectWholeRun("cost"));
        app::CostRequest request = m_options.cost;
        request.source = m_options.sourceRequest();
        request.depth = m_options.depth();
        DS_TRY(const auto view,
               runJob<app::CostView>(service, m_style, [&](app::Service& s) { return s.cost(request); }));
        print<app::CostView>(*view, [&](const app::CostView& cost) { return costText(cost, m_style); });
        return Success;
    }

    Result<int> watch(app::Service& service)
    {
        DS_CHECK(m_options.expectWholeRun("watch"));
        RunPrinter printer(m_style, m_options.json);
        DS_CHECK(untilStopped(service, { [&](const app::RunView& run) { printer.show(run); }, {} },
                              [&] { return service.watch(m_options.sourceRequest(), m_options.depth()); }));
        return Success;
    }

    /// Runs a job that goes on until the user ends it; that is no failure.
    Result<void> untilStopped(app::Service& service, const JobListeners& listeners,
                              const std::function<app::JobId()>& start)
    {
        const std::unique_ptr<app::EventFeed> feed = service.subscribe({});
        Style steady = m_style; // its lines are the progress
        steady.quiet = true;
        const Result<app::JobResult> outcome = waitForJob(service, *feed, start(), steady, listeners);
        if (!outcome && outcome.error().code != Code::Canceled)
            return fail(outcome.error());
        return {};
    }

    Result<int> demo(app::Service& service)
    {
        const app::DemoRequest request { m_options.destination, m_options.rate, m_options.seed,
                                         m_options.seconds,     m_options.into, m_options.soleWriter };
        DS_TRY(const app::DemoView demo, service.prepareDemo(request));
        if (!m_options.quiet) {
            writeErr(fmt::format("a small model trains and is published into {}\n", safe(demo.bucket)));
            writeErr("in another terminal: deltascope log " + safe(app::quotedPath(demo.bucket)) + "\n");
        }
        if (m_options.serve)
            return serveDemo(service, request, demo);
        RunPrinter printer(m_style, m_options.json);
        service.watch({ demo.bucket, {}, {}, {} }, app::Depth::Replayed);
        DS_CHECK(untilStopped(service, { [&](const app::RunView& run) { printer.show(run); }, {} },
                              [&] { return service.demo(request); }));
        return Success;
    }

    /// Acts work for real on what the demo made.
    Result<int> serveDemo(app::Service& service, const app::DemoRequest& request, const app::DemoView& demo)
    {
        ServeOptions served = m_options.served;
        served.allowActs = true;
        served.verifyLevel = 3; // its publisher records what can be compared, and it is small
        if (served.output == ServeOptions().output)
            served.output = demo.folder + "/checkpoints";
        DS_CHECK(serve(service, served, { { { demo.bucket, {}, {}, {} }, "demo", true } }, m_style,
                       [&] { return untilStopped(service, {}, [&] { return service.demo(request); }); }));
        return Success;
    }

    Result<int> serveRuns(app::Service& service)
    {
        std::vector<ServedRun> runs;
        for (const std::string& source : m_options.served.sources) {
            app::SourceRequest request = m_options.sourceRequest();
            request.source = source;
            runs.push_back({ std::move(request), {}, false });
        }
        DS_CHECK(serve(service, m_options.served, runs, m_style, [] {
            waitForInterrupt();
            return Result<void>();
        }));
        return Success;
    }

    /// Opening comes first, because it shows its progress and can be stopped.
    Result<int> exportRun(app::Service& service)
    {
        DS_CHECK(m_options.expectWholeRun("export"));
        DS_CHECK(bundle::expectPlace(m_options.destination));
        DS_CHECK(runJob<app::RunView>(service, m_style, [&](app::Service& s) {
            return s.openRun(m_options.sourceRequest(), app::Depth::Replayed);
        }));
        DS_TRY(const bundle::BundleView view,
               bundle::exportBundle(service, m_options.sourceRequest(), m_options.destination, interrupted));
        writeOut(m_options.json ? bundle::toJson(view) + "\n" : bundleText(view));
        suggest(fmt::format("deltascope-desktop {0}, or unzip -d DIR {0} and open DIR/web/index.html",
                            app::quotedPath(view.path)));
        return Success;
    }

    Result<int> doctor(app::Service& service)
    {
        std::optional<app::SourceRequest> source;
        if (!m_options.source.empty())
            source = m_options.sourceRequest();
        DS_TRY(const auto view, runJob<app::DoctorView>(service, m_style, [&](app::Service& s) {
                   return s.doctor(source, m_options.clean);
               }));
        print<app::DoctorView>(*view, [&](const app::DoctorView& report) { return doctorText(report, m_style); });
        return view->ok ? Success : Failure;
    }

    Result<int> leftovers() const
    {
        DS_TRY(const app::LeftoversView view, app::listLeftovers(m_options.source));
        print<app::LeftoversView>(view, [&](const app::LeftoversView& list) { return leftoversText(list, m_style); });
        return Success;
    }

    int completion() const
    {
        const std::optional<std::string> script = completionScript(m_options.shell, m_words);
        if (!script)
            return report(Error { Code::Usage, "there are completions for bash, zsh and fish", {}, {}, {} },
                          m_options.json);
        writeOut(*script);
        return Success;
    }

    const Options& m_options;
    Style m_style;
    std::vector<CommandWords> m_words;
    const app::Service* m_service = nullptr; ///< of the command, where it needs one
};

}

int report(const Error& error, bool json)
{
    const app::ProblemView problem = app::problemView(error);
    if (json)
        writeOut(app::errorToJson(problem) + "\n");
    writeErr("deltascope: " + problem.code + ": ");
    if (!problem.where.empty())
        writeErr(safe(problem.where) + ": ");
    if (!namesStep(problem))
        writeErr(fmt::format("step {}: ", *problem.step));
    writeErr(safe(problem.text) + "\n");
    if (!problem.remedy.empty())
        writeErr("  → " + safe(problem.remedy) + "\n");
    return exitFor(problem.code);
}

int runCommand(const std::string& command, const Options& options, const Style& style, std::vector<CommandWords> words)
{
    return Commands(options, style, std::move(words)).run(command);
}

} // namespace deltascope::cli
