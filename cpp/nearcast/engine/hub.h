/// Events in, signed changes out: life and the three modes, told of each event in turn.
///
/// Nothing here locks: engine/shared_hub.h does, for all of it. Any number of const calls may run
/// at once.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "nearcast/base/list_room.h"
#include "nearcast/columns/change_columns.h"
#include "nearcast/columns/reading.h"
#include "nearcast/life/life.h"
#include "nearcast/model/said_texts.h"
#include "nearcast/model/term_registry.h"
#include "nearcast/modes/match_mode.h"
#include "nearcast/modes/rank_mode.h"
#include "nearcast/modes/top_mode.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

/// How large a hub is. Subscriptions and ids are those of all modes; bytes of the store and of
/// indexes those of the modes match and rank.
struct HubSizes : MatcherSizes {
  std::size_t live_messages, message_bytes;  ///< bytes of the live messages themselves
  std::size_t top_bytes;    ///< of top subscriptions, their lists, and what finds messages for them
  std::size_t other_bytes;  ///< expiries of subscriptions, safe regions, which ones are live
};

class Hub {
 public:
  /// `is_safe`: live match subscriptions are told how far they may go (modes/safe_regions.h).
  Hub(const std::string& index, const GivenParameters& parameters, Window window, TopSettings top,
      bool is_safe);
  Hub(const Hub&) = delete;  // its modes refer to its life and words
  Hub& operator=(const Hub&) = delete;

  /// Apply the event in this row of a batch. False: it is rejected, which `out` says too.
  bool apply(const Event& event, std::int64_t row, ChangeColumns& out);
  void trim();  ///< after a batch: give back memory that only something very long needed
  /// Another weights epoch, or none, is in force from now on: what it changes is caused by row 0.
  ChangeColumns weigh(const EpochColumns* epoch);

  // questions.cpp: those about a subscription throw an unknown-id error.
  /// The ids of the subscriptions that would be told of a message.
  MatchColumns match(const Saying& saying, const Place& place) const;
  std::optional<ModeId> mode_of(std::string_view subscription) const;
  Definition definition(std::string_view subscription) const;
  /// Definitions in the order of modes and slots. At most `count` slots are looked at, from the
  /// first on; `next` is where to go on, nothing: these were the last.
  struct DefinitionPage {
    std::vector<std::pair<std::string, Definition>> found;
    std::optional<std::size_t> next;
  };
  DefinitionPage definitions(std::size_t first, std::size_t count) const;
  /// The definition, and what decides for this message.
  Verdict explain(std::string_view subscription, const Saying& saying, const Place& place) const;
  /// What a live subscription holds now, in no order, or a top subscription, the best first.
  using Held = std::pair<std::string, std::optional<double>>;  ///< a message, and its score
  std::vector<Held> results(std::string_view subscription) const;
  std::optional<double> safe_distance(std::string_view subscription) const;
  std::size_t safe_regions() const { return match_.safe_regions(); }
  std::size_t size() const { return life_.subscriptions(); }  ///< of all modes
  double clock() const { return life_.clock(); }
  bool is_live(std::string_view message) const {
    return life_.messages().find(message).has_value();
  }
  HubSizes sizes() const;
  std::optional<TopStats> top_stats() const { return top_.stats(); }
  std::size_t top_bytes() const { return top_.memory_bytes(); }
  void check_invariants() const;
  /// How many messages an index takes in after each event, of those that wait for it. For tests.
  void set_slice(std::size_t messages) { slice_ = messages; }

  // Settings, which never change.
  const std::string& index_name() const { return match_.set().index_name(); }
  const GivenParameters& parameters() const { return match_.set().parameters(); }
  bool is_safe() const { return match_.is_safe(); }
  const Window& window() const { return life_.window(); }
  const TopSettings& top_settings() const { return top_.settings(); }

  // hub_archive.cpp
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);  ///< into a new hub with the same settings

 private:
  /// A message is taken in within 10 microseconds by most kinds and 100 by the slowest.
  static constexpr std::size_t kSlice = 32;

  Mode& mode(ModeId id) { return *modes_[static_cast<std::size_t>(id)]; }
  const Mode& mode(ModeId id) const { return *modes_[static_cast<std::size_t>(id)]; }

  Definition definition(Subscriber subscriber) const;
  void expire(Step& step);
  void carry_out(const Event& event, Step& step);
  void subscribe(const Event& event, Step& step);
  void report_replaced(Step& step);
  void publish(const Event& event, Step& step);
  MessageId keep(const Event& event, double end);
  void leave(MessageId message, Reason reason, Step& step);
  void let_go(std::string_view surplus, Step& step);
  void end(Subscriber subscriber);
  void finish(Step& step);
  void check_uses() const;

  Vocabulary words_;
  TermRegistry terms_;
  Life life_;
  MatchMode match_;
  RankMode rank_;
  TopMode top_;
  std::array<Mode*, kModes> modes_{&match_, &rank_, &top_};  ///< by ModeId
  std::array<SaidTexts, kModes> said_;                       ///< of the subscriptions, by slot
  std::size_t slice_ = kSlice;
  ListRoom room_;  ///< of all structures below
  /// A subscription that another has taken the place of, in the event at hand.
  struct Replaced {
    Subscriber successor;
    std::vector<HeldMessage> held;  ///< what the old one was told it holds
  };
  std::optional<Replaced> replaced_;
  // Of the message at hand; kept between events, so that none allocates.
  std::vector<Token> tokens_, order_;
  std::vector<std::uint32_t> counts_;
  std::string attributes_;
};

}  // namespace nearcast
