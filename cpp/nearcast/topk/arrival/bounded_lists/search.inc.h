/// Reads lists for one newcomer. Included once per kind of kernels, inside a namespace that defines
/// `Kernels`, so that the compiler can inline them for each kind of machine.

/// Appends the ids of entries that pass. `counts_others`: further tokens may be common.
struct Search {
  std::vector<std::uint32_t>& blocks;
  std::vector<SubscriptionId>& candidates;
  WorkCounters& work;

  void read(const EntryLists& lists, std::size_t key, const Query& query, bool counts_others) {
    ++work.nodes_visited;
    if (lists.is_long(key)) {
      read_long(lists.longs(), lists.long_list(key), query, counts_others);
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
                               ? Kernels::passes_with_others(entries, count, query)
                               : PlainKernels::passes_with_others(entries, count, query);
      for (; mask != 0; mask &= mask - 1)
        candidates.push_back(
            SubscriptionId{ids[first + static_cast<std::uint32_t>(__builtin_ctz(mask))]});
    }
  }

  /// First prefetches all blocks that may have an entry that passes, then reads them.
  void read_long(const LongLists& lists, std::uint32_t number, const Query& given,
                 bool counts_others) {
    Query query = given;
    if (!counts_others) query.max_other_weight = 0;
    const Chord chord(query.token_weight);
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
      std::uint32_t mask = counts_others ? Kernels::passes_with_others(block.columns(), 8, query)
                                         : Kernels::passes_alone(block.columns(), query);
      for (; mask != 0; mask &= mask - 1) candidates.push_back(block.id[__builtin_ctz(mask)]);
    }
  }
};
