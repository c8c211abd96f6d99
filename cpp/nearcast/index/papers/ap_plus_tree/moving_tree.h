/// An AP-Tree that also keeps messages: each in the leaves where it meets subscriptions.
/// [AP §4.2 framework, §4.3 construction]
///
///   paper                    here
///   m-list of an l-node      own list of a leaf
///   ancestor lists           own list of an inner node: messages with too many copies below it
///   limit of duplicates      max_copies
///   nodelist(s)              Home: the leaf, where it is one; others are found from the root
///   Cases 1–4                shift() and leave(): nodes of both areas, of the old one only;
///                            enter(): of the new one only
///
/// Two rules make sure that no subscription misses a message:
///
/// - A message that reaches a node is in a list on the path to each leaf that it reaches. A cell
///   that is missing is made for it; a message that hits no cut is *parked* at the node. A dummy
///   that is made later takes over all messages of its parent, because each of them would have
///   reached it.
/// - When nodes are split or made again, their messages go down anew.
///
/// Departs from the paper:
/// - Leaves are also divided if they have few entries, but so many messages that each move would
///   look through a long list. For the same reason, what a partition saves counts once for each
///   message that comes and once for each that is kept: a round of moves compares each entry with
///   all that is kept where it is. Hit probabilities are those of the messages kept there.
/// - Rare keywords are cut by first, and into many more cuts than f: few messages have the rarest
///   word of a subscription, most have the most frequent one, and whatever is kept at a leaf is
///   looked at by each move there.
/// - A node with more than `max_rebuild` subscriptions is made again only by a build of many at
///   once: the tree grows by dividing leaves, and keywords that a node does not know go to its
///   dummy, which is divided in turn. Measured with words by Zipf's law and 20,000 subscriptions
///   that came one by one and a bound of 512, a message met 78 candidates in place of 73, and where
///   words and places had drifted all the time 69 in place of 51.
/// - A node with so many messages is not made again while they are in it: the tree drops all
///   messages, makes the node again, and takes the messages in again, a few with each event
///   (model/message_backlog.h). That happens at most once in as many changes as a quarter of what
///   the tree holds.
/// - Moving from cell to cell costs more than the paper's count of steps, by a factor that was
///   measured (update_cost).
#pragma once

#include <vector>

#include "nearcast/index/papers/ap_plus_tree/motion.h"
#include "nearcast/index/papers/ap_tree/ap_tree.h"
#include "nearcast/index/parts/message_lists/move_judge.h"
#include "nearcast/model/entry_map.h"

namespace nearcast::ap {

class MovingTree final : public ApTree {
 public:
  MovingTree(const SubscriptionStore& store, const Parameters& parameters);
  static std::vector<ParameterSpec> parameters();

  void erase(SubscriptionId id) override;

  void attach(const MessageStore& messages) { lists_.attach(messages); }
  void keep(MessageId id, MatchScratch& scratch, MatchSink& sink);
  void drop(MessageId id);
  bool has_forgotten();  ///< once after a keep() in which it dropped all messages
  void find(SubscriptionId id, std::vector<MessageId>& out) const;
  /// The judge has started. The area is replaced in the store on the way.
  void move(SubscriptionId id, const Area& to, SubscriptionStore& store, MoveJudge& judge);

  Token rarest(EntryId entry) const;  ///< of its keywords; kUnknownToken: it has none
  std::size_t message_bytes() const {
    return lists_.memory_bytes() + tried_.memory_bytes() + passed_.memory_bytes();
  }
  std::size_t memory_bytes() const override;
  void check_homes() const;
  void check_messages() const;

 private:
  class MessageInspector;  // check.cpp
  using Number = MessageLists::Number;
  static Number own(NodeRef node) { return 2 * node; }
  static Number parked(NodeRef node) { return 2 * node + 1; }

  /// A message during its descent.
  struct Passage {
    MessageId id;
    std::span<const Position> positions;
    Place place;
    Probe* probe;  ///< to match it during the descent; none: only its lists are searched
  };
  struct Hit {
    std::uint32_t slot, first_token;
  };
  /// The path to a node: for each cut on it, the keywords of which a message needs one.
  using Path = std::vector<std::pair<Position, Position>>;
  /// In which leaves is an entry? Of one leaf, the exclusive or is the leaf itself.
  struct Home {
    NodeRef leaves;
    std::uint32_t copies;

