/// Writing an engine to a file and opening it again.
#pragma once

#include <memory>
#include <string>

#include "nearcast/engine/engine.h"

namespace nearcast {

/// Writes beside the target and renames: a reader never sees half a file.
void save_snapshot(const Engine& engine, const std::string& path);

enum class Verify { kIfSmall, kAlways, kNever };
std::unique_ptr<Engine> open_snapshot(const std::string& path, Verify verify);

}  // namespace nearcast
