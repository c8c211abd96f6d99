/// Strings, dictionaries and lists of words: the columns whose offsets and codes lead elsewhere.
#include <algorithm>
#include <array>
#include <limits>

#include "bindings/arrow_buffers.h"
#include "nearcast/columns/column_checks.h"
#include "nearcast/text/utf8.h"

namespace nearcast {
namespace {

using Offsets = std::span<const std::int64_t>;

constexpr std::array<std::int64_t, 1> kNoOffsets{0};

/// `count` numbers of 32 or 64 bits of buffer `which`, as 64 bits.
Offsets wide_numbers(const ArrowCells& cells, std::int64_t which, std::size_t count, bool are_wide,
                     OwnedColumns& owned) {
  if (are_wide) return buffer_of<std::int64_t>(cells, which, cells.start, count, owned);
  const auto narrow = buffer_of<std::int32_t>(cells, which, cells.start, count, owned);
  return owned.keep(std::vector<std::int64_t>(narrow.begin(), narrow.end()));
}

}  // namespace

/// Without rows the buffer need not be there.
Offsets offsets_of(const ArrowCells& cells, bool are_wide, OwnedColumns& owned) {
  if (cells.rows == 0) return kNoOffsets;
  return wide_numbers(cells, 1, cells.size() + 1, are_wide, owned);
}

namespace {

// ---- strings --------------------------------------------------------------------------------

WordColumn plain_words(const ArrowCells& cells, bool are_wide, OwnedColumns& owned) {
  const Offsets offsets = offsets_of(cells, are_wide, owned);
  const auto end = static_cast<std::size_t>(std::max<std::int64_t>(offsets.back(), 0));
  check_offsets(cells.kind, cells.name.c_str(), offsets, end);
  if (end == 0) return {offsets, {}};
  const ArrowArray& array = *cells.array;
  if (array.n_buffers < 3 || array.buffers[2] == nullptr)
    refuse_damaged(cells, "no buffer of letters", "one for its words");
  return {offsets, {static_cast<const char*>(array.buffers[2]), end}};
}

/// A string view: 16 bytes that have up to 12 letters in them, or say where they are.
struct View {
  static constexpr std::int32_t kMostInside = 12;

