#include "bindings/attribute_columns.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "bindings/arrow_buffers.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/model/attribute.h"

namespace nearcast {
namespace {

constexpr const char* kWantedName = "letters, digits, _ and ., not a digit first";
constexpr const char* kWantedValue = "numbers, bool, string or list<string>";

/// A field of a struct, for the same rows.
ArrowCells field_of(const ArrowCells& cells, std::int64_t field) {
  const ArrowSchema& schema = *cells.schema->children[field];
  ArrowCells inner{&schema, nullptr, 0, 0, cells.name, cells.kind};
  if (schema.format == nullptr) refuse_damaged(cells, "a field without a format", "one with it");
  if (schema.name != nullptr) inner.name += "." + std::string(schema.name);
  if (cells.rows == 0) return inner;
  const ArrowArray& array = *cells.array;
  if (array.n_children != cells.schema->n_children || array.children == nullptr ||
      array.children[field] == nullptr)
    refuse_damaged(cells, std::to_string(array.n_children) + " fields",
                   std::to_string(cells.schema->n_children));
  const ArrowCells whole = cells_of(schema, *array.children[field], inner.name, cells.kind);
  if (whole.rows < cells.start + cells.rows)
    refuse_damaged(inner, std::to_string(whole.rows) + " rows",
                   std::to_string(cells.start + cells.rows));
  inner.array = whole.array;
  inner.start = whole.start + cells.start;
  inner.rows = cells.rows;
  return inner;
}

/// Values of one type. Positions are rows of a struct, or entries of maps.
class Values {
 public:
  Values(const ArrowCells& cells, OwnedColumns& owned) : cells_(cells) {
    const std::string_view format = cells.schema->format;
    const ArrowType type = type_of(*cells.schema);
    if (format == "n") return;  // all are null, without a map that says so
    nulls_ = nulls_of(cells);
    if (format == "b") {
      form_ = Form::kTruth;
      if (cells.rows > 0)
        bits_ = buffer_of<std::uint8_t>(
            cells, 1, 0, static_cast<std::size_t>(cells.start + cells.rows + 7) / 8, owned);
    } else if (is_list(type) && cells.schema->dictionary == nullptr) {
      form_ = Form::kTexts;
      read_lists(owned);
    } else if (is_number(type) && cells.schema->dictionary == nullptr) {
      form_ = Form::kNumber;
      numbers_ = numbers_of(cells, owned);
    } else {
      form_ = Form::kText;
      words_ = words_of(cells, owned, kWantedValue);
      check_text(cells, words_);
    }
  }

  /// Adds the value at a position, unless it is null. `row`: of the message, for errors.
  void add(std::string_view name, std::size_t at, std::size_t row, AttributesOut& out) const {
    if (form_ == Form::kNothing || nulls_[at]) return;
    switch (form_) {
      case Form::kNumber:
        if (!std::isfinite(numbers_[at]))
          refuse_row(cells_, row, "attribute " + std::string(name) + " is not finite",
                     std::to_string(numbers_[at]), "a finite number");
        return out.add(name, ValueKind::kNumber, numbers_[at], {});
      case Form::kTruth: {
        const std::size_t bit = static_cast<std::size_t>(cells_.start) + at;
        return out.add(name, ValueKind::kTruth, bits_[bit / 8] >> (bit % 8) & 1, {});
      }
      case Form::kText:
        return out.add(name, ValueKind::kText, 0, words_[at]);
      default:
        return add_texts(name, at, out);
    }
  }

 private:
  enum class Form { kNothing, kNumber, kTruth, kText, kTexts };

  void read_lists(OwnedColumns& owned) {
    const ArrowLists found = lists_of(cells_, owned);
    offsets_ = found.lists.offsets;
    if (const auto* words = std::get_if<WordColumn>(&found.lists.items)) {
      words_ = *words;
    } else if (found.dictionary != nullptr) {
      codes_ = std::get<CodedColumn>(found.lists.items).codes;
      words_ = dictionary_of(*found.dictionary_schema, *found.dictionary, cells_.kind, owned);
    }
  }
  void add_texts(std::string_view name, std::size_t at, AttributesOut& out) const {
    if (offsets_[at] == offsets_[at + 1]) return out.add(name, ValueKind::kNoTexts, 0, {});
    for (auto i = static_cast<std::size_t>(offsets_[at]);
         i < static_cast<std::size_t>(offsets_[at + 1]); ++i) {
      const std::size_t word = codes_.empty() ? i : static_cast<std::size_t>(codes_[i]);
      if (word >= words_.size())
        refuse_damaged(cells_, "code " + std::to_string(word), "a position in the dictionary");
      out.add(name, ValueKind::kText, 0, words_[word]);
    }
  }

