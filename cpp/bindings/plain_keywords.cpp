#include "bindings/plain_keywords.h"

#include <algorithm>

namespace nearcast {
namespace {

std::string_view ascii_of(nb::handle text) {
  if (!PyUnicode_CheckExact(text.ptr()) || !PyUnicode_IS_ASCII(text.ptr())) return {};
  return {reinterpret_cast<const char*>(PyUnicode_1BYTE_DATA(text.ptr())),
          static_cast<std::size_t>(PyUnicode_GET_LENGTH(text.ptr()))};
}

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool PlainKeywords::read(nb::handle keywords) {
  if (PyUnicode_Check(keywords.ptr())) return read_text(ascii_of(keywords));
  return PyList_CheckExact(keywords.ptr()) && read_list(keywords);
}

bool PlainKeywords::add(std::string_view word) {
  if (word.empty() || ends_.size() == kMost ||
      !std::all_of(word.begin(), word.end(), is_letter_or_digit))
    return false;
  letters_ += word;
  ends_.push_back(letters_.size());
  return true;
}

void PlainKeywords::lower() {
  for (char& letter : letters_) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  std::size_t start = 0;
  for (const std::size_t end : ends_) {
    words_.push_back(std::string_view(letters_).substr(start, end - start));
    start = end;
  }
  std::sort(words_.begin(), words_.end());
  words_.erase(std::unique(words_.begin(), words_.end()), words_.end());
}

bool PlainKeywords::read_text(std::string_view text) {
  for (std::string_view rest = text;;) {
    const std::size_t space = rest.find(' ');
    if (!add(rest.substr(0, space))) return false;
    if (space == std::string_view::npos) break;
    rest.remove_prefix(space + 1);
  }
  lower();
  for (const std::string_view word : words_) {
    if (word == "and" || word == "or" || word == "not") return false;
  }
  said_ = "[\"";
  said_ += text;
  said_ += "\", null]";
  return true;
}

bool PlainKeywords::read_list(nb::handle entries) {
  const Py_ssize_t count = PyList_GET_SIZE(entries.ptr());
  if (count == 0) return false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!add(ascii_of(PyList_GET_ITEM(entries.ptr(), i)))) return false;
  }
  const std::string given = letters_;
  lower();
  if (letters_ == given && words_.size() == ends_.size()) return true;  // the words tell it
  said_ = "[[";
  std::size_t start = 0;
  for (const std::size_t end : ends_) {
    said_ += start == 0 ? "\"" : ", \"";
    said_ += std::string_view(given).substr(start, end - start);
    said_ += '"';
    start = end;
  }
  said_ += "], null]";
  return true;
}

}  // namespace nearcast
