#include "nearcast/snapshot/snapshot.h"

#include <cmath>
#include <cstring>
#include <optional>
#include <utility>

#include "nearcast/base/claims.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/hash.h"
#include "nearcast/snapshot/description.h"
#include "nearcast/snapshot/reader.h"
#include "nearcast/snapshot/writer.h"

namespace nearcast {
namespace {

// What follows the index in the description; nothing: a matcher that matches.
constexpr const char* kHubMark = "hub";        ///< with settings of its own
constexpr const char* kLedgerMark = "ledger";  ///< it has no index, but a window

constexpr const char* kAnalyzer = "@analyzer";
const std::string kTopPrefix = "@top.";  ///< of parameters of the top lists

Description::Values settings_of(const Window& window) {
  Description::Values all;
  if (window.count) all["@count"] = static_cast<double>(*window.count);
  if (window.seconds) all["@seconds"] = *window.seconds;
  return all;
}

Description::Values settings_of(const Hub& hub) {
  Description::Values all = settings_of(hub.window());
  const Rect& space = hub.top_settings().space;
  if (hub.is_safe()) all["@safe"] = true;
  all["@west"] = space.west;
  all["@south"] = space.south;
  all["@east"] = space.east;
  all["@north"] = space.north;
  all["@arrival"] = hub.top_settings().arrival;
  all["@expiry"] = hub.top_settings().expiry;
  for (const auto& [name, value] : hub.top_settings().parameters) all[kTopPrefix + name] = value;
  return all;
}

std::optional<double> number_in(const Description& found, const char* name) {
  const auto at = found.settings.find(name);
  if (at == found.settings.end() || !std::holds_alternative<double>(at->second)) return {};
  return std::get<double>(at->second);
}

Window window_as_described(const Description& found) {
  Window window;
  if (const auto count = number_in(found, "@count"); count && *count >= 1 && *count < 0x1p53) {
    window.count = static_cast<std::uint64_t>(*count);
  }
  window.seconds = number_in(found, "@seconds");
  expect(!window.seconds || (*window.seconds > 0 && std::isfinite(*window.seconds)), "the window");
  return window;
}

std::string word_in(const Description& found, const char* name) {
  const auto at = found.settings.find(name);
  const bool is_there =
      at != found.settings.end() && std::holds_alternative<std::string>(at->second);
  return is_there ? std::get<std::string>(at->second) : std::string();
}

std::unique_ptr<SharedHub> hub_as_described(const Description& found) {
  const Rect space{
      number_in(found, "@west").value_or(-180), number_in(found, "@south").value_or(-90),
      number_in(found, "@east").value_or(180), number_in(found, "@north").value_or(90)};
  expect(space.west >= -180 && space.west < space.east && space.east <= 180 && space.south >= -90 &&
             space.south < space.north && space.north <= 90,
         "the space of top subscriptions");
  Description::Values top_parameters;
  for (const auto& [name, value] : found.settings) {
    if (name.starts_with(kTopPrefix)) top_parameters[name.substr(kTopPrefix.size())] = value;
  }
  return std::make_unique<SharedHub>(
      found.index, found.parameters, window_as_described(found),
      TopSettings{space, word_in(found, "@arrival"), word_in(found, "@expiry"), top_parameters},
      found.settings.contains("@safe"));
}

Saved make_as_described(const Description& found) {
  if (found.mark == kHubMark) return hub_as_described(found);
  if (found.mark == kLedgerMark) {
    return std::make_unique<Guarded<Ledger>>(window_as_described(found));
  }
  if (found.mark == RankSet::kMark) {
    return std::make_unique<Guarded<Matcher<RankSet>>>(found.index, found.parameters);
  }
  if (found.mark == MatchSet::kMark) {
    return std::make_unique<Guarded<Matcher<MatchSet>>>(found.index, found.parameters);
  }
  throw Error(ErrorKind::kSnapshot, "snapshot: its content is unknown", "'" + found.mark + "'",
              "'rank', 'hub', 'ledger' or none");
}

template <typename Any>
void save(const Any& any, Description description, const std::string& path,
          const std::string& analyzer = {}) {
  if (!analyzer.empty()) description.settings[kAnalyzer] = analyzer;
  FileWriter out(path);
  const std::string text = description.text();
  out.blob(text.data(), text.size(), 1);
  any.save(out);
  out.finish();
}

}  // namespace

std::uint64_t checksum(const void* bytes, std::size_t count) {
  // Four lanes: the multiplications overlap, so that checking costs little more than reading.
  std::uint64_t lanes[4] = {0x9E3779B97F4A7C15ull, 0xD6E8FEB86659FD93ull, 0xA0761D6478BD642Full,
                            0xE7037ED1A0B428DBull ^ count};
  const char* at = static_cast<const char*>(bytes);
  std::size_t left = count;
  for (; left >= 32; left -= 32, at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, at, 32);
    for (int i = 0; i < 4; ++i) lanes[i] = mix(lanes[i] ^ words[i], 0xD6E8FEB86659FD93ull + 2 * i);
  }
  std::uint64_t tail[4] = {};
  if (left != 0) std::memcpy(tail, at, left);
  std::uint64_t sum = count;
  for (int i = 0; i < 4; ++i) sum = mix(sum ^ lanes[i] ^ tail[i], 0xA0761D6478BD642Full + 2 * i);
  return sum;
}

void save_snapshot(const Matcher<MatchSet>& matcher, const std::string& path,
                   const std::string& analyzer) {
  save(matcher, {matcher.index_name(), MatchSet::kMark, matcher.parameters(), {}}, path, analyzer);
}
void save_snapshot(const Matcher<RankSet>& matcher, const std::string& path,
                   const std::string& analyzer) {
  save(matcher, {matcher.index_name(), RankSet::kMark, matcher.parameters(), {}}, path, analyzer);
}
void save_snapshot(const Ledger& ledger, const std::string& path) {
  save(ledger, {"", kLedgerMark, {}, settings_of(ledger.life().window())}, path);
}
void save_snapshot(const Hub& hub, const std::string& path, const std::string& analyzer) {
  save(hub, {hub.index_name(), kHubMark, hub.parameters(), settings_of(hub)}, path, analyzer);
}

Opened open_snapshot(const std::string& path, Verify verify) {
  FileReader in(path, verify);
  try {
    const Blob text = in.blob(1);
    const auto description =
        Description::from({reinterpret_cast<const char*>(text.bytes), text.count});
    Saved saved = make_as_described(description);
    std::visit([&](const auto& one) { one->change([&](auto& inside) { inside.load(in); }); },
               saved);
    in.finish();
    return {std::move(saved), word_in(description, kAnalyzer)};
  } catch (const Error& error) {
    // A structure does not know which file it is read from.
    constexpr std::string_view kNoFile = "snapshot: ";
    const std::string what = error.what();
    if (error.kind == ErrorKind::kSnapshot && what.starts_with(kNoFile)) {
      in.refuse(what.substr(kNoFile.size()), error.got, error.wanted, error.hint);
    }
    if (error.kind == ErrorKind::kInternal) {
      in.refuse("its contents do not fit together", what, "what nearcast writes");
    }
    throw;
  }
}

}  // namespace nearcast
