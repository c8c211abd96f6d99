/// The hub in a snapshot: words, what lives, and the subscriptions of all modes.
///
/// What finds live messages from the side of a subscription is not written: it is made again from
/// the messages, a slice after each event (model/message_backlog.h).
#include <algorithm>

#include "nearcast/base/claims.h"
#include "nearcast/engine/hub.h"

namespace nearcast {

void Hub::save(ArchiveWriter& out) const {
  words_.save(out);
  terms_.save(out);
  for (const SaidTexts& said : said_) said.save(out);
  life_.save(out);
  for (const Mode* mode : modes_) mode->save(out);
}

void Hub::load(ArchiveReader& in) {
  words_.load(in);
  terms_.load(in);
  for (SaidTexts& said : said_) said.load(in);
  const Claims known = in.is_checking() ? words_.check_loaded() : Claims(0);
  life_.load(in, known);
  for (Mode* mode : modes_) mode->load(in, known);
  if (!in.is_checking()) return;
  std::size_t slots = 0, count = 0;
  for (const Mode* mode : modes_) {
    slots = std::max(slots, mode->slots());
    count += mode->sizes().subscriptions;
  }
  life_.check_loaded(slots, count, [&](ModeId id, SubscriptionId slot) {
    return raw(slot) < mode(id).slots() && mode(id).has(slot);
  });
  for (int id = 0; id < kModes; ++id) {
    said_[id].check_loaded([&](std::uint32_t slot) {
      return slot < modes_[id]->slots() && modes_[id]->has(SubscriptionId{slot});
    });
  }
  check_uses();
}

}  // namespace nearcast
