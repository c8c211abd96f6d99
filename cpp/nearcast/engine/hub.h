/// Events in, signed changes out: the engine with a clock and with messages that live.
///
/// An event happens at max(clock, its time); whatever expires until then goes first, in the order
/// of expiry. A rejected event changes nothing, the clock included, so an event is judged *as if*
/// those expiries had happened, before any of them does.
///
/// The set that a live subscription holds is not stored: it is the live messages that match it
/// (index/moving_index.h) or reach its threshold (engine/rank_sets.h). Messages are kept for it
/// from the first live subscription on; what came before it is taken in by slices, after each event
/// (model/message_backlog.h).
///
/// Each mode has an engine of its own; all share the vocabulary of the match engine.
///
/// Nothing here locks: engine/shared_hub.h does, for all of it. Any number of const calls may run
/// at once.
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "nearcast/engine/engine.h"
#include "nearcast/engine/event.h"
#include "nearcast/engine/live_messages.h"
#include "nearcast/engine/rank_engine.h"
#include "nearcast/engine/rank_sets.h"
#include "nearcast/engine/safe_regions.h"
#include "nearcast/engine/top_lists.h"

namespace nearcast {

/// Which subscriptions hold sets? By slot.
class LiveFlags {
 public:
  bool has(SubscriptionId id) const { return raw(id) < flags_.size() && flags_[raw(id)] != 0; }
  void set(SubscriptionId id, bool is_holding) {
    if (has(id) == is_holding) return;
    if (flags_.size() <= raw(id)) flags_.resize(raw(id) + 1);
    flags_[raw(id)] = is_holding ? 1 : 0;
    count_ += is_holding ? 1 : std::size_t{0} - 1;
  }
  bool empty() const { return count_ == 0; }
  std::size_t memory_bytes() const { return flags_.memory_bytes(); }

  void save(ArchiveWriter& out) const { flags_.save(out); }
  void load(ArchiveReader& in) {
    flags_.load(in);
    count_ = flags_.size() - static_cast<std::size_t>(std::count(flags_.begin(), flags_.end(), 0));
  }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::uint32_t slot = 0; slot < flags_.size(); ++slot) {
      if (flags_[slot] != 0) visit(SubscriptionId{slot});
    }
  }

 private:
  Array<std::uint8_t> flags_;
  std::size_t count_ = 0;
};

/// At most `count` live messages, or `seconds` of life; none: only messages with an expiry live.
struct Window {
  std::optional<std::uint64_t> count;
  std::optional<double> seconds;

  bool is_set() const { return count.has_value() || seconds.has_value(); }
};

/// Why a message matches a subscription, or does not.
struct Verdict {
  Definition definition;
  bool is_match, is_inside;  ///< keywords and area; the area alone
};

/// How large a hub is. Subscriptions and bytes are those of the modes match and rank together.
struct HubStats {
  EngineStats sizes;
  std::size_t live_messages, message_bytes;  ///< bytes of the live messages themselves
  std::size_t top_bytes;  ///< of top subscriptions, their lists, and what finds messages for them
  std::size_t
      other_bytes;  ///< expiries of subscriptions, safe regions, which subscriptions are live
};

class Hub {
 public:
  /// `is_safe`: live match subscriptions are told how far they may go (engine/safe_regions.h).
  Hub(std::string index, Engine::GivenParameters parameters, Window window, TopSettings top,
      bool is_safe);

  /// Apply the event in this row of a batch. False: it is rejected, which `out` says too.
  bool apply(const Event& event, std::int64_t row, ChangeColumns& out);
  void trim();  ///< after a batch: give back memory that only something very long needed

  /// Another weights epoch, or none, is in force from now on: what it changes is caused by row 0.
  ChangeColumns start_epoch(const EpochColumns& epoch);
  ChangeColumns end_epoch();

