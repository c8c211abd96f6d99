#include "nearcast/model/kept_saying.h"

#include <algorithm>

namespace nearcast {

void KeptSaying::write(TokenSpan tokens, TokenSpan order, std::string_view attributes,
                       std::vector<Word>& out) {
  const Word code = tokens.size() < 0xFF ? 0 : tokens.size() < 0xFFFF ? 1 : 2;
  const Word width = Word{1} << code;
  const std::size_t start = out.size();
  out.push_back(static_cast<Word>(order.size()) << 3 | code << 1 | (attributes.empty() ? 0 : 1));
  if (!attributes.empty()) out.push_back(static_cast<Word>(attributes.size()));
  const std::size_t head = out.size() - start;
  const std::size_t order_words = (order.size() * width + 3) / 4;
  out.resize(start + head + order_words + (attributes.size() + 3) / 4);
  auto* bytes = reinterpret_cast<unsigned char*>(out.data() + start + head);
  for (const Token token : order) {
    Word position = ~Word{0};
    if (token != kUnknownToken) {
      const auto at = std::lower_bound(tokens.begin(), tokens.end(), token);
      position = static_cast<Word>(at - tokens.begin());
    }
    std::memcpy(bytes, &position, width);
    bytes += width;
  }
  if (!attributes.empty())
    std::memcpy(out.data() + start + head + order_words, attributes.data(), attributes.size());
}

}  // namespace nearcast
