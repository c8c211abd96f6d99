/// Tests of what Python cannot reach: a claim, and a function that checks it.
///
///   const Test kGrows("an array keeps its elements when it grows", [] { check(...); });
///
/// nearcast_unit runs them all, prints what fails with its place, and exits 1 then.
#pragma once

#include <source_location>
#include <vector>

#include "nearcast/base/errors.h"

namespace nearcast::unit {

class Test {
 public:
  Test(const char* what, void (*body)()) : claim_(what), body_(body) { all().push_back(this); }
  Test(const Test&) = delete;
  Test& operator=(const Test&) = delete;

  const char* claim() const { return claim_; }
  void run() const { body_(); }
  static std::vector<const Test*>& all() {
    static std::vector<const Test*> tests;
    return tests;
  }

 private:
  const char* claim_;
  void (*body_)();
};

struct Failure {
  std::source_location where;
};

inline void check(bool holds, std::source_location where = std::source_location::current()) {
  if (!holds) throw Failure{where};
}

/// Does the call throw an error of this kind?
template <typename Call>
void check_throws(ErrorKind kind, Call&& call,
                  std::source_location where = std::source_location::current()) {
  try {
    call();
  } catch (const Error& error) {
    check(error.kind == kind, where);
    return;
  }
  throw Failure{where};
}

}  // namespace nearcast::unit
