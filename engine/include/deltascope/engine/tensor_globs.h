#pragma once

#include "deltascope/base/result.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// Which tensors of a model are meant, by patterns of their names: '*' stands for any letters, dots among them, '?' for
/// one, "[0-9]" for one of some, '\' takes what follows as it is (fnmatch of POSIX). A tensor is meant if one of them
/// fits its whole name; without any, all are. What is the name of a tensor letter by letter means that one alone
/// (among()).
class TensorGlobs {
public:
    TensorGlobs() = default;
    explicit TensorGlobs(std::vector<std::string> globs)
        : m_globs(std::move(globs))
    {
    }

    /// The same among tensors of these names.
    TensorGlobs among(const std::vector<std::string_view>& names) const;

    bool meanAll() const noexcept { return m_globs.empty(); }
    bool mean(const std::string& name) const noexcept;
    const std::vector<std::string>& globs() const noexcept { return m_globs; }

    /// Errors: NotFound, naming the first glob that fits none of the names, and names that are near. `whoHasNo`: the
    /// begin of the sentence, "step 12 has no". `where`: address of what holds the names.
    Result<void> expectEachFits(const std::vector<std::string_view>& names, std::string_view whoHasNo,
                                std::string where) const;

private:
    bool means(const std::string& glob, const std::string& name) const noexcept;

    std::vector<std::string> m_globs;
    std::set<std::string, std::less<>> m_names; ///< those of them that are names
};

} // namespace deltascope
