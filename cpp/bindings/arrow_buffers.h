/// Buffers of one Arrow array as numbers; what arrow_columns.cpp and arrow_words.cpp read with.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "bindings/arrow_columns.h"

namespace nearcast {

[[noreturn]] void refuse_type(const ArrowCells& cells, const char* wanted);

/// `count` numbers from `first` on of buffer `which`; copied only if they are not aligned, which
/// the interface allows.
template <typename Number>
std::span<const Number> buffer_of(const ArrowCells& cells, std::int64_t which, std::int64_t first,
                                  std::size_t count, OwnedColumns& owned) {
  if (count == 0) return {};
  const ArrowArray& array = *cells.array;
  if (array.n_buffers <= which || array.buffers == nullptr || array.buffers[which] == nullptr)
    refuse_damaged(cells, "no buffer " + std::to_string(which), "one for its rows");
  const char* at = static_cast<const char*>(array.buffers[which]) +
                   static_cast<std::size_t>(first) * sizeof(Number);
  if (reinterpret_cast<std::uintptr_t>(at) % alignof(Number) == 0)
    return {reinterpret_cast<const Number*>(at), count};
  std::vector<Number> aligned(count);
  std::memcpy(aligned.data(), at, count * sizeof(Number));
  return owned.keep(std::move(aligned));
}

/// Calls visit with a zero of the type that lies in the buffers; of halves, their bits.
template <typename Visit>
void with_number_type(ArrowType type, Visit&& visit) {
  switch (type) {
    case ArrowType::kInt8:
      return visit(std::int8_t{});
    case ArrowType::kUint8:
      return visit(std::uint8_t{});
    case ArrowType::kInt16:
      return visit(std::int16_t{});
    case ArrowType::kUint16:
    case ArrowType::kHalf:
      return visit(std::uint16_t{});
    case ArrowType::kInt32:
      return visit(std::int32_t{});
    case ArrowType::kUint32:
      return visit(std::uint32_t{});
    case ArrowType::kInt64:
      return visit(std::int64_t{});
    case ArrowType::kUint64:
      return visit(std::uint64_t{});
    case ArrowType::kFloat:
      return visit(float{});
    case ArrowType::kDouble:
      return visit(double{});
    default:
      broken("with_number_type: not a type of numbers");
  }
}

/// Where each row of strings or lists begins and the last ends, not yet checked; without rows a 0.
std::span<const std::int64_t> offsets_of(const ArrowCells& cells, bool are_wide,
                                         OwnedColumns& owned);
/// All items of lists.
ArrowCells items_of(const ArrowCells& cells);

/// Integers of any width but uint64 as int64.
std::span<const std::int64_t> whole_numbers_of(const ArrowCells& cells, ArrowType type,
                                               OwnedColumns& owned);

}  // namespace nearcast
