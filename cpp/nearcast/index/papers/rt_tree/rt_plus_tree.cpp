#include "nearcast/index/papers/rt_tree/rt_plus_tree.h"

#include "nearcast/index/papers/rt_tree/filter_and_verify.h"

namespace nearcast {

std::vector<ParameterSpec> RtPlusTree::parameters() {
  std::vector<ParameterSpec> specs = r_tree_parameters();
  for (ParameterSpec& spec : Representatives::parameters()) specs.push_back(std::move(spec));
  return specs;
}

void RtPlusTree::match(const Message& message, MatchScratch& scratch, MatchSink& sink) const {
  filter_and_verify(store_, tree_, message, scratch, sink);
}

}  // namespace nearcast
