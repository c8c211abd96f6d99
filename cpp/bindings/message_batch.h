/// Messages of a table on their way into the core: one batch after the other, read and checked
/// once, and the tokens of their dictionary, which batches share.
///
/// Everything here needs the GIL, so that threads may share it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrow_columns.h"
#include "bindings/arrow_import.h"
#include "bindings/turns.h"

namespace nb = nanobind;

namespace nearcast {

/// A dictionary that outlives its batch.
struct ArrowDictionary {
  std::shared_ptr<const ArrowOwner<ArrowSchema>> owner;  ///< of the schema
  const ArrowSchema* schema = nullptr;
  ArrowOwner<ArrowArray> array;

  /// Whether both are views of the same memory.
  bool is_same(const ArrowDictionary& other) const;
  WordColumn words(ErrorKind kind, OwnedColumns& owned) const {
    return dictionary_of(*schema, *array, kind, owned);
  }
};

/// One batch of messages.
class MessageBatch {
 public:
  MessageBatch(std::shared_ptr<const ArrowOwner<ArrowSchema>> schema, ArrowOwner<ArrowArray> batch);

  std::size_t rows() const { return columns_.rows; }
  /// Null: answers name messages by their rows.
  const IdColumn* ids() const { return ids_ ? &*ids_ : nullptr; }
  /// Whether the messages are texts, which Python may have to analyse.
  bool has_texts() const { return std::holds_alternative<WordColumn>(columns_.texts); }
  nb::list texts() const;
  /// Those that the core cannot split into words: it knows no Unicode.
  nb::list texts_beyond_ascii() const;
  /// Puts analysed texts, tokens joined by spaces, in the place of those beyond ASCII.
  void put_texts(nb::handle texts);
  /// Puts the tokens of each text in the place of all texts.
  void put_tokens(nb::handle tokens);

  /// Attributes that came as JSON, which Python reads; empty: none did.
  nb::list attribute_texts() const;
  void put_attributes(nb::handle attributes);

  /// Codes come without their dictionary: see TokenCache.
  const MessageColumns& columns() const { return columns_; }
  const std::shared_ptr<const ArrowDictionary>& dictionary() const { return dictionary_; }
  /// The columns with the words of the dictionary.
  MessageColumns with_words();

 private:
  void read_attributes(const ArrowCells& cells);

  std::shared_ptr<const ArrowOwner<ArrowSchema>> schema_;
  ArrowOwner<ArrowArray> batch_;
  OwnedColumns owned_;
  std::shared_ptr<const ArrowDictionary> dictionary_;
  std::optional<WordColumn> attribute_texts_;
  std::span<const std::uint8_t> lacks_attributes_;
  std::optional<IdColumn> ids_;
  MessageColumns columns_;
};

/// The batches of a table of messages.
class MessageStream {
 public:
  explicit MessageStream(nb::handle table)
      : batches_(table, "messages", ErrorKind::kInvalidMessage) {}

  std::optional<MessageBatch> next();

 private:
  ArrowBatches batches_;
};

/// The tokens of the last dictionary seen, so that batches that share it look it up once. The core
/// compares versions once more when it uses the tokens, and looks the words up itself if the
/// vocabulary has changed since.
class TokenCache {
 public:
  struct Known {
    std::shared_ptr<const ArrowDictionary>
        dictionary;  ///< kept: its memory cannot become another's
    std::shared_ptr<const OwnedColumns> owned;
    WordColumn words;
    std::vector<std::uint32_t> tokens;
    std::uint64_t version = 0;
  };
  /// Columns that can be matched, with what they view.
  struct Ready {
    MessageColumns columns;
    std::shared_ptr<const Known> known;
  };

  template <typename Inside>
  Ready ready(const Guarded<Inside>& matcher, const MessageBatch& batch) {
    Ready made{batch.columns(), nullptr};
    if (batch.dictionary() == nullptr) return made;
    const std::uint64_t version =
        ask(matcher, [](const Inside& inside) { return inside.vocabulary_version(); });
    if (last_ == nullptr || last_->version != version ||
        !last_->dictionary->is_same(*batch.dictionary()))
      last_ = looked_up(matcher, batch);
    made.known = last_;
    CodedColumn& coded = std::get<CodedColumn>(std::get<WordLists>(made.columns.texts).items);
    coded.dictionary = made.known->words;
    coded.tokens = made.known->tokens;
    coded.version = made.known->version;
    return made;
  }

 private:
  template <typename Inside>
  static std::shared_ptr<const Known> looked_up(const Guarded<Inside>& matcher,
                                                const MessageBatch& batch) {
    auto known = std::make_shared<Known>();
    known->dictionary = batch.dictionary();
    auto owned = std::make_shared<OwnedColumns>();
    known->words = known->dictionary->words(ErrorKind::kInvalidMessage, *owned);
    known->owned = std::move(owned);
    std::tie(known->tokens, known->version) = ask_without_gil(
        matcher, [&](const Inside& inside) { return inside.tokens_of(known->words); });
    return known;
  }

  std::shared_ptr<const Known> last_;
};

}  // namespace nearcast