  std::int32_t length;
  std::array<char, 4> prefix;
  std::int32_t buffer, offset;
};
static_assert(sizeof(View) == 16);

WordColumn viewed_words(const ArrowCells& cells, OwnedColumns& owned) {
  WordsOut words;
  const auto views = buffer_of<View>(cells, 1, cells.start, cells.size(), owned);
  if (views.empty()) return owned.keep_words(std::move(words));
  // After the null map and the views come the buffers of letters, and last their sizes.
  const ArrowArray& array = *cells.array;
  const std::int64_t buffers = array.n_buffers - 3;
  if (buffers < 0) refuse_damaged(cells, "too few buffers", "those of string_view");
  ArrowCells sizes_at = cells;
  sizes_at.start = 0;
  const Offsets sizes = buffer_of<std::int64_t>(sizes_at, array.n_buffers - 1, 0,
                                                static_cast<std::size_t>(buffers), owned);
  const NullMap nulls = nulls_of(cells);
  for (std::size_t row = 0; row < views.size(); ++row) {
    const View& view = views[row];
    if (nulls[row]) {
      words.push_back({});
      continue;
    }
    if (view.length >= 0 && view.length <= View::kMostInside) {
      words.push_back({reinterpret_cast<const char*>(&view) + sizeof(view.length),
                       static_cast<std::size_t>(view.length)});
      continue;
    }
    const bool is_inside =
        view.length >= 0 && view.buffer >= 0 && view.buffer < buffers && view.offset >= 0 &&
        std::int64_t{view.offset} + view.length <= sizes[static_cast<std::size_t>(view.buffer)] &&
        array.buffers[2 + view.buffer] != nullptr;
    if (!is_inside)
      refuse_row(cells, row, "column '" + cells.name + "'", "a view of letters that are not there",
                 "one inside its buffers");
    words.push_back({static_cast<const char*>(array.buffers[2 + view.buffer]) + view.offset,
                     static_cast<std::size_t>(view.length)});
  }
  return owned.keep_words(std::move(words));
}

// ---- codes ----------------------------------------------------------------------------------

/// Codes as int32. One that 32 bits cannot hold becomes -1, which is no code either.
std::span<const std::int32_t> codes_of(const ArrowCells& cells, OwnedColumns& owned) {
  const ArrowType type = type_of(*cells.schema);
  if (!is_integer(type)) refuse_type(cells, "codes that are integers");
  if (type == ArrowType::kInt32)
    return buffer_of<std::int32_t>(cells, 1, cells.start, cells.size(), owned);
  std::vector<std::int32_t> codes;
  codes.reserve(cells.size());
  with_number_type(type, [&](auto zero) {
    using Code = decltype(zero);
    for (const Code code : buffer_of<Code>(cells, 1, cells.start, cells.size(), owned)) {
      const bool fits = code >= Code{0} && static_cast<std::uint64_t>(code) <=
                                               std::numeric_limits<std::int32_t>::max();
      codes.push_back(fits ? static_cast<std::int32_t>(code) : -1);
    }
  });
  return owned.keep(std::move(codes));
}

const ArrowArray& dictionary_array(const ArrowCells& cells) {
  if (cells.array->dictionary == nullptr) refuse_damaged(cells, "no dictionary", "one");
  return *cells.array->dictionary;
}

WordColumn decoded_words(const ArrowCells& cells, OwnedColumns& owned) {
  WordsOut words;
  if (cells.rows == 0) return owned.keep_words(std::move(words));
  const WordColumn known =
      dictionary_of(*cells.schema->dictionary, dictionary_array(cells), cells.kind, owned);
  const auto codes = codes_of(cells, owned);
  const NullMap nulls = nulls_of(cells);
  for (std::size_t row = 0; row < codes.size(); ++row) {
    if (nulls[row]) {
      words.push_back({});
      continue;
    }
    const auto code = static_cast<std::uint32_t>(codes[row]);
    if (code >= known.size()) {
      refuse_row(
          cells, row, "column '" + cells.name + "'", "code " + std::to_string(codes[row]),
          "a position in the dictionary, which has " + std::to_string(known.size()) + " words");
    }
    words.push_back(known[code]);
  }
  return owned.keep_words(std::move(words));
}

// ---- lists ----------------------------------------------------------------------------------

/// Lists as rows of positions among their items.
struct ListRows {
  Offsets offsets;
  ArrowCells items;
  /// The items in the order of the rows, if that is not their own: of list views.
  std::vector<std::int64_t> picked;
  bool are_picked = false;
};

}  // namespace

ArrowCells items_of(const ArrowCells& cells) {
  const ArrowSchema& schema = *cells.schema;
  if (schema.n_children != 1 || schema.children == nullptr || schema.children[0] == nullptr ||
      schema.children[0]->format == nullptr)
    refuse_damaged(cells, "a list type without its items", "one type of items");
  if (cells.rows == 0) return {schema.children[0], nullptr, 0, 0, cells.name, cells.kind};
  const ArrowArray& array = *cells.array;
  if (array.n_children != 1 || array.children == nullptr || array.children[0] == nullptr)
    refuse_damaged(cells, "lists without items", "one array of items");
  return cells_of(*schema.children[0], *array.children[0], cells.name, cells.kind);
}

namespace {

/// Only the items that the rows use: a slice of a table has those of the whole table.
void narrow_items(ListRows& rows, OwnedColumns& owned) {
  const std::int64_t first = rows.offsets.front();
  rows.items.start += first;
  rows.items.rows = rows.offsets.back() - first;
  if (first == 0) return;
  std::vector<std::int64_t> offsets(rows.offsets.begin(), rows.offsets.end());
  for (std::int64_t& offset : offsets) offset -= first;
  rows.offsets = owned.keep(std::move(offsets));
}

void read_list_views(const ArrowCells& cells, bool are_wide, ListRows& rows, OwnedColumns& owned) {
  const Offsets starts = wide_numbers(cells, 1, cells.size(), are_wide, owned);
  const Offsets sizes = wide_numbers(cells, 2, cells.size(), are_wide, owned);
  const NullMap nulls = nulls_of(cells);
  std::vector<std::int64_t> ends{0};
  for (std::size_t row = 0; row < starts.size(); ++row) {
    if (!nulls[row]) {
      const bool is_inside = starts[row] >= 0 && sizes[row] >= 0 && sizes[row] <= rows.items.rows &&
                             starts[row] <= rows.items.rows - sizes[row];
      if (!is_inside) {
        refuse_row(
            cells, row, "column '" + cells.name + "'",
            "items " + std::to_string(starts[row]) + " and " + std::to_string(sizes[row]) + " more",
            "some of " + std::to_string(rows.items.rows));
      }
      for (std::int64_t i = 0; i < sizes[row]; ++i) rows.picked.push_back(starts[row] + i);
    }
    ends.push_back(static_cast<std::int64_t>(rows.picked.size()));
  }
  rows.are_picked = true;
  rows.offsets = owned.keep(std::move(ends));
}

void read_fixed_lists(const ArrowCells& cells, ListRows& rows, OwnedColumns& owned) {
  const std::int64_t size = fixed_list_size(*cells.schema);
  if (size < 0) refuse_damaged(cells, type_name(*cells.schema), "a size of its lists");
  if (size > 0 && cells.start + cells.rows > rows.items.rows / size) {
    refuse_damaged(cells, std::to_string(rows.items.rows) + " items",
                   std::to_string(size) + " for each row");
  }
  std::vector<std::int64_t> offsets(cells.size() + 1);
  for (std::size_t row = 0; row < offsets.size(); ++row)
    offsets[row] = (cells.start + static_cast<std::int64_t>(row)) * size;
  rows.offsets = owned.keep(std::move(offsets));
  narrow_items(rows, owned);
}

ListRows list_rows(const ArrowCells& cells, OwnedColumns& owned) {
  const ArrowType type = type_of(*cells.schema);
  if (!is_list(type) || cells.schema->dictionary != nullptr) refuse_type(cells, "list<string>");
  ListRows rows{kNoOffsets, items_of(cells), {}, false};
  if (cells.rows == 0) return rows;
  if (type == ArrowType::kListView || type == ArrowType::kLargeListView) {
    read_list_views(cells, type == ArrowType::kLargeListView, rows, owned);
  } else if (type == ArrowType::kFixedSizeList) {
    read_fixed_lists(cells, rows, owned);
  } else {
    rows.offsets = offsets_of(cells, type == ArrowType::kLargeList, owned);
    check_offsets(cells.kind, cells.name.c_str(), rows.offsets,
                  static_cast<std::size_t>(rows.items.rows));
    narrow_items(rows, owned);
  }
  return rows;
}

/// Calls visit(row, item) for each item of a row that is not null; items count from those read.
template <typename Visit>
void for_each_item(const ArrowCells& cells, const ListRows& rows, Visit&& visit) {
  const NullMap nulls = nulls_of(cells);
  for (std::size_t row = 0; row < cells.size(); ++row) {
    if (nulls[row]) continue;  // what lies under null may be anything
    for (std::int64_t i = rows.offsets[row]; i < rows.offsets[row + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      visit(row, rows.are_picked ? static_cast<std::size_t>(rows.picked[at]) : at);
    }
  }
}

void refuse_null_items(const ArrowCells& cells, const ListRows& rows) {
  const NullMap nulls = nulls_of(rows.items);
  if (!nulls.has_any()) return;
  for_each_item(cells, rows, [&](std::size_t row, std::size_t item) {
    if (nulls[item]) refuse_row(cells, row, "a word of " + cells.name + " is null", {}, "a value");
  });
}

void check_item_text(const ArrowCells& cells, const ListRows& rows, const WordColumn& words) {
  if (words.size() == 0) return;
  const auto first = static_cast<std::size_t>(words.offsets.front());
  const auto end = static_cast<std::size_t>(words.offsets.back());
  if (is_ascii({words.bytes.data() + first, end - first})) return;
  for_each_item(cells, rows, [&](std::size_t row, std::size_t item) {
    if (is_utf8(words[item])) return;
    refuse_row(cells, row, "column '" + cells.name + "'", "a word that is not UTF-8",
               "words in UTF-8");
  });
}

}  // namespace

std::span<const std::int64_t> whole_numbers_of(const ArrowCells& cells, ArrowType type,
                                               OwnedColumns& owned) {
  if (type == ArrowType::kInt64)
    return buffer_of<std::int64_t>(cells, 1, cells.start, cells.size(), owned);
  std::vector<std::int64_t> numbers;
  numbers.reserve(cells.size());
  with_number_type(type, [&](auto zero) {
    using Number = decltype(zero);
    for (const Number number : buffer_of<Number>(cells, 1, cells.start, cells.size(), owned))
      numbers.push_back(static_cast<std::int64_t>(number));
  });
  return owned.keep(std::move(numbers));
}

WordColumn words_of(const ArrowCells& cells, OwnedColumns& owned, const char* wanted) {
  const ArrowSchema* dictionary = cells.schema->dictionary;
  if (dictionary != nullptr && dictionary->format != nullptr && dictionary->dictionary == nullptr &&
      is_string(type_of(*dictionary)))
    return decoded_words(cells, owned);
  const ArrowType type = type_of(*cells.schema);
  if (dictionary != nullptr || !is_string(type)) refuse_type(cells, wanted);
  if (type == ArrowType::kStringView) return viewed_words(cells, owned);
  return plain_words(cells, type == ArrowType::kLargeString, owned);
}

WordColumn bytes_of(const ArrowCells& cells, OwnedColumns& owned) {
  const ArrowType type = type_of(*cells.schema);
  if (!is_binary(type) || cells.schema->dictionary != nullptr) refuse_type(cells, "binary");
  if (type == ArrowType::kBinaryView) return viewed_words(cells, owned);
  return plain_words(cells, type == ArrowType::kLargeBinary, owned);
}

ArrowLists lists_of(const ArrowCells& cells, OwnedColumns& owned) {
  ListRows rows = list_rows(cells, owned);
  refuse_null_items(cells, rows);
  ArrowLists found{{rows.offsets, {}}, nullptr, nullptr};
  const ArrowSchema& item = *rows.items.schema;
  if (item.dictionary == nullptr) {
    WordColumn words = words_of(rows.items, owned);
    check_item_text(cells, rows, words);
    if (rows.are_picked) {
      WordsOut copy;
      for (const std::int64_t at : rows.picked) copy.push_back(words[static_cast<std::size_t>(at)]);
      words = owned.keep_words(std::move(copy));
    }
    found.lists.items = words;
    return found;
  }
  if (item.dictionary->format == nullptr || item.dictionary->dictionary != nullptr ||
      !is_string(type_of(*item.dictionary)))
    refuse_type(cells, "list<string>");
  CodedColumn coded;
  if (rows.items.rows > 0) {
    coded.codes = codes_of(rows.items, owned);
    dictionary_array(rows.items);
    if (rows.are_picked) {
      std::vector<std::int32_t> codes;
      for (const std::int64_t at : rows.picked)
        codes.push_back(coded.codes[static_cast<std::size_t>(at)]);
      coded.codes = owned.keep(std::move(codes));
    }
    found.dictionary = rows.items.array->dictionary;
  }
  found.lists.items = coded;
  found.dictionary_schema = item.dictionary;
  return found;
}

WordColumn dictionary_of(const ArrowSchema& schema, const ArrowArray& array, ErrorKind kind,
                         OwnedColumns& owned) {
  const ArrowCells cells = cells_of(schema, array, "dictionary", kind);
  const NullMap nulls = nulls_of(cells);
  for (std::size_t row = 0; nulls.has_any() && row < cells.size(); ++row) {
    if (nulls[row]) refuse_row(cells, row, "a word of the dictionary is null", {}, "a value");
  }
  const WordColumn words = words_of(cells, owned);
  check_text(cells, words);
  return words;
}

}  // namespace nearcast