    void add(NodeRef leaf) { leaves ^= leaf, ++copies; }
    void remove(NodeRef leaf) { leaves ^= leaf, --copies; }
  };
  /// Where a node is below its parent. A box inside `space` reaches this node and none of its
  /// siblings.
  struct Seat {
    Rect space;
    std::uint32_t slot;
  };
  struct Entrance {
    Site site;
    std::uint32_t slot;
  };

  // keeping.cpp: messages go down
  void pass(NodeRef node, std::uint32_t first_token, const Passage& passage, std::size_t budget);
  void put(NodeRef leaf, MessageId id);
  void make_dummy_in_time(NodeRef node);
  bool is_crowded(NodeRef node) const;
  void divide_crowded();
  void note_tried(NodeRef leaf);
  bool must_forget() const;
  void forget_messages();  ///< and makes refused_ again
  Site site_of(NodeRef node) const;
  Path path_to(NodeRef node) const;
  static std::uint32_t first_token_at(const Path& path, std::span<const Position> positions);

  // carrying.cpp: nodes change
  void child_made(NodeRef parent, std::uint32_t slot) override;
  void leaf_written(NodeRef leaf) override;
  void posting_added(NodeRef leaf, EntryId entry) override;
  void posting_removed(NodeRef leaf, EntryId entry) override { homes_[entry].remove(leaf); }
  void clearing(NodeRef node) override;
  void made(const Site& site) override;
  void gather(NodeRef node, std::vector<MessageId>& out) const;
  bool is_light(NodeRef node) override;
  std::size_t copies_below(NodeRef node, std::size_t enough) const;
  void note_seat(NodeRef parent, std::uint32_t slot);
  Evidence evidence(const Site& site, std::size_t entries) override;
  double grid_penalty(const Site& site, std::span<const Item> items,
                      const GridPlan& plan) const override;
  bool is_small(const Site& site, std::size_t entries, double messages) const override;
  bool pays_by_keyword(std::size_t entries, double messages, double cost) const override;
  std::size_t fan_out(std::size_t most, std::size_t entries, double messages) const override;

  // moving.cpp
  bool shift(EntryId entry, const Rect& to, const MoveJudge& judge);
  bool is_slot_of(const Node& node, const Rect& box, std::uint32_t slot) const;
  bool has_same_slots(const Node& node, const Rect& one, const Rect& other) const;
  void leave(const Site& site, const Item& item, const Rect& to, const MoveJudge& judge);
  void leave_cells(const Site& site, const Item& item, const Rect& to, const MoveJudge& judge);
  void enter(const Item& item, const MoveJudge& judge);
  void set_box(NodeRef leaf, EntryId entry, const Rect& box);
  void show(const Site& site, const Item& item, const MoveJudge& judge) const;
  void show_all(SubscriptionId id, const MoveJudge& judge);
  /// Calls see(site) for each node on the paths of the item to its leaves.
  template <typename See>
  void for_each_node_of(const Site& site, const Item& item, std::span<const Position> positions,
                        See&& see) const;

  std::size_t max_copies_;
  double max_load_, update_cost_;
  Motion motion_;
  EntryMap<Home> homes_;
  Array<Seat> seats_;  ///< by node
  MessageLists lists_;
  std::size_t kept_ = 0;
  Array<std::uint32_t> tried_;   ///< by node: messages of a leaf when a division was last tried
  Array<std::uint32_t> passed_;  ///< by node without a dummy: messages that went through it
  NodeRef refused_ = kNoNode;    ///< the heaviest that was not made again for its many messages
  std::size_t changes_ = 0;      ///< since messages were forgotten
  bool has_forgotten_ = false;

  // Kept between calls, so that none allocates.
  std::vector<Hit> hits_;
  std::vector<NodeRef> crowded_;
  std::vector<MessageId> carried_;  ///< messages of nodes that are being made again
  bool is_carrying_ = false;
  std::vector<Position> message_positions_;
  Sample kept_sample_;             ///< of evidence()
  std::vector<NodeRef> stayed_;    ///< leaves of both areas of a move
  std::vector<Entrance> entered_;  ///< children of the new area only
};

}  // namespace nearcast::ap
