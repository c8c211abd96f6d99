/// Tables of other libraries as they come in: whatever has `__arrow_c_stream__` or
/// `__arrow_c_array__` (pyarrow, Polars, DuckDB, pandas). Nothing is copied; each batch is released
/// when the last that uses it is gone.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/arrow_abi.h"
#include "nearcast/base/errors.h"

namespace nb = nanobind;

namespace nearcast {

/// Owns one struct of the interface: moving takes its contents, as the interface defines it.
template <typename Struct>
class ArrowOwner {
 public:
  ArrowOwner() = default;
  explicit ArrowOwner(Struct& given) : held_(given) { given.release = nullptr; }
  ArrowOwner(ArrowOwner&& other) noexcept : ArrowOwner(other.held_) {}
  ArrowOwner& operator=(ArrowOwner&& other) noexcept {
    if (this != &other) {
      release();
      held_ = std::exchange(other.held_, Struct{});
    }
    return *this;
  }
  ~ArrowOwner() { release(); }

  Struct* get() { return &held_; }
  const Struct& operator*() const { return held_; }
  const Struct* operator->() const { return &held_; }
  bool is_there() const { return held_.release != nullptr; }

 private:
  void release() {
    if (held_.release != nullptr) held_.release(&held_);
  }

  Struct held_{};
};

/// The batches of a table, one after the other.
class ArrowBatches {
 public:
  /// `noun` says in errors what the table is: "messages".
  ArrowBatches(nb::handle table, const char* noun, ErrorKind kind);

  std::shared_ptr<const ArrowOwner<ArrowSchema>> schema() const { return schema_; }
  /// The next batch. The first is always there: if the table has none, it is one without rows,
  /// whose columns have no buffers.
  std::optional<ArrowOwner<ArrowArray>> next();

 private:
  void start_stream(nb::handle table);
  void take_array(nb::handle table);
  [[noreturn]] void refuse(const std::string& got) const;
  void check_result(int code);

  std::string noun_;
  ErrorKind kind_;
  std::shared_ptr<const ArrowOwner<ArrowSchema>> schema_;
  ArrowOwner<ArrowArrayStream> stream_;
  std::optional<ArrowOwner<ArrowArray>> single_;  ///< of a table that is one batch
  bool is_first_ = true;
};

/// One array alone, not a table: a column of ids.
struct ArrowColumn {
  std::shared_ptr<const ArrowOwner<ArrowSchema>> schema;
  ArrowOwner<ArrowArray> array;
};
ArrowColumn array_from(nb::handle value, const char* noun, ErrorKind kind);

}  // namespace nearcast
