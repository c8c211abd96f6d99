/// The best live messages from lists by token: bound everything quickly, score only the best.
///
/// With one common token a message's score is known from its posting, up to rounding: the level
/// that the best reach is soon found, and a scan of eight postings at a time drops what lies below
/// (search/posting_scan.h). Several common tokens are rare and would make that bound weak, so they
/// are treated separately:
///
///   rare tokens       of which few messages have one: the bound counts the subscription's more
///                     frequent tokens as if they were there, and a fingerprint of the message says
///                     whether they are (search/fingerprints.h)
///   frequent tokens   messages are listed under each *pair* of their frequent tokens too, and the
///                     bound of a pair is as tight as that of a token
///   odd messages      with very many tokens or with repeated ones are not listed by pairs: in all
///                     lists they are bounded as in those of rare tokens
///
/// What is left is scored exactly.
#pragma once

#include <vector>

#include "nearcast/topk/planar_frame.h"
#include "nearcast/topk/search/fingerprints.h"
#include "nearcast/topk/search/message_search.h"
#include "nearcast/topk/search/message_set.h"
#include "nearcast/topk/search/posting_lists.h"
#include "nearcast/topk/token_pairs.h"
#include "nearcast/topk/top_tuning.h"

namespace nearcast {

class PostingSearch final : public MessageSearch {
 public:
  PostingSearch(const TopState& state, const TopTuning& tuning);

  void insert(MessageId id) override;
  void erase(MessageId id, bool is_oldest) override;
  void clear() override;
  void best(SubscriptionId id, std::size_t count, Units floor, std::vector<Held>& out,
            WorkCounters& work) override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  /// A token of the subscription that is in some message.
  struct Term {
    Token token;
    float text;  ///< what a unit of the message's weight brings
    float idf;
    std::uint32_t list_size;
    Fingerprints::Print print;
    bool is_frequent;
  };
  struct Candidate {
    float bound;
    float low;  ///< certainly reached, if the message is here once; −∞ if it may be here twice
    MessageId message;
  };
  static constexpr std::size_t kManyTokens = 24;

  bool is_frequent(Token token) const {
    return raw(token) < frequent_.size() && frequent_[raw(token)] != 0;
  }
  bool is_odd(MessageId id) const;
  double weight(MessageId id, Token token) const;
  template <typename Visit>
  void for_each_frequent(MessageId id, Visit&& visit) const;
  void add_pair(MessageId id, Token a, Token b);
  void make_frequent(Token token);
  void make_rare(Token token);

  void start_query(SubscriptionId id);
  void collect_terms(SubscriptionId id);
  float rest_of(std::size_t term, std::size_t after) const;
  void scan_token(std::size_t term, std::size_t count, WorkCounters& work);
  void scan_pair(std::size_t term, std::size_t other, std::size_t count, WorkCounters& work);
  template <typename Consider>
  void scan(const top_postings::PostingLists& lists, std::size_t key, std::size_t count,
            Consider&& consider);
  float bound(PackedCell cell, float text) const;
  float rest_in(MessageId message, std::size_t after, float weight, float idf,
                bool& may_repeat) const;
  void raise_level(std::size_t count);
  void score_candidates(SubscriptionId id, Units floor, std::vector<Held>& out, WorkCounters& work);

  std::uint32_t most_rare_;  ///< messages with a token that is not frequent
  PlanarFrame frame_;
  top_postings::Scan scan_;
  top_postings::PostingLists lists_;  ///< by token; second weight: most of a more frequent one
  TokenPairs pairs_;
  top_postings::PostingLists pair_lists_;  ///< by pair; weights of the smaller and larger token
  Array<std::uint8_t> frequent_;           ///< by token
  Fingerprints prints_;
  std::vector<Token> frequent_tokens_;  ///< of the current message
  // Of one search:
  std::vector<Term> terms_;  ///< rarest first
  top_postings::Query query_{};
  float slack_ = 0;  ///< a bound exceeds the score by less
  float level_ = 0;  ///< what scores less is not wanted
  std::vector<Candidate> candidates_;
  std::vector<float> lows_;
  MessageSet in_pairs_;  ///< messages met as pairs, which are in the lists of both tokens too
};

}  // namespace nearcast
