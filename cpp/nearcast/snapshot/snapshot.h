/// Writing a matcher, a hub or a ledger to a file and opening it again.
#pragma once

#include <memory>
#include <string>
#include <variant>

#include "nearcast/engine/guarded.h"
#include "nearcast/engine/ledger.h"
#include "nearcast/engine/matcher.h"
#include "nearcast/engine/shared_hub.h"
#include "nearcast/snapshot/reader.h"

namespace nearcast {

/// Writes beside the target and renames: a reader never sees half a file. `analyzer` says in one
/// line what reads texts; the file keeps it.
void save_snapshot(const Matcher<MatchSet>& matcher, const std::string& path,
                   const std::string& analyzer = {});
void save_snapshot(const Matcher<RankSet>& matcher, const std::string& path,
                   const std::string& analyzer = {});
void save_snapshot(const Hub& hub, const std::string& path, const std::string& analyzer = {});
void save_snapshot(const Ledger& ledger, const std::string& path);

/// What was saved, and what the analyzer was, or nothing if the file does not say.
using Saved = std::variant<std::unique_ptr<Guarded<Matcher<MatchSet>>>,
                           std::unique_ptr<Guarded<Matcher<RankSet>>>, std::unique_ptr<SharedHub>,
                           std::unique_ptr<Guarded<Ledger>>>;
struct Opened {
  Saved saved;
  std::string analyzer;
};
Opened open_snapshot(const std::string& path, Verify verify);

}  // namespace nearcast
