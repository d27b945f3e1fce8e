#include "format/common/checkpoint_names.h"

#include "deltascope/base/ascii.h"
#include "format/common/object_names.h"

#include <algorithm>
#include <array>

namespace deltascope {

namespace {

constexpr std::array<std::string_view, 21> StepWords = {
    "checkpoint", "checkpoints", "ckpt",       "chkpt",   "step",   "steps",  "iter",
    "iters",      "iteration",   "iterations", "epoch",   "epochs", "update", "updates",
    "round",      "rollout",     "batch",      "episode", "save",   "ba",     "ep",
};
constexpr std::array<std::string_view, 7> UnfinishedWords = { "tmp", "temp",   "partial",   "incomplete",
                                                              "bak", "backup", "unfinished" };
/// They also tell of a folder that holds whole runs.
constexpr std::array<std::string_view, 14> OtherModels = {
    "critic",  "value", "reward",   "rm",      "ref",      "reference", "ema",
    "teacher", "draft", "averaged", "replica", "replicat", "scheduler", "dataloader",
};
constexpr std::array<std::string_view, 5> OthersInStep = { "best", "old", "target", "extra", "rng" };
constexpr std::array<std::string_view, 3> OptimizerWords = { "optimizer", "optimizers", "optim" };
constexpr std::array<std::string_view, 11> Policies = {
    "actor",   "policy",       "model",     "student", "huggingface", "hf",
    "weights", "consolidated", "generator", "lora",    "release",
};
constexpr std::array<std::string_view, 3> ForLoaders = { "huggingface", "hf", "consolidated" };
constexpr std::array<std::string_view, 2> ModelWords = { "model", "weights" };
constexpr std::array<std::string_view, 17> MetricWords = {
    "loss",       "acc",   "accuracy", "val",  "valid", "validation", "reward",  "score",  "ppl",
    "perplexity", "error", "wer",      "bleu", "rouge", "metric",     "samples", "tokens",
};
constexpr std::string_view LastSuffix = "-last";

template <std::size_t N> bool isOneOf(const std::array<std::string_view, N>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// ASCII alone, as the words are.
std::string toLower(std::string_view text)
{
    std::string lower(text);
    for (char& c : lower)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return lower;
}

bool isLetter(char c) { return c >= 'a' && c <= 'z'; }

/// Stretches of letters.
std::vector<std::string_view> wordsOf(std::string_view lower)
{
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < lower.size();) {
        std::size_t end = at;
        while (end < lower.size() && isLetter(lower[end]))
            ++end;
        if (end > at)
            words.push_back(lower.substr(at, end - at));
        at = std::max(end, at + 1);
    }
    return words;
}

template <std::size_t N> bool hasWord(std::string_view name, const std::array<std::string_view, N>& wanted)
{
    const std::string lower = toLower(name);
    const std::vector<std::string_view> words = wordsOf(lower);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return isOneOf(wanted, word); });
}

/// OLMo-core's "model_and_optim" is the model, with its optimizer beside it.
bool namesOptimizer(std::string_view name)
{
    const std::string lower = toLower(name);
    const std::vector<std::string_view> words = wordsOf(lower);
    if (words.size() > 1 && words[0] == "model" && words[1] == "and")
        return false;
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return isOneOf(OptimizerWords, word); });
}

bool isStepWord(std::string_view word)
{
    return isOneOf(StepWords, word) || word.ends_with("step") || word.ends_with("checkpoint");
}

/// The end of the value of a metric that `at` stands at ("2.36" of "val_loss=2.36"); `at` where there is none.
std::size_t endOfMetric(std::string_view lower, std::size_t at)
{
    if (at == 0 || lower[at - 1] != '=')
        return at;
    std::size_t key = at - 1;
    while (key > 0 && (isLetter(lower[key - 1]) || lower[key - 1] == '_'))
        --key;
    if (!hasWord(lower.substr(key, at - 1 - key), MetricWords))
        return at;
    const std::size_t digits = at + (lower[at] == '-' ? 1 : 0);
    if (lower.substr(at).starts_with("nan") || lower.substr(digits).starts_with("inf"))
        return digits + 3;
    std::size_t end = digits;
    while (end < lower.size() && (isDigit(lower[end]) || lower[end] == '.'))
        ++end;
    return end == digits ? at : end;
}

