/// What all parts of a top engine share: subscriptions, live messages, weights, and which
/// subscription holds which message.
#pragma once

#include "nearcast/base/array.h"
#include "nearcast/model/conditions.h"
#include "nearcast/model/message_backlog.h"
#include "nearcast/model/message_store.h"
#include "nearcast/model/top_score.h"
#include "nearcast/topk/holders.h"
#include "nearcast/topk/journal.h"
#include "nearcast/topk/result_buffers.h"
#include "nearcast/topk/top_subscriptions.h"

namespace nearcast {

struct TopState {
  TopState(const MessageStore& store, const TokenWeights& given_weights, const Rect& given_space,
           bool counts_dominators);

  /// The length of the message's vector: stored for messages that came since the engine was made,
  /// computed for others.
  double length(MessageId message) const {
    const double known = lengths[raw(message)];
    if (known > 0) return known;
    return vector_length(messages.tokens(message), messages.counts(message), *weights);
  }
  void measure(MessageId message) {
    if (raw(message) >= lengths.size()) lengths.resize(raw(message) + 1);
    lengths[raw(message)] =
        vector_length(messages.tokens(message), messages.counts(message), *weights);
  }

  /// 0 unless they share a keyword.
  double product(SubscriptionId id, MessageId message) const {
    return common_product(subscriptions.tokens(id), messages.tokens(message),
                          messages.counts(message), *weights);
  }
  double score(SubscriptionId id, MessageId message, double product) const {
    const TopSubscriptions::Record& record = subscriptions[id];
    return top_score(record.alpha, distance_between(record.at, messages.centre(message)),
                     max_distance, product, record.length * length(message));
  }
  double score(SubscriptionId id, MessageId message) const {
    return score(id, message, product(id, message));
  }
  /// The order of a list: the higher score first, then the newer message.
  bool is_better(const Held& a, const Held& b) const {
    if (a.units != b.units) return a.units > b.units;
    return messages.number(a.message) > messages.number(b.message);
  }
  /// Prefetch what score() reads of a message: first step 0, a while later step 1.
  void prefetch(MessageId message, int step) const {
    messages.prefetch(message, step);
    if (step == 0) prefetch_line(&lengths[raw(message)]);
  }

  /// Is the message one for this subscription? Only where it has a condition is it looked at.
  bool accepts(SubscriptionId id, MessageId message, FactReader& reader) const {
    if (!has_condition(id)) return true;
    const Message said = messages.message(message);
    return conditions->accepts(id, reader.read(said, *words, *terms));
  }
  bool has_condition(SubscriptionId id) const {
    return conditions != nullptr && conditions->has(id);
  }

  const MessageStore& messages;
  const TokenWeights* weights;
  const Conditions* conditions = nullptr;  ///< null: no subscription has one
  const Vocabulary* words = nullptr;
  const TermRegistry* terms = nullptr;
  Rect space;
  double max_distance;  ///< its diagonal
  TopSubscriptions subscriptions;
  MessageBacklog backlog;  ///< messages that the search has not taken in yet
  Array<double> lengths;   ///< by message; 0: not known
  ResultBuffers buffers;
  Holders holders;
  Journal journal;
};

}  // namespace nearcast
