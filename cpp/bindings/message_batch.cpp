#include "bindings/message_batch.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <tuple>

#include "bindings/attribute_columns.h"
#include "bindings/bind.h"
#include "bindings/columns.h"
#include "bindings/expressions.h"
#include "nearcast/columns/reading.h"
#include "nearcast/text/utf8.h"

using namespace nb::literals;

namespace nearcast {
namespace {

constexpr ErrorKind kKind = ErrorKind::kInvalidMessage;

PlaceColumns places_of(const ArrowTable& table, OwnedColumns& owned) {
  const auto numbers = [&](const char* name) { return numbers_of(table.column(name), owned); };
  if (table.has_all({"west", "south", "east", "north"}))
    return {numbers("west"), numbers("south"), numbers("east"), numbers("north")};
  const std::span<const double> lon = numbers("lon");
  return {lon, numbers("lat"), {}, {}};
}

}  // namespace

bool ArrowDictionary::is_same(const ArrowDictionary& other) const {
  const ArrowArray &own = *array, &its = *other.array;
  if (own.length != its.length || own.offset != its.offset || own.n_buffers != its.n_buffers ||
      std::string_view(schema->format) != other.schema->format)
    return false;
  return std::equal(own.buffers, own.buffers + own.n_buffers, its.buffers);
}

MessageBatch::MessageBatch(std::shared_ptr<const ArrowOwner<ArrowSchema>> schema,
                           ArrowOwner<ArrowArray> batch)
    : schema_(std::move(schema)), batch_(std::move(batch)) {
  const ArrowTable table(**schema_, *batch_, kKind);
  table.refuse_others(
      {"id", "tokens", "text", "lon", "lat", "west", "south", "east", "north", "attributes"});
  columns_.rows = table.rows();
  if (table.has("id")) ids_ = ids_of(table.column("id"), owned_);
  if (table.has("attributes")) read_attributes(table.column("attributes"));
  columns_.places = places_of(table, owned_);
  if (!table.has("tokens")) {
    const ArrowCells cells = table.column("text");
    const WordColumn texts = words_of(cells, owned_);
    refuse_nulls(cells);
    check_text(cells, texts);
    columns_.texts = texts;
    return;
  }
  const ArrowCells cells = table.column("tokens");
  const ArrowLists found = lists_of(cells, owned_);
  refuse_nulls(cells);
  columns_.texts = found.lists;
  if (found.dictionary == nullptr) return;
  auto dictionary = std::make_shared<ArrowDictionary>();
  dictionary->owner = schema_;
  dictionary->schema = found.dictionary_schema;
  dictionary->array = ArrowOwner<ArrowArray>(*found.dictionary);  // moved: it may outlive the batch
  if (!dictionary->array.is_there()) {
    refuse_damaged(cells, "a dictionary that was released", "one that is there");
  }
  dictionary_ = std::move(dictionary);
}

void MessageBatch::read_attributes(const ArrowCells& cells) {
  const bool is_coded = cells.schema->dictionary != nullptr;
  if (!is_coded && !is_string(type_of(*cells.schema))) {
    columns_.attributes = attributes_of(cells, owned_);
    return;
  }
  attribute_texts_ = words_of(cells, owned_, "struct, map, or string of JSON");
  check_text(cells, *attribute_texts_);
  lacks_attributes_ = null_flags(cells, owned_);
}

nb::list MessageBatch::attribute_texts() const {
  nb::list listed;
  if (!attribute_texts_) return listed;
  for (std::size_t row = 0; row < rows(); ++row) {
    if (is_flagged(lacks_attributes_, row))
      listed.append(nb::none());
    else
      listed.append(to_str((*attribute_texts_)[row]));
  }
  return listed;
}

void MessageBatch::put_attributes(nb::handle attributes) {
  const nb::list given = list_from(attributes, "attributes");
  if (given.size() != rows()) refuse_argument("attributes", attributes, "a dict for each row");
  AttributesOut out;
  for (const nb::handle each : given) {
    for (const Attribute& found : attributes_from(each))
      out.add(found.name, found.kind, found.number, found.text);
    out.end_message();
  }
  columns_.attributes = std::move(out).keep(owned_);
}

nb::list MessageBatch::texts() const {
  nb::list listed;
  const auto& column = std::get<WordColumn>(columns_.texts);
  for (std::size_t row = 0; row < column.size(); ++row) listed.append(to_str(column[row]));
  return listed;
}

nb::list MessageBatch::texts_beyond_ascii() const {
  nb::list listed;
  const auto& column = std::get<WordColumn>(columns_.texts);
  if (column.size() == 0) return listed;
  const auto first = static_cast<std::size_t>(column.offsets.front());
  const auto end = static_cast<std::size_t>(column.offsets.back());
  if (is_ascii({column.bytes.data() + first, end - first})) return listed;
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (!is_ascii(column[row])) listed.append(to_str(column[row]));
  }
  return listed;
}

