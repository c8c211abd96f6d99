/// The engine as the hub uses it: messages in tokens, subscriptions in slots, and messages that
/// the index keeps.
#include <algorithm>

#include "nearcast/engine/engine.h"
#include "nearcast/index/moving_pair.h"
#include "nearcast/index/ours/message_postings/message_postings.h"
#include "nearcast/index/waiting_messages.h"

namespace nearcast {
namespace {

/// Turns a multiset of tokens into a set and how often each occurs. Calls drop(token) for each
/// that is left out.
template <typename Drop>
void count_tokens(std::vector<Token>& tokens, std::vector<std::uint32_t>& counts, Drop&& drop) {
  counts.clear();
  std::sort(tokens.begin(), tokens.end());
  if (std::adjacent_find(tokens.begin(), tokens.end()) == tokens.end()) return;
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i != 0 && tokens[i] == tokens[distinct - 1]) {
      ++counts.back();
      drop(tokens[i]);
    } else {
      tokens[distinct++] = tokens[i];
      counts.push_back(1);
    }
  }
  tokens.resize(distinct);
}

}  // namespace

void Engine::read(std::span<const std::string_view> words, bool is_growing,
                  std::vector<Token>& tokens, std::vector<std::uint32_t>& counts) {
  tokens.clear();
  if (is_growing) {
    for (const int step : {0, 1}) {
      for (const std::string_view word : words) vocabulary_.prefetch(word, step);
    }
    for (const std::string_view word : words) tokens.push_back(vocabulary_.intern(word));
    count_tokens(tokens, counts, [&](Token token) { vocabulary_.release(token); });
  } else {
    vocabulary_.find_all(words, tokens);
    count_tokens(tokens, counts, [](Token) {});
  }
}

std::vector<Token> Engine::intern(const WordColumn& words) {
  return intern_words(words, vocabulary_);
}

void Engine::hold_words(TokenSpan tokens) {
  for (const Token token : tokens) vocabulary_.hold(token);
}

void Engine::release_words(TokenSpan tokens) { vocabulary_.release_all(tokens); }

void Engine::find_known(std::span<const std::string_view> words, std::vector<Token>& tokens) const {
  find_tokens(vocabulary_, words, tokens);
}

void Engine::match(const Message& message, BatchScratch& scratch) const { run(message, scratch); }

void Engine::hold(const MessageStore& messages) {
  moving_ = dynamic_cast<MovingIndex*>(index_.get());
  if (moving_ != nullptr) {
    moving_->attach(messages);
  } else {
    auto pair = std::make_unique<MovingPair>(store_, std::move(index_),
                                             std::make_unique<MessagePostings>(messages), messages);
    moving_ = pair.get();
    index_ = std::move(pair);
  }
  messages_ = &messages;
  backlog_.start(messages);
}

void Engine::catch_up(std::size_t count) {
  if (backlog_.empty()) return;
  ScratchPool<BatchScratch>::Loan loan(scratches_);
  backlog_.take(count, [&](MessageId id) {
    (*loan).sink.clear();
    (*loan).match.visited.start(store_.slots());
    moving_->keep(id, (*loan).match, (*loan).sink);
    if (moving_->wants_all()) backlog_.start(*messages_);
  });
}

void Engine::keep(MessageId id, BatchScratch& scratch) {
  if (backlog_.has(id)) {  // it waits behind older ones: they are taken in by age
    run(messages_->message(id), scratch);
    return;
  }
  scratch.sink.clear();
  scratch.match.visited.start(store_.slots());
  moving_->keep(id, scratch.match, scratch.sink);
  if (moving_->wants_all()) backlog_.start(*messages_);
}

void Engine::drop(MessageId id) {
  if (backlog_.has(id)) {
    backlog_.leave(id);
  } else {
    moving_->drop(id);
  }
}

void Engine::find(SubscriptionId id, std::vector<MessageId>& out) const {
  moving_->find(id, out);
  find_waiting(store_, id, *messages_, backlog_, out);
}

void Engine::move(SubscriptionId id, const Area& area, MoveChanges& changes) {
  changes.clear();
  if (backlog_.empty()) {
    moving_->move(id, area, store_, changes);
    return;
  }
  const Area from = store_.area(id);
  moving_->move(id, area, store_, changes);
  move_waiting(store_, id, from, *messages_, backlog_, changes);
}

}  // namespace nearcast
