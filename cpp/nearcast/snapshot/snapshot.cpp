#include "nearcast/snapshot/snapshot.h"

#include <cstring>
#include <map>
#include <optional>
#include <sstream>

#include "nearcast/base/errors.h"
#include "nearcast/base/hash.h"
#include "nearcast/snapshot/reader.h"
#include "nearcast/snapshot/writer.h"

namespace nearcast {
namespace {

constexpr const char* kRankMark = "rank";  ///< after the index: the engine ranks
constexpr const char* kHubMark = "hub";    ///< after the index: a hub, with settings of its own

using Values = std::map<std::string, ParameterValue>;

/// Which index, with which parameters: a line each, so that a hexdump tells what a file is.
std::string describe(const std::string& index, const std::string& mark, const Values& values) {
  std::ostringstream out;
  out << index;
  if (!mark.empty()) out << '\t' << mark;
  out << '\n';
  out.precision(17);
  for (const auto& [name, value] : values) {
    out << name << '\t' << "bns"[value.index()] << '\t';
    std::visit([&](const auto& item) { out << item; }, value);
    out << '\n';
  }
  return out.str();
}

const std::string kTopPrefix = "@top.";  ///< of parameters of the top lists

struct Description {
  std::string index, mark;
  Values parameters, settings;  ///< settings are those whose names begin with @
};

Description read_description(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  std::istringstream first(line);
  Description found;
  std::getline(first, found.index, '\t');
  std::getline(first, found.mark, '\t');
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string name, type, value;
    if (!std::getline(fields, name, '\t') || !std::getline(fields, type, '\t')) {
      throw Error(ErrorKind::kSnapshot, "snapshot: its description cannot be read");
    }
    std::getline(fields, value, '\t');
    ParameterValue& place = name[0] == '@' ? found.settings[name] : found.parameters[name];
    if (type == "b") {
      place = value == "1";
    } else if (type == "n") {
      place = std::strtod(value.c_str(), nullptr);
    } else {
      place = value;
    }
  }
  return found;
}

Values settings_of(const Hub& hub) {
  Values all = hub.parameters();
  const Rect& space = hub.top_settings().space;
  if (hub.window().count) all["@count"] = static_cast<double>(*hub.window().count);
  if (hub.window().seconds) all["@seconds"] = *hub.window().seconds;
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

std::unique_ptr<SharedHub> hub_as_described(const Description& found) {
  const auto number = [&](const char* name) -> std::optional<double> {
    const auto at = found.settings.find(name);
    if (at == found.settings.end() || !std::holds_alternative<double>(at->second)) return {};
    return std::get<double>(at->second);
  };
  const auto word = [&](const char* name) {
    const auto at = found.settings.find(name);
    const bool is_there =
        at != found.settings.end() && std::holds_alternative<std::string>(at->second);
    return is_there ? std::get<std::string>(at->second) : std::string();
  };
  Window window;
  if (const auto count = number("@count"); count && *count >= 1 && *count < 0x1p53) {
    window.count = static_cast<std::uint64_t>(*count);
  }
  window.seconds = number("@seconds");
  const Rect space{number("@west").value_or(-180), number("@south").value_or(-90),
                   number("@east").value_or(180), number("@north").value_or(90)};
  Values top_parameters;
  for (const auto& [name, value] : found.settings) {
    if (name.starts_with(kTopPrefix)) top_parameters[name.substr(kTopPrefix.size())] = value;
  }
  return std::make_unique<SharedHub>(
      found.index, found.parameters, window,
      TopSettings{space, word("@arrival"), word("@expiry"), top_parameters},
      found.settings.contains("@safe"));
}

Saved make_as_described(const Description& found) {
  if (found.mark == kHubMark) return hub_as_described(found);
  if (found.mark == kRankMark) {
    return std::make_unique<Guarded<RankEngine>>(found.index, found.parameters);
  }
  if (found.mark.empty()) return std::make_unique<Guarded<Engine>>(found.index, found.parameters);
  throw Error(ErrorKind::kSnapshot, "snapshot: its content is unknown", "'" + found.mark + "'",
              "'rank', 'hub' or none");
}

template <typename Any>
void save(const Any& any, const std::string& description, const std::string& path) {
  FileWriter out(path);
  out.blob(description.data(), description.size(), 1);
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

void save_snapshot(const Engine& engine, const std::string& path) {
  save(engine, describe(engine.index_name(), "", engine.parameters()), path);
}
void save_snapshot(const RankEngine& engine, const std::string& path) {
  save(engine, describe(engine.index_name(), kRankMark, engine.parameters()), path);
}
void save_snapshot(const Hub& hub, const std::string& path) {
  save(hub, describe(hub.index_name(), kHubMark, settings_of(hub)), path);
}

Saved open_snapshot(const std::string& path, Verify verify) {
  FileReader in(path);
  if (verify == Verify::kAlways ||
      (verify == Verify::kIfSmall && in.file_size() <= kAlwaysVerifyUpTo)) {
    in.verify_contents();
  }
  const Blob text = in.blob(1);
  Saved saved =
      make_as_described(read_description({reinterpret_cast<const char*>(text.bytes), text.count}));
  std::visit([&](const auto& one) { one->change([&](auto& inside) { inside.load(in); }); }, saved);
  if (!in.is_at_end())
    throw Error(ErrorKind::kSnapshot, "snapshot '" + path + "': has blobs that nothing reads");
  return saved;
}

}  // namespace nearcast