void MessageBatch::put_texts(nb::handle texts) {
  const nb::list given = list_from(texts, "texts");
  const auto& column = std::get<WordColumn>(columns_.texts);
  WordsOut words;
  std::size_t used = 0;
  for (std::size_t row = 0; row < column.size(); ++row) {
    if (is_ascii(column[row])) {
      words.push_back(column[row]);
    } else {
      if (used == given.size()) refuse_argument("texts", texts, "one for each beyond ASCII");
      words.push_back(word_from(given[used++], "text"));
    }
  }
  if (used != given.size()) refuse_argument("texts", texts, "one for each beyond ASCII");
  columns_.texts = owned_.keep_words(std::move(words));
}

void MessageBatch::put_tokens(nb::handle tokens) {
  const nb::list given = list_from(tokens, "tokens");
  if (given.size() != rows()) refuse_argument("tokens", tokens, "a list for each row");
  WordsOut words;
  std::vector<std::int64_t> ends{0};
  for (const nb::handle row : given) {
    for (const nb::handle token : list_from(row, "tokens"))
      words.push_back(word_from(token, "token"));
    ends.push_back(static_cast<std::int64_t>(words.offsets.size()) - 1);
  }
  const auto& offsets = owned_.keep(std::move(ends));
  dictionary_ = nullptr;
  columns_.texts = WordLists{offsets, owned_.keep_words(std::move(words))};
}

MessageColumns MessageBatch::with_words() {
  MessageColumns made = columns_;
  if (dictionary_ != nullptr) {
    std::get<CodedColumn>(std::get<WordLists>(made.texts).items).dictionary =
        dictionary_->words(kKind, owned_);
  }
  return made;
}

std::optional<MessageBatch> MessageStream::next() {
  auto batch = batches_.next();
  if (!batch) return std::nullopt;
  return std::optional<MessageBatch>(std::in_place, batches_.schema(), *std::move(batch));
}

void bind_message_batch(nb::module_& module) {
  nb::class_<MessageBatch>(module, "MessageBatch", "One batch of messages, read and checked.")
      .def_prop_ro("rows", &MessageBatch::rows)
      .def_prop_ro("has_texts", &MessageBatch::has_texts,
                   "Whether the messages are texts, not tokens.")
      .def(
          "texts",
          [](const MessageBatch& self) { return self.has_texts() ? self.texts() : nb::list(); },
          "All texts.")
      .def(
          "texts_beyond_ascii",
          [](const MessageBatch& self) {
            return self.has_texts() ? self.texts_beyond_ascii() : nb::list();
          },
          "The texts that Python must analyse.")
      .def(
          "put_texts",
          [](MessageBatch& self, nb::handle texts) {
            if (!self.has_texts()) refuse_argument("messages", texts, "a batch of texts");
            self.put_texts(texts);
          },
          "texts"_a, "Put analysed texts in the place of those beyond ASCII.")
      .def(
          "put_tokens", [](MessageBatch& self, nb::handle tokens) { self.put_tokens(tokens); },
          "tokens"_a, "Put the tokens of each text in the place of all texts.")
      .def("attribute_texts", &MessageBatch::attribute_texts,
           "Attributes that Python must read, None where there are none; empty: they are read.")
      .def(
          "put_attributes",
          [](MessageBatch& self, nb::handle attributes) { self.put_attributes(attributes); },
          "attributes"_a, "Put a dict, or None, for each row in the place of the texts.");
  nb::class_<MessageStream>(module, "MessageStream", "The batches of a table of messages.")
      .def(nb::init<nb::handle>(), "table"_a.none())
      .def("next", &MessageStream::next, "The next batch; None: there are no more.");
  nb::class_<TokenCache>(module, "TokenCache",
                         "The tokens of the last dictionary, for batches that share it.")
      .def(nb::init<>());
}

}  // namespace nearcast
