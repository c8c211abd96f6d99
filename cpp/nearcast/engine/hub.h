/// Events in, signed changes out: the engine with a clock.
///
/// An event happens at max(clock, its time); whatever expires until then goes first, in the order
/// of expiry. A rejected event changes nothing, the clock included, so an event is judged *as if*
/// those expiries had happened, before any of them does.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "nearcast/engine/engine.h"
#include "nearcast/engine/event.h"

namespace nearcast {

/// At most `count` live messages, or `seconds` of life; none: only messages with an expiry live.
struct Window {
  std::optional<std::uint64_t> count;
  std::optional<double> seconds;

  bool is_set() const { return count.has_value() || seconds.has_value(); }
};

class Hub {
 public:
  Hub(std::string index, Engine::GivenParameters parameters, Window window);

  /// Apply events in order. With `stops_at_error` the first rejected event is the last one looked
  /// at.
  ChangeColumns apply(std::span<const Event> events, bool stops_at_error);

  double clock() const;
  std::size_t live_messages() const;
  bool is_live(std::string_view message) const;
  const Engine& engine() const { return engine_; }
  Engine& engine() { return engine_; }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  struct LiveMessage {
    double expires;
    std::uint64_t number;  ///< messages are numbered in the order of publication
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <typename Value>
  using ByName = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

  double moment_of(const Event& event) const;
  void check(const Event& event, double now) const;
  bool is_subscribed(std::string_view id, double now) const;
  void carry_out(const Event& event, double now, std::int64_t row, ChangeColumns& out);
  void publish(const Event& event, double now, std::int64_t row, ChangeColumns& out);
  void keep(const Event& event, double now);
  void drop_message(std::string_view id);
  void forget_expiry(std::string_view subscription);
  void expire_until(double now);

  mutable std::mutex mutex_;
  Engine engine_;
  Window window_;
  double clock_ = 0;
  std::uint64_t published_ = 0;
  ByName<LiveMessage> messages_;
  std::map<std::uint64_t, std::string> by_age_;
  std::set<std::pair<double, std::uint64_t>> message_expiries_;
  ByName<double> subscription_expires_;  ///< only of those that expire
  std::set<std::pair<double, std::string>> subscription_expiries_;
};

}  // namespace nearcast
