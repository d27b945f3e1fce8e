#include "gui.h"

#include <filesystem>
#include <unistd.h>

namespace deltascope::cli {

namespace {

constexpr const char* Program = "deltascope-desktop";

std::vector<std::string> wordsFor(const Options& options)
{
    std::vector<std::string> words { Program };
    const auto add = [&](const char* name, const std::string& value) {
        if (!value.empty())
            words.insert(words.end(), { name, value });
    };
    if (!options.source.empty())
        words.push_back(options.source);
    add("--base", options.base);
    add("--layout", options.layout);
    if (options.epochs != "auto")
        add("--epochs", options.epochs);
    for (const std::string& mirror : options.mirrors)
        add("--mirror", mirror);
    if (options.searchDepth != DefaultSearchDepth)
        add("--depth", std::to_string(options.searchDepth));
    for (const std::string& log : options.logs)
        add("--logs", log);
    add("--page", options.page);
    return words;
}

}

Result<void> becomeGui(const Options& options)
{
    std::vector<std::string> words = wordsFor(options);
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::error_code unknown;
    const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", unknown);
    ::execv((self.parent_path() / Program).c_str(), pointers.data());
    ::execvp(Program, pointers.data());
    return fail(Code::NotFound, "the desktop app is not installed", Program,
                "build it with -DDELTASCOPE_WITH_DESKTOP=ON, or use deltascope serve and a browser");
}

} // namespace deltascope::cli
