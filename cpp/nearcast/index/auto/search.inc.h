/// One message through all lists. Included once per kind of kernels, inside a namespace that
/// defines `Kernels`: the compiler may then inline them, whatever machine they are for.

using automatic::Block;
using automatic::CellBox;
using automatic::Columns;
using automatic::Head;
using automatic::HeavyLists;
using automatic::kAsk;
using automatic::kProven;
using automatic::Node;
using automatic::Query;
using automatic::Signature;
using automatic::SmallLists;

struct Search {
  const SubscriptionStore& store;
  const SmallLists& smalls;
  const HeavyLists& heavies;
  const Head* heads;
  std::size_t lists;
  const Message& message;
  MatchScratch& scratch;
  MatchSink& sink;
  Query query;
  bool may_repeat;  ///< a place of two parts meets an entry twice

  static constexpr std::uint64_t kCertain = std::uint64_t{1} << 32;
  static constexpr std::uint32_t kAtOnce =
      64;  ///< lists whose memory is asked for before any is read

  /// Tokens are taken some at a time: first everything is asked for, then everything is read.
  void run() {
    Head few[kAtOnce];
    scratch.queue.clear();
    scratch.pending.clear();
    std::uint32_t count = 0;
    if (lists != 0) take(heads[0], few, count);
    for (const Token token : message.tokens) {
      if (raw(token) + 1 >= lists) break;  // tokens ascend
      if (count == kAtOnce) {
        read(few, count);
        count = 0;
      }
      take(heads[raw(token) + 1], few, count);
    }
    read(few, count);
    verify();
  }

  void take(const Head& head, Head* few, std::uint32_t& count) {
    if (head.is_empty()) return;
    ++sink.work.nodes_visited;
    if (head.is_heavy()) {
      const auto& list = heavies.list(head.place);
      push_node(list.root, list.levels);
    } else {
      smalls.prefetch(head);
      few[count++] = head;
    }
  }

  void read(const Head* few, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) read_small(few[i]);
    read_nodes();
  }

  // ---- short lists ----

  void read_small(const Head& head) {
    sink.work.candidates += head.size;
    const Columns boxes = smalls.columns(head);
    const Signature* signatures = smalls.signatures(head);
    for (std::uint32_t start = 0; start < head.size; start += 16) {
      const Columns part{boxes.west + start, boxes.stride};
      std::uint32_t mask = Kernels::overlaps16(part, query);
      if (head.size - start < 16) mask &= (1u << (head.size - start)) - 1;
      for (; mask != 0; mask &= mask - 1) {
        const std::uint32_t i = static_cast<std::uint32_t>(__builtin_ctz(mask));
        hit(part, i, signatures[start + i], smalls.id(head, start + i));
      }
    }
  }

  // ---- long lists ----

  void push_node(std::uint32_t number, std::uint32_t level) {
    heavies.prefetch_node(number);
    scratch.queue.push_back(std::uint64_t{level} << 32 | number);
  }

  /// Breadth first: by the time a node is read, it has been asked for. Blocks come last.
  void read_nodes() {
    auto& queue = scratch.queue;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const auto level = static_cast<std::uint32_t>(queue[next] >> 32);
      const auto number = static_cast<std::uint32_t>(queue[next]);
      if (level == 0) {
        read_block(heavies.block(number));
        continue;
      }
      ++sink.work.nodes_visited;
      const Node& node = heavies.node(number);
      for (std::uint32_t mask = Kernels::overlaps32(node.west, query); mask != 0;
           mask &= mask - 1) {
        const std::uint32_t child = node.child[__builtin_ctz(mask)];
        if (level == 1) {
          push_block(child);
        } else {
          push_node(child, level - 1);
        }
      }
    }
    queue.clear();
  }

  void push_block(std::uint32_t number) {
    heavies.prefetch_block(number);
    scratch.queue.push_back(number);
  }

  void read_block(const Block& block) {
    sink.work.candidates += automatic::kBlockSize;
    for (std::uint32_t mask = Kernels::overlaps16(block.columns(), query); mask != 0;
         mask &= mask - 1) {
      const std::uint32_t i = static_cast<std::uint32_t>(__builtin_ctz(mask));
      hit(block.columns(), i, block.signature[i], block.id[i]);
    }
  }

  // ---- entries ----

  /// Cells that differ decide; equal ones leave it to the exact coordinates.
  bool is_certain(const Columns& boxes, std::uint32_t i) const {
    const auto* at = boxes.west + i;
    return (at[0] < query.box.east) & (query.box.west < at[boxes.stride]) &
           (at[2 * boxes.stride] < query.box.north) & (query.box.south < at[3 * boxes.stride]);
  }

  void hit(const Columns& boxes, std::uint32_t i, Signature signature, EntryId id) {
    const bool certain = is_certain(boxes, i);
    if (signature == kProven && certain) {
      report(SubscriptionId{raw(id)});
      return;
    }
    if (signature > kAsk && !(scratch.bits[signature >> 6] >> (signature & 63) & 1)) return;
    store.prefetch(id, 0);
    scratch.pending.push_back(raw(id) | (certain ? kCertain : 0));
  }

  void report(SubscriptionId id) {
    if (!may_repeat || scratch.visited.first_visit(raw(id))) sink.accept(id);
  }

  /// Ask for all records, then read them.
  void verify() {
    for (const std::uint64_t item : scratch.pending)
      store.prefetch(EntryId{static_cast<std::uint32_t>(item)}, 1);
    for (const std::uint64_t item : scratch.pending) {
      const EntryId entry{static_cast<std::uint32_t>(item)};
      if (!holds(store.clause(entry), message.tokens)) continue;
      const SubscriptionId id = store.owner(entry);
      const bool touches_box = (item & kCertain) && store.bounds_are_exact(id);
      if (!touches_box && !area_touches(store, id, message.place)) continue;
      if (may_repeat) {
        report(id);
      } else if (scratch.first_report(store, entry)) {
        sink.accept(id);
      }
    }
  }
};
