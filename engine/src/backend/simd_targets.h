// The vector targets of all kernels; included before any header of Highway. SSSE3 and SSE4 are not worth their code:
// machines without AVX2 get the scalar backend. AVX3_DL would add nothing to AVX3.
#pragma once

#if defined(__x86_64__) || defined(__i386__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#else // what the compiler may use anyway
#define HWY_COMPILE_ONLY_STATIC
#endif
