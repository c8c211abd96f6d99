/// Are the structures of an engine consistent? Slow and simple checks beside the fast code.
#include <algorithm>

#include "nearcast/base/errors.h"
#include "nearcast/topk/top_engine.h"

namespace nearcast {
namespace {

void check_buffer(const TopState& state, SubscriptionId id) {
  const ResultBuffers& buffers = state.buffers;
  FactReader reader;
  ensure(buffers.refill(id) == Refill::kNo, "top engine: a buffer still has to be filled");
  for (std::uint32_t place = 0; place < buffers.size(id); ++place) {
    const Held held = buffers.held(id, place);
    ensure(state.messages.is_live(held.message), "top engine: a message that is gone is held");
    ensure(state.accepts(id, held.message, reader),
           "top engine: a message is held that is refused");
    ensure(units_of(state.score(id, held.message)) == held.units, "top engine: a stale score");
    const auto holders = state.holders.of(held.message);
    ensure(std::find(holders.begin(), holders.end(), id) != holders.end(),
           "top engine: a message does not know which lists hold it");
    if (place == 0) continue;
    const Held before = buffers.held(id, place - 1);
    ensure(before.units > held.units ||
               (before.units == held.units &&
                state.messages.number(before.message) > state.messages.number(held.message)),
           "top engine: a buffer is out of order");
  }
}

}  // namespace

void TopEngine::check_invariants() const {
  state_.subscriptions.for_each([&](SubscriptionId id) {
    check_buffer(state_, id);
    expiry_->check_buffer(id);
  });
  arrival_->check_invariants();
  search_->check_invariants();
}

}  // namespace nearcast
