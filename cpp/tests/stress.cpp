/// Threads that change, ask, save and open at once, for ThreadSanitizer: `make sanitize-threads`.
///
/// Each kind of index serves a hub, a matcher and a ranking matcher. Threads do random steps until
/// each has done as many as it was told to. Answers are not looked at: ThreadSanitizer reports
/// every pair of accesses that no lock separates, and the structures check themselves at the end.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "nearcast/engine/guarded.h"
#include "nearcast/engine/matcher.h"
#include "nearcast/engine/shared_hub.h"
#include "nearcast/index/registry.h"
#include "nearcast/snapshot/snapshot.h"
#include "tests/random_columns.h"

namespace nearcast::stress {
namespace {

using Step = std::function<void(Dice&)>;

std::atomic<std::uint64_t> steps_done{0};

/// A file of this process that is removed at the end.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name)
      : path_("/tmp/nearcast-stress-" + std::to_string(::getpid()) + "-" + name) {}
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// An error of a user's is an answer like any other; one of ours is not.
void attempt(const Step& step, Dice& dice) {
  try {
    step(dice);
  } catch (const Error& error) {
    if (error.kind != ErrorKind::kInternal) return;
    std::fprintf(stderr, "stress: %s\n", error.what());
    std::exit(1);
  }
}

void together(const std::vector<Step>& steps, std::size_t rounds) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    threads.emplace_back([&, i] {
      Dice dice(i + 1);
      for (std::size_t round = 0; round < rounds; ++round) {
        attempt(steps[i], dice);
        ++steps_done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// ---- hub ------------------------------------------------------------------------------------

void apply_some(SharedHub& hub, Dice& dice) {
  Strings strings;
  std::vector<Event> events;
  for (std::size_t i = 0; i < 1 + dice.below(30); ++i) {
    events.push_back(random_event(dice, strings));
  }
  hub.apply(events, /*stops_at_error=*/false);
}

void weigh_anew(SharedHub& hub, Dice& dice) {
  WordMemory words;
  words.add(dice.word());
  const std::int64_t df[] = {5};
  if (dice.below(2) == 0) {
    const EpochColumns epoch{10, words.view(), df};
    hub.change([&](Hub& inside) { inside.weigh(&epoch); });
  } else {
    hub.change([](Hub& inside) { inside.weigh(nullptr); });
  }
}

/// Each question of its own: errors of users are answers too.
void ask_hub(const SharedHub& hub, Dice& dice) {
  Strings strings;
  const auto words = strings.words(dice, 4);
  const Place place = Place::at(dice.point());
  const auto id = strings.keep("subscription number " + std::to_string(dice.below(kSubscriptions)));
  const std::vector<Step> questions = {
      [&](Dice&) { hub.ask([&](const Hub& inside) { return inside.results(id); }); },
      [&](Dice&) {
        hub.ask([&](const Hub& inside) { return inside.explain(id, {words, {}}, place); });
      },
      [&](Dice&) { hub.try_ask([&](const Hub& inside) { inside.definition(id); }); },
      [&](Dice&) { hub.ask([&](const Hub& inside) { return inside.definitions(0, 50); }); },
      [&](Dice&) { hub.ask([&](const Hub& inside) { return inside.safe_distance(id); }); },
      [&](Dice&) {
        hub.ask([&](const Hub& inside) {
          return std::tuple(inside.sizes(), inside.top_stats(), inside.size(), inside.clock());
        });
      },
      [&](Dice&) { hub.ask([&](const Hub& inside) { return inside.match({words, {}}, place); }); },
  };
  for (const Step& question : questions) attempt(question, dice);
}

void stress_hub(const std::string& kind, std::size_t rounds) {
  SharedHub hub(kind, GivenParameters{}, Window{200, {}}, TopSettings{}, /*is_safe=*/true);
  const TemporaryFile file("hub");
  const Step apply = [&](Dice& dice) { apply_some(hub, dice); };
  const Step ask = [&](Dice& dice) { ask_hub(hub, dice); };
  const Step weigh = [&](Dice& dice) {
    if (dice.below(20) == 0) weigh_anew(hub, dice);
  };
  const Step save = [&](Dice& dice) {
    if (dice.below(20) != 0) return;
    hub.ask_at_length([&](const Hub& inside) { save_snapshot(inside, file.path()); });
    auto opened = open_snapshot(file.path(), Verify::kAlways);
    std::get<std::unique_ptr<SharedHub>>(opened.saved)->ask([](const Hub& inside) {
      inside.check_invariants();
    });
  };
  together({apply, apply, ask, ask, ask, weigh, save}, rounds);
  hub.ask([](const Hub& inside) { inside.check_invariants(); });
}

// ---- matcher --------------------------------------------------------------------------------

void subscribe_rows(Matcher<MatchSet>& matcher, const SubscriptionTable& table) {
  matcher.subscribe({table.ids(), table.keywords(), table.areas(), nullptr, {}, {}, table.rows()});
}
void subscribe_rows(Matcher<RankSet>& matcher, const SubscriptionTable& table) {
  matcher.subscribe(
      {table.ids(), table.keywords(), table.areas(), table.shares(), table.shares(), table.rows()});
}
template <typename Inside>
void stress_matcher(const std::string& kind, std::size_t rounds) {
  Guarded<Inside> matcher(kind, GivenParameters{});
  Dice first(99);
  const SubscriptionTable stable(first, "stays ", 300);
  matcher.change([&](Inside& inside) { subscribe_rows(inside, stable); });
  const TemporaryFile file("matcher");
  const auto write_as = [&](const std::string& prefix) -> Step {
    return [&, prefix](Dice& dice) {
      const SubscriptionTable table(dice, prefix, 1 + dice.below(40));
      matcher.change([&](Inside& inside) { subscribe_rows(inside, table); });
      matcher.change([&](Inside& inside) { inside.unsubscribe(table.ids()); });
    };
  };
  const Step ask = [&](Dice& dice) {
    const MessageTable table(dice, 1 + dice.below(20));
    matcher.ask([&](const Inside& inside) { return inside.answer(table.view(), false); });
    matcher.try_ask([&](const Inside& inside) { inside.sizes(); });
  };
  const Step look_up = [&](Dice& dice) {
    WordMemory words;
    for (int i = 0; i < 20; ++i) words.add(dice.word());
    matcher.ask([&](const Inside& inside) { return inside.tokens_of(words.view()); });
  };
  const Step save = [&](Dice& dice) {
    if (dice.below(20) != 0) return;
    matcher.ask_at_length([&](const Inside& inside) { save_snapshot(inside, file.path()); });
    open_snapshot(file.path(), Verify::kAlways);
  };
  together({write_as("a"), write_as("b"), ask, ask, ask, look_up, save}, rounds);
  matcher.ask([](const Inside& inside) { inside.check_invariants(); });
}

}  // namespace
}  // namespace nearcast::stress

int main(int count, char** arguments) {
  const std::size_t rounds = count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 200;
  for (const nearcast::IndexKind& kind : nearcast::index_kinds()) {
    if (!kind.stands_for.empty()) continue;
    nearcast::stress::stress_hub(kind.name, rounds);
    nearcast::stress::stress_matcher<nearcast::Matcher<nearcast::MatchSet>>(kind.name, rounds);
    nearcast::stress::stress_matcher<nearcast::Matcher<nearcast::RankSet>>(kind.name, rounds);
    std::printf("%s: %llu steps so far\n", kind.name.c_str(),
                static_cast<unsigned long long>(nearcast::stress::steps_done.load()));
    std::fflush(stdout);
  }
}
