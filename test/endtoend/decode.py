# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A prompt and then one token after the other through the function `step`, in the memory of its states or over a cache of keys and values, gives what one
# call of all tokens gives.
# SHARDS: 4
# RUN: env TAYLOR_SHARD=%shard TAYLOR_FULL=%full TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc SPEC_DIR=%spec_dir %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import torch

import taylor_attention
from taylor_attention import operators
import taylor_operator  # torch.ops.taylor, torch.classes.taylor
from Inputs.carried import ARRAYS, AVERAGED, DECAYED, GATES, GROWING, MIXED, ORDERS, RECALLED, RETENTION, SERIES, channels

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Inputs"))
from shards import divided, main, mine

STATE = {
    "series": SERIES,
    "gates": GATES.replace("orders(1 to 1)", "orders(1 to 2)"),
    "retention": RETENTION,
    "decayed": DECAYED,
    "growing": GROWING,
    "mixed": MIXED,
    "averaged": AVERAGED,
    "recalled": RECALLED,
    "orders": ORDERS,
    # Keys and values without heads.
    "shared": """
!sk = !taylor.array<[b, u, d]>
!sv = !taylor.array<[b, u, e]>
taylor.spec @shared(%q: !q, %k: !sk, %v: !sv) {
  %n = taylor.recurrences [numerator] %q, %k, %v orders(0 to 1) causal : !q, !sk, !sv
  taylor.yield %n : !o
}""",
}
# States go on with rotations at the tokens' places in the whole sequence.
STATE["turned"] = STATE["series"].replace("@series", "@turned").replace("{\n", "{\n  %rq = taylor.rope %q : !q\n  %rk = taylor.rope %k layout(interleaved) offset(3) : !k\n", 1).replace("mass] %q, %k", "mass] %rq, %rk")
CACHE = {
    "rotated": """
taylor.spec @rotated(%q: !q, %k: !k, %v: !v) {
  %rq = taylor.rope %q : !q
  %rk = taylor.rope %k : !k
  %n, %z = taylor.recurrences [numerator, mass] %rq, %rk, %v exponential causal : !q, !k, !v
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}""",
    # Queries, keys and values that are mixed with their neighbours: of queries, the last are states.
    "conv-gates": pathlib.Path(os.environ["SPEC_DIR"], "conv-gates.mlir").read_text(),
    # Keys that are mixed with their neighbours, and a running sum of a gate.
    "neighbours": """
!taps = !taylor.array<[g, d, r = 3]>
taylor.spec @neighbours(%q: !q, %k: !k, %v: !v, %gate: !column from projection, %taps: !taps from parameter(normal(0.0, 0.5))) {
  %kc = taylor.convolve %k, %taps : !k, !taps
  %L = taylor.scan sum over(u) %gate / 8.0 : !column
  %n = taylor.recurrences [numerator] %q, %kc, %v exponential decay(%L) causal : !q, !k, !v, !column
  taylor.yield %n : !o
}""",
}

# Keys that are read as they come: nothing is prepared, and the caller keeps them.
KEPT = {"plain": CACHE["rotated"].replace("@rotated", "@plain").replace("taylor.rope %q", "taylor.map %q").replace("taylor.rope %k", "taylor.map %k")}
TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "i32": torch.int32}

FULL = os.environ["TAYLOR_FULL"] == "1"  # every specification with every option; else a part, in which each occurs


