/// Scratch memory for matching threads: taken for a batch, given back after it.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/index/match_index.h"

namespace nearcast {

struct BatchScratch {
  MatchScratch match;
  MatchSink sink;
  std::array<std::vector<Token>, 4> tokens;  ///< of this message and of those that come next
  std::vector<std::string_view> words;
  std::string letters;
};

class ScratchPool {
 public:
  /// A scratch that returns to the pool by itself.
  class Loan {
   public:
    explicit Loan(ScratchPool& pool) : pool_(pool), scratch_(pool.take()) {}
    ~Loan() { pool_.give_back(std::move(scratch_)); }
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    BatchScratch& operator*() { return *scratch_; }

   private:
    ScratchPool& pool_;
    std::unique_ptr<BatchScratch> scratch_;
  };

 private:
  std::unique_ptr<BatchScratch> take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return std::make_unique<BatchScratch>();
    auto scratch = std::move(idle_.back());
    idle_.pop_back();
    return scratch;
  }
  void give_back(std::unique_ptr<BatchScratch> scratch) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(scratch));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<BatchScratch>> idle_;
};

}  // namespace nearcast
