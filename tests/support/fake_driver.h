#pragma once

#include "driver/driver.h"
#include "module/device.h"

#include <cstdint>
#include <string>

namespace deltascope::test {

// A driver without a device. Memory of the device is memory that this process can reach only while a kernel or a copy
// runs; what is submitted to a stream runs when it is waited for; kernels are the tile functions, run by the processor.
// One for the process, since a table of functions holds no state.

/// The table of its functions.
Result<cuda::Driver> fakeDriver();
/// What it takes for an image of kernels.
cuda::KernelImage fakeImage();

/// What the driver does from now on. Also forgets what was counted, and lets a lost device work again.
struct FakeDriverPlan {
    std::uint64_t failAtCall = 0; ///< the n-th call from now on fails; 0: none
    cuda::Status failWith = 1;
    int version = 13000;
    int devices = 1;
    std::uint64_t freeBytes = 1 << 30; ///< of each
    int memoryOn = 0; ///< the device that all memory lies on, as it says
    /// The n-th copy from now on down to the host, or within the device, that is not empty turns a bit in the middle of
    /// what it copies; 0: none.
    std::uint64_t flipAtDownload = 0;
    std::uint64_t flipAtDeviceCopy = 0;
    bool isFull = false; ///< no memory of the device is given
    std::uint64_t skipLaunch = 0; ///< the n-th kernel from now on does nothing; 0: none
};
void plan(const FakeDriverPlan& plan);

struct FakeDriverCounts {
    std::uint64_t calls = 0; ///< those that may fail
    std::uint64_t launches = 0;
    std::uint64_t buffers = 0; ///< not freed or unpinned; of the device and pinned
    std::uint64_t streams = 0; ///< not destroyed
    std::uint64_t events = 0; ///< not destroyed
    std::uint64_t contexts = 0; ///< retained and not released
    std::uint64_t modules = 0; ///< loaded and not unloaded
    std::string failed; ///< the function that was made to fail
    std::uint64_t downloads = 0; ///< copies down to the host that were not empty
    std::uint64_t deviceCopies = 0; ///< likewise within the device
};
FakeDriverCounts counts();

} // namespace deltascope::test
