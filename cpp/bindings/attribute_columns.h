/// Attributes of a batch of messages, as the core's columns.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "bindings/arrow_columns.h"
#include "nearcast/model/attribute.h"

namespace nearcast {

constexpr std::size_t kMaxAttributeNames = 64;  ///< of one message
bool is_attribute_name(std::string_view name);

/// Reads a struct, whose fields are names, or maps of names and values. Values are numbers, texts,
/// truth values or lists of texts; null: the message does not have it.
AttributeColumns attributes_of(const ArrowCells& cells, OwnedColumns& owned);

/// Attributes on their way into columns, message by message.
class AttributesOut {
 public:
  void add(std::string_view name, ValueKind kind, double number, std::string_view text) {
    names_.push_back(name);
    kinds_.push_back(static_cast<std::uint8_t>(kind));
    numbers_.push_back(number);
    texts_.push_back(text);
  }
  void end_message() { offsets_.push_back(static_cast<std::int64_t>(kinds_.size())); }
  std::size_t size() const { return kinds_.size(); }
  AttributeColumns keep(OwnedColumns& owned) &&;

 private:
  std::vector<std::int64_t> offsets_{0};
  WordsOut names_, texts_;
  std::vector<std::uint8_t> kinds_;
  std::vector<double> numbers_;
};

}  // namespace nearcast
