/// Writing an engine or a hub to a file and opening it again.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "nearcast/engine/engine.h"
#include "nearcast/engine/hub.h"
#include "nearcast/engine/rank_engine.h"

namespace nearcast {

/// Writes beside the target and renames: a reader never sees half a file.
void save_snapshot(const Engine& engine, const std::string& path);
void save_snapshot(const RankEngine& engine, const std::string& path);
void save_snapshot(const Hub& hub, const std::string& path);

enum class Verify { kIfSmall, kAlways, kNever };
/// What was saved.
using Saved =
    std::variant<std::unique_ptr<Engine>, std::unique_ptr<RankEngine>, std::unique_ptr<Hub>>;
Saved open_snapshot(const std::string& path, Verify verify);

}  // namespace nearcast