  // questions.cpp: what users ask. Those about a subscription throw an unknown-id error.
  /// Match subscriptions that a message matches now, and rank ones whose threshold it reaches.
  MatchColumns match(std::span<const std::string_view> words, const Place& place) const;
  std::optional<Mode> mode_of(std::string_view subscription) const;
  Definition definition(std::string_view subscription) const;  ///< of a match subscription
  /// The definition, and what decides for this message.
  Verdict judge(std::string_view subscription, std::span<const std::string_view> words,
                const Place& place) const;
  /// What a live subscription holds now, in no order, or a top subscription, the best first.
  using Held = std::pair<std::string, std::optional<double>>;  ///< a message, and its score
  std::vector<Held> results(std::string_view subscription) const;
  /// What a subscription was promised; nothing: it was not.
  std::optional<double> safe_distance(std::string_view subscription) const;
  std::size_t safe_regions() const { return safe_.size(); }
  HubStats stats() const;
  std::optional<TopStats> top_stats() const { return top_.stats(); }
  std::size_t top_bytes() const { return top_.memory_bytes(); }
  std::size_t size() const;  ///< subscriptions of all modes
  double clock() const { return clock_; }
  bool is_live(std::string_view message) const { return messages_.find(message).has_value(); }
  void check_invariants() const;
  /// How many messages an index takes in after each event, of those that wait for it. For tests.
  void set_slice(std::size_t messages) { slice_ = messages; }

  // Settings, which never change.
  const std::string& index_name() const { return engine_.index_name(); }
  const Engine::GivenParameters& parameters() const { return engine_.parameters(); }
  bool is_safe() const { return is_safe_; }

  const Window& window() const { return window_; }
  const TopSettings& top_settings() const { return top_.settings(); }
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);  ///< into a new hub with the same settings

 private:
  void load_expiries(ArchiveReader& in);
  void check_loaded() const;
  /// A message is taken in within a few microseconds: a slice is well below a millisecond.
  static constexpr std::size_t kSlice = 128;
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// What one event does: where its changes go.
  struct Step {
    std::int64_t row;
    double now;
    ChangeColumns& out;
  };

  // hub.cpp: life
  double moment_of(const Event& event) const;
  void carry_out(const Event& event, Step& step);
  void expire_until(Step& step);
  double end_of(const Event& event, double now) const;
  void leave(MessageId message, Reason reason, Step& step);
  void catch_up();
  void forget_expiry(std::string_view subscription);
  void unsubscribe(std::string_view id);
  void forget_dropped();
  std::vector<std::uint32_t> uses_beside_matching() const;

  // checks.cpp: may it happen?
  void check(const Event& event, double now) const;
  void check_subscribe(const Event& event, double now) const;
  void check_move(const Event& event) const;
  void check_publish(const Event& event, double now) const;
  bool is_subscribed(std::string_view id, double now) const;

  // delivery.cpp: what changes
  void subscribe(const Event& event, Step& step);
  void publish(const Event& event, Step& step);
  void move(const Event& event, Step& step);
  void report(std::string_view subscription, std::string_view message, ChangeKind kind,
              Reason reason, Step& step, double score);

  void subscribe_top(const Event& event);
  void report_top(Step& step);
  Mode require(std::string_view subscription) const;  ///< mode_of, or an unknown-id error
  bool holds_set(std::string_view subscription, Mode mode) const;  ///< is it live, or top?

  // safety.cpp: how far a subscriber may go
  void promise(const Event& event, SubscriptionId id, Step& step);
  double least_margin(SubscriptionId id, const Area& area) const;
  void shorten(SubscriptionId impact, const Place& place, Step& step);
  static void tell(std::string_view subscription, double distance, Step& step);
  void end_promise(SubscriptionId id);
  void check_promises() const;

  // ranking.cpp: the same for rank subscriptions
  void subscribe_rank(const Event& event, Step& step);
  void publish_rank(const Message& message, std::optional<MessageId> kept, std::string_view id,
                    Step& step);
  void move_rank(const Event& event, Step& step);
  void leave_rank(MessageId message, Reason reason, Step& step);
  void compare_rank(std::string_view id, std::span<const ScoredMessage> before, Step& step);
  template <typename Change>
  ChangeColumns reweigh(Change&& change);

  Engine engine_;
  RankEngine rank_;
  Window window_;
  double clock_ = 0;
  LiveMessages messages_;
  RankSets rank_sets_;
  TopLists top_;
  LiveFlags match_holders_, rank_holders_;
  std::size_t slice_ = kSlice;
  bool is_safe_;
  SafeRegions safe_;
  /// Only of those that expire. A tree: a hash table would pause when it grows.
  std::map<std::string, double, std::less<>> subscription_expires_;
  std::set<std::pair<double, std::string>> subscription_expiries_;

  mutable ScratchPool<BatchScratch> scratches_;  ///< of questions
  // Kept between events, so that none allocates.
  BatchScratch scratch_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> counts_;
  std::vector<MessageId> found_;
  MoveChanges moved_;
  RankSink ranked_;
  std::vector<ScoredMessage> before_, after_;
  TopChanges top_changes_;
};

}  // namespace nearcast
