/// Reads the near lists for one message. Included once per kind of kernels, inside a namespace that
/// defines `Kernels`, so that the compiler can inline them for each kind of machine.

using sized_lists::CellBox;
using sized_lists::Columns;
using sized_lists::Head;
using sized_lists::kBlockSize;
using sized_lists::kProvenBit;
using sized_lists::Node;
using sized_lists::NumberedLists;
using sized_lists::Query;
using sized_lists::Record;
using sized_lists::Signature;

/// For one part of the message's place.
struct NearSearch {
  const NumberedLists& lists;
  const Message& message;
  RankScratch& scratch;
  RankCandidates& candidates;
  WorkCounters& work;
  Query query;

  /// Lists that are prefetched before any is read.
  static constexpr std::uint32_t kAtOnce = 64;
  BoundedArray<Head, kAtOnce> few{};

  /// Lists are taken some at a time: first all are prefetched, then all are read.
  void run() {
    scratch.steps.clear();
    if (lists.size() != 0) take(lists.heads()[0]);
    for (const Token token : message.tokens) {
      if (raw(token) + 1 >= lists.size()) break;  // tokens ascend
      take(lists.heads()[raw(token) + 1]);
    }
    read();
  }

  void take(const Head& head) {
    if (head.is_empty()) return;
    if (few.is_full()) read();
    ++work.nodes_visited;
    if (head.is_heavy()) {
      const auto& list = lists.heavies().list(head.place);
      push_node(list.root, list.levels);
    } else {
      lists.smalls().prefetch(head);
      few.push_back(head);
    }
  }

  void read() {
    for (const Head& head : few) read_short(head);
    few.clear();
    read_long();
  }

  void push_node(std::uint32_t number, std::uint32_t level) {
    lists.heavies().prefetch_node(number);
    scratch.steps.push_back(std::uint64_t{level} << 32 | number);
  }

  /// Breadth first, so that each node has been prefetched when it is read. Blocks come last.
  void read_long() {
    auto& queue = scratch.steps;
    for (std::size_t next = 0; next < queue.size(); ++next) {
      const auto level = static_cast<std::uint32_t>(queue[next] >> 32);
      const auto number = static_cast<std::uint32_t>(queue[next]);
      if (level == 0) {
        work.candidates += kBlockSize;
        scan(lists.heavies().block(number).record(), 0, ~0u);
        continue;
      }
      ++work.nodes_visited;
      const Node& node = lists.heavies().node(number);
      for (std::uint32_t mask = Kernels::overlaps32(node.columns(), query); mask != 0;
           mask &= mask - 1) {
        const std::uint32_t child = node.child[__builtin_ctz(mask)];
        if (level == 1) {
          lists.heavies().prefetch_block(child);
          queue.push_back(child);
        } else {
          push_node(child, level - 1);
        }
      }
    }
    queue.clear();
  }

  void read_short(const Head& head) {
    work.candidates += head.size;
    for (std::uint32_t first = 0; first < head.size; first += 32) {
      const std::uint32_t left = head.size - first;
      scan(lists.smalls().record(head), first, ~0u >> (left < 32 ? 32 - left : 0));
    }
  }

  /// The record's entries from `first` on, those whose bits are in `places`.
  void scan(const Record& record, std::uint32_t first, std::uint32_t places) {
    const Columns boxes{record.start + first, record.capacity};
    std::uint32_t mask = Kernels::overlaps32(boxes, query) & places;
    if (mask == 0) return;
    const std::uint32_t ties = Kernels::ties32(boxes, query);
    for (; mask != 0; mask &= mask - 1) {
      const auto bit = static_cast<std::uint32_t>(__builtin_ctz(mask));
      propose(record, first + bit, ties >> bit & 1);
    }
  }

  void propose(const Record& record, std::uint32_t i, bool is_tie) {
    const std::uint32_t id = record.marked_id(i);
    if (!(id & kProvenBit)) {
      const Signature signature = record.rest(i).signature;
      if (!(scratch.bits[signature >> 6] >> (signature & 63) & 1)) return;
    }
    // Where the upper halves do not decide, whole cells do; if these are equal, the box decides.
    const int inside = is_tie ? depth(record.box(i)) : 1;
    if (inside >= 0)
      candidates.add(SubscriptionId{id & ~kProvenBit}, inside > 0 && message.place.is_point);
  }

  /// Above 0: certain to overlap, below 0: certain not to.
  int depth(const CellBox& box) const {
    return std::min(std::min(query.box.east - box.west, box.east - query.box.west),
                    std::min(query.box.north - box.south, box.north - query.box.south));
  }
};
