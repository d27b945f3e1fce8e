#pragma once

#include <cstdint>
#if !defined(__CUDACC__)
#include <array>
#include <atomic>
#include <vector>
#endif

// Tile functions are written once, as templates over how 32 lanes run: as the threads of a warp on a device, or one
// after the other on the host, where tests compare both with the scalar reference.

#if defined(__CUDACC__)
#define DELTASCOPE_TILE __device__ __forceinline__
#else
#define DELTASCOPE_TILE inline
#endif

namespace deltascope::cuda {

constexpr unsigned Lanes = 32;

#if !defined(__CUDACC__)

/// 32 lanes on the host. Between two calls of each(), every lane has done its part.
struct HostWarp {
    /// A value of each lane.
    template <class T> struct PerLane {
        std::array<T, Lanes> values {};
        T& operator[](unsigned lane) { return values[lane]; }
        const T& operator[](unsigned lane) const { return values[lane]; }
    };

    template <class Work> void each(Work&& work) const
    {
        for (unsigned lane = 0; lane < Lanes; ++lane)
            work(lane);
    }
    /// Replaces each value by the sum of those of the lanes in front; returns the sum of all.
    std::uint32_t sumsInFront(PerLane<std::uint32_t>& values) const
    {
        std::uint32_t sum = 0;
        for (std::uint32_t& value : values.values) {
            const std::uint32_t own = value;
            value = sum;
            sum += own;
        }
        return sum;
    }
    template <class T> T sum(const PerLane<T>& values) const
    {
        T sum {};
        for (const T value : values.values)
            sum += value;
        return sum;
    }
    template <class T> T max(const PerLane<T>& values) const
    {
        T max = values.values[0];
        for (const T value : values.values)
            max = value > max ? value : max;
        return max;
    }
    /// The upper half of the lanes is added to the lower one until one is left.
    double treeSum(PerLane<double> values) const
    {
        for (unsigned half = Lanes / 2; half > 0; half /= 2) {
            for (unsigned lane = 0; lane < half; ++lane)
                values[lane] += values[lane + half];
        }
        return values[0];
    }
    /// Each lane's value of the lane whose number differs from its own in the bits of `mask`.
    template <class T> PerLane<T> crossed(const PerLane<T>& values, unsigned mask) const
    {
        PerLane<T> out;
        for (unsigned lane = 0; lane < Lanes; ++lane)
            out[lane] = values[lane ^ mask];
        return out;
    }
};

/// The warps of a block of threads on the host. Between two calls of eachWarp() or once(), all have done their part.
struct HostBlock {
    using Warp = HostWarp;
    template <class T> struct PerWarp {
        std::vector<T> values;
        T& operator[](unsigned warp) { return values[warp]; }
    };

    unsigned warps = 1;

    template <class T> PerWarp<T> perWarp() const { return { std::vector<T>(warps) }; }
    template <class Work> void eachWarp(Work&& work) const
    {
        for (unsigned warp = 0; warp < warps; ++warp)
            work(HostWarp {}, warp);
    }
    template <class Work> void once(Work&& work) const { work(); }
    unsigned warpCount() const { return warps; }
};

template <class T> T addTo(T* at, T value) { return std::atomic_ref<T>(*at).fetch_add(value); }

/// High half of a product of 64 bits.
inline std::uint64_t highProduct(std::uint64_t a, std::uint64_t b)
{
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(a) * b >> 64);
}

#else

struct DeviceWarp {
    template <class T> struct PerLane {
        T value {};
        DELTASCOPE_TILE T& operator[](unsigned) { return value; }
        DELTASCOPE_TILE const T& operator[](unsigned) const { return value; }
    };

    template <class Work> DELTASCOPE_TILE void each(Work&& work) const { work(threadIdx.x % Lanes); }
    DELTASCOPE_TILE std::uint32_t sumsInFront(PerLane<std::uint32_t>& values) const
    {
        const std::uint32_t own = values.value;
        std::uint32_t sum = own;
        for (unsigned step = 1; step < Lanes; step *= 2) {
            const std::uint32_t other = __shfl_up_sync(All, sum, step);
            sum += threadIdx.x % Lanes >= step ? other : 0;
        }
        values.value = sum - own;
        return __shfl_sync(All, sum, Lanes - 1);
    }
    template <class T> DELTASCOPE_TILE T sum(const PerLane<T>& values) const
    {
        T sum = values.value;
        for (unsigned step = Lanes / 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(All, sum, step);
        return sum;
    }
    template <class T> DELTASCOPE_TILE T max(const PerLane<T>& values) const
    {
        T max = values.value;
        for (unsigned step = Lanes / 2; step > 0; step /= 2) {
            const T other = __shfl_xor_sync(All, max, step);
            max = other > max ? other : max;
        }
        return max;
    }
    /// Right in lane 0.
    DELTASCOPE_TILE double treeSum(PerLane<double> values) const
    {
        for (unsigned half = Lanes / 2; half > 0; half /= 2)
            values.value = values.value + __shfl_down_sync(All, values.value, half);
        return values.value;
    }
    template <class T> DELTASCOPE_TILE PerLane<T> crossed(const PerLane<T>& values, unsigned mask) const
    {
        return { __shfl_xor_sync(All, values.value, mask) };
    }

private:
    static constexpr unsigned All = 0xffffffff;
};

struct DeviceBlock {
    using Warp = DeviceWarp;
    template <class T> struct PerWarp {
        T value {};
        DELTASCOPE_TILE T& operator[](unsigned) { return value; }
    };

    template <class T> DELTASCOPE_TILE PerWarp<T> perWarp() const { return {}; }
    template <class Work> DELTASCOPE_TILE void eachWarp(Work&& work) const
    {
        work(DeviceWarp {}, threadIdx.x / Lanes);
        __syncthreads();
    }
    template <class Work> DELTASCOPE_TILE void once(Work&& work) const
    {
        if (threadIdx.x == 0)
            work();
        __syncthreads();
    }
    DELTASCOPE_TILE unsigned warpCount() const { return blockDim.x / Lanes; }
};

DELTASCOPE_TILE std::uint32_t addTo(std::uint32_t* at, std::uint32_t value) { return atomicAdd(at, value); }
DELTASCOPE_TILE std::uint64_t addTo(std::uint64_t* at, std::uint64_t value)
{
    return atomicAdd(reinterpret_cast<unsigned long long*>(at), value);
}
DELTASCOPE_TILE std::uint64_t highProduct(std::uint64_t a, std::uint64_t b) { return __umul64hi(a, b); }

#endif

} // namespace deltascope::cuda
