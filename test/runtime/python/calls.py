# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s
# REQUIRES: torch, taylorc
# UNSUPPORTED: sanitizer
"""Mistakes of a call, on the compiler: each message has a way out in Python's spelling. And parameters and mask by name."""
import importlib.util
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta
import torch


def windowed_function(q, k, v, *, window=4):
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"), visible=ta.t - ta.u < window)
    return n / z


windowed = ta.spec(windowed_function)


@ta.spec
def gated(q, k, v, out_gate=ta.projection("b h t")):
    return ta.recurrences(q, k, v) * ta.sigmoid(out_gate)


def inputs():
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(2, 2, 9, 8, generator=generator) for _ in range(3)]


def windowed_softmax(q, k, v, window, causal=True):
    distance = torch.arange(9)[:, None] - torch.arange(9)
    hidden = (distance >= window) | (distance < 0) & causal
    return (q @ k.mT / 8 ** 0.5).masked_fill(hidden, float("-inf")).softmax(-1) @ v


class Case(unittest.TestCase):
    def refused(self, error, words, run, *arguments, **keywords):
        with self.assertRaises(error) as caught:
            run(*arguments, **keywords)
        self.assertIn(words, str(caught.exception))


class Options(Case):
    def test_parameters_and_mask(self):
        q, k, v = inputs()
        for given, window, causal in (({}, 4, True), ({"parameters": {"window": 2}}, 2, True), ({"parameters": {}}, 4, True), ({"mask": "bidirectional"}, 4, False),
                                      ({"mask": "bidirectional", "options": "--set window=3"}, 3, False), ({"parameters": {"window": 5}, "options": "--mask=bidirectional"}, 5, False),
                                      ({"parameters": {"window": 6}, "mask": "causal"}, 6, True)):
            with self.subTest(given):
                torch.testing.assert_close(ta.attention(q, k, v, spec=windowed, **given), windowed_softmax(q, k, v, window, causal))

    def test_compiled(self):
        q, k, v = inputs()
        compiled = torch.compile(lambda *x: ta.attention(*x, spec=windowed, parameters={"window": 2}, mask="bidirectional"), backend="eager", fullgraph=True)
        torch.testing.assert_close(compiled(q, k, v), windowed_softmax(q, k, v, 2, False))

    def test_weights(self):
        row = windowed.weights(keys=8, heads=1, head_dim=16, parameters={"window": 3})[0].row[0]
        self.assertEqual((row > 0).tolist(), [False] * 5 + [True] * 3)
        row = windowed.weights(keys=8, heads=1, head_dim=16, mask="bidirectional", options="--set window=1")[0].row[0]
        self.assertEqual((row > 0).tolist(), [False] * 7 + [True])
        self.refused(TypeError, "unsupported keyword argument 'window', a parameter of windowed_function; write parameters={'window': 4}", windowed.weights, window=4)

    @unittest.skipUnless(importlib.util.find_spec("matplotlib"), "without matplotlib")
    def test_plot(self):
        line = windowed.plot(keys=8, heads=1, head_dim=16, parameters={"window": 3}).axes[1].lines[0]
        self.assertEqual([y > 0 for y in line.get_ydata()], [False] * 5 + [True] * 3)
        self.refused(TypeError, "write parameters={'window': 4}", windowed.plot, window=4)

    def test_explain(self):
        page = pathlib.Path(windowed.explain(parameters={"window": 77}))
        self.assertIn("77", page.read_text())
        page.unlink()

    def test_what_is_no_option(self):
        for run in (lambda **x: ta.attention(*inputs(), spec=windowed, **x), windowed.explain, windowed.weights):
            self.refused(TypeError, "expected taylorc's options as text, such as \"--set window=5\", but got {'window': 5}; parameters={'window': 5} says the same", run, options={"window": 5})
            for options in (["--set", "window=5"], None, 3):
                self.refused(TypeError, f'expected taylorc\'s options as text, such as "--set window=5", but got {options!r}', run, options=options)
            self.refused(RuntimeError, "expected taylorc's options as text, such as \"--set window=5\", but got 'window=5'; parameters={'window': 5} says the same", run,
                         options="window=5")
            self.refused(RuntimeError, "expected taylorc's options as text, such as \"--set window=5\", but got 'causal'", run, options="causal")
            self.refused(ValueError, 'expected mask "causal" or "bidirectional", but got \'full\'', run, mask="full")
            self.refused(TypeError, 'expected a dict for parameters, such as {"window": 64}, but got 5', run, parameters=5)


