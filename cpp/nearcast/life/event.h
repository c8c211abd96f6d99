/// An event as it crosses the border: checked values, ids and texts in the users' words.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "nearcast/geo/place.h"
#include "nearcast/model/attribute.h"
#include "nearcast/model/expression.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

enum class Op : std::uint8_t { kSubscribe, kPublish, kMove, kRetract, kUnsubscribe, kAdvance };
enum class ModeId : std::uint8_t { kMatch, kRank, kTop };
constexpr int kOps = 6, kModes = 3;

const char* name_of(ModeId mode);  ///< as users write it

struct Event {
  Op op = Op::kRetract;
  std::string_view id;  ///< not of advance
  std::optional<double> time, expires;
  bool replaces = false;                 ///< subscribe, publish: what has the id gives way
  ModeId mode = ModeId::kMatch;          ///< subscribe, as all that follow
  bool is_live = false;                  ///< of match and rank
  std::uint32_t k = 0;                   ///< of top
  double alpha = 0, threshold = 0;       ///< of rank; alpha of top too
  std::vector<std::string_view> wanted;  ///< plain keywords: all of them, or those that score
  Expression keywords;                   ///< of match: what else is asked for of the text
  Expression where;                      ///< what is asked for of the attributes
  std::optional<Area> area;              ///< subscribe, move; not of top
  std::optional<Area> excluded;          ///< of match
  std::string_view said;                 ///< keywords and where as they were said; empty: as wanted
  std::optional<Point> at;               ///< subscribe, move; of top
  std::vector<std::string_view> words;   ///< publish: the tokens of the text
  Place place;                           ///< publish
  std::vector<Attribute> attributes;     ///< publish
  /// The id of a message that goes with this event because the window holds one too many, where
  /// that is decided elsewhere; empty: none.
  std::string_view surplus;
};

}  // namespace nearcast
