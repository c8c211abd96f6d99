/// Matches a few messages against all lists. Included once per kind of kernels, inside a namespace
/// that defines `Kernels`, so that the compiler can inline them for each kind of machine.
///
/// All messages go through one phase before the next one begins, so that the memory of one message
/// is fetched while another is worked on:
///
///   take     reads the heads of lists and prefetches the lists
///   descend  goes down the trees of long lists, level by level, and prefetches blocks
///   scan     compares upper halves in short lists and blocks; prefetches the ids of the hits
///   pick     divides hits into matches and doubts; prefetches the rest of the doubts
///   check    decides doubts by whole cells; prefetches from the store what is still undecided
///   report   reports matches, and what the store confirms, in the order of the messages

struct Search {
  const SubscriptionStore& store;
  const SmallLists& smalls;
  const HeavyLists& heavies;
  const RangeLists& ranges;
  const Head* heads;
  std::size_t lists;
  MatchScratch& common;
  Scratch& scratch;
  MatchSink& sink;
  std::span<Probe> probes;

  static constexpr std::uint64_t kIsCertain = std::uint64_t{1} << 32;  ///< the cells decide
  static constexpr std::uint64_t kIsMatch = std::uint64_t{1} << 33;  ///< the store need not decide
  /// Lists that are prefetched before any is read: more would push each other out of the cache.
  static constexpr std::uint32_t kAtOnce = 128;
  static constexpr std::size_t kAhead =
      24;  ///< entries between the prefetch and the use of a record

  struct Short {
    Head head;
    std::uint32_t probe;
  };
  BoundedArray<Short, kAtOnce> shorts{};  ///< in the order of the probes
  std::uint32_t taken = 0;                ///< lists since the last read(); no more than kAtOnce
  std::uint32_t first_taken = 0;          ///< the probe that the first of them was taken for
  const Message* marked = nullptr;        ///< the message whose signatures are in scratch.bits

  void run() {
    scratch.queue.clear();
    scratch.pending.clear();
    scratch.found.clear();
    for (std::uint32_t p = 0; p < probes.size(); ++p) {
      if (probes[p].is_ranged()) {
        take_ranged(p);
        continue;
      }
      if (lists != 0) take(heads[0], p);
      for (const Token token : probes[p].message->tokens) {
        if (raw(token) + 1 >= lists) break;  // tokens ascend
        take(heads[raw(token) + 1], p);
      }
    }
    read(static_cast<std::uint32_t>(probes.size()) - 1);
    mark(nullptr);
    report();
  }

  /// Apart from the others, so that messages without numbers do not pay for it.
  [[gnu::noinline]] void take_ranged(std::uint32_t probe) {
    const auto visit = [&](std::uint32_t list) {
      if (!ranges.may_have(list)) return;
      if (const Head* head = ranges.find(list, probes[probe].name)) take(*head, probe);
    };
    visit(0);
    for (const Token token : probes[probe].message->tokens) visit(raw(token) + 1);
  }

  /// A probe may need any number of lists: whenever kAtOnce are taken, they are read first.
  void take(const Head& head, std::uint32_t probe) {
    if (head.is_empty()) return;
    if (taken == kAtOnce) read(probe);
    ++taken;
    ++sink.work.nodes_visited;
    if (head.is_heavy()) {
      const auto& list = heavies.list(head.place);
      push_node(probe, list.levels, list.root);
    } else {
      smalls.prefetch(head);
      shorts.push_back({head, probe});
    }
  }

  /// Reads all lists taken so far; the last one belongs to probe `last`, which may have more.
  void read(std::uint32_t last) {
    const std::uint32_t first = first_taken;
    auto& queue = scratch.queue;
    std::size_t block = descend(), next = 0, hit = 0, doubt = 0;
    scratch.hits.clear();
    scratch.doubts.clear();
    for (std::uint32_t p = first; p <= last; ++p) {
      for (; next < shorts.size() && shorts[next].probe == p; ++next)
        scan_short(probes[p], shorts[next].head);
      for (; block < queue.size() && queue[block] >> 40 == p; ++block)
        scan_block(probes[p], heavies.block(static_cast<std::uint32_t>(queue[block])).record());
      probes[p].hits_end = scratch.hits.size();
    }
    for (std::uint32_t p = first; p <= last; ++p) {
      for (; hit < probes[p].hits_end; ++hit) pick(scratch.hits[hit]);
      probes[p].matches_end = scratch.found.size();
      probes[p].doubts_end = scratch.doubts.size();
    }
    for (std::uint32_t p = first; p <= last; ++p) {
      Probe& probe = probes[p];
      if (doubt < probe.doubts_end && probe.signature_count == 0) mark(probe.message);
      for (; doubt < probe.doubts_end; ++doubt) check(probe, scratch.doubts[doubt]);
      probe.pending_end = scratch.pending.size();
    }
    shorts.clear();
    queue.clear();
    taken = 0;
    first_taken = last;
  }

