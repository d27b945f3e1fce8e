#include "examples.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <map>

namespace deltascope::cli {

namespace {

constexpr std::size_t WidestBesideMeaning = 56;

using ExamplesByCommand = std::map<std::string_view, std::vector<Example>, std::less<>>;

const ExamplesByCommand Examples {
    { "log",
      { { "deltascope log /runs/wordle", "what each step is, changed and costs" },
        { "deltascope log s3://acme/wordle --headers-only", "the same of a bucket, without reading weights" },
        { "deltascope log /runs/wordle 'lm_head*'", "what each step changed in some tensors" },
        { "deltascope log checkpoints --compare 3", "how the newest plain checkpoints differ from those before" } } },
    { "show", { { "deltascope show /runs/wordle@15", "step 15, tensor by tensor" } } },
    { "ls", { { "deltascope ls hf://buckets/acme/wordle", "the objects of a bucket and their steps" } } },
    { "verify",
      { { "deltascope verify /runs/wordle", "read all bytes of the run" },
        { "deltascope verify /runs/wordle@3..9 --level 4", "replay these steps, with anchors and roots" } } },
    { "materialize",
      { { "deltascope materialize /runs/wordle@15 -o wordle-15", "the full checkpoint of step 15" },
        { "deltascope materialize /runs/wordle@latest~3 -o before", "the third step before the newest" } } },
    { "diff",
      { { "deltascope diff /runs/wordle@12 /runs/wordle@15", "where two steps differ" },
        { "deltascope diff /runs/wordle@15 wordle-15", "a step against a checkpoint folder" },
        { "deltascope diff /runs/wordle@12 /runs/wordle@15 'model.layers.3.*'",
          "of one layer alone, which reads less" } } },
    { "stats",
      { { "deltascope stats /runs/wordle@15 model.norm.weight", "the values of a tensor, and how far they moved" },
        { "deltascope stats /runs/wordle@15 model.norm.weight --history 20", "its values at the last 20 steps" },
        { "deltascope stats /runs/wordle@15 model.norm.weight --history all",
          "since when it changed, or holds NaN" } } },
    { "digest", { { "deltascope digest /runs/wordle@15 --json", "hashes of every tensor, for another tool" } } },
    { "publish",
      { { "deltascope publish --layout trl-v2 --into /runs/new --from base --to step-1", "the first step of a run" },
        { "deltascope publish --layout trl-v2 --into s3://acme/new --watch out",
          "every checkpoint that a trainer drops into out" } } },
    { "watch", { { "deltascope watch /runs/wordle", "a line for every step as it is published" } } },
    { "cost", { { "deltascope cost /runs/wordle --price-per-gb 0.05", "bytes and money for each step and day" } } },
    { "demo",
      { { "deltascope demo --serve", "a small run with a few incidents, in the browser" },
        { "deltascope demo --for 60", "the same in the terminal, for a minute" } } },
    { "serve",
      { { "deltascope serve /runs/wordle --open", "follow a run in this desktop's browser" },
        { "deltascope serve s3://acme/wordle /runs/chess --listen 127.0.0.1:8000",
          "two runs, on a port of your choice" } } },
    { "gui", { { "deltascope gui /runs/wordle --page heatmap", "the desktop app, on the page Heatmap" } } },
    { "export",
      { { "deltascope export /runs/wordle --bundle wordle.dscope", "all that the page shows, in one file" } } },
    { "refs", { { "deltascope refs /runs/wordle", "which versions have words and pins" } } },
    { "ref", { { "deltascope ref /runs/wordle@15 good --why 'eval 0.71'", "SOURCE@good means step 15 from now on" } } },
    { "unref", { { "deltascope unref /runs/wordle good", "take the word back" } } },
    { "pin", { { "deltascope pin /runs/wordle@15 best-eval", "say that step 15 is to be kept" } } },
    { "unpin", { { "deltascope unpin /runs/wordle best-eval", "take that back" } } },
    { "note", { { "deltascope note /runs/wordle@15 'reward collapsed here'", "a note that log and pages show" } } },
    { "journal", { { "deltascope journal /runs/wordle", "who did what to the run, and when" } } },
    { "rollback",
      { { "deltascope rollback /runs/wordle@12", "what it would read and write to restore step 12" },
        { "deltascope rollback /runs/wordle@good --yes", "restore the step that was called good" } } },
    { "undo", { { "deltascope undo /runs/wordle --yes", "take the newest roll back back" } } },
    { "branch",
      { { "deltascope branch /runs/wordle@good --into /runs/wordle-b --yes", "begin a new run with that state" } } },
    { "discard",
      { { "deltascope discard checkpoints", "what it would remove of what stopped rebuilds left" },
        { "deltascope discard checkpoints --name step_12 --yes", "remove what was left of one of them" } } },
    { "leftovers", { { "deltascope leftovers checkpoints", "what stopped rebuilds left, and its size" } } },
    { "doctor",
      { { "deltascope doctor", "look at this machine" },
        { "deltascope doctor s3://acme/wordle", "and at what a bucket can do" } } },
    { "completion", { { "deltascope completion bash", "for ~/.local/share/bash-completion/completions/deltascope" } } },
};

} // namespace

const std::vector<Example>& firstExamples()
{
    static const std::vector<Example> examples {
        { "deltascope demo --serve", "train and publish a small model, and watch it in the browser" },
        { "deltascope log SOURCE", "what is in a folder or bucket, step by step" },
        { "deltascope materialize SOURCE@STEP -o DIR", "the full checkpoint of a step" },
    };
    return examples;
}

const std::vector<Example>& examplesOf(std::string_view command)
{
    static const std::vector<Example> none;
    const auto found = Examples.find(command);
    return found == Examples.end() ? none : found->second;
}

std::string examplesText(const std::vector<Example>& examples)
{
    std::size_t widest = 0;
    for (const Example& example : examples)
        widest = std::max(widest, example.line.size());
    std::string text;
    for (const Example& example : examples) {
        if (widest <= WidestBesideMeaning)
            text += fmt::format("  {:<{}}  {}\n", example.line, widest, example.meaning);
        else
            text += fmt::format("  {}\n      {}\n", example.line, example.meaning);
    }
    return text;
}

} // namespace deltascope::cli
