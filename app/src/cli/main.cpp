#include "cli.h"
#include "job_console.h"

#include <malloc.h>
#include <sys/resource.h>

namespace {

/// A long chain of packed deltas has a nameless file open for each of them; the usual soft limit is 1024.
void allowManyFiles()
{
    rlimit limit {};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit); // where it is not allowed the old one stays
}

/// Reads of remote stores allocate and free blocks of 4 MiB all the time. Without this glibc returns each to the
/// kernel, which clears it before it is used again.
void keepFreedBlocks()
{
    ::mallopt(M_MMAP_THRESHOLD, 8 << 20);
    ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
}

}

int main(int argc, char** argv)
{
    allowManyFiles();
    keepFreedBlocks();
    deltascope::cli::installSignalHandlers();
    return deltascope::cli::run(std::vector<std::string>(argv + 1, argv + argc));
}