  // ---- long lists ----

  void push_node(std::uint64_t probe, std::uint64_t level, std::uint32_t number) {
    heavies.prefetch_node(number);
    scratch.queue.push_back(probe << 40 | level << 32 | number);
  }

  /// Level by level, so that each node has been prefetched when it is read. Blocks are passed on
  /// from level to level, so that they end up in the order of the probes. Returns where in the
  /// queue the blocks begin.
  std::size_t descend() {
    auto& queue = scratch.queue;
    std::size_t start = 0, end = queue.size();
    for (bool has_nodes = end != 0; has_nodes; start = end, end = queue.size()) {
      has_nodes = false;
      for (std::size_t i = start; i < end; ++i) {
        const std::uint64_t item = queue[i];
        const std::uint64_t level = item >> 32 & 0xFF, probe = item >> 40;
        if (level == 0) {
          queue.push_back(item);
          continue;
        }
        ++sink.work.nodes_visited;
        const Node& node = heavies.node(static_cast<std::uint32_t>(item));
        for (std::uint32_t mask = Kernels::overlaps32(node.columns(), probes[probe].query);
             mask != 0; mask &= mask - 1) {
          const std::uint32_t child = node.child[__builtin_ctz(mask)];
          if (level == 1) {
            heavies.prefetch_block(child);
            queue.push_back(probe << 40 | child);
          } else {
            push_node(probe, level - 1, child);
            has_nodes = true;
          }
        }
      }
    }
    return start;
  }

  // ---- entries ----

  void scan_short(const Probe& probe, const Head& head) {
    sink.work.candidates += head.size;
    const Record record = smalls.record(head);
    if (head.size <= 16) {
      const Columns boxes{record.start, head.capacity};
      hit(probe, record, 0, Kernels::overlaps16(boxes, probe.query) & ((1u << head.size) - 1));
      return;
    }
    for (std::uint32_t first = 0; first < head.size; first += 32) {
      const Columns boxes{record.start + first, head.capacity};
      const std::uint32_t places = ~0u >> (head.size - first < 32 ? 32 - (head.size - first) : 0);
      hit(probe, record, first, Kernels::overlaps32(boxes, probe.query) & places);
    }
  }

  void scan_block(const Probe& probe, const Record& record) {
    sink.work.candidates += kBlockSize;
    hit(probe, record, 0, Kernels::overlaps32({record.start, kBlockSize}, probe.query));
  }

  /// Bit i of a mask is the record's entry `first` + i.
  void hit(const Probe& probe, const Record& record, std::uint32_t first, std::uint32_t mask) {
    if (mask == 0) return;
    const std::uint8_t* ids = record.ids() + 4 * first;
    prefetch_line(ids + 4 * __builtin_ctz(mask));
    prefetch_line(ids + 4 * (31 - __builtin_clz(mask)) + 3);
    Hit* made = scratch.hits.room(1);
    *made = {record.start, record.capacity, first, mask,
             Kernels::ties32({record.start + first, record.capacity}, probe.query)};
    scratch.hits.end_at(made + 1);
  }

