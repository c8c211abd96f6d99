/// One mode of subscriptions, as a hub uses it: match, rank and top implement this.
///
/// A hub owns the words, the users' ids, the clock and the live messages (life/life.h), and tells
/// each mode what happens. A mode keeps its own subscriptions, by slot, and reports what an event
/// changes for them. Messages are in their store before publish() and until after leave().
///
/// Nothing here locks. Any number of const calls may run at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/claims.h"
#include "nearcast/base/errors.h"
#include "nearcast/base/ids.h"
#include "nearcast/columns/change_columns.h"
#include "nearcast/life/event.h"
#include "nearcast/model/external_ids.h"
#include "nearcast/model/message.h"
#include "nearcast/model/term_registry.h"
#include "nearcast/modes/definition.h"
#include "nearcast/modes/sizes.h"
#include "nearcast/text/token_weights.h"

namespace nearcast {

/// A message that is being published.
struct Newcomer {
  std::string_view id;
  Message message;
  std::optional<MessageId> kept;  ///< nothing: it is delivered once and does not live
  bool is_successor = false;      ///< of the message that has just left, with Reason::kChanged
};

/// A message that a subscription holds.
struct HeldMessage {
  MessageId id;
  double score;  ///< Step::kNoScore: the mode has none
};

/// A weights epoch, in tokens.
struct Epoch {
  std::uint64_t documents;
  std::span<const TokenWeights::Count> counts;
};

/// A message that is asked about: the words of its text, and what is known of it.
struct Question {
  std::span<const std::string_view> words;
  Message message;
};

class Mode {
 public:
  virtual ~Mode() = default;

  /// Adds a subscription of this mode and says its slot. Unless it takes the place of another, which
  /// is compared with it when the event ends, it also reports what the subscription holds.
  virtual SubscriptionId subscribe(const Event& event, bool is_successor, Step& step) = 0;
  /// The subscription is there no more; nothing is delivered.
  virtual void end(SubscriptionId id) = 0;
  /// The event has another area, or point, for the subscription.
  virtual void move(SubscriptionId id, const Event& event, Step& step) = 0;

  virtual void publish(const Newcomer& message, Step& step) = 0;
  /// With Reason::kChanged its successor is published next, and only then is told what changes.
  virtual void leave(MessageId message, Reason reason, Step& step) = 0;

  /// Everything between these two is one event: a mode may report its net difference at the end.
  virtual void begin_event() {}
  virtual void finish_event(Step&) {}
  /// Takes in at most so many of the messages that its indexes have yet to see.
  virtual void catch_up(std::size_t messages) = 0;
  /// Another weights epoch is in force from now on; null: none is.
  virtual void weigh(const Epoch*, Step&) {}

  virtual bool holds_set(SubscriptionId id) const = 0;  ///< is it live, or top?
  virtual std::vector<HeldMessage> results(SubscriptionId id) const = 0;
  /// What all changes that were reported say it holds: a mode that reports at the end of an event
  /// says what it held before, messages that have left since included.
  virtual std::vector<HeldMessage> last_told(SubscriptionId id) const { return results(id); }
  /// Appends the subscriptions that would be told of this message if it were published now. A top
  /// list is looked at as it stands: nothing leaves the window for the message.
  virtual void find_matches(const Question& question, std::vector<SubscriptionId>& out) const = 0;
  virtual Definition definition(SubscriptionId id) const = 0;
  virtual Verdict explain(SubscriptionId id, const Question& question) const = 0;

  virtual std::size_t slots() const = 0;          ///< slots are below this
  virtual bool has(SubscriptionId id) const = 0;  ///< does a user's subscription have this slot?
  virtual SetSizes sizes() const = 0;
  virtual std::size_t other_bytes() const { return 0; }  ///< what is not in sizes()
  /// Adds the uses of words, by token.
  virtual void count_uses(std::vector<std::uint32_t>& uses) const = 0;
  virtual void count_terms(TermRegistry& terms) const = 0;  ///< the same of terms
  virtual void check_invariants() const = 0;

  virtual void save(ArchiveWriter& out) const = 0;
  /// Into a new mode, when words and live messages are there. `known` are the tokens in use.
  virtual void load(ArchiveReader& in, const Claims& known) = 0;
};

}  // namespace nearcast
