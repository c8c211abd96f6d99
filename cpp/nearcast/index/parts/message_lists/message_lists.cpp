#include "nearcast/index/parts/message_lists/message_lists.h"

namespace nearcast {

void MessageLists::start(MessageId id) {
  if (lives_.size() <= raw(id)) lives_.resize(raw(id) + 1);
  ensure(lives_[raw(id)].number % 2 == 0, "message lists: a message comes that is here already");
  ++lives_[raw(id)].number;
  lives_[raw(id)].signature = signature_of(messages_->tokens(id));
}

void MessageLists::append(Number list, MessageId id) {
  if (lists_.size() <= list) lists_.resize(list + 1);
  constexpr float kAnywhere = std::numeric_limits<float>::quiet_NaN();
  MessagePosting posting{kAnywhere, kAnywhere, id, lives_[raw(id)].number,
                         lives_[raw(id)].signature};
  if (messages_->is_point(id)) {
    const Point at = messages_->centre(id);
    posting.lon = static_cast<float>(at.lon);
    posting.lat = static_cast<float>(at.lat);
  }
  postings_.push_back(lists_[list], posting);
  ++lives_[raw(id)].copies;
}

void MessageLists::forget(const MessagePosting& posting) {
  if (is_alive(posting)) {
    --lives_[raw(posting.id)].copies;
  } else {
    --dead_;
  }
}

void MessageLists::clear(Number list) {
  if (list >= lists_.size()) return;
  for (const MessagePosting& posting : postings_.view(lists_[list])) forget(posting);
  postings_.release(lists_[list]);
}

void MessageLists::clear() {
  for (Life& life : lives_) life.copies = 0;
  dead_ = 0;
  lists_ = {};
  postings_ = {};
}

void MessageLists::forget_all() {
  lives_ = {};
  dead_ = 0;
  lists_ = {};
  postings_ = {};
}

void MessageLists::copy_to(std::vector<MessageId>& out, Number list) const {
  for (const MessagePosting& posting : view(list)) {
    if (is_alive(posting)) out.push_back(posting.id);
  }
}

void MessageLists::check() const {
  std::vector<std::uint32_t> copies(lives_.size());
  std::uint64_t dead = 0;
  for (const ListHandle& list : lists_) {
    for (const MessagePosting& posting : postings_.view(list)) {
      is_alive(posting) ? ++copies[raw(posting.id)] : ++dead;
    }
  }
  ensure(dead == dead_, "message lists: dead copies are counted wrongly");
  for (std::size_t slot = 0; slot < copies.size(); ++slot) {
    ensure(copies[slot] == lives_[slot].copies, "message lists: a message's copies are miscounted");
    ensure(lives_[slot].number % 2 != 0 || copies[slot] == 0,
           "message lists: a message that is gone has copies");
  }
}

}  // namespace nearcast
