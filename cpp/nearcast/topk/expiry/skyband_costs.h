/// How many messages should reach a subscription's threshold? The cost model of cost-based skybands
/// [Skype §6.2, §6.3].
///
///   paper        here               meaning
///   |s.A′_init|  size               live messages that reach the threshold at first
///   |s.A|        skyband_size       how many of them are in the k-skyband
///   prob(s.θ)    size / |W|         that a message reaches the threshold
///   Z(s)·prob    steps_until_short  arrivals and departures that reach the threshold, until fewer
///                                   than k messages do
///   C_topk(s)    search             what an evaluation costs
///
/// Equation 13 with 9, 10 and 12, of a threshold that `size` messages reach:
///
///   cost = size/|W| · (held · skyband_size + search / steps_until_short)
///
/// |W| divides everything, so it does not matter: choosing a threshold means choosing a size. The
/// search for that many of the best messages gives the threshold: prob(θ) is read off the window.
///
/// The model assumes that arrivals and departures are independent. But each departure is an arrival
/// of one window ago: in a steady stream the number of messages above a threshold returns to its
/// mean, and a buffer lasts longer than the model says, large ones most.
///
/// Departs from the paper:
/// - The k-skyband of n messages in random order has k(1 + ln(n/k)) on average, not k·ln(n/k): the
///   first k are in it for sure. With the paper's formula keeping k messages would cost nothing.
/// - Equation 9 counts messages touched, equation 10 a search: `held` and `search` are times, so
///   that they can be added.
/// - [Skype §6.3] says that the halves of equation 11 are to be replaced when the window grows or
///   shrinks, and gives no result. For a walk with `growth` steps up for each one down, absorbed
///   below k and reflected at twice the size, the time from place j down to j − 1 is a geometric
///   sum; the sum of these is equation 12 where growth = 1.
#pragma once

#include <cstdint>

namespace nearcast {

struct SkybandCosts {
  double search;  ///< time of an evaluation
  double held;    ///< time of one arrival or departure, per message held
  double growth;  ///< arrivals per departure
};

double skyband_size(double size, double k);

/// From `size` ≥ k messages; more than any number if they never become fewer.
double steps_until_short(double size, double k, double growth);

/// The size ≥ k that costs least, found in steps that grow while the cost falls.
std::uint32_t best_skyband_input(std::uint32_t k, const SkybandCosts& costs);

}  // namespace nearcast
