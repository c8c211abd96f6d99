/// Arrow's columns as the core's: found by name, checked, and viewed where they lie. What the core
/// wants in another form (wider offsets, doubles, words that views are scattered over) is converted
/// into memory of its own, `OwnedColumns`.
///
/// Lengths, offsets, codes and null maps are checked before they are followed. One thing cannot be
/// checked: the interface does not say how large buffers are, except those behind string views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrow_abi.h"
#include "bindings/arrow_types.h"
#include "nearcast/base/errors.h"
#include "nearcast/columns/columns.h"

namespace nearcast {

/// Memory of columns that had to be converted.
class OwnedColumns {
 public:
  template <typename Column>
  const Column& keep(Column&& column) {
    auto kept = std::make_shared<const Column>(std::move(column));
    kept_.push_back(kept);
    return *kept;
  }
  WordColumn keep_words(WordsOut&& words) {
    return {keep(std::move(words.offsets)), keep(std::move(words.bytes))};
  }

 private:
  std::vector<std::shared_ptr<const void>> kept_;
};

/// Some rows of one Arrow array.
struct ArrowCells {
  const ArrowSchema* schema;
  const ArrowArray* array;  ///< without rows it is not looked at, and may be null
  std::int64_t start;       ///< the array's own offset included
  std::int64_t rows;
  std::string name;  ///< in errors
  ErrorKind kind;    ///< of errors

  std::size_t size() const { return static_cast<std::size_t>(rows); }
};

/// Which rows are null.
class NullMap {
 public:
  NullMap() = default;
  NullMap(const void* bits, std::int64_t start)
      : bits_(static_cast<const std::uint8_t*>(bits)), start_(static_cast<std::size_t>(start)) {}

  bool has_any() const { return bits_ != nullptr; }  ///< or may have: the map says it
  bool operator[](std::size_t row) const {
    const std::size_t bit = start_ + row;
    return bits_ != nullptr && (bits_[bit / 8] >> (bit % 8) & 1) == 0;
  }

 private:
  const std::uint8_t* bits_ = nullptr;
  std::size_t start_ = 0;
};

/// One batch of a table. It views both structs.
class ArrowTable {
 public:
  /// An array that was not given (`release` is null) is a batch without rows.
  ArrowTable(const ArrowSchema& schema, const ArrowArray& batch, ErrorKind kind);

  std::size_t rows() const { return static_cast<std::size_t>(rows_); }
  bool has(const char* name) const;
  bool has_any(std::initializer_list<const char*> names) const;
  bool has_all(std::initializer_list<const char*> names) const;
  /// Throws an error that says which columns there are.
  ArrowCells column(const char* name) const;
  /// Throws an error that names the first column that is none of these. What pandas makes of the
  /// index of a frame, and columns without a name, are left out.
  void refuse_others(std::initializer_list<const char*> known) const;

 private:
  const ArrowSchema& schema_;
  const ArrowArray& batch_;
  ErrorKind kind_;
  std::int64_t start_ = 0, rows_ = 0;
};

/// All rows of an array that is no table.
ArrowCells cells_of(const ArrowSchema& schema, const ArrowArray& array, std::string name,
                    ErrorKind kind);

NullMap nulls_of(const ArrowCells& cells);
void refuse_nulls(const ArrowCells& cells);
/// 1 for each row that is null; empty: none is.
std::span<const std::uint8_t> null_flags(const ArrowCells& cells, OwnedColumns& owned);

/// Numbers of any width as doubles; nulls become NaN, which the core refuses by row.
std::span<const double> numbers_of(const ArrowCells& cells, OwnedColumns& owned);
/// Strings of every layout, plain or as a dictionary. What lies under nulls is unspecified.
WordColumn words_of(const ArrowCells& cells, OwnedColumns& owned, const char* wanted = "string");
/// Binary of every layout. What lies under nulls is unspecified.
WordColumn bytes_of(const ArrowCells& cells, OwnedColumns& owned);
/// Refuses what is not UTF-8.
void check_text(const ArrowCells& cells, const WordColumn& words);
/// Integers, or strings that are not empty; no nulls.
IdColumn ids_of(const ArrowCells& cells, OwnedColumns& owned);

/// Lists of words whose dictionary, if there is one, has not been read.
struct ArrowLists {
  WordLists lists;
  /// What codes are positions in; null: the items are words, checked to be UTF-8.
  const ArrowSchema* dictionary_schema = nullptr;
  ArrowArray* dictionary = nullptr;
};
ArrowLists lists_of(const ArrowCells& cells, OwnedColumns& owned);
/// The words of a dictionary: all there, all UTF-8.
WordColumn dictionary_of(const ArrowSchema& schema, const ArrowArray& array, ErrorKind kind,
                         OwnedColumns& owned);

/// Throws an error about an array that is not what it says.
[[noreturn]] void refuse_damaged(const ArrowCells& cells, const std::string& got,
                                 const std::string& wanted);
[[noreturn]] void refuse_row(const ArrowCells& cells, std::size_t row, const std::string& what,
                             const std::string& got, const std::string& wanted);

}  // namespace nearcast
