// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cheapest set of nodes that separates a source from a sink (Ford and Fulkerson), for graphs of some tens
// of nodes.
#ifndef TAYLOR_PASSES_DERIVE_MINIMUMCUT_H
#define TAYLOR_PASSES_DERIVE_MINIMUMCUT_H

#include "llvm/ADT/SmallVector.h"

namespace taylor {

class MinimumCut {
public:
  static constexpr double kInfinite = 1e30;

  /// A node that costs `cost` to cut.
  unsigned addNode(double cost);
  void addEdge(unsigned from, unsigned to);
  /// Paths start at a node marked so, and end at one marked so.
  void markSource(unsigned node);
  void markSink(unsigned node);
  /// Nodes of the cheapest cut, nearest to the sinks where several cost the same.
  llvm::SmallVector<unsigned> solve();

private:
  struct Edge {
    unsigned to;
    double capacity;
    unsigned reverse;
  };
  void connect(unsigned from, unsigned to, double capacity);
  double augment(unsigned node, double limit);

  /// Each node is an entry 2 n + 2 and an exit 2 n + 3; 0 is the source, 1 the sink.
  llvm::SmallVector<llvm::SmallVector<Edge>> graph = {{}, {}};
  llvm::SmallVector<bool> visited;
};

} // namespace taylor

#endif
