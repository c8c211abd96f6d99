/// One part of a message's place, or one of its numbers, while the lists are searched for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "nearcast/index/ours/sized_lists/entry.h"
#include "nearcast/index/ours/sized_lists/kernels.h"
#include "nearcast/model/message.h"

namespace nearcast::sized_lists {

struct Probe {
  static constexpr std::uint32_t kFew = 32;

  const Message* message;
  Query query;
  bool is_first_part, is_last_part;
  bool may_repeat;  ///< what this one finds, another one of its message may find, too
  Token name;       ///< of the attribute whose lists are searched; kUnknownToken: those of places
  // What all probes find is in arrays of the scratch, in the order of the probes. These are the
  // ends of this probe's part of each.
  std::size_t hits_end, matches_end, doubts_end, pending_end;
  std::uint32_t signature_count;  ///< a multiple of 16; 0: the message is long
  Signature signatures[kFew];     ///< of the message's tokens; places left over hold kAsk

  bool is_ranged() const { return name != kUnknownToken; }

  Probe() = default;
  Probe(const Message& of, int part, const CellBox& cells)
      : message(&of),
        query(cells),
        is_first_part(part == 0),
        is_last_part(part + 1 == of.place.parts),
        may_repeat(of.place.parts > 1),
        name(kUnknownToken),
        hits_end(0),
        matches_end(0),
        doubts_end(0),
        pending_end(0),
        signature_count(0) {
    if (of.tokens.size() > kFew) return;
    signature_count = of.tokens.size() > 16 ? 32 : 16;
    std::fill_n(signatures, signature_count, kAsk);
    std::transform(of.tokens.begin(), of.tokens.end(), signatures, signature_of);
  }
};

}  // namespace nearcast::sized_lists
