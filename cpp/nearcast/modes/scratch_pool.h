/// Scratch memory for matching threads: taken for a batch, given back after it. There are as many
/// as threads that matched at one time.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "nearcast/base/fork_guard.h"

namespace nearcast {

template <typename Scratch>
class ScratchPool {
 public:
  /// A scratch that returns to the pool by itself.
  class Loan {
   public:
    explicit Loan(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    ~Loan() { pool_.give_back(std::move(scratch_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    Scratch& operator*() { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<Scratch> scratch_;
  };

 private:
  std::unique_ptr<Scratch> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<Scratch>();
    auto scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<Scratch> scratch) {
    scratch->reading.trim();
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
  }

  InnerMutex mutex_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace nearcast
