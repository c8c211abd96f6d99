/// The kind `ap-tree`: an AP-Tree that is made again without a pause.
///
/// A node with few entries is made again at once [AP §3.3.5]. One with more than `max_rebuild`
/// would make a single change pay for all of them; instead the whole tree gets a successor. That is
/// a new tree, empty at first, and each change moves a few subscriptions to it. They are drawn at
/// random: what the successor holds is always a fair sample of all, so that the nodes made from it
/// suit those that follow. A message is matched against both trees; when the old one is empty, the
/// successor takes its place.
///
/// There is a successor at most once in as many changes as a quarter of the entries, so changes pay
/// for a bounded number of steps each, however much the workload drifts.
#pragma once

#include <memory>

#include "nearcast/index/papers/ap_tree/ap_tree.h"

namespace nearcast {

class ApSuccession final : public MatchIndex {
 public:
  ApSuccession(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  void insert(SubscriptionId id) override;
  void erase(SubscriptionId id) override;
  void build(std::span<const SubscriptionId> ids) override;
  void learn(const MessageSample& messages) override;
  void match(const Message& message, MatchScratch& scratch, MatchSink& sink) const override;

  std::size_t memory_bytes() const override;
  void check_invariants() const override;

 private:
  static constexpr std::size_t kStep = 8;  ///< subscriptions that a change moves to the successor

  std::unique_ptr<ApTree> make_tree() const;
  bool has_moved(SubscriptionId id) const {
    return next_ != nullptr && raw(id) < moved_.size() && moved_[raw(id)] != 0;
  }
  void note(SubscriptionId id, bool has_moved);
  void go_on();  ///< after a change
  void bring_over(std::size_t count);

  Parameters parameters_;
  std::unique_ptr<ApTree> current_, next_;
  Array<std::uint8_t> moved_;  ///< by subscription: is it in next_?
  std::size_t changes_ = 0;    ///< since the last succession
  std::uint64_t random_ = 0x9E3779B97F4A7C15ull;
};

}  // namespace nearcast
