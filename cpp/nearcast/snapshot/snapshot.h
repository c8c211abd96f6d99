/// Writing an engine or a hub to a file and opening it again.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "nearcast/engine/engine.h"
#include "nearcast/engine/guarded.h"
#include "nearcast/engine/rank_engine.h"
#include "nearcast/engine/shared_hub.h"
#include "nearcast/snapshot/reader.h"

namespace nearcast {

/// Writes beside the target and renames: a reader never sees half a file.
void save_snapshot(const Engine& engine, const std::string& path);
void save_snapshot(const RankEngine& engine, const std::string& path);
void save_snapshot(const Hub& hub, const std::string& path);

/// What was saved.
using Saved = std::variant<std::unique_ptr<Guarded<Engine>>, std::unique_ptr<Guarded<RankEngine>>,
                           std::unique_ptr<SharedHub>>;
Saved open_snapshot(const std::string& path, Verify verify);

}  // namespace nearcast
