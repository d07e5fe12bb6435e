/// Part of the precompiled headers. Declares templates whose instantiations exist in a library, so
/// that a source that uses them does not compile them again.
#pragma once

#include <fmt/format.h>

// libfmt contains this function. fmt 9 does not say so in its header, so every source that logs
// would compile the whole of fmt's formatting. Clang (which builds the fuzzers) inlines parts of it
// that libfmt does not contain, so there each source still compiles it.
#ifndef __clang__
extern template FMT_API void fmt::detail::vformat_to(buffer<char>&, string_view,
                                                     basic_format_args<buffer_context<char>>,
                                                     locale_ref);
#endif
