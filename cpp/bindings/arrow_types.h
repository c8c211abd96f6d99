/// Arrow's formats: which types are read, and how a type is called in errors.
#pragma once

#include <string>
#include <string_view>

#include "bindings/arrow_abi.h"

namespace nearcast {

/// What lies in the buffers of a column, as far as it is read here.
enum class ArrowType {
  kOther,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kHalf,
  kFloat,
  kDouble,
  kString,       ///< offsets of 32 bits
  kLargeString,  ///< offsets of 64 bits
  kStringView,
  kBinary,
  kLargeBinary,
  kBinaryView,
  kList,
  kLargeList,
  kListView,
  kLargeListView,
  kFixedSizeList,
};

/// The type of what is stored: of a dictionary's codes, if it has one.
ArrowType type_of(const ArrowSchema& schema);
/// As pyarrow writes it: "list<string>", "dictionary<int32, string>".
std::string type_name(const ArrowSchema& schema);
/// Items per list of a fixed-size list; -1: its format is damaged.
long long fixed_list_size(const ArrowSchema& schema);

inline bool is_integer(ArrowType type) {
  return type >= ArrowType::kInt8 && type <= ArrowType::kUint64;
}
inline bool is_number(ArrowType type) {
  return type >= ArrowType::kInt8 && type <= ArrowType::kDouble;
}
inline bool is_string(ArrowType type) {
  return type >= ArrowType::kString && type <= ArrowType::kStringView;
}
inline bool is_binary(ArrowType type) {
  return type >= ArrowType::kBinary && type <= ArrowType::kBinaryView;
}
inline bool is_list(ArrowType type) { return type >= ArrowType::kList; }

}  // namespace nearcast
