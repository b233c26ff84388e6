// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Driver/Torch/TorchReads.h"

using namespace mlir;
using namespace taylor;

static constexpr TorchHelper kHelpers[] = {
    {"read_at", "", R"(def read_at(x: Tensor, index: Tensor, dim: int) -> Tensor:
    # y[i] = x[index[i]] along dim; what is outside is read at the edge, for rows that see no key
    return x.index_select(dim, index.long().clamp(0, x.size(dim) - 1))
)"},
    {"at_keys", "", R"(def at_keys(x: Tensor, keys: int, dim: int) -> Tensor:
    # y[u] = x[u - keys + queries] along dim, 0 where there is no such query
    missing = keys - x.size(dim)
    if missing <= 0:
        return x.narrow(dim, -missing, keys)
    return torch.cat([torch.zeros_like(x.select(dim, 0)).unsqueeze(dim).repeat_interleave(missing, dim), x], dim)
)"},
    {"read_lags", "", R"(def read_lags(x: Tensor, queries: int, keys: int) -> Tensor:
    # y[.., t, u] = x[.., t - u + keys], lags along the last dim
    t = torch.arange(queries, device=x.device).unsqueeze(-1)
    lag = t - torch.arange(keys, device=x.device) + keys
    return x.index_select(x.dim() - 1, lag.flatten()).unflatten(-1, [queries, keys])
)"},
};

ArrayRef<TorchHelper> taylor::getReadTorchHelpers() { return kHelpers; }

TorchText taylor::readAtQueries(TorchScope &scope, TorchText keys) {
  scope.useHelper("read_at");
  int64_t dim = dimension(keys.axes, AxisRole::Key);
  keys.text =
      "read_at(" + keys.text + ", " + scope.getIndex(AxisRole::Query).text + ", " + std::to_string(dim) + ")";
  keys.strength = Strength::Primary;
  keys.axes[dim] = AxisRole::Query;
  return keys;
}

TorchText taylor::readAtKeys(TorchScope &scope, TorchText queries) {
  scope.useHelper("at_keys");
  int64_t dim = dimension(queries.axes, AxisRole::Query);
  queries.text =
      "at_keys(" + queries.text + ", " + scope.getSize(AxisRole::Key) + ", " + std::to_string(dim) + ")";
  queries.strength = Strength::Primary;
  queries.axes[dim] = AxisRole::Key;
  return queries;
}

TorchText taylor::readAtPairs(TorchScope &scope, TorchText lags) {
  if (lags.find(AxisRole::Lag) < 0)
    return lags;
  scope.useHelper("read_lags");
  lags.text = "read_lags(" + lags.text + ", " + scope.getSize(AxisRole::Query) + ", " +
              scope.getSize(AxisRole::Key) + ")";
  lags.strength = Strength::Primary;
  lags.axes.back() = AxisRole::Query; // tokens follow batch and heads, and a scalar of pairs has no channel
  lags.axes.push_back(AxisRole::Key);
  return lags;
}
