#include "module/module.h"

// What the program finds in the module: this function, and nothing else. The kernels are one fat binary inside of it.

asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".global deltascope_kernels\n"
    ".hidden deltascope_kernels\n"
    "deltascope_kernels:\n"
    ".incbin \"" DELTASCOPE_KERNELS "\"\n"
    ".popsection\n");

extern "C" __attribute__((visibility("hidden"))) const char deltascope_kernels[];

extern "C" __attribute__((visibility("default"))) const deltascope::DeviceModule* deltascope_device_module()
{
    using namespace deltascope;
    return cuda::moduleOver(cuda::systemDriver, { deltascope_kernels, DELTASCOPE_CAPABILITIES },
                            DELTASCOPE_DEVICE_BUILD);
}
