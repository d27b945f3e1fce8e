#pragma once

/// The word of the layout whose readers a program fuzzes.
extern const char* const FuzzedLayout;