  /// A proven entry whose borders differ from the query's in the upper halves is a match. The
  /// others are doubts, each a word of: address of the record, its capacity, position in it.
  void pick(const Hit& hit) {
    const Record record{hit.record, hit.capacity};
    const std::uint64_t where = reinterpret_cast<std::uintptr_t>(hit.record) << 16 | hit.capacity
                                                                                         << 8;
    // Branch-free: both are written, and only one of the two advances. A branch would be
    // mispredicted often.
    const auto most = static_cast<std::size_t>(__builtin_popcount(hit.mask));
    SubscriptionId* found = scratch.found.room(most);
    std::uint64_t* const doubts = scratch.doubts.room(most);
    std::uint64_t* doubt = doubts;
    for (std::uint32_t mask = hit.mask; mask != 0; mask &= mask - 1) {
      const auto bit = static_cast<std::uint32_t>(__builtin_ctz(mask));
      const std::uint32_t id = record.marked_id(hit.first + bit);
      const std::uint32_t is_match = (id / kProvenBit & 1) & ~(hit.ties >> bit);
      *found = SubscriptionId{id & ~kProvenBit};
      *doubt = where | (hit.first + bit);
      found += is_match;
      doubt += is_match ^ 1;
    }
    scratch.found.end_at(found);
    scratch.doubts.end_at(doubt);
    for (const std::uint64_t* at = doubts; at != doubt; ++at)
      prefetch_line(&record.rest(static_cast<std::uint32_t>(*at & 0xFF)));
  }

  /// Compares whole cells: different ones decide, equal ones leave it to the exact coordinates.
  /// Then looks for the second keyword.
  void check(const Probe& probe, std::uint64_t doubt) {
    const Record record{reinterpret_cast<const std::uint8_t*>(doubt >> 16),
                        static_cast<std::uint32_t>(doubt >> 8 & 0xFF)};
    const auto i = static_cast<std::uint32_t>(doubt & 0xFF);
    const CellBox box = record.box(i), &query = probe.query.box;
    const int least = std::min(std::min(query.east - box.west, box.east - query.west),
                               std::min(query.north - box.south, box.north - query.south));
    const Signature signature = record.rest(i).signature;
    if (least < 0 || (signature > kAsk && !has(probe, signature))) return;
    const EntryId id = record.id(i);
    store.prefetch(id, 0);
    scratch.pending.push_back(raw(id) | (least > 0 ? kIsCertain : 0) |
                              (least > 0 && signature == kProven ? kIsMatch : 0));
  }

  bool has(const Probe& probe, Signature signature) const {
    if (probe.signature_count == 0) return scratch.bits[signature >> 6] >> (signature & 63) & 1;
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < probe.signature_count; i += 16)
      found |= Kernels::equals16(probe.signatures + i, signature);
    return found != 0;
  }

  /// Keep the signatures of a long message in scratch.bits, and those of no other.
  void mark(const Message* message) {
    if (message == marked) return;
    if (marked != nullptr) {
      for (const Token token : marked->tokens) scratch.bits[signature_of(token) >> 6] = 0;
    }
    marked = message;
    if (message == nullptr) return;
    if (scratch.bits.empty()) scratch.bits.resize(1024);
    for (const Token token : message->tokens) {
      const Signature hash = signature_of(token);
      scratch.bits[hash >> 6] |= std::uint64_t{1} << (hash & 63);
    }
  }

  // ---- answers ----

  void report() {
    const auto& pending = scratch.pending;
    const auto ask = [&](std::size_t i) {
      if (i < pending.size()) store.prefetch(EntryId{static_cast<std::uint32_t>(pending[i])}, 1);
    };
    for (std::size_t i = 0; i < kAhead; ++i) ask(i);
    std::size_t match = 0, next = 0;
    for (const Probe& probe : probes) {
      if (probe.is_first_part) common.visited.start(store.slots());
      const bool may_repeat = probe.may_repeat;
      const std::span found(scratch.found.data() + match, probe.matches_end - match);
      match = probe.matches_end;
      if (may_repeat) {
        for (const SubscriptionId id : found) {
          if (common.visited.first_visit(raw(id))) sink.accept(id);
        }
      } else {
        sink.accept(found);
      }
      for (; next < probe.pending_end; ++next) {
        ask(next + kAhead);
        report(probe, pending[next], may_repeat);
      }
      if (probe.is_last_part) sink.end_message();
    }
  }

  void report(const Probe& probe, std::uint64_t item, bool may_repeat) {
    const EntryId entry{static_cast<std::uint32_t>(item)};
    const SubscriptionId id = store.owner(entry);
    if (!(item & kIsMatch)) {
      if (!holds(store.clause(entry), probe.message->tokens)) return;
      const Place& place = probe.message->place;
      if (item & kIsCertain && !probe.is_ranged() ? !shape_touches(store, id, place, &common.shapes)
                                                  : !area_touches(store, id, place, &common.shapes))
        return;
    }
    if (may_repeat ? common.visited.first_visit(raw(id)) : common.first_report(store, entry))
      sink.accept(id);
  }
};
