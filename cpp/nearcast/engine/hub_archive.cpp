/// The hub in a snapshot: subscriptions of all modes, live messages, what is held, the clock.
///
/// What finds live messages from the side of a subscription is not written: it is made again from
/// the messages, a slice after each event (model/message_backlog.h).
#include "nearcast/base/errors.h"
#include "nearcast/engine/hub.h"

namespace nearcast {
namespace {

struct Header {
  double clock;
  bool is_matching_live, is_ranking_live;
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
  engine_.load(in);
  rank_.load(in);
  messages_.load(in);
  match_holders_.load(in);
  rank_holders_.load(in);
  safe_.load(in);
  Array<double> times;
  Array<char> names;
  Array<std::uint64_t> ends;
  times.load(in);
  names.load(in);
  ends.load(in);
  if (times.size() != ends.size() || (!ends.empty() && ends.back() != names.size())) {
    throw Error(ErrorKind::kSnapshot, "snapshot: its expiries do not fit together");
  }
  std::size_t start = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (ends[i] < start || ends[i] > names.size()) {
      throw Error(ErrorKind::kSnapshot, "snapshot: its expiries do not fit together");
    }
    const std::string name(names.begin() + start, names.begin() + ends[i]);
    start = ends[i];
    subscription_expires_.emplace(name, times[i]);
    subscription_expiries_.emplace(times[i], name);
  }
  if (header.is_matching_live) engine_.hold(messages_.store());
  if (header.is_ranking_live) rank_sets_.hold();
  top_.load(in);
}

}  // namespace nearcast
