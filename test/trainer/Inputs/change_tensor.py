"""change_tensor.py FILE NAME DTYPE: a tensor of a .safetensors file in another dtype, or without it where DTYPE is 'none'; NAME 'all' is every tensor."""
import sys

import torch
from safetensors.torch import load_file, save_file

path, name, dtype = sys.argv[1:]
tensors = {key: tensor.clone() for key, tensor in load_file(path).items()}
for key in list(tensors) if name == "all" else [name]:
    tensor = tensors.pop(key)
    if dtype != "none":
        tensors[key] = tensor.to(getattr(torch, dtype))
save_file(tensors, path, {"format": "pt"})
