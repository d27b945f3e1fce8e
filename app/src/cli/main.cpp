#include "cli.h"
#include "job_console.h"

int main(int argc, char** argv)
{
    deltascope::cli::installSignalHandlers();
    return deltascope::cli::run(std::vector<std::string>(argv + 1, argv + argc));
}
