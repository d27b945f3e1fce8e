#pragma once

#include "deltascope/engine/tensor.h"

// The kernels, by name: a line for each width of an element (sum_2, extract_2, replay_2), and one for each type of
// numbers (moments_BF16).

#define DELTASCOPE_KERNELS_OF_WORDS(KERNEL)                                                                            \
    KERNEL(1, std::uint8_t)                                                                                            \
    KERNEL(2, std::uint16_t)                                                                                           \
    KERNEL(4, std::uint32_t)                                                                                           \
    KERNEL(8, std::uint64_t)

// clang-format off
#define DELTASCOPE_KERNELS_OF_NUMBERS(KERNEL) \
    KERNEL(BF16) \
    KERNEL(F16) \
    KERNEL(F32) \
    KERNEL(F64) \
    KERNEL(F8E5M2) \
    KERNEL(F8E4M3) \
    KERNEL(F8E4M3Fnuz) \
    KERNEL(F8E5M2Fnuz) \
    KERNEL(I8) \
    KERNEL(I16) \
    KERNEL(I32) \
    KERNEL(I64) \
    KERNEL(U8) \
    KERNEL(U16) \
    KERNEL(U32) \
    KERNEL(U64)
// clang-format on
