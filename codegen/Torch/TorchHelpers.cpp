// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that printed specifications call. Only those in use are printed. TorchScript compiled from C++
// knows aten operators and no Python module: no dtype constants, no keyword that aten lacks.
#include "codegen/Torch/TorchPrinter.h"
#include "llvm/ADT/StringSet.h"

using namespace taylor;

namespace {

struct Helper {
  llvm::StringRef name, uses, text;
};

constexpr Helper kHelpers[] = {
    {"constant", "", R"(def constant(x: float) -> Tensor:
    return torch.zeros([]).double() + x
)"},
    {"positions", "", R"(def positions(size: int, start: int, like: Tensor) -> Tensor:
    # start, start + 1, ..: in f32 at least, so that bf16 does not round them
    return torch.arange(size, device=like.device).float() + start + like.new_zeros([1])
)"},
    {"shift", "", R"(def shift(x: Tensor, n: int, dim: int, outside: float = 0.0) -> Tensor:
    # y[i] = x[i - n]
    size = x.size(dim)
    m = min(abs(n), size)
    filled = torch.full_like(x.narrow(dim, 0, m), outside)
    if n >= 0:
        return torch.cat([filled, x.narrow(dim, 0, size - m)], dim)
    return torch.cat([x.narrow(dim, m, size - m), filled], dim)
)"},
    {"rope", "", R"(def rope(x: Tensor, position: Tensor, theta: float, interleaved: bool) -> Tensor:
    # x: [.., tokens, channels]; channel pairs turn by position * theta^(-2 i / channels)
    half = x.size(-1) // 2
    pair = torch.arange(half, device=x.device).double()
    angle = position.double().unsqueeze(-1) * torch.pow(theta, -pair / half)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    if interleaved:
        x1, x2 = x[..., 0::2], x[..., 1::2]
        return torch.stack([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1).flatten(-2)
    x1, x2 = x[..., :half], x[..., half:]
    return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], -1)
)"},
    {"convolve", "shift", R"(def convolve(x: Tensor, taps: Tensor, dim: int) -> Tensor:
    # y[t] = sum over j of taps[.., j] x[t - J + 1 + j] along dim, x before the start 0
    last = taps.size(-1) - 1
    y = taps.select(-1, last) * x
    for j in range(last):
        y = y + taps.select(-1, j) * shift(x, last - j, dim)
    return y
)"},
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

} // namespace

std::string taylor::printTorchHelpers(const llvm::StringSet<> &names) {
  std::string text;
  for (const Helper &helper : kHelpers) {
    bool isUsed = names.contains(helper.name);
    for (const Helper &user : kHelpers)
      isUsed |= user.uses == helper.name && names.contains(user.name);
    if (isUsed)
      text += "\n" + helper.text.str() + "\n";
  }
  return text;
}
