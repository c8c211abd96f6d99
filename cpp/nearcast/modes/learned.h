/// Messages that an index has learned from, in a snapshot: the index is built from them again.
#pragma once

#include "nearcast/base/archive.h"
#include "nearcast/base/claims.h"
#include "nearcast/index/match_index.h"

namespace nearcast {

void save_sample(const MessageSample& sample, ArchiveWriter& out);
MessageSample load_sample(ArchiveReader& in);  ///< always checked: it is small
/// Throws a snapshot error if the sample has a token that is not below `tokens`.
void check_sample(const MessageSample& sample, std::size_t tokens);

}  // namespace nearcast