  ArrowCells cells_;
  NullMap nulls_;
  Form form_ = Form::kNothing;
  std::span<const double> numbers_;
  std::span<const std::uint8_t> bits_;
  std::span<const std::int64_t> offsets_;
  std::span<const std::int32_t> codes_;
  WordColumn words_;
};

[[noreturn]] void refuse_name(const ArrowCells& cells, std::string_view name) {
  throw Error(cells.kind, "column '" + cells.name + "': a name is not a name", std::string(name),
              kWantedName);
}

[[noreturn]] void refuse_many(const ArrowCells& cells, std::size_t names) {
  throw Error(cells.kind, "column '" + cells.name + "' has too many names", std::to_string(names),
              "at most " + std::to_string(kMaxAttributeNames));
}

AttributesOut read_struct(const ArrowCells& cells, OwnedColumns& owned) {
  std::vector<std::pair<std::string_view, Values>> fields;
  std::set<std::string_view> names;
  for (std::int64_t i = 0; i < cells.schema->n_children; ++i) {
    const char* named = cells.schema->children[i]->name;
    const std::string_view name = named == nullptr ? "" : named;
    if (!is_attribute_name(name)) refuse_name(cells, name);
    if (!names.insert(name).second)
      throw Error(cells.kind, "column '" + cells.name + "' has a name twice", std::string(name),
                  "each once");
    fields.emplace_back(name, Values(field_of(cells, i), owned));
  }
  if (fields.size() > kMaxAttributeNames) refuse_many(cells, fields.size());
  const NullMap nulls = nulls_of(cells);
  AttributesOut out;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (!nulls[row]) {
      for (const auto& [name, values] : fields) values.add(name, row, row, out);
    }
    out.end_message();
  }
  return out;
}

/// The entries of all maps, keys and values side by side.
ArrowCells entries_of(const ArrowCells& cells) {
  const ArrowSchema& schema = *cells.schema;
  const bool is_right = schema.n_children == 1 && schema.children[0]->format != nullptr &&
                        std::string_view(schema.children[0]->format) == "+s" &&
                        schema.children[0]->n_children == 2;
  if (!is_right) refuse_damaged(cells, type_name(schema), "a map of keys and values");
  ArrowCells entries{schema.children[0], nullptr, 0, 0, cells.name, cells.kind};
  if (cells.rows == 0) return entries;
  if (cells.array->n_children != 1 || cells.array->children == nullptr ||
      cells.array->children[0] == nullptr)
    refuse_damaged(cells, "no entries", "keys and values");
  return cells_of(*schema.children[0], *cells.array->children[0], cells.name, cells.kind);
}

AttributesOut read_maps(const ArrowCells& cells, OwnedColumns& owned) {
  const ArrowCells entries = entries_of(cells);
  const ArrowCells key_cells = field_of(entries, 0);
  const WordColumn keys = words_of(key_cells, owned, "string keys");
  refuse_nulls(key_cells);
  const Values values(field_of(entries, 1), owned);
  AttributesOut out;
  if (cells.rows == 0) return out;
  const auto narrow = buffer_of<std::int32_t>(cells, 1, cells.start, cells.size() + 1, owned);
  const std::vector<std::int64_t> offsets(narrow.begin(), narrow.end());
  check_offsets(cells.kind, cells.name.c_str(), offsets, static_cast<std::size_t>(entries.rows));
  const NullMap nulls = nulls_of(cells);
  std::set<std::string_view> names;
  for (std::size_t row = 0; row < cells.size(); ++row) {
    names.clear();
    for (auto at = static_cast<std::size_t>(offsets[row]);
         !nulls[row] && at < static_cast<std::size_t>(offsets[row + 1]); ++at) {
      if (!is_attribute_name(keys[at])) refuse_name(cells, keys[at]);
      if (!names.insert(keys[at]).second)
        refuse_row(cells, row, "attributes: a name is there twice", std::string(keys[at]),
                   "each once");
      values.add(keys[at], at, row, out);
    }
    if (names.size() > kMaxAttributeNames) refuse_many(cells, names.size());
    out.end_message();
  }
  return out;
}

}  // namespace

bool is_attribute_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto is_other = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), is_other);
}

AttributeColumns AttributesOut::keep(OwnedColumns& owned) && {
  AttributeColumns columns;
  columns.offsets = owned.keep(std::move(offsets_));
  columns.names = owned.keep_words(std::move(names_));
  columns.kinds = owned.keep(std::move(kinds_));
  columns.numbers = owned.keep(std::move(numbers_));
  columns.texts = owned.keep_words(std::move(texts_));
  return columns;
}

AttributeColumns attributes_of(const ArrowCells& cells, OwnedColumns& owned) {
  const std::string_view format = cells.schema->format;
  if (cells.schema->dictionary != nullptr || (format != "+s" && format != "+m"))
    refuse_type(cells, "struct, map, or string of JSON");
  return (format == "+s" ? read_struct(cells, owned) : read_maps(cells, owned)).keep(owned);
}

}  // namespace nearcast