class Calls(Case):
    def test_no_specification(self):
        for run in (lambda spec: ta.attention(*inputs(), spec=spec), lambda spec: ta.Decoder(spec, head_dim=8), lambda spec: ta.nn.Attention(spec, 16, 2)):
            self.refused(TypeError, "expected a specification, but got the function 'windowed_function'; put @ta.spec above it", run, windowed_function)
            self.refused(TypeError, "expected a specification (of @ta.spec, a path, the text of one or the name of one that ships), but got 3", run, 3)

    def test_keywords(self):
        q, k, v = inputs()
        for spec in (gated, gated.mlir):
            self.refused(TypeError, "unsupported input 'out_gate' by name; give it after v: its inputs are q, k, v, out_gate", ta.attention, q, k, v, spec=spec, out_gate=q[..., 0])
        for spec in (windowed, windowed.mlir):
            self.refused(TypeError, "unsupported keyword argument 'window', a parameter of the specification; write parameters={'window': 5}", ta.attention, q, k, v,
                         spec=spec, window=5)
        self.refused(TypeError, "unsupported keyword argument 'taper' of ta.attention, which has spec, options, parameters, mask, offset, documents, cu_seqlens and all_outputs; "
                     "a parameter of the specification is given as parameters={'taper': 1}", ta.attention, q, k, v, spec=windowed, taper=1)

    def test_unknown_names(self):
        for name, advice in (("sigmod", r"; did you mean 'sigmoid'\?$"), ("softmax", r"; a softmax is a sum of exponentials .*, then n / z$"),
                             ("Decodr", r"; did you mean 'Decoder'\?$"), ("zzz", "'zzz'$")):
            with self.subTest(name), self.assertRaisesRegex(AttributeError, f"has no attribute '{name}'{advice if name != 'zzz' else '$'}"):
                getattr(ta, name)

    def test_unknown_keywords(self):
        """Of every public function: the nearest name that it has, or that a parameter of the specification has a place of its own."""
        x, decoder, layer = inputs()[0], ta.Decoder(windowed, head_dim=8), ta.nn.Attention(windowed, 16, 2)

        def written(**keywords):
            return lambda: ta.spec(lambda q, k, v: ta.recurrences(q, k, v, **keywords), name="written")

        parameter = "a parameter of the specification is given as parameters={'window': 5}"
        for words, run in (
                (f"'window' of ta.nn.Attention, which has spec, hidden, heads, kv_heads, head_dim, value_dim, parameters, mask, initialization, deviation, layers, device and dtype; {parameter}",
                 lambda: ta.nn.Attention(windowed, 16, 2, window=5)),
                ("'num_heads' of ta.nn.Attention, which has .*; did you mean 'heads'?", lambda: ta.nn.Attention(windowed, 16, num_heads=2)),
                ("'embed_dim' of ta.nn.Attention, which has .*; did you mean 'hidden'?", lambda: ta.nn.Attention(windowed, embed_dim=16, heads=2)),
                ("'attention_mask' of a layer's call, which has x, documents and cu_seqlens", lambda: layer(x[0], attention_mask=None)),
                ("'headdim' of ta.Decoder, which has spec, head_dim, value_dim, dtype, parameters and mask; did you mean 'head_dim'?", lambda: ta.Decoder(windowed, headdim=8)),
                (f"'window' of ta.Decoder, which has .*; {parameter}", lambda: ta.Decoder(windowed, head_dim=8, window=5)),
                ("'offset' of Decoder.extend, which has q, k and v", lambda: decoder.extend(x, x, x, offset=1)),
                ("'row' of Decoder.gather, which has rows; did you mean 'rows'?", lambda: decoder.gather(row=[0])),
                (f"'window' of Spec.explain, which has path, options, parameters and mask; {parameter}", lambda: windowed.explain(window=5)),
                ("'option' of Spec.explain, which has .*; did you mean 'options'?", lambda: windowed.explain(option="--head-dim=16")),
                ("'headdim' of windowed_function.weights, which has q, k, v, scores, .*; did you mean 'head_dim'?", lambda: windowed.weights(headdim=16)),
                ("'option' of ta.attention, which has .*; did you mean 'options'?", lambda: ta.attention(x, x, x, spec=windowed, option="")),
                ("'scale' of ta.attention, which has .*; a factor of scores is scale= of ta.recurrences, in a specification", lambda: ta.attention(x, x, x, spec=windowed, scale=0.1)),
                ("'device' of ta.Decoder, which has .*; all is done on the device of the tensors that are given", lambda: ta.Decoder(windowed, head_dim=8, device="cuda")),
                ("'windw' of ta.recurrences, which has .*; did you mean 'visible': visible=ta.t - ta.u < 3, of a window of 3 keys?", written(windw=3)),
                ("'is_causal' of ta.attention, which has .*; did you mean 'mask': mask='causal' or mask='bidirectional'?", lambda: ta.attention(x, x, x, spec=windowed, is_causal=True)),
                ("'nam' of ta.spec, which has name; did you mean 'name'?", lambda: ta.spec(nam="x")),
                ("'bais' of ta.projection, which has axes, bias and dtype; did you mean 'bias'?", lambda: ta.projection("b h t", bais=True)),
                ("'order' of ta.recurrences, which has .*; did you mean 'orders'?", written(order=3)),
                ("'window' of ta.recurrences, which has .*; did you mean 'visible': visible=ta.t - ta.u < 3, of a window of 3 keys?", written(window=3))):
            with self.subTest(words):
                pattern = re.escape("unsupported keyword argument " + words).replace(r"\.\*", ".*")
                self.assertRaisesRegex(TypeError, f"^{pattern}$", run)

    def test_dtypes(self):
        """The same words where torch.compile calls the operators, and of every dtype the name that Python has."""
        q, k, v = inputs()
        mixed = "taylor: expected dtype torch.float32 of 'k', but got torch.bfloat16; convert it: k.to(torch.float32)"
        compiled = torch.compile(lambda *x: ta.attention(*x, spec=windowed), backend="eager", fullgraph=True)
        for run in (compiled, lambda *x: ta.attention(*x, spec=windowed)):
            with self.assertRaises(RuntimeError) as caught:
                run(q, k.bfloat16(), v)
            self.assertEqual(str(caught.exception), mixed)
            self.refused(RuntimeError, "expected dtype torch.float32, torch.bfloat16, torch.float16 or torch.float64 of 'q', but got torch.int32; convert it: q.to(torch.float32)",
                         run, q.int(), k, v)
        for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64, torch.complex32, torch.complex64,
                      torch.complex128, torch.float8_e5m2, torch.float8_e4m3fn, torch.float8_e5m2fnuz, torch.float8_e4m3fnuz):
            self.refused(RuntimeError, f"but got {dtype}; convert it: q.to(torch.float32)", ta.attention, torch.empty(q.shape, dtype=dtype), k, v, spec=windowed)

    def test_offset(self):
        q, k, v = inputs()
        for offset in ("a", 1.5, True):
            self.refused(TypeError, f"expected a whole number for offset, but got {offset!r}", ta.attention, q, k, v, spec=windowed, offset=offset)
        self.assertTrue(torch.equal(*(ta.attention(q, k, v, spec=windowed, offset=offset) for offset in (1, torch.tensor(1)))))

    def test_tensors(self):
        q, k, v = inputs()
        self.refused(RuntimeError, "taylor: expected dtype torch.float32 of 'k', but got torch.bfloat16; convert it: k.to(torch.float32)", ta.attention, q, k.bfloat16(), v,
                     spec=windowed)
        for gradient in (False, True):
            self.refused(TypeError, "taylor: unsupported layout torch.sparse_coo of 'k'; write k.to_dense()", ta.attention, q.requires_grad_(gradient), k.to_sparse(), v,
                         spec=windowed)

    def test_dtype_of_a_layer(self):
        self.refused(TypeError, "expected a dtype of torch, such as torch.bfloat16, but got 'bf16'", ta.nn.Attention, windowed, 16, 2, dtype="bf16")

    def test_decoder(self):
        q, k, v = inputs()
        decoder = ta.Decoder(windowed, head_dim=8)
        self.refused(TypeError, "unsupported layout torch.sparse_coo of 'v'; write v.to_dense()", decoder.extend, q, k, v.to_sparse())
        decoder.extend(q, k, v)
        for row in (5, 2, -1):
            self.refused(IndexError, f"expected rows from 0 to 1 of the 2 of the batch, but got row {row}", decoder.gather, [0, row])
        self.refused(TypeError, "expected a whole number for a row, but got 0.5", decoder.gather, [0.5])
        self.assertTrue(torch.equal(*(decoder.gather(rows).extend(q[[1, 0, 1], :, :1], k[[1, 0, 1], :, :1], v[[1, 0, 1], :, :1]) for rows in ([1, 0, 1], torch.tensor([1, 0, 1])))))


class Traced(Case):
    def test_what_is_of_torch(self):
        for words, function in (("unsupported torch.exp of an array or formula of a specification; write ta.exp(x)", lambda q: torch.exp(q)),
                                ("unsupported F.silu of an array or formula of a specification; write ta.silu(x)", lambda q: torch.nn.functional.silu(q)),
                                ("write n, z = ta.recurrences(q, k, v, sums=", lambda q: torch.softmax(q, -1)),
                                ("unsupported torch.einsum of an array or formula of a specification; write ta.recurrences", lambda q, k: torch.einsum("bhtd,bgud->bhtu", q, k)),
                                ("write ta.maximum(..)", lambda q: torch.maximum(q, q)),
                                ("unsupported torch.erfinv of an array or formula of a specification; functions of formulas and arrays are ta's", lambda q: torch.erfinv(q)),
                                ("but got torch.Tensor; what a call brings is an argument", lambda q: torch.ones(2) * q)):
            self.refused(TypeError, words, ta.spec, function)


if __name__ == "__main__":
    unittest.main()
