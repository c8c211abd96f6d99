#include "bindings/arrow_export.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "bindings/arrow_abi.h"
#include "bindings/bind.h"
#include "nearcast/base/errors.h"

using namespace nb::literals;

namespace nearcast {
namespace {

// ---- structs that others release ------------------------------------------------------------

/// What an exported schema owns.
struct SchemaNode {
  std::string name;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> pointers;
};

/// What an exported array owns. A child may be moved out and outlive its parent, so each holds the
/// whole batch.
struct ArrayNode {
  std::shared_ptr<const RecordsOut> records;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> pointers;
};

template <typename Struct, typename Node>
void release_node(Struct* exported) {
  auto* node = static_cast<Node*>(exported->private_data);
  for (const auto& child : node->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  exported->release = nullptr;
  delete node;
}

/// A capsule that releases what nothing has taken out of it.
template <typename Struct>
nb::object capsule_of(const Struct& made, const char* name) {
  auto* exported = new Struct(made);
  PyObject* capsule = PyCapsule_New(exported, name, [](PyObject* dying) {
    auto* left = static_cast<Struct*>(PyCapsule_GetPointer(dying, PyCapsule_GetName(dying)));
    if (left->release != nullptr) left->release(left);
    delete left;
  });
  if (capsule == nullptr) {
    exported->release(exported);
    delete exported;
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

ArrowSchema exported_schema(const char* format, const char* name, bool is_nullable) {
  auto node = std::make_unique<SchemaNode>();
  node->name = name;
  ArrowSchema schema{};
  schema.format = format;  // a literal
  schema.name = node->name.c_str();
  schema.flags = is_nullable ? ARROW_FLAG_NULLABLE : 0;
  schema.release = release_node<ArrowSchema, SchemaNode>;
  schema.private_data = node.release();
  return schema;
}

ArrowSchema schema_of(const RecordsOut& records) {
  ArrowSchema schema = exported_schema("+s", "", false);
  auto& node = *static_cast<SchemaNode*>(schema.private_data);
  for (const ColumnOut& column : records.columns) {
    node.children.push_back(
        std::make_unique<ArrowSchema>(exported_schema(column.format, column.name, true)));
    node.pointers.push_back(node.children.back().get());
  }
  schema.n_children = static_cast<std::int64_t>(node.pointers.size());
  schema.children = node.pointers.data();
  return schema;
}

ArrowArray exported_array(const std::shared_ptr<const RecordsOut>& records,
                          std::vector<const void*> buffers, std::int64_t null_count) {
  auto node = std::make_unique<ArrayNode>();
  node->records = records;
  node->buffers = std::move(buffers);
  ArrowArray array{};
  array.length = records->rows;
  array.null_count = null_count;
  array.n_buffers = static_cast<std::int64_t>(node->buffers.size());
  array.buffers = node->buffers.data();
  array.release = release_node<ArrowArray, ArrayNode>;
  array.private_data = node.release();
  return array;
}

ArrowArray array_of(const std::shared_ptr<const RecordsOut>& records) {
  ArrowArray array = exported_array(records, {nullptr}, 0);
  auto& node = *static_cast<ArrayNode*>(array.private_data);
  for (const ColumnOut& column : records->columns) {
    node.children.push_back(
        std::make_unique<ArrowArray>(exported_array(records, column.buffers, column.null_count)));
    node.pointers.push_back(node.children.back().get());
  }
  array.n_children = static_cast<std::int64_t>(node.pointers.size());
  array.children = node.pointers.data();
  return array;
}

}  // namespace

// ---- the core's columns ---------------------------------------------------------------------

ColumnOut string_column(const char* name, const WordsOut& words, std::size_t first, std::size_t end,
                        RecordsOut& records) {
  const std::int64_t start = words.offsets[first];
  if (words.offsets[end] - start > std::numeric_limits<std::int32_t>::max())
    too_large("an id", std::to_string(words.offsets[end] - start) + " bytes", "less than 2 GiB");
  auto offsets = std::make_shared<std::vector<std::int32_t>>(end - first + 1);
  for (std::size_t i = 0; i < offsets->size(); ++i)
    (*offsets)[i] = static_cast<std::int32_t>(words.offsets[first + i] - start);
  const void* numbers = offsets->data();
  records.kept.push_back(std::move(offsets));
  return {name, "u", {nullptr, numbers, words.bytes.data() + start}};
}

std::vector<std::size_t> batch_ends(std::span<const WordsOut* const> columns, std::size_t rows,
                                    std::size_t max_string_bytes) {
  std::vector<std::size_t> ends;
  std::size_t first = 0;
  do {
    std::size_t end = rows;
    for (const WordsOut* words : columns) {
      const auto& offsets = words->offsets;
      const std::int64_t reach = offsets[first] + static_cast<std::int64_t>(max_string_bytes);
      if (offsets[end] <= reach) continue;
      const auto beyond = std::upper_bound(offsets.begin(), offsets.end(), reach);
      end = std::max(first + 1, static_cast<std::size_t>(beyond - offsets.begin()) - 1);
    }
    ends.push_back(end);
    first = end;
  } while (first < rows);
  return ends;
}

namespace {

template <typename Vector>
ColumnOut fixed_column(const char* name, const char* format, const Vector& values,
                       std::size_t first) {
  const void* start = values.empty() ? kNoBytes : values.data() + first;
  return {name, format, {nullptr, start}};
}

/// A bit for each number that is not NaN; null: none is.
std::shared_ptr<const std::vector<std::uint8_t>> presence(std::span<const double> scores,
                                                          std::int64_t& null_count) {
  null_count = std::count_if(scores.begin(), scores.end(), [](double s) { return std::isnan(s); });
  if (null_count == 0) return nullptr;
  auto bits = std::make_shared<std::vector<std::uint8_t>>((scores.size() + 7) / 8);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!std::isnan(scores[i])) (*bits)[i / 8] |= static_cast<std::uint8_t>(1 << (i % 8));
  }
  return bits;
}

ColumnOut score_column(std::span<const double> scores, std::size_t first, std::size_t end,
                       RecordsOut& records) {
  ColumnOut column = fixed_column("score", "g", scores, first);
  auto bits = presence(scores.subspan(first, end - first), column.null_count);
  if (bits != nullptr) {
    column.buffers[0] = bits->data();
    records.kept.push_back(std::move(bits));
  }
  return column;
}

/// Calls fill(batch, first, end) for each batch, which holds `held`.
template <typename Held, typename Fill>
std::vector<RecordsOut> filled_batches(const std::shared_ptr<Held>& held,
                                       std::span<const std::size_t> ends, Fill&& fill) {
  std::vector<RecordsOut> batches;
  std::size_t first = 0;
  for (const std::size_t end : ends) {
    RecordsOut& batch = batches.emplace_back();
    batch.rows = static_cast<std::int64_t>(end - first);
    batch.kept.push_back(held);
    fill(batch, first, end);
    first = end;
  }
  return batches;
}

/// Matches with the ids of their messages.
struct NamedMatches {
  MatchColumns matches;  ///< `message`: rows, or ids that are numbers
  WordsOut messages;     ///< ids that are words
  bool has_words = false;
};

void name_messages(NamedMatches& named, std::size_t first_row, const IdColumn* ids) {
  ColumnVector<std::int64_t>& rows = named.matches.message;
  if (ids == nullptr) {
    if (first_row == 0) return;
    for (std::int64_t& row : rows) row += static_cast<std::int64_t>(first_row);
  } else if (const auto* numbers = std::get_if<std::span<const std::int64_t>>(ids)) {
    for (std::int64_t& row : rows) row = (*numbers)[static_cast<std::size_t>(row)];
  } else {
    named.has_words = true;
    const WordColumn& words = std::get<WordColumn>(*ids);
    for (const std::int64_t row : rows)
      named.messages.push_back(words[static_cast<std::size_t>(row)]);
  }
}

}  // namespace

AnswerOut answer_of(MatchColumns&& matches, bool has_scores, std::size_t first_row,
                    const IdColumn* message_ids) {
  auto held = std::make_shared<NamedMatches>(NamedMatches{std::move(matches), {}, false});
  name_messages(*held, first_row, message_ids);
  return {[held, has_scores](std::size_t max_string_bytes) {
    const MatchColumns& found = held->matches;
    const std::size_t rows = found.message.size();
    std::vector<const WordsOut*> strings;
    if (held->has_words) strings.push_back(&held->messages);
    if (found.has_words) strings.push_back(&found.words);
    const auto ends = strings.empty() ? std::vector<std::size_t>{rows}
                                      : batch_ends(strings, rows, max_string_bytes);
    return filled_batches(held, ends, [&](RecordsOut& batch, std::size_t first, std::size_t end) {
      batch.columns.push_back(held->has_words
                                  ? string_column("message", held->messages, first, end, batch)
                                  : fixed_column("message", "l", found.message, first));
      batch.columns.push_back(found.has_words
                                  ? string_column("subscription", found.words, first, end, batch)
                                  : fixed_column("subscription", "l", found.number, first));
      if (has_scores) batch.columns.push_back(fixed_column("score", "g", found.score, first));
    });
  }};
}

AnswerOut answer_of(ChangeColumns&& changes, std::span<const std::int64_t> numbers) {
  auto held = std::make_shared<ChangeColumns>(std::move(changes));
  for (std::int64_t& event : held->event) event = numbers[static_cast<std::size_t>(event)];
  return {[held](std::size_t max_string_bytes) {
    const std::array<const WordsOut*, 2> strings{&held->subscription, &held->message};
    const auto ends = batch_ends(strings, held->event.size(), max_string_bytes);
    return filled_batches(held, ends, [&](RecordsOut& batch, std::size_t first, std::size_t end) {
      batch.columns = {fixed_column("event", "l", held->event, first),
                       string_column("subscription", held->subscription, first, end, batch),
                       string_column("message", held->message, first, end, batch),
                       fixed_column("change", "c", held->kind, first),
                       fixed_column("reason", "c", held->reason, first),
                       score_column(held->score, first, end, batch)};
    });
  }};
}

void bind_records(nb::module_& module) {
  nb::class_<RecordsOut>(module, "Records", "An answer: a record batch for any Arrow library.")
      .def_prop_ro("rows", [](const RecordsOut& self) { return self.rows; })
      .def("__arrow_c_schema__",
           [](const RecordsOut& self) { return capsule_of(schema_of(self), "arrow_schema"); })
      .def(
          "__arrow_c_array__",
          [](const RecordsOut& self, nb::handle) {
            nb::object schema = capsule_of(schema_of(self), "arrow_schema");
            return nb::make_tuple(
                schema,
                capsule_of(array_of(std::make_shared<const RecordsOut>(self)), "arrow_array"));
          },
          "requested_schema"_a.none() = nb::none(),
          "(schema, array); another schema than its own is not made.");
  nb::class_<AnswerOut>(module, "Answer", "Rows that may be more than one record batch holds.")
      .def(
          "batches",
          [](const AnswerOut& self, std::size_t max_string_bytes) {
            return self.batches(max_string_bytes);
          },
          "max_string_bytes"_a, "Its record batches, each with at most so many bytes of strings.");
}

}  // namespace nearcast
