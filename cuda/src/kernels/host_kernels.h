#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace deltascope::cuda {

/// A kernel that runs on the host.
struct HostKernel {
    /// Runs all blocks, one after the other. `arguments`: the struct that the kernel takes.
    void (*run)(std::uint32_t blocks, std::uint32_t threads, const void* arguments);
    std::size_t argumentBytes;
};

/// The kernel of this name (kernels/list.h); null if there is none. It lives as long as the process.
const HostKernel* hostKernel(std::string_view name);

} // namespace deltascope::cuda
