/// Top subscriptions under the users' ids. The engine below it exists, and messages are kept for
/// it, from the first top subscription on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/engine/external_ids.h"
#include "nearcast/model/message_store.h"
#include "nearcast/text/token_weights.h"
#include "nearcast/topk/top_engine.h"

namespace nearcast {

/// Which kinds serve top subscriptions, and in which space distances are measured.
struct TopSettings {
  Rect space = kWorld;
  std::string arrival = "auto";
  std::string expiry;           ///< empty: what suits the arrival
  TopTuning::Given parameters;  ///< of both, and of the search
};

class TopLists {
 public:
  TopLists(const MessageStore& messages, TopSettings settings);

  const TopSettings& settings() const { return settings_; }
  std::size_t size() const { return ids_.size(); }
  bool has(std::string_view id) const { return ids_.find(ExternalId(id)) != ExternalIds::kNone; }
  std::string_view word(SubscriptionId id) const { return ids_.word(raw(id)); }
  SubscriptionId slot_of(std::string_view id) const {
    return SubscriptionId{ids_.slot_of(ExternalId(id))};
  }

  TokenSpan tokens(SubscriptionId id) const { return engine_->tokens(id); }
  template <typename Visit>
  void for_each(Visit&& visit) const {
    if (is_holding()) engine_->for_each(visit);
  }

  bool is_holding() const { return engine_ != nullptr; }
  /// Make the engine. It takes in the live messages by catch_up().
  void hold();
  void catch_up(std::size_t count) {  ///< with at most so many messages
    if (is_holding()) engine_->catch_up(count);
  }

  // Between begin() and finish() is one event; all but these need is_holding().
  void begin() {
    if (is_holding()) engine_->begin();
  }
  void finish(TopChanges& out) {
    if (is_holding()) engine_->finish(out);
  }
  void subscribe(std::string_view id, TokenSpan tokens, const TopTerms& terms);
  void unsubscribe(std::string_view id);
  void move(std::string_view id, Point at) { engine_->move(slot_of(id), at); }
  void publish(MessageId id) {
    if (is_holding()) engine_->publish(id);
  }
  void drop(MessageId id, Reason reason) {
    if (is_holding()) engine_->drop(id, reason);
  }
  /// An event of its own.
  void set_weights(std::unique_ptr<TokenWeights> weights);

  std::vector<TopResult> results(std::string_view id) const {
    return engine_->results(slot_of(id));
  }
  std::optional<TopStats> stats() const;
  std::size_t memory_bytes() const;
  void check_invariants() const;

  void save(ArchiveWriter& out) const;
  /// When the messages are there; `tokens` is above every token.
  void load(ArchiveReader& in, const Claims& known_tokens, std::size_t tokens);

 private:
  std::unique_ptr<TopEngine> make_engine() const;
  void check_loaded() const;

  const MessageStore& messages_;
  TopSettings settings_;
  std::unique_ptr<TokenWeights> weights_;
  ExternalIds ids_;
  Array<std::uint32_t> free_slots_;
  std::uint32_t slots_ = 0;
  std::unique_ptr<TopEngine> engine_;
};

}  // namespace nearcast
