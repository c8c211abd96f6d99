#include <cstdio>
#include <exception>

#include "tests/unit/check.h"

int main() {
  using nearcast::unit::Test;
  int failed = 0;
  for (const Test* test : Test::all()) {
    try {
      test->run();
      continue;
    } catch (const nearcast::unit::Failure& failure) {
      std::fprintf(stderr, "%s:%u: ", failure.where.file_name(),
                   static_cast<unsigned>(failure.where.line()));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "unexpected error: %s: ", error.what());
    }
    std::fprintf(stderr, "FAILED: %s\n", test->claim());
    ++failed;
  }
  std::printf("%zu tests of the core, %d failed\n", Test::all().size(), failed);
  return failed == 0 && !Test::all().empty() ? 0 : 1;
}
