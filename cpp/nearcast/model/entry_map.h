/// One plain value per entry, found by number.
#pragma once

#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"

namespace nearcast {

template <typename T>
class EntryMap {
 public:
  const T& operator[](EntryId entry) const {
    return is_further(entry) ? further_[number(entry)] : first_[number(entry)];
  }
  T& operator[](EntryId entry) {
    return is_further(entry) ? further_[number(entry)] : first_[number(entry)];
  }

  bool has(EntryId entry) const {  ///< was a value set for this number or a higher one?
    return number(entry) < (is_further(entry) ? further_ : first_).size();
  }
  void set(EntryId entry, const T& value) {
    Array<T>& values = is_further(entry) ? further_ : first_;
    if (values.size() <= number(entry)) values.resize(number(entry) + 1);
    values[number(entry)] = value;
  }

  std::size_t memory_bytes() const { return first_.memory_bytes() + further_.memory_bytes(); }

 private:
  // The entries of further clauses carry this bit (model/subscription_store.h).
  static bool is_further(EntryId entry) { return (raw(entry) & 0x80000000u) != 0; }
  static std::size_t number(EntryId entry) { return raw(entry) & 0x7FFFFFFFu; }

  Array<T> first_, further_;
};

}  // namespace nearcast
