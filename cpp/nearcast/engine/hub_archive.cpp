/// The hub in a snapshot: subscriptions of all modes, live messages, what is held, the clock.
///
/// What finds live messages from the side of a subscription is not written: it is made again from
/// the messages, a slice after each event (model/message_backlog.h).
#include <cmath>

#include "nearcast/base/claims.h"
#include "nearcast/engine/hub.h"

namespace nearcast {
namespace {

struct Header {
  double clock;
  std::uint64_t is_matching_live, is_ranking_live;  ///< 0 or 1
};

}  // namespace

void Hub::save(ArchiveWriter& out) const {
  out.value(Header{clock_, engine_.is_holding(), rank_sets_.is_holding()});
  engine_.save(out);
  rank_.save(out);
  messages_.save(out);
  match_holders_.save(out);
  rank_holders_.save(out);
  safe_.save(out);
  Array<double> times;
  Array<char> names;
  Array<std::uint64_t> ends;
  for (const auto& [time, name] : subscription_expiries_) {
    times.push_back(time);
    for (const char letter : name) names.push_back(letter);
    ends.push_back(names.size());
  }
  times.save(out);
  names.save(out);
  ends.save(out);
  top_.save(out);
}

void Hub::load(ArchiveReader& in) {
  const auto header = in.value<Header>();
  clock_ = header.clock;
  engine_.load(in, /*is_part=*/true);
  rank_.load(in);
  const Vocabulary& words = *engine_.vocabulary();
  const Claims known = in.is_checking() ? words.check_loaded() : Claims(0);
  messages_.load(in, known);
  match_holders_.load(in);
  rank_holders_.load(in);
  safe_.load(in);
  load_expiries(in);
  if (header.is_matching_live != 0) engine_.hold(messages_.store());
  if (header.is_ranking_live != 0) rank_sets_.hold();
  top_.load(in, known, words.slots());
  if (in.is_checking()) check_loaded();
}

void Hub::load_expiries(ArchiveReader& in) {
  constexpr const char* kWhat = "when a subscription expires";
  Array<double> times;
  Array<char> names;
  Array<std::uint64_t> ends;
  times.load(in);
  names.load(in);
  ends.load(in);
  expect(times.size() == ends.size() && (ends.empty() ? 0 : ends.back()) == names.size(), kWhat);
  std::size_t start = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    expect(ends[i] >= start && ends[i] <= names.size() && std::isfinite(times[i]), kWhat);
    const std::string name(names.begin() + start, names.begin() + ends[i]);
    start = ends[i];
    expect(subscription_expires_.emplace(name, times[i]).second, kWhat);
    subscription_expiries_.emplace(times[i], name);
  }
}

/// Do the parts fit together? Each of them is sound.
void Hub::check_loaded() const {
  expect(std::isfinite(clock_) && engine_.has_only_words() && rank_.has_only_words(), "the hub");
  engine_.check_uses(uses_beside_matching());
  for (const auto& [name, time] : subscription_expires_) {
    expect(mode_of(name).has_value(), "when a subscription expires");
  }
  constexpr const char* kLive = "which subscriptions are live";
  expect(match_holders_.empty() || engine_.is_holding(), kLive);
  expect(rank_holders_.empty() || rank_sets_.is_holding(), kLive);
  match_holders_.for_each([&](SubscriptionId id) { expect(engine_.is_live(id), kLive); });
  rank_holders_.for_each([&](SubscriptionId id) { expect(rank_.is_live(id), kLive); });
  constexpr const char* kPromise = "a promise";
  expect(is_safe_ || safe_.size() == 0, kPromise);
  safe_.check_loaded();
  safe_.for_each([&](SubscriptionId id, const SafeRegions::Region& region) {
    expect(match_holders_.has(id) && engine_.is_live(region.impact) &&
               !match_holders_.has(region.impact) &&
               engine_.word(region.impact) == SafeRegions::impact_id(engine_.word(id)),
           kPromise);
  });
}

}  // namespace nearcast
