// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/Derive/MinimumCut.h"

#include <algorithm>

using namespace taylor;

void MinimumCut::connect(unsigned from, unsigned to, double capacity) {
  graph[from].push_back({to, capacity, static_cast<unsigned>(graph[to].size())});
  graph[to].push_back({from, 0.0, static_cast<unsigned>(graph[from].size() - 1)});
}

unsigned MinimumCut::addNode(double cost) {
  unsigned node = graph.size() / 2 - 1;
  graph.resize(graph.size() + 2);
  connect(2 * node + 2, 2 * node + 3, cost);
  return node;
}

void MinimumCut::addEdge(unsigned from, unsigned to) { connect(2 * from + 3, 2 * to + 2, kInfinite); }
void MinimumCut::markSource(unsigned node) { connect(0, 2 * node + 2, kInfinite); }
void MinimumCut::markSink(unsigned node) { connect(2 * node + 3, 1, kInfinite); }

double MinimumCut::augment(unsigned node, double limit) {
  if (node == 1)
    return limit;
  visited[node] = true;
  for (Edge &edge : graph[node]) {
    if (edge.capacity <= 0.0 || visited[edge.to])
      continue;
    if (double flow = augment(edge.to, std::min(limit, edge.capacity)); flow > 0.0) {
      edge.capacity -= flow;
      graph[edge.to][edge.reverse].capacity += flow;
      return flow;
    }
  }
  return 0.0;
}

llvm::SmallVector<unsigned> MinimumCut::solve() {
  do
    visited.assign(graph.size(), false);
  while (augment(0, kInfinite) > 0.0);

  // Nodes that still reach the sink: walk against residual edges. The last cut separates them from the rest.
  llvm::SmallVector<bool> reaches(graph.size(), false);
  llvm::SmallVector<unsigned> stack = {1};
  reaches[1] = true;
  while (!stack.empty()) {
    unsigned node = stack.pop_back_val();
    for (const Edge &edge : graph[node])
      if (!reaches[edge.to] && graph[edge.to][edge.reverse].capacity > 0.0) {
        reaches[edge.to] = true;
        stack.push_back(edge.to);
      }
  }
  llvm::SmallVector<unsigned> cut;
  for (unsigned node = 0; 2 * node + 3 < graph.size(); ++node)
    if (!reaches[2 * node + 2] && reaches[2 * node + 3])
      cut.push_back(node);
  return cut;
}
