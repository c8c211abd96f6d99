#include "nearcast/snapshot/snapshot.h"

#include <cstring>
#include <sstream>
#include <type_traits>

#include "nearcast/base/errors.h"
#include "nearcast/base/hash.h"
#include "nearcast/snapshot/reader.h"
#include "nearcast/snapshot/writer.h"

namespace nearcast {
namespace {

constexpr const char* kRankMark = "rank";  ///< after the index: the engine ranks

/// Which index, with which parameters: a line each, so that a hexdump tells what a file is.
template <typename AnEngine>
std::string describe(const AnEngine& engine) {
  std::ostringstream out;
  out << engine.index_name();
  if (std::is_same_v<AnEngine, RankEngine>) out << '\t' << kRankMark;
  out << '\n';
  out.precision(17);
  for (const auto& [name, value] : engine.parameters()) {
    out << name << '\t' << "bns"[value.index()] << '\t';
    std::visit([&](const auto& item) { out << item; }, value);
    out << '\n';
  }
  return out.str();
}

AnyEngine engine_as_described(const std::string& text) {
  std::istringstream in(text);
  std::string line, index, mode;
  std::getline(in, line);
  std::istringstream first(line);
  std::getline(first, index, '\t');
  std::getline(first, mode, '\t');
  if (!mode.empty() && mode != kRankMark) {
    throw Error(ErrorKind::kSnapshot, "snapshot: its mode is unknown", "'" + mode + "'",
                "'rank' or none");
  }
  Engine::GivenParameters parameters;
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string name, type, value;
    if (!std::getline(fields, name, '\t') || !std::getline(fields, type, '\t')) {
      throw Error(ErrorKind::kSnapshot, "snapshot: its description cannot be read");
    }
    std::getline(fields, value, '\t');
    if (type == "b") {
      parameters[name] = value == "1";
    } else if (type == "n") {
      parameters[name] = std::strtod(value.c_str(), nullptr);
    } else {
      parameters[name] = value;
    }
  }
  if (mode == kRankMark) return std::make_unique<RankEngine>(index, parameters);
  return std::make_unique<Engine>(index, parameters);
}

template <typename AnEngine>
void save(const AnEngine& engine, const std::string& path) {
  FileWriter out(path);
  const std::string description = describe(engine);
  out.blob(description.data(), description.size(), 1);
  engine.save(out);
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

void save_snapshot(const Engine& engine, const std::string& path) { save(engine, path); }
void save_snapshot(const RankEngine& engine, const std::string& path) { save(engine, path); }

AnyEngine open_snapshot(const std::string& path, Verify verify) {
  FileReader in(path);
  if (verify == Verify::kAlways ||
      (verify == Verify::kIfSmall && in.file_size() <= kAlwaysVerifyUpTo)) {
    in.verify_contents();
  }
  const Blob description = in.blob(1);
  AnyEngine engine =
      engine_as_described({reinterpret_cast<const char*>(description.bytes), description.count});
  std::visit([&](const auto& one) { one->load(in); }, engine);
  if (!in.is_at_end())
    throw Error(ErrorKind::kSnapshot, "snapshot '" + path + "': has blobs that nothing reads");
  return engine;
}

}  // namespace nearcast
