#pragma once

#include "deltascope/base/result.h"

#include <string>

namespace deltascope::cli {

/// Shows an address that holds a secret in this desktop's browser. The arguments of a program can be read by everybody
/// on the machine, so that the browser gets the name of a file that only its owner can read and that leads on to the
/// address. The file goes with this object.
class BrowserPage {
public:
    BrowserPage() = default; ///< shows nothing
    /// `file`: its folder is made, and what is at this name is replaced. Without a desktop nothing is done. Errors: Io.
    /// That no browser comes up is no error.
    static Result<BrowserPage> show(const std::string& url, std::string file);

    BrowserPage(BrowserPage&& other) noexcept;
    BrowserPage& operator=(BrowserPage&& other) noexcept;
    ~BrowserPage();

private:
    explicit BrowserPage(std::string file);

    std::string m_file; ///< empty: none
};

} // namespace deltascope::cli
