#include "fuzzed_layout.h"

const char* const FuzzedLayout = DELTASCOPE_FUZZED_LAYOUT; // of the build: one program for each layout
