/// One newcomer through all lists. Included once per kind of kernels, inside a namespace that
/// defines `Kernels`: the compiler may then inline them, whatever machine they are for.

/// Appends the ids of entries that pass. `counts_rest`: further tokens may be common.
struct Search {
  std::vector<std::uint32_t>& blocks;
  std::vector<SubscriptionId>& candidates;
  WorkCounters& work;

  void read(const EntryLists& lists, std::size_t key, const Query& query, bool counts_rest) {
    ++work.nodes_visited;
    if (lists.is_long(key)) {
      read_long(lists.longs(), lists.long_list(key), query, counts_rest);
    } else {
      read_short(lists.shorts(), lists.short_list(key), query);
    }
  }

 private:
  void read_short(const ShortLists& lists, const ShortLists::List& list, const Query& query) {
    const std::uint32_t* ids = lists.ids(list);
    work.candidates += list.size;
    for (std::uint32_t first = 0; first < list.size; first += 8) {
      const Columns entries = lists.columns(list, first);
      const std::uint32_t count = list.size - first < 8 ? list.size - first : 8;
      std::uint32_t mask = ShortLists::has_room_for_groups(list)
                               ? Kernels::passes_with_rest(entries, count, query)
                               : PlainKernels::passes_with_rest(entries, count, query);
      for (; mask != 0; mask &= mask - 1)
        candidates.push_back(
            SubscriptionId{ids[first + static_cast<std::uint32_t>(__builtin_ctz(mask))]});
    }
  }

  /// First all blocks that may hold somebody are asked for, then all are read.
  void read_long(const LongLists& lists, std::uint32_t number, const Query& given,
                 bool counts_rest) {
    Query query = given;
    if (!counts_rest) query.w = 0;
    const Chord chord(query.v);
    blocks.clear();
    for (const Group& group : lists.groups(number)) {
      for (std::uint32_t mask = Kernels::may_pass(group.bounds, query, chord); mask != 0;
           mask &= mask - 1) {
        const std::uint32_t block = group.block[__builtin_ctz(mask)];
        lists.prefetch_block(block);
        blocks.push_back(block);
      }
    }
    work.candidates += blocks.size() * kBlockSize;
    for (const std::uint32_t number_of_block : blocks) {
      const Block& block = lists.block(number_of_block);
      std::uint32_t mask = counts_rest ? Kernels::passes_with_rest(block.columns(), 8, query)
                                       : Kernels::passes_alone(block.columns(), query);
      for (; mask != 0; mask &= mask - 1) candidates.push_back(block.id[__builtin_ctz(mask)]);
    }
  }
};
