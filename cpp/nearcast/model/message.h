/// A message as the indexes see it: what it says and where it is.
#pragma once

#include "nearcast/geo/place.h"
#include "nearcast/text/token_set.h"

namespace nearcast {

struct Message {
  TokenSpan tokens;  ///< known tokens, ascending and distinct
  Place place;
};

}  // namespace nearcast
