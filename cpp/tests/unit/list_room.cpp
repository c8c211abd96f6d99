// ListRoom: a structure that comes near the end of its numbers is told before the change that would
// need them.
#include "nearcast/base/list_room.h"

#include <utility>

#include "nearcast/base/list_arena.h"
#include "tests/unit/check.h"

namespace nearcast::unit {
namespace {

class LowLimit {
 public:
  explicit LowLimit(std::size_t limit) : before_(std::exchange(list_limit, limit)) {}
  ~LowLimit() { list_limit = before_; }

 private:
  std::size_t before_;
};

bool is_refused(const ListRoom& room) {
  try {
    room.check();
  } catch (const Error& error) {
    return error.kind == ErrorKind::kCapacity;
  }
  return false;
}

const Test kRefuses("one list that grows is refused while its next move still has room", [] {
  const LowLimit low(1000);
  ListRoom room;
  ListArena<std::uint32_t> arena;
  ListHandle list;
  while (!is_refused(room)) {
    const ListRoom::Change change(room);
    arena.push_back(list, list.size);
  }
  check(list.size > 100);
  ListHandle moved = list;
  arena.reserve(moved, capacity_of(list.size_class) + 1);  // throws if there is no room
  for (std::uint32_t i = 0; i < moved.size; ++i) check(arena.view(moved)[i] == i);
});

const Test kWithin("a change that is open has room, and those inside it", [] {
  const LowLimit low(1000);
  ListRoom room;
  ListArena<std::uint32_t> arena;
  {
    const ListRoom::Change outer(room);
    {
      const ListRoom::Change inner(room);
      arena.allocate(512);
    }
    check(!is_refused(room));
  }
  check(is_refused(room));
  room.has_released();
  check(!is_refused(room));
});

const Test kOthers("another room does not hear of it", [] {
  const LowLimit low(1000);
  ListRoom full, other;
  ListArena<std::uint32_t> arena;
  {
    const ListRoom::Change change(full);
    arena.allocate(512);
  }
  {
    const ListRoom::Change change(other);
  }
  check(is_refused(full));
  check(!is_refused(other));
});

}  // namespace
}  // namespace nearcast::unit
