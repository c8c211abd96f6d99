#include "nearcast/index/baselines/grid_index/grid_messages.h"

#include <algorithm>

#include "nearcast/base/errors.h"

namespace nearcast {

Rect frame_of(const SubscriptionStore& store) {
  constexpr std::size_t kMaxLooks = 50'000;
  std::vector<double> lons, lats;
  const std::size_t step = store.slots() / kMaxLooks + 1;
  for (std::size_t slot = 0; slot < store.slots(); slot += step) {
    const SubscriptionId id{static_cast<std::uint32_t>(slot)};
    if (!store.is_live(id) || store.bounds(id) == kWorld) continue;
    const Rect& box = store.bounds(id);
    lons.push_back((box.west + box.east) / 2);
    lats.push_back((box.south + box.north) / 2);
  }
  if (lons.empty()) return kWorld;
  std::ranges::sort(lons);
  std::ranges::sort(lats);
  const std::size_t out = lons.size() / 200, in = lons.size() - 1 - out;
  return {lons[out], lats[out], lons[in], lats[in]};
}

void GridMessages::set_frame(const Rect& frame) {
  grid_ = Grid(frame, grid_.side());
  directory_.clear();
  lists_.clear();
  lists_.for_each([&](MessageId id) { file(id); });
}

void GridMessages::file(MessageId id) {
  const MessageStore& messages = lists_.messages();
  const auto file_under = [&](std::uint32_t cell, Token key) {
    const GridAddress at = GridAddress::of(order_, cell, key);
    lists_.append(directory_.find_or_create(at.row, at.column), id);
  };
  grid_.for_each_home(messages.place(id), [&](std::uint32_t cell) {
    for (const Token token : messages.tokens(id)) file_under(cell, token);
    file_under(cell, kUnknownToken);  // for clauses without keywords
  });
}

void GridMessages::keep(MessageId id) {
  lists_.start(id);
  file(id);
}

void GridMessages::drop(MessageId id) {
  lists_.end(id, [&](std::uint32_t list) { directory_.free(list); });
}

void GridMessages::find(const SubscriptionStore& store, EntryId entry, Token key,
                        std::vector<MessageId>& out) const {
  const Rect& box = store.bounds(store.owner(entry));
  grid_.for_each_cell_at(box, box, [&](std::uint32_t cell) {
    const std::uint32_t list = list_at(cell, key);
    if (list != directory_.kNone) find_in(store, entry, lists_, list, out);
  });
}

void GridMessages::show(const MoveJudge& judge, const SubscriptionStore& store, EntryId entry,
                        Token key, const Rect& from, const Rect& to) const {
  const Clause clause = store.clause(entry);
  grid_.for_each_cell_at(from, to, [&](std::uint32_t cell) {
    if (judge.is_unchanged_in(grid_.extent(cell))) return;
    const std::uint32_t list = list_at(cell, key);
    if (list != directory_.kNone) judge.see(lists_, list, clause);
  });
}

void GridMessages::check() const {
  lists_.check();
  for (std::uint32_t row = 0; row < directory_.rows(); ++row) directory_.check(row);
  lists_.for_each([&](MessageId id) {
    grid_.for_each_home(lists_.messages().place(id), [&](std::uint32_t cell) {
      std::vector<MessageId> filed;
      lists_.copy_to(filed, list_at(cell, kUnknownToken));
      ensure(std::ranges::count(filed, id) == 1, "grid messages: a message is not in its cell");
    });
  });
}

}  // namespace nearcast
