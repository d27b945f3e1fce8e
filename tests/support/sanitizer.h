#pragma once

namespace deltascope::test {

/// Whether this is a build with a sanitizer, where some tests would take minutes or more memory than there is.
#if defined(__has_feature) // clang
inline constexpr bool UnderSanitizer = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) // g++
inline constexpr bool UnderSanitizer = true;
#else
inline constexpr bool UnderSanitizer = false;
#endif

} // namespace deltascope::test
