#include "bindings/arrow_types.h"

#include <array>
#include <charconv>
#include <cstring>

namespace nearcast {
namespace {

struct Format {
  const char* format;
  ArrowType type;
  const char* name;
};

constexpr std::array kFormats = {
    Format{"c", ArrowType::kInt8, "int8"},
    Format{"C", ArrowType::kUint8, "uint8"},
    Format{"s", ArrowType::kInt16, "int16"},
    Format{"S", ArrowType::kUint16, "uint16"},
    Format{"i", ArrowType::kInt32, "int32"},
    Format{"I", ArrowType::kUint32, "uint32"},
    Format{"l", ArrowType::kInt64, "int64"},
    Format{"L", ArrowType::kUint64, "uint64"},
    Format{"e", ArrowType::kHalf, "halffloat"},
    Format{"f", ArrowType::kFloat, "float"},
    Format{"g", ArrowType::kDouble, "double"},
    Format{"u", ArrowType::kString, "string"},
    Format{"U", ArrowType::kLargeString, "large_string"},
    Format{"vu", ArrowType::kStringView, "string_view"},
    Format{"+l", ArrowType::kList, "list"},
    Format{"+L", ArrowType::kLargeList, "large_list"},
    Format{"+vl", ArrowType::kListView, "list_view"},
    Format{"+vL", ArrowType::kLargeListView, "large_list_view"},
    Format{"n", ArrowType::kOther, "null"},
    Format{"b", ArrowType::kOther, "bool"},
    Format{"z", ArrowType::kBinary, "binary"},
    Format{"Z", ArrowType::kLargeBinary, "large_binary"},
    Format{"vz", ArrowType::kBinaryView, "binary_view"},
    Format{"+s", ArrowType::kOther, "struct"},
    Format{"+m", ArrowType::kOther, "map"},
};
constexpr std::string_view kFixedSizeList = "+w:";

const Format* known_format(const ArrowSchema& schema) {
  for (const Format& known : kFormats) {
    if (std::strcmp(known.format, schema.format) == 0) return &known;
  }
  return nullptr;
}

}  // namespace

ArrowType type_of(const ArrowSchema& schema) {
  if (const Format* known = known_format(schema)) return known->type;
  return std::string_view(schema.format).starts_with(kFixedSizeList) ? ArrowType::kFixedSizeList
                                                                     : ArrowType::kOther;
}

std::string type_name(const ArrowSchema& schema) {
  const Format* known = known_format(schema);
  const ArrowType type = type_of(schema);
  std::string name = known != nullptr ? known->name
                     : type == ArrowType::kFixedSizeList
                         ? "fixed_size_list"
                         : "the Arrow format '" + std::string(schema.format) + "'";
  // One level is enough to tell what is wrong, and no schema can be too deep for it.
  const ArrowSchema* inner = is_list(type) && schema.n_children == 1 ? schema.children[0] : nullptr;
  if (inner != nullptr && inner->format != nullptr) {
    const Format* item = known_format(*inner);
    const std::string item_name = item != nullptr ? item->name : inner->format;
    name += "<" + (inner->dictionary != nullptr ? "dictionary" : item_name) + ">";
  }
  if (schema.dictionary != nullptr && schema.dictionary->format != nullptr) {
    const Format* value = known_format(*schema.dictionary);
    name = "dictionary<" + name + ", " +
           (value != nullptr ? value->name : schema.dictionary->format) + ">";
  }
  return name;
}

long long fixed_list_size(const ArrowSchema& schema) {
  const char* digits = schema.format + kFixedSizeList.size();
  const char* end = digits + std::strlen(digits);
  long long size = -1;
  const auto [stop, problem] = std::from_chars(digits, end, size);
  return problem == std::errc() && stop == end && size >= 0 ? size : -1;
}

}  // namespace nearcast
