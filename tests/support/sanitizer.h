#pragma once

namespace deltascope::test {

// g++ defines macros, clang has features.
#ifdef __has_feature
#define DELTASCOPE_HAS_FEATURE(name) __has_feature(name)
#else
#define DELTASCOPE_HAS_FEATURE(name) false
#endif

/// Whether this build looks for races. Where the threads are the same each time, one trial of many is enough there.
#ifdef __SANITIZE_THREAD__
inline constexpr bool UnderThreadSanitizer = true;
#else
inline constexpr bool UnderThreadSanitizer = DELTASCOPE_HAS_FEATURE(thread_sanitizer);
#endif

/// Whether this is a build with a sanitizer, where some tests would take minutes or more memory than there is.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool UnderSanitizer = true;
#else
inline constexpr bool UnderSanitizer = UnderThreadSanitizer || DELTASCOPE_HAS_FEATURE(address_sanitizer);
#endif

#undef DELTASCOPE_HAS_FEATURE

} // namespace deltascope::test