class Decode(unittest.TestCase):
    def check(self, name, text, options="", documents=False, prompt=5, size=12, dtype=torch.float64, width=8, batch=2, heads=4, groups=2, limit=1e-12):
        path = pathlib.Path(self.folder.name) / f"{name}.mlir"
        path.write_text(text if text.startswith("//") else ARRAYS + text)
        options += " --documents" if documents else ""
        described = [o for o in options.split() if not o.startswith("--device")]
        storage = next(name for name, type in TYPES.items() if type == dtype)
        command = [os.environ["TAYLORC"], path, "--emit=manifest", "--decode", f"--dtype={storage}", *channels(text, width), *described]
        manifest = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        sizes = {"b": batch, "h": heads, "g": groups, "t": size, "u": size, **manifest["sizes"]}
        generator = torch.Generator().manual_seed(5)
        inputs, states, tokens = [], [], []
        for array in manifest["tensors"]["inputs"]:
            shape = [sizes[axis] for axis in array["axes"]]
            if array["name"].startswith("initial."):
                states.append(torch.zeros(shape, dtype=torch.float64 if dtype == torch.float64 else torch.float32))
                continue
            if array["name"] == "documents":
                inputs.append((2 * (torch.rand(shape, generator=generator) < 0.3).cumsum(1)).to(torch.int32))
                tokens.append(1)
                continue
            real = torch.float32 if array["source"]["kind"] == "parameter" and dtype != torch.float64 else dtype
            inputs.append(torch.randn(shape, generator=generator, dtype=torch.float64).to(real))
            tokens.append(next((i for i, axis in enumerate(array["axes"]) if axis in "tu"), None))
        recurrent = "carried" in next(f for n, f in manifest["functions"].items() if n == "step")
        self.assertEqual(recurrent, name in STATE)
        self.assertEqual(bool(states), name in STATE or name == "conv-gates")
        cache = manifest["tensors"].get("cache")
        # Convolutions within documents are made anew.
        self.assertEqual(bool(cache), name in CACHE and not (documents and "convolve" in text))
        # With room for more, whatever lies there.
        cache = [torch.full([sizes[axis] + 4 * (axis == "u") for axis in array["axes"]], (-7 if array["dtype"] == "i32" else torch.nan) if "u" in array["axes"] else 0,
                            dtype=TYPES[array["dtype"]]) for array in cache or ()]
        queries = ["t" in array["axes"] for array in manifest["tensors"]["inputs"]]
        # The forward takes the prompt: the parallel form is the one that costs less for so few tokens.
        decode = f"--decode --forward-only {'' if FULL else '--form=parallel'} {options}"
        # The whole from an artifact of its own for one specification of each kind; else by the forward that comes with `step`.
        apart = name in ("series", "rotated") and not options
        whole, *_ = torch.ops.taylor.attention(inputs if apart else [*inputs, *states], str(path), options if apart else decode, None)

        def part(begin, end, all_keys):
            return [x if axis is None else x.narrow(axis, 0 if all_keys and not query else begin, end if all_keys and not query else end - begin)
                    for x, axis, query in zip(inputs, tokens, queries)]

        outputs = []
        for begin, end in [(0, prompt), *((i, i + 1) for i in range(prompt, size))]:
            if cache:
                before = [tensor.data_ptr() for tensor in (*cache, *states)]
                (o,) = operators.decode(part(begin, end, False), cache, states, begin, operators.program(str(path), decode).identity, decode)
                self.assertEqual(before, [tensor.data_ptr() for tensor in (*cache, *states)])
            elif states and begin == 0:
                o, *states = torch.ops.taylor.attention([*part(begin, end, not recurrent), *states], str(path), decode, None)
            else:
                before = [state.data_ptr() for state in states]
                (o,) = torch.ops.taylor.step(part(begin, end, not recurrent), states, str(path), decode)
                self.assertEqual(before, [state.data_ptr() for state in states])
            outputs.append(o)
        pieces = torch.cat(outputs, dim=2)
        self.assertLess(((pieces - whole).norm() / whole.norm()).item(), limit)
        if recurrent:  # several tokens in one step
            again = [torch.zeros_like(state) for state in states]
            (o,) = torch.ops.taylor.step(inputs, again, str(path), decode)
            self.assertLess(((o - whole).norm() / whole.norm()).item(), limit)
            names = [array["name"] for array in manifest["tensors"]["inputs"] if array["name"].startswith("initial.")]
            for state, one, other in zip(names, states, again):
                # A decay's sum is its distance to the edge, 0 but for rounding, and its edge is 0.
                size = 1.0 if state.startswith(("initial.sum", "initial.edge")) and other.norm() < 1 else other.norm().item()
                self.assertLess((one - other).norm().item(), limit * size)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    @divided
    def test_processor(self):
        others = ("growing", "retention", "neighbours")  # as decayed, and conv-gates
        for name, text in mine((name, text) for name, text in {**STATE, **CACHE, **KEPT}.items() if FULL or name not in others):
            with self.subTest(name):
                self.check(name, text)

    def test_sizes_decide(self):
        """Of order 10, states are kept for 4 channels, and not for the 64 that a description without sizes has."""
        self.check("series", SERIES.replace("orders(0 to 2)", "orders(0 to 10)"), width=4, limit=1e-11)

    def test_more_heads_than_a_block(self):
        self.check("series", STATE["series"], batch=1, heads=18, groups=9, size=8)

    def test_one_group_in_parts(self):
        self.check("series", STATE["series"], batch=1, heads=3, groups=1)

    @divided
    def test_documents(self):
        for name in mine(("mixed", "conv-gates", *(("series", "decayed", "rotated") if FULL else ()))):
            with self.subTest(name):
                self.check(name, {**STATE, **CACHE}[name], documents=True)

    @divided
    def test_types(self):
        limits = {torch.float32: 1e-5, torch.bfloat16: 1e-2}
        cases = [("mixed", torch.bfloat16), ("rotated", torch.float32)]
        if FULL:
            cases = [(name, dtype) for name in ("series", "decayed", "mixed", "rotated", "conv-gates") for dtype in limits]
        for name, dtype in mine(cases):
            with self.subTest(f"{name} {dtype}"):
                self.check(name, {**STATE, **CACHE}[name], dtype=dtype, limit=limits[dtype])

    @divided
    def test_gpu(self):
        for name in mine(("decayed", "conv-gates", *(("series", "mixed", "rotated", "neighbours") if FULL else ()))):
            with self.subTest(name):
                self.check(name, {**STATE, **CACHE}[name], "--device=ptx --target=sm_80", dtype=torch.float32, width=16, batch=1, heads=2, groups=1, prompt=3, size=6,
                           limit=1e-5)

    def test_decoder(self):  # states, and keys and values
        q, k, v = torch.randn(2, 4, 7, 16), torch.randn(2, 2, 7, 16), torch.randn(2, 2, 7, 16)
        for name, parameters in (("softmax-taylor", {"order": 2}), ("softmax", None)):
            with self.subTest(name):
                spec = pathlib.Path(os.environ["SPEC_DIR"], f"{name}.mlir")
                whole = taylor_attention.attention(q, k, v, spec=spec, options="--set order=2" if parameters else "")
                decoder = taylor_attention.Decoder(spec, head_dim=16, parameters=parameters)
                pieces = [decoder.extend(*(x[:, :, begin:end] for x in (q, k, v))) for begin, end in ((0, 4), (4, 5), (5, 7))]
                self.assertEqual(decoder.tokens(), 7)
                torch.testing.assert_close(torch.cat(pieces, dim=2), whole)
        # Keys that are earlier queries: all inputs are kept.
        spec = ARRAYS + """
taylor.spec @shared(%q: !q, %v: !taylor.array<[b, h, u, e]>) {
  %k = taylor.align %q to u : !q
  %n, %z = taylor.recurrences [numerator, mass] %q, %k, %v exponential causal : !q, !taylor.array<[b, h, u, d]>, !taylor.array<[b, h, u, e]>
  %o = taylor.map %n / %z : !o, !row
  taylor.yield %o : !o
}"""
        q, v = torch.randn(2, 4, 7, 16), torch.randn(2, 4, 7, 16)
        self.assertTrue(torch.equal(taylor_attention.attention(q, v, spec=spec), torch.ops.taylor.attention([q, v], spec, "", None)[0]))
        (whole,) = torch.ops.taylor.attention([q, v], spec, "", None)
        decoder = torch.classes.taylor.Decoder(spec, {}, "", 16, 16, torch.float32)
        memory = torch.classes.taylor.Memory()
        pieces = [decoder.extend([x[:, :, begin:end] for x in (q, v)], memory) for begin, end in ((0, 4), (4, 5), (5, 7))]
        torch.testing.assert_close(torch.cat(pieces, dim=2), whole)

    def test_prepared_keys(self):
        """Prompts, single tokens and pieces, over more tokens than there is room for at first; heads that share keys, a window, and values with other channels."""
        softmax = pathlib.Path(os.environ["SPEC_DIR"], "softmax.mlir").read_text()
        pieces = [9, 1, 1, 8, 44, 1, 1, 70, 1, 9]
        for name, spec, dtype, width, limit in (
            ("softmax", softmax, torch.float32, (64, 32), 2e-6),
            ("ragged channels", softmax, torch.float32, (24, 12), 2e-6),
            ("long channels", softmax, torch.float32, (192, 160), 2e-6),
            ("bf16", softmax, torch.bfloat16, (64, 32), 1e-2),
            ("bf16, ragged channels", softmax, torch.bfloat16, (48, 24), 1e-2),
            ("f16", softmax, torch.float16, (32, 32), 1.5e-3),
            ("window", softmax.replace("causal", "causal visible(t < u + 20)"), torch.float32, (16, 16), 2e-6),
        ):
            (d, e), size = width, sum(pieces)
            generator = torch.Generator().manual_seed(3)
            q, k, v = (torch.randn(2, heads, size, channels, generator=generator).to(dtype) for heads, channels in ((4, d), (2, d), (2, e)))
            whole = taylor_attention.attention(q, k, v, spec=spec).float()
            for kind in (taylor_attention.Decoder, taylor_operator.Decoder):
                with self.subTest(name, kind=kind.__module__):
                    decoder, begin, outputs = kind(spec, head_dim=d, value_dim=e, dtype=dtype), 0, []
                    for count in pieces:
                        outputs.append(decoder.extend(*(x[:, :, begin:begin + count] for x in (q, k, v))))
                        begin += count
                    error = (torch.cat(outputs, dim=2).float() - whole).norm() / whole.norm()
                    self.assertLess(error.item(), limit)

    def test_refused_caches(self):
        path = pathlib.Path(self.folder.name) / "softmax.mlir"
        path.write_text(pathlib.Path(os.environ["SPEC_DIR"], "softmax.mlir").read_text())
        options = "--decode=cache --forward-only"
        spec, kept = operators.program(str(path), options).identity, operators.kernel(str(path), options, torch.float32, 16, 16).cache
        self.assertEqual([x.name for x in kept], ["v", "key0", "carried.position"])
        token = [torch.randn(1, 2, 1, 16) for _ in range(3)]

        def cache(room=4, **changes):
            return [changes.get(x.name, torch.zeros(1) if x.name == "carried.position" else torch.zeros(1, 2, room, 16)) for x in kept]

        operators.decode(token, cache(), [], 3, spec, options)
        for tokens, given, message in (
            (4, cache(), "taylor: expected room for 5 tokens along u in 'cache:v', but got 4"),
            (-1, cache(), "taylor: expected at least 0 tokens before the new ones, but got -1"),
            (0, cache()[:2], "taylor: expected 3 tensors of what is kept of keys, but got 2"),
            (0, cache(key0=torch.zeros(2, 4, 16)), "taylor: expected rank 4 of 'cache:key0', but got rank 3"),
            (0, cache(key0=torch.zeros(1, 2, 4, 8)), "taylor: expected size 16 of axis d of 'append:key0', but got 8"),
            (0, cache(v=torch.zeros(1, 3, 4, 16)), "taylor: expected size 2 of axis g of 'append:v' as of 'input:k', but got 3"),
            (0, cache(**{"carried.position": torch.zeros(2)}), "of axis b of"),
            (0, cache(v=torch.zeros(1, 2, 4, 16, dtype=torch.float64)), "taylor: expected dtype f32 of 'append:v', but got f64"),
        ):
            with self.subTest(message), self.assertRaises(RuntimeError) as refused:
                operators.decode(token, given, [], tokens, spec, options)
            self.assertIn(message, str(refused.exception))
        # Python has no undefined tensor in a list; TorchScript, as C++, has.
        graph = torch._C.parse_ir("""
graph(%inputs : Tensor[], %v : Tensor, %position : Tensor, %states : Tensor[], %spec : str, %options : str):
  %tokens : int = prim::Constant[value=0]()
  %none : Tensor = prim::AutogradZero()
  %cache : Tensor[] = prim::ListConstruct(%v, %none, %position)
  %outputs : Tensor[] = taylor_attention::decode(%inputs, %cache, %states, %tokens, %spec, %options)
  return (%outputs)""")
        v, _, position = cache()
        with self.assertRaisesRegex(RuntimeError, "taylor: requires a tensor for 'cache:key0', but got none"):
            torch._C._create_function_from_graph("decode", graph)(token, v, position, [], spec, options)
        with self.assertRaisesRegex(RuntimeError, r"unsupported step over inputs: this kernel's function 'step' reads keys that 'append' has prepared \('cache:v'\); call decode, or take a Decoder"):
            torch.ops.taylor.step(token, [], str(path), options)
        with self.assertRaisesRegex(RuntimeError, "taylor: requires function 'append', which '.*' lacks"):
            operators.decode(token, [], [], 0, operators.program(str(path), "").identity, "")

    def test_decoder_without_pairs(self):  # running sums, positions, and neither: none of them keeps keys
        q, k, v = (torch.randn(2, 2, 15, 16) for _ in range(3))
        for body in (
            """
  %s = taylor.scan sum over(u) %v : !v
  %r = taylor.align %s to t : !v
  %a = taylor.reduce sum over(d) %q : !q
  %o = taylor.map sigmoid(%a) * %r : !row, !taylor.array<[b, g, t, e]>
  taylor.yield %o : !o""",
            """
  %r = taylor.rope %q : !q
  %o = taylor.map %r * log(t + 1.0) : !q
  taylor.yield %o : !q""",
            """
  %o = taylor.map %q * 2.0 : !q
  taylor.yield %o : !q""",
        ):
            with self.subTest(body):
                spec = ARRAYS + "taylor.spec @f(%q: !q, %k: !k, %v: !v) {" + body + "\n}\n"
                whole = taylor_attention.attention(q, k, v, spec=spec)
                decoder = taylor_attention.Decoder(spec, head_dim=16)
                pieces = [decoder.extend(*(x[:, :, begin:end] for x in (q, k, v))) for begin, end in ((0, 9), (9, 11), (11, 12), (12, 15))]
                torch.testing.assert_close(torch.cat(pieces, dim=2), whole)
        # How many keys there are, those so far, no step could tell that reads none of them.
        decoder = taylor_attention.Decoder(ARRAYS + "taylor.spec @f(%q: !q, %k: !k, %v: !v) {\n  %o = taylor.map %q * size(u) : !q\n  taylor.yield %o : !q\n}\n", head_dim=16)
        for begin, end in ((0, 3), (3, 4), (4, 15)):
            torch.testing.assert_close(decoder.extend(*(x[:, :, begin:end] for x in (q, k, v))), q[:, :, begin:end] * end)

    def test_refusals(self):
        path = pathlib.Path(self.folder.name) / "series.mlir"
        path.write_text(ARRAYS + STATE["series"])
        q, k, v = (torch.randn(1, 2, n, 8) for n in (2, 3, 3))
        states = [torch.zeros(1, 2, 45, 8), torch.zeros(1, 2, 45), torch.zeros(1)]
        with self.assertRaisesRegex(RuntimeError, r"requires queries and keys of the same tokens \(T = U, offset 0\) of 'step'"):
            torch.ops.taylor.step([q, k, v], states, str(path), "--decode")
        strided = [torch.zeros(1, 2, 45, 16)[..., ::2], *states[1:]]
        with self.assertRaisesRegex(RuntimeError, "requires states that the kernel can work on where they are, but 'initial.state0' has other strides"):
            torch.ops.taylor.step([q[:, :, :1], k[:, :, :1], v[:, :, :1]], strided, str(path), "--decode")
        refused = r"taylor: unsupported gradient of taylor::step; call it under torch.no_grad\(\), or taylor::attention with --states, which is differentiable"
        with self.assertRaisesRegex(RuntimeError, refused):
            torch.ops.taylor.step([q[:, :, :1].requires_grad_(), k[:, :, :1], v[:, :, :1]], states, str(path), "--decode")
        with torch.device("meta"):
            described = torch.ops.taylor.step([q[:, :, :1].to("meta"), k[:, :, :1].to("meta"), v[:, :, :1].to("meta")], [s.to("meta") for s in states], str(path), "--decode")
        self.assertEqual([o.shape for o in described], [torch.Size([1, 2, 1, 8])])
        with self.assertRaisesRegex(RuntimeError, "taylor: unsupported gradient of a kernel without a backward, as --forward-only and --form=recurrent make it; call it under torch.no_grad"):
            torch.ops.taylor.attention([q[:, :, :1].requires_grad_(), k[:, :, :1], v[:, :, :1]], str(path), "--form=recurrent", None)
        with self.assertRaisesRegex(RuntimeError, "expected 6 inputs"):
            torch.ops.taylor.step([q, k, v], [], str(path), "--decode")

    def test_sizes_as_written(self):
        spec = pathlib.Path(os.environ["SPEC_DIR"], "softmax.mlir").read_text()
        written = spec.replace(", d]", ", d = 48]").replace(", e]", ", e = 16]")
        self.assertNotEqual(spec, written)
        q, k, v = torch.randn(1, 2, 5, 48), torch.randn(1, 2, 5, 48), torch.randn(1, 2, 5, 16)
        want = taylor_attention.attention(q, k, v, spec=spec)
        self.assertTrue(torch.equal(taylor_attention.attention(q, k, v, spec=written), want))
        got = taylor_attention.Decoder(written, head_dim=48, value_dim=16).extend(q, k, v)
        self.assertLess((got - want).norm() / want.norm(), 1e-6)

    def test_decoder_refusals(self):  # of C++; test/runtime/python has the package's
        spec = pathlib.Path(os.environ["SPEC_DIR"], "softmax.mlir")

        def tokens(count, channels=16, heads=2, batch=1, dtype=torch.float32):
            return [torch.randn(batch, heads, count, channels, dtype=dtype) for _ in range(3)]

        decoder = taylor_operator.Decoder(spec, head_dim=16)
        decoder.extend(*tokens(4))
        for refused, message in (
            ((*tokens(1), torch.ones(2)), r"taylor: expected 3 inputs \(q, k, v\), but got 4"),
            (tokens(1, dtype=torch.bfloat16), "taylor: expected dtype Float of 'q', for which the decoder was made, but got BFloat16"),
            (tokens(1, channels=32), "taylor: expected size 16 of axis d of 'q', but got 32"),
            ([x[0] for x in tokens(1)], r"taylor: expected rank 4 \[b, h, t, d\] of 'q', but got rank 3"),
            ((*tokens(1)[:2], tokens(2)[2]), "taylor: expected 1 new tokens of 'v', as of 'q', but got 2"),
            (tokens(1, heads=4), "taylor: expected size 2 of axis h of 'q', as of the tokens so far, but got 4"),
            (tokens(12, batch=3), "taylor: expected size 1 of axis b of 'q', as of the tokens so far, but got 3"),
        ):
            with self.assertRaisesRegex(RuntimeError, message):
                decoder.extend(*refused)
        self.assertEqual(decoder.tokens(), 4)
        self.assertEqual(decoder.extend(*tokens(1)).shape, (1, 2, 1, 16))
        plain = taylor_operator.Decoder(ARRAYS + KEPT["plain"], head_dim=16)  # keeps k and v as they came
        plain.extend(*tokens(4))
        with self.assertRaisesRegex(RuntimeError, r"taylor: expected a memory with prepared keys \('v'\), but got one of another decoder or version; begin"):
            decoder.decoder.extend(tokens(1), plain.memory)
        self.assertEqual((plain.tokens(), decoder.tokens()), (4, 5))
        with self.assertRaisesRegex(RuntimeError, "taylor: expected sequences to gather, but got none"):
            decoder.decoder.gather(decoder.memory, [])
        with self.assertRaisesRegex(TypeError, "expected a tensor for k, but got NoneType"):
            decoder.extend(tokens(1)[0], None, tokens(1)[2])
        with self.assertRaisesRegex(RuntimeError, r"taylor: expected 3 inputs \(q, k, v\), but got 2"):
            decoder.extend(*tokens(1)[:2])
        with self.assertRaisesRegex(TypeError, "expected a whole number for head_dim, but got '16'"):
            taylor_operator.Decoder(spec, head_dim="16")
        with self.assertRaisesRegex(TypeError, "expected a dtype of torch, such as torch.bfloat16, but got 'bf16'"):
            taylor_operator.Decoder(spec, head_dim=16, dtype="bf16")


if __name__ == "__main__":
    main()
