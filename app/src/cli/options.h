#pragma once

#include "serving.h"

#include "deltascope/app/service.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace deltascope::cli {

/// Everything that the command line can say. Filled by CLI11, read by the commands.
struct Options {
    bool json = false;
    bool quiet = false;
    bool plain = false;
    bool noInput = false;
    std::string color = "auto";
    unsigned threads = 0;
    std::string backend; ///< of Settings::backend; empty: as the environment says
    std::string deviceMemory; ///< a size; empty: Settings::deviceMemory is not given

    std::string source;
    std::string other;
    std::string tensor;
    std::vector<std::string> tensors; ///< globs
    std::string digests; ///< of digest: a document of digests to compare with
    std::string mapPrefix; ///< of diff and publish: "A=B"
    std::string against;
    std::string history; ///< a number of steps, or "all"
    bool costOnly = false;
    std::string base;
    std::string layout;
    std::string epochs = "auto";
    std::vector<std::string> mirrors;
    std::size_t searchDepth = DefaultSearchDepth;
    std::vector<std::string> logs;
    std::optional<std::uint32_t> compare; ///< of log: how many plain checkpoints
    bool headersOnly = false;
    bool all = false;
    bool exitCode = false;
    bool acrossGap = false;
    bool forTraining = false;
    std::string state;
    int level = 2;
    bool acceptRewritten = false;
    bool strict = false;
    std::string destination;
    std::string shardSize;
    std::string shard;
    std::string readBack = "cache";
    bool commit = false;
    std::string into;
    std::string encoding;
    std::string checksum;
    std::string watchFolder;
    std::string marker;
    double quietSeconds = 5;
    double settleSeconds = 600;
    bool once = false;
    std::optional<std::uint32_t> anchorEvery;
    bool anchorWhenCheaper = false;
    double restoresPerAnchor = 1;
    bool newEpoch = false;
    bool allowSuspect = false;
    bool soleWriter = false;
    std::string limitRate;
    double rate = 1;
    std::uint64_t seed = 1;
    double seconds = 0;
    std::map<std::string, std::string, std::less<>> actTexts; ///< of acts: fields by name, but for the step and flags
    std::map<std::string, bool, std::less<>> actFlags;
    bool dryRun = false; ///< of acts
    bool yes = false; ///< of acts: do it without asking
    std::string confirm; ///< of acts: the run's name, instead of `yes`
    std::string planFile; ///< of acts: where the plan is written
    std::string applyFile; ///< of acts: the plan that is carried out
    bool clean = false; ///< of doctor
    std::string shell;
    std::string page; ///< of gui
    app::CostRequest cost;
    bool serve = false; ///< of demo
    ServeOptions served;

    app::SourceRequest sourceRequest() const
    {
        return { source, base, layout, logs, epochs, { mirrors.begin(), mirrors.end() }, searchDepth };
    }
    /// Errors: Usage, if `source` names a step where `command` takes a whole run.
    Result<void> expectWholeRun(const std::string& command) const;
    /// Errors: Usage, if options of `command` do not go together.
    Result<void> expectFit(std::string_view command) const;
    /// Whether an act is planned or carried out by its plan.
    bool isPlanned() const { return dryRun || !planFile.empty() || !applyFile.empty(); }
    app::Depth depth() const { return headersOnly ? app::Depth::Headers : app::Depth::Replayed; }
    app::VersionRequest versionRequest(const std::string& address) const
    {
        app::VersionRequest request = app::VersionRequest::parse(address);
        const Address split = request.source.source;
        request.source = sourceRequest();
        request.source.source = split;
        request.acceptRewritten = acceptRewritten;
        return request;
    }
};

/// Declares every command and option of the program; parsing fills `options`, which must outlive `program`.
void describe(CLI::App& program, Options& options);

/// The words that an option ("layout") of a command takes; empty for one that takes any text.
std::vector<std::string> valuesOf(std::string_view command, std::string_view option);

/// Whether a checkpoint is named by its folder, as --base takes it, and not by a step or a file.
bool namesFolder(const std::string& checkpoint);

} // namespace deltascope::cli
