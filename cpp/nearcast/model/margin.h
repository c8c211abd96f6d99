/// How far may an area go before a message changes sides?
///
/// The margin of a pair: while no point of the area's border has moved farther than this, a message
/// that touches the area goes on touching it, and one that does not, does not. In the spirit of
/// AP+-Tree-Safe [AP §5.2.3, footnote 17], which measures circles and entering messages only.
///
///   box        degrees, each side by itself: the least gap or overlap of the sides
///   polygon    degrees, straight lines: the distance to the nearest edge; of a box that touches,
///              that of a corner or its centre, so it may be too small
///   circle     metres along great circles: centre and radius together
///   union      of one part that touches, or of the nearest; circles beside other areas have no
///              common unit, so nothing is promised: 0
///
/// Margins are rounded down by far more than arithmetic loses, so that a promise made of them
/// holds.
#pragma once

#include "nearcast/geo/place.h"
#include "nearcast/model/subscription.h"

namespace nearcast {

/// 0: the smallest step may change sides. Infinite if there is no area.
double margin(const Area& area, const Place& place);

/// The area grown by `reach`: it holds every place that touches the area or is within `reach` of
/// its border.
Area expanded(const Area& area, double reach);

/// Half of the longer side, or the radius: in the units of the margin, and not nearly 0. Of a
/// union the largest, and 0 if it has no unit.
double extent(const Area& area);

}  // namespace nearcast