/// Without step words and their numbers, and without values of metrics: "run-a" of "run-a-epoch_1_". `lower`: what
/// stands before the last step word.
std::string prefixOf(std::string_view lower)
{
    std::string prefix;
    std::string_view word;
    for (std::size_t at = 0; at < lower.size();) {
        if (const std::size_t end = endOfMetric(lower, at); end > at) {
            at = end;
            continue;
        }
        const std::size_t begin = at;
        const bool letters = isLetter(lower[at]);
        const bool digits = isDigit(lower[at]);
        while (at < lower.size() && (letters ? isLetter(lower[at]) : digits ? isDigit(lower[at]) : at == begin))
            ++at;
        const std::string_view part = lower.substr(begin, at - begin);
        if (letters)
            word = part;
        const bool ofStep = digits && isStepWord(word);
        if ((letters && !isStepWord(part) && part != "global") || (digits && !ofStep))
            prefix.append(part).append("-");
    }
    return prefix;
}

/// Whatever else the name says.
std::optional<StepName> parseStepName(std::string_view component)
{
    std::string lower = toLower(component);
    if (lower.ends_with(LastSuffix))
        lower.resize(lower.size() - LastSuffix.size());
    std::optional<StepName> found;
    for (std::size_t at = 0; at < lower.size();) {
        const std::size_t word = at;
        while (at < lower.size() && isLetter(lower[at]))
            ++at;
        if (at == word) {
            ++at;
            continue;
        }
        const std::size_t wordEnd = at;
        const std::size_t digits =
            at + (at < lower.size() && std::string_view("-_=").find(lower[at]) != std::string_view::npos ? 1 : 0);
        std::size_t end = digits;
        while (end < lower.size() && isDigit(lower[end]))
            ++end;
        if (end == digits || !isStepWord(std::string_view(lower).substr(word, wordEnd - word)))
            continue;
        at = end;
        if (end < lower.size() && isLetter(lower[end])) // "step10k": of another step word at most
            continue;
        const std::optional<std::int64_t> step = parseNumber(std::string_view(lower).substr(digits, end - digits));
        if (!step)
            continue;
        std::string pattern = prefixOf(std::string_view(lower).substr(0, word)) + '#';
        for (const char c : std::string_view(lower).substr(end)) {
            if (!isDigit(c))
                pattern += c;
            else if (pattern.back() != '#')
                pattern += '#';
        }
        found = StepName { *step, std::move(pattern) };
    }
    return found;
}

} // namespace

std::optional<StepName> stepNameOf(std::string_view component)
{
    return component.empty() || isUnfinishedName(component) ? std::nullopt : parseStepName(component);
}

std::optional<StepName> countedNameOf(std::string_view component)
{
    constexpr std::size_t MostDigits = 9;
    std::string_view digits = component;
    std::string pattern = "#";
    for (const std::string_view start : { "hf-", "hf_" }) {
        if (component.starts_with(start)) {
            digits.remove_prefix(start.size());
            pattern.insert(0, "hf-");
        }
    }
    const std::optional<std::int64_t> step = digits.size() <= MostDigits ? parseNumber(digits) : std::nullopt;
    return step ? std::optional(StepName { *step, std::move(pattern) }) : std::nullopt;
}

bool isUnfinishedName(std::string_view component)
{
    return component.starts_with('.') || hasWord(component, UnfinishedWords);
}

bool isUnfinishedStepName(std::string_view component)
{
    return isUnfinishedName(component) && parseStepName(component).has_value();
}

std::string_view unfinishedStepOf(std::string_view path)
{
    for (std::size_t begin = 0; begin < path.size();) {
        const std::size_t end = std::min(path.find('/', begin), path.size());
        if (isUnfinishedStepName(path.substr(begin, end - begin)))
            return path.substr(0, end);
        begin = end + 1;
    }
    return {};
}

bool namesOtherModel(std::string_view component)
{
    return namesRunOfOtherModel(component) || hasWord(component, OthersInStep);
}

bool namesRunOfOtherModel(std::string_view component)
{
    return hasWord(component, OtherModels) || namesOptimizer(component);
}

bool namesPolicy(std::string_view component) { return hasWord(component, Policies); }
bool namesFormForLoaders(std::string_view component) { return hasWord(component, ForLoaders); }
bool namesModel(std::string_view component) { return hasWord(component, ModelWords); }

std::vector<std::string_view> componentsOf(std::string_view path)
{
    std::vector<std::string_view> components;
    while (!path.empty()) {
        const std::size_t slash = std::min(path.find('/'), path.size());
        components.push_back(path.substr(0, slash));
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return components;
}

} // namespace deltascope
