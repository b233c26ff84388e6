# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# RUN: env HF_HUB_OFFLINE=1 TAYLOR_LIB=%lib_dir TAYLORC=%bin_dir/taylorc %python %s %bin_dir
# REQUIRES: torch, taylorc, transformers
# UNSUPPORTED: sanitizer
"""Specifications in models of transformers: as attention implementations, against SDPA (logits, gradients, tokens that are generated with the cache,
padded and packed texts), and in the place of attentions; what is refused; and a layer of a checkpoint of taylor-train in ta.nn.Attention."""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "runtime/python"))
import taylor_attention as ta
import safetensors.torch
import torch
import transformers
from transformers import BertConfig, BertModel, Gemma2Config, Gemma2ForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
from transformers import MistralConfig, MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM

transformers.logging.set_verbosity_error()
SIZES = dict(vocab_size=96, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
             pad_token_id=0, bos_token_id=1, eos_token_id=2)


@ta.spec
def plain(q, k, v):
    n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"))
    return n / z


@ta.spec
def gated(q, k, v, out_gate=ta.projection("b h t", bias=True), in_gate=ta.projection("b g u", bias=True), weight=ta.parameter("e", "ones")):
    n, z = ta.recurrences(ta.rope(q), ta.rope(k), ta.sigmoid(in_gate) * v, sums=("numerator", "mass"))
    return ta.normalize("rms", ta.sigmoid(out_gate) * n / z, weight=weight, epsilon=1e-5)


def llama(kind=LlamaForCausalLM, config=LlamaConfig, **more):
    torch.manual_seed(0)
    return kind(config(**{**SIZES, "initializer_range": 0.1, **more})).eval()


def tokens(rows=3, columns=20):
    return torch.randint(3, 96, (rows, columns), generator=torch.Generator().manual_seed(1))


def padded(side):
    mask = torch.ones(3, 20, dtype=torch.long)
    for row, length in ((1, 6), (2, 3)):
        mask[row, slice(0, length) if side == "left" else slice(20 - length, 20)] = 0
    return mask


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ta.hf.register("plain", plain)

    def close(self, a, b, tolerance=1e-5):
        self.assertLess((a - b).abs().max().item(), tolerance * b.abs().max().item())

    def run_with(self, model, implementation, x, **arguments):
        """Logits of tokens that are no padding, and all gradients of their sum of squares."""
        model.set_attn_implementation(implementation)
        model.zero_grad()
        logits = model(x, **arguments).logits
        if (mask := arguments.get("attention_mask")) is not None:
            logits = logits[mask.bool()]
        logits.square().sum().backward()
        return logits.detach(), {name: value.grad.clone() for name, value in model.named_parameters()}


class Implementations(Case):
    def test_equals_sdpa(self):
        model, x = llama(), tokens()
        packed = torch.cat([torch.arange(8), torch.arange(12)])[None].expand(3, -1)
        for arguments in ({}, {"attention_mask": padded("left")}, {"attention_mask": padded("right")}, {"position_ids": packed, "use_cache": False}):
            (a, ours), (b, theirs) = (self.run_with(model, name, x, **arguments) for name in ("taylor:plain", "sdpa"))
            self.close(a, b)
            for name, gradient in theirs.items():
                self.close(ours[name], gradient)

    def test_lengths_of_texts(self):  # as the collator that flattens a batch gives them
        model, x = llama(), tokens(1)
        starts = torch.tensor([0, 8, 20], dtype=torch.int32)
        positions = torch.cat([torch.arange(8), torch.arange(12)])[None]
        more = dict(cu_seq_lens_q=starts, cu_seq_lens_k=starts, max_length_q=12, max_length_k=12)
        expected = self.run_with(model, "sdpa", x, position_ids=positions, use_cache=False)[0]
        for given in (more, {}):
            self.close(self.run_with(model, "taylor:plain", x, position_ids=positions, use_cache=False, **given)[0], expected)
        model.set_attn_implementation("taylor:plain")
        for wrong in ({"cu_seq_lens_q": starts}, {**more, "cu_seq_lens_q": torch.tensor([0, 9, 20], dtype=torch.int32)}):
            with self.assertRaisesRegex(ValueError, "cu_seq_lens_q"):
                model(x, position_ids=positions, use_cache=False, **wrong)

    def test_generates_what_sdpa_does(self):
        model, x = llama(), tokens()
        for options in ({}, {"num_beams": 3}, {"use_cache": False}):
            made = []
            for name in ("sdpa", "taylor:plain"):
                model.set_attn_implementation(name)
                made.append(model.generate(x, attention_mask=padded("left"), max_new_tokens=8, do_sample=False, eos_token_id=None, **options))
            self.assertTrue(torch.equal(*made), options)

    def test_names_that_ship(self):
        """With the rotation left to the model; and with its own in a model that has none."""
        model, x = llama(), tokens()
        self.assertEqual(ta.hf.register("count", ta.hf.without_rope("softmax-taylor"), options="--set order=12"), "taylor:count")
        (a, _), (b, _) = (self.run_with(model, name, x) for name in ("taylor:count", "sdpa"))
        self.close(a, b, 1e-4)
        self.assertEqual(ta.hf.register("beyond/alibi"), "taylor:alibi")
        model.set_attn_implementation("taylor:alibi")
        self.assertTrue(model(x).logits.isfinite().all())
        loaded = LlamaForCausalLM(LlamaConfig(**SIZES, attn_implementation="taylor:alibi"))
        self.assertEqual(loaded.config._attn_implementation, "taylor:alibi")
        torch.manual_seed(0)
        other = GPT2LMHeadModel(GPT2Config(vocab_size=96, n_embd=64, n_layer=2, n_head=4, attn_pdrop=0.0)).eval()
        (a, _), (b, _) = (self.run_with(other, name, x, attention_mask=padded("left")) for name in ("taylor:plain", "sdpa"))
        self.close(a, b)
        ta.hf.register("softmax", model_rotates=False)
        other.set_attn_implementation("taylor:softmax")
        self.assertGreater((other(x).logits - self.run_with(other, "sdpa", x)[0]).abs().max().item(), 1e-4)

    def test_bidirectional(self):
        torch.manual_seed(0)
        model = BertModel(BertConfig(vocab_size=96, hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, attention_probs_dropout_prob=0.0)).eval()
        ta.hf.register("both", plain, options="--mask=bidirectional")
        for mask in (None, padded("right"), padded("left")):
            found = []
            for name in ("sdpa", "taylor:both"):
                model.set_attn_implementation(name)
                with torch.no_grad():
                    found.append(model(tokens(), attention_mask=mask).last_hidden_state[torch.ones(3, 20).bool() if mask is None else mask.bool()])
            self.close(*found)
        model.set_attn_implementation("taylor:plain")
        with self.assertRaisesRegex(ValueError, 'unsupported mask of the model, bidirectional: the specification is causal; register it with options="--mask=bidirectional"'):
            model(tokens())
        other = llama()
        other.set_attn_implementation("taylor:both")
        with self.assertRaisesRegex(ValueError, "unsupported mask of the model, causal: the specification is bidirectional"):
            other(tokens())

    def test_windows(self):
        """A model's sliding window is the specification's to say; one that is wider than the text changes nothing."""
        x = tokens()
        wide = llama(MistralForCausalLM, MistralConfig, sliding_window=64)
        (a, _), (b, _) = (self.run_with(wide, name, x) for name in ("taylor:plain", "sdpa"))
        self.close(a, b)
        narrow = llama(MistralForCausalLM, MistralConfig, sliding_window=7)
        narrow.set_attn_implementation("taylor:plain")
        with self.assertRaisesRegex(ValueError, r"unsupported mask of the model: it is not the specification's .* from_pretrained\(folder, sliding_window=None, \.\.\)"):
            narrow(x, use_cache=False)
        with self.assertRaisesRegex(ValueError, r"unsupported cache that forgets keys .* from_pretrained\(folder, sliding_window=None, \.\.\)"):
            narrow.generate(x[:, :5], max_new_tokens=8, eos_token_id=None)
        ta.hf.register("window", ta.hf.without_rope("sliding-window"), options="--set window=7")
        expected = self.run_with(narrow, "sdpa", x)[0]
        narrow.config.sliding_window = None
        for layer in narrow.model.layers:
            layer.self_attn.sliding_window = None
        self.close(self.run_with(narrow, "taylor:window", x)[0], expected)

    def test_the_way_out_of_windows(self):
        """What the message about windows says, with layers' types and without."""
        ta.hf.register("window", ta.hf.without_rope("sliding-window"), options="--set window=7")
        types = {"layer_types": ["full_attention"] * 2}
        for kind, config, more, given in ((MistralForCausalLM, MistralConfig, {}, {}), (Qwen2ForCausalLM, Qwen2Config, {"use_sliding_window": True, "max_window_layers": 0}, types)):
            model = llama(kind, config, sliding_window=7, **more)
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder)
                loaded = kind.from_pretrained(folder, sliding_window=None, attn_implementation="taylor:window", **given)
            self.close(loaded(tokens()).logits, model(tokens()).logits)
            made = [one.generate(tokens(), max_new_tokens=8, do_sample=False, eos_token_id=None) for one in (model, loaded)]
            self.assertTrue(torch.equal(*made))

    def test_saved_and_loaded(self):
        """config.json has the name, so from_pretrained asks for it; and none once the model's attention is its own."""
        ta.hf.register("saved", ta.hf.without_rope("softmax-count"))
        self.assertIn("taylor:saved", transformers.AttentionInterface().valid_keys())
        model = llama()
        model.set_attn_implementation("taylor:saved")
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            loaded = transformers.AutoModelForCausalLM.from_pretrained(folder)
            self.assertEqual(loaded.config._attn_implementation, "taylor:saved")
            self.assertTrue(torch.equal(loaded(tokens()).logits, model(tokens()).logits))
            with self.assertRaisesRegex(ValueError, "expected a model that ta.hf.replace changed, but config.json of .* load it with from_pretrained"):
                ta.hf.load(folder)
            program = "import sys, transformers; transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1])"
            done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True)
            self.assertIn('Specified `attn_implementation="taylor:saved"` is not supported', done.stderr)
            loaded.set_attn_implementation("sdpa")
            loaded.save_pretrained(folder)
            self.assertNotIn("attn_implementation", json.loads(pathlib.Path(folder, "config.json").read_text()))

    def test_unknown_names(self):
        """transformers' message lists its own names; ours come with the nearest, and how to make one."""
        model = llama()
        ta.hf.register("saved", plain)
        known = ", ".join(one for one in transformers.AttentionInterface().valid_keys() if one.startswith("taylor:") and "replaced" not in one)
        self.assertIn("taylor:plain", known)
        for set_name in (model.set_attn_implementation, lambda name: llama(attn_implementation=name)):
            for name, message in (
                    ("taylor:savde", f"unsupported attn_implementation 'taylor:savde': expected a name that ta.hf.register has made ({known}); did you mean 'taylor:saved'? "
                     'ta.hf.register("savde", spec) makes "taylor:savde"'),
                    ("taylor:qqq", f"unsupported attn_implementation 'taylor:qqq': expected a name that ta.hf.register has made ({known}); ta.hf.register(\"qqq\", spec) makes \"taylor:qqq\"")):
                with self.assertRaises(ValueError) as caught:
                    set_name(name)
                self.assertEqual(str(caught.exception), message)
            for name, ours in (("saved", "; did you mean 'taylor:saved'?"), ("flash", ";")):
                with self.assertRaises(ValueError) as caught:
                    set_name(name)
                self.assertRegex(str(caught.exception), f'^Specified `attn_implementation="{name}"` is not supported.*"eager"')
                self.assertTrue(str(caught.exception).endswith(
                    f' Of taylor_attention: expected a name that ta.hf.register has made ({known}){ours} ta.hf.register("{name}", spec) makes "taylor:{name}".'), caught.exception)
        program = ("import sys, taylor_attention.hf, transformers; config = transformers.LlamaConfig(**eval(sys.argv[1]), attn_implementation='taylor:count'); "
                   "transformers.LlamaForCausalLM(config)")
        done = subprocess.run([sys.executable, "-c", program, repr(SIZES)], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "runtime/python")})
        self.assertIn("unsupported attn_implementation 'taylor:count': no name is registered in this process; ta.hf.register(\"count\", spec) makes \"taylor:count\"\n", done.stderr)

    def test_training(self):
        model, x = llama(), tokens()
        model.set_attn_implementation("taylor:plain")
        model.train()

        def gradients():
            model.zero_grad()
            model(x, labels=x, attention_mask=padded("left")).loss.backward()
            return {name: value.grad.clone() for name, value in model.named_parameters()}

        whole = gradients()
        model.gradient_checkpointing_enable()
        for name, gradient in gradients().items():
            self.assertTrue(torch.equal(gradient, whole[name]), name)
        half = copy.deepcopy(model).bfloat16().eval()
        self.close(half(x).logits.float(), model.eval()(x).logits, 0.1)

    def test_compiled(self):
        model, x = llama(), tokens()
        model.set_attn_implementation("taylor:plain")
        with torch.no_grad():
            expected = model(x, attention_mask=padded("left"), use_cache=False).logits
            compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
            found = compiled(x, attention_mask=padded("left"), use_cache=False).logits
            self.close(found[padded("left").bool()], expected[padded("left").bool()])
            with self.assertRaisesRegex(Exception, "unsupported mask under torch.compile"):
                compiled(x, use_cache=False)


class Refusals(Case):
    def refused(self, message, model, name="taylor:plain", **arguments):
        model.set_attn_implementation(name)
        with self.assertRaisesRegex(ValueError, message):
            model(tokens(), **arguments)

    def test_of_calls(self):
        ta.hf.register("rotated", "softmax", model_rotates=False)
        self.refused(r"unsupported rotation in 'taylor:rotated': the model rotates queries and keys, .* register ta.hf.without_rope\(spec\)", llama(), "taylor:rotated")
        self.refused("unsupported dropout of attention weights, 0.1: set config.attention_dropout", llama(attention_dropout=0.1).train())
        llama(attention_dropout=0.1).eval()(tokens())
        scaled = llama()
        for layer in scaled.model.layers:
            layer.self_attn.scaling = 0.5
        self.refused("unsupported scaling of scores, 0.5: the specification's is 0.25; .*scaling=0.5", scaled)
        self.refused("unsupported argument softcap of the model's attention", Gemma2ForCausalLM(Gemma2Config(**SIZES, head_dim=16, query_pre_attn_scalar=16, sliding_window=64)).eval())
        self.refused(r"unsupported attention_mask of shape \[3, 1, 20, 20\]", llama(), attention_mask=torch.zeros(3, 1, 20, 20))
        holes = torch.ones(3, 20, dtype=torch.long)
        holes[0, 4] = 0
        self.refused("unsupported attention_mask: padding between tokens of a text; pad before it or after it", llama(), attention_mask=holes)
        self.refused("expected attention_mask of shape", llama(), attention_mask=torch.ones(3, 19))
        self.refused("unsupported output_attentions: a kernel gives no weights of pairs", llama(), output_attentions=True)
        self.refused("unsupported output_attentions: a kernel gives no weights of pairs", llama(attn_implementation="eager", output_attentions=True))
        static = llama()
        static.set_attn_implementation("taylor:plain")
        with self.assertRaisesRegex(ValueError, r"unsupported cache with room for keys that are not there yet \(StaticCache\)"):
            static.generate(tokens(), max_new_tokens=3, cache_implementation="static", disable_compile=True)

    def test_queries_that_depend_on_earlier_ones(self):
        @ta.spec
        def mixed(q, k, v):
            n, z = ta.recurrences(q + ta.scan("shift", q, over="t", amount=1), k, v, sums=("numerator", "mass"))
            return n / z

        ta.hf.register("mixed", mixed)
        model = llama()
        model.set_attn_implementation("taylor:mixed")
        with self.assertRaisesRegex(ValueError, "unsupported cache: a query of 'taylor:mixed' depends on earlier queries, which a model's cache does not keep; pass use_cache=False"):
            model.generate(tokens(), max_new_tokens=3, eos_token_id=None)
        model.generate(tokens(), max_new_tokens=3, eos_token_id=None, use_cache=False)

    def test_what_texts_say(self):
        """Whether queries depend on earlier ones, and on rotation, by their text alone."""
        from taylor_attention import texts
        mixing = {name for name, file in ta.specifications().items() if texts.needs_earlier_queries(file.read_text())}
        self.assertEqual(mixing, {"conv-gates"})
        self.assertTrue(texts.rotates(ta.specifications()["softmax"].read_text()))
        self.assertFalse(texts.rotates(ta.hf.without_rope("softmax")))
        self.assertFalse(texts.rotates(ta.specifications()["beyond/alibi"].read_text()))

    def test_a_scale_that_the_specification_has(self):
        @ta.spec
        def scaled(q, k, v):
            n, z = ta.recurrences(q, k, v, sums=("numerator", "mass"), weight=ta.exp, scale=0.5)
            return n / z

        ta.hf.register("scaled", scaled, scaling=0.5)
        model = llama()
        for layer in model.model.layers:
            layer.self_attn.scaling = 0.5
        (a, _), (b, _) = (self.run_with(model, name, tokens()) for name in ("taylor:scaled", "sdpa"))
        self.close(a, b)

    def test_of_specifications(self):
        @ta.spec
        def faulty(q, k, v):
            return ta.normalize("rms", ta.recurrences(q, k, v), over="d", epsilon=1e-5)

        @ta.spec
        def late(q, k, v):
            return ta.recurrences(ta.rope(ta.silu(q)), k, v)

        @ta.spec
        def shifted(q, k, v):
            return ta.recurrences(ta.rope(q, offset=3), k, v)

        @ta.spec
        def two(q, k, v):
            return ta.recurrences(q, k, v, sums=("numerator", "mass"))

        for call, kind, message in (
                (lambda: ta.hf.register("g", gated), ValueError, r"requires the arguments q .* and no others of 'taylor:g', but got .*in_gate \[b, g, u\].*: a model of "
                 r"transformers has no modules for more; ta.hf.replace\(model, spec\) builds them"),
                (lambda: ta.hf.register("softmax"), ValueError, r"unsupported rotation in 'taylor:softmax': models rotate queries and keys, .* register ta.hf.without_rope\(spec\), or "
                 r"use ta.hf.replace\(model, spec\); .* say model_rotates=False"),
                (lambda: ta.hf.register("two", two), ValueError, "unsupported specification with 2 results: an attention has one"),
                (lambda: ta.hf.register("softmaxx"), ValueError, "did you mean 'softmax'"),
                (lambda: ta.hf.register("a b", plain), ValueError, "expected a name of letters, digits"),
                (lambda: ta.hf.register("faulty", faulty), RuntimeError, r"hugging-face.py:\d+: error: "),
                (lambda: ta.hf.without_rope(late), ValueError, r"unsupported rotation of %\w+, which is no argument: the model rotates before it"),
                (lambda: ta.hf.without_rope(shifted), ValueError, r"unsupported rotation with 'offset\(3\)': the model's is another")):
            with self.assertRaisesRegex(kind, message):
                call()


class Replaced(Case):
    def generated(self, model, **options):
        return model.generate(tokens(), attention_mask=padded("left"), max_new_tokens=8, do_sample=False, eos_token_id=None, **options)

    def test_softmax_is_what_it_was(self):
        """The specification's own rotation is Llama's."""
        model, x = llama(), tokens()
        (expected, gradients), made = self.run_with(model, "sdpa", x, attention_mask=padded("left")), self.generated(model)
        before = list(model.state_dict())
        report = ta.hf.replace(model, "softmax")
        self.assertEqual((len(report.kept), report.new, report.gone, report.ignored), (8, [], [], []))
        self.assertEqual(sorted(model.state_dict()), sorted(before))
        name = model.config._attn_implementation
        found, ours = self.run_with(model, name, x, attention_mask=padded("left"))
        self.close(found, expected)
        for name, gradient in gradients.items():
            self.close(ours[name], gradient)
        self.assertTrue(torch.equal(self.generated(model), made))
        packed = torch.cat([torch.arange(8), torch.arange(12)])[None].expand(3, -1)
        self.close(model(x, position_ids=packed, use_cache=False).logits, llama()(x, position_ids=packed, use_cache=False).logits)

    def test_arguments_of_its_own(self):
        """Gates and convolutions: what is generated with a cache is what is generated without."""
        for spec, mixes in ((gated, False), ("conv-gates", True), ("decay-gates", False)):
            model = llama()
            report = ta.hf.replace(model, spec)
            attention = model.model.layers[0].self_attn
            self.assertEqual(attention._by_row, not mixes)
            self.assertIn("model.layers.1.self_attn.out_gate_proj.weight", report.new)
            self.assertIn("model.layers.0.self_attn.q_proj.weight", report.kept)
            self.assertLess(abs(attention.in_gate_proj.weight.std().item() - 0.1), 0.04)
            with torch.no_grad():
                for name, parameter in model.named_parameters():
                    if "gate" in name:
                        parameter.add_(0.3)
            self.assertTrue(torch.equal(self.generated(model), self.generated(model, use_cache=False)))
            self.assertTrue(torch.equal(self.generated(model, num_beams=2), self.generated(model, num_beams=2, use_cache=False)))
            # A text has the same logits alone.
            with torch.no_grad():
                together, alone = model(tokens(), attention_mask=padded("left")).logits[1, 6:], model(tokens()[1:2, 6:]).logits[0]
            self.close(together, alone)
            model.train()
            model(tokens(), labels=tokens()).loss.backward()
            self.assertTrue(all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in model.parameters()))

    def test_saved_and_loaded(self):
        model, other = llama(), llama()
        ta.hf.replace(model, gated)
        ta.hf.replace(other, gated)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(0.01)
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            other.load_state_dict(safetensors.torch.load_file(f"{folder}/model.safetensors"))
        self.assertTrue(torch.equal(other(tokens()).logits, model(tokens()).logits))
        self.assertTrue(torch.equal(copy.deepcopy(model)(tokens()).logits, model(tokens()).logits))

    def test_load(self):
        """What ta.hf.load gives, and saves again, is what was saved; also where embeddings are tied, and in parts."""
        for spec, more, arguments in ((gated, {}, {}), ("softmax-norm-l2", {"tie_word_embeddings": True}, {}), ("sliding-window", {}, {"parameters": {"window": 7}, "value_dim": 8})):
            model = llama(**more)
            ta.hf.replace(model, spec, **arguments)
            expected = model(tokens()).logits
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder, max_shard_size="40KB")
                self.assertGreater(len(list(pathlib.Path(folder).glob("*.safetensors"))), 1)
                loaded, report = ta.hf.load(folder, output_loading_info=True)
                self.assertFalse(any(report.values()), report)
                loaded.save_pretrained(folder)
                again = ta.hf.load(folder)
                half = ta.hf.load(folder, LlamaForCausalLM, dtype=torch.bfloat16)
            for one in (loaded, again):
                self.assertIs(type(one), LlamaForCausalLM)
                self.assertTrue(torch.equal(one(tokens()).logits, expected))
                self.assertEqual(one.lm_head.weight is one.model.embed_tokens.weight, bool(more))
            self.assertEqual({parameter.dtype for parameter in half.parameters()}, {torch.bfloat16})
        self.assertTrue(torch.equal(self.generated(again), self.generated(model)))

    def test_unknown_keyword_of_load(self):
        model = llama()
        ta.hf.replace(model, "softmax-norm-l2")
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            with self.assertRaisesRegex(TypeError, r"unsupported keyword argument 'dtyp' of ta.hf.load, which has folder, kind, .*; did you mean 'dtype'\?"):
                ta.hf.load(folder, dtyp=torch.bfloat16)
        with self.assertRaisesRegex(TypeError, r"unsupported keyword argument 'values_dim' of ta.hf.replace, .*; did you mean 'value_dim'\?"):
            ta.hf.replace(model, "softmax", values_dim=8)
        with self.assertRaisesRegex(TypeError, r"unsupported keyword argument 'scale' of ta.hf.register, .*; did you mean 'scaling'\?"):
            ta.hf.register("scaled", plain, scale=1.0)

    def test_from_pretrained_refuses(self):
        """A plain load would build Llama's attention, and of a specification without weights of its own without a word."""
        model = llama()
        ta.hf.replace(model, "softmax-norm-l2")
        self.assertEqual((model.config.model_type, model.config.to_dict()["model_type"]), ("llama", "llama"))
        with tempfile.TemporaryDirectory() as folder:
            model.save_pretrained(folder)
            for arguments in ({}, {"attn_implementation": "sdpa"}):
                with self.assertRaisesRegex(ValueError, r"load it with ta.hf.load\(folder\) of taylor_attention"):
                    transformers.AutoModelForCausalLM.from_pretrained(folder, **arguments)
            with self.assertRaisesRegex(ValueError, r"load it with ta.hf.load\(folder\) of taylor_attention"):
                LlamaForCausalLM.from_pretrained(folder)
            transformers.logging.set_verbosity_warning()
            with self.assertLogs("transformers", "WARNING") as logs:
                LlamaForCausalLM.from_pretrained(folder, attn_implementation="sdpa")
            transformers.logging.set_verbosity_error()
            self.assertIn("load it with ta.hf.load(folder) of taylor_attention", "".join(logs.output))
            file = pathlib.Path(folder, "config.json")
            file.write_text(json.dumps({**json.loads(file.read_text()), "architectures": ["Other"]}))
            with self.assertRaisesRegex(ValueError, r"expected a class of transformers in config.json of .*, but got Other; give it: ta.hf.load\(folder, kind\)"):
                ta.hf.load(folder)
            ta.hf.load(folder, LlamaForCausalLM)
        with self.assertRaisesRegex(ValueError, "or it is of another model with the config of a replaced one"):
            transformers.AutoModelForCausalLM.from_config(model.config)(tokens())
        with self.assertRaisesRegex(ValueError, "load it with ta.hf.load"):
            LlamaForCausalLM(LlamaConfig(**model.config.to_dict()))

    def test_pickled(self):
        model = llama()
        ta.hf.replace(model, "softmax")
        with tempfile.TemporaryDirectory() as folder:
            torch.save(model, f"{folder}/model.pt")
            torch.save(model(tokens()).logits, f"{folder}/logits.pt")
            torch.save(tokens(), f"{folder}/tokens.pt")
            program = ("import sys, torch; sys.path.insert(0, sys.argv[1]); f = sys.argv[2]; model = torch.load(f + '/model.pt', weights_only=False); "
                       "assert torch.equal(model(torch.load(f + '/tokens.pt')).logits, torch.load(f + '/logits.pt'))")
            done = subprocess.run([sys.executable, "-c", program, str(ROOT / "runtime/python"), folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_windows(self):
        """The model's window is gone, and the report says so; that of the specification is what it was."""
        gemma = Gemma2ForCausalLM(Gemma2Config(**SIZES, head_dim=16, query_pre_attn_scalar=16, sliding_window=7)).eval()
        narrow = llama(MistralForCausalLM, MistralConfig, sliding_window=7)
        expected, made = narrow(tokens()).logits, self.generated(narrow)
        for model in (narrow, llama(Qwen2ForCausalLM, Qwen2Config, sliding_window=7, use_sliding_window=True, max_window_layers=1), gemma):
            report = ta.hf.replace(model, "sliding-window", parameters={"window": 7})
            self.assertEqual(report.ignored, ["config.sliding_window=7"])
            self.assertTrue(torch.equal(self.generated(model), self.generated(model, use_cache=False)))
            with tempfile.TemporaryDirectory() as folder:
                model.save_pretrained(folder)
                self.assertTrue(torch.equal(ta.hf.load(folder)(tokens()).logits, model(tokens()).logits))
        self.close(narrow(tokens()).logits, expected)
        self.assertTrue(torch.equal(self.generated(narrow), made))

    def test_compiled(self):
        model, x = llama(), tokens()
        ta.hf.replace(model, gated)
        torch._dynamo.reset()
        compiled = torch.compile(model, backend="aot_eager", fullgraph=True)
        found, expected = (run(x, attention_mask=padded("left"), use_cache=False, labels=x).loss for run in (compiled, model))
        self.close(found, expected)
        for a, b in zip(torch.autograd.grad(found, list(model.parameters())), torch.autograd.grad(expected, list(model.parameters()))):
            self.close(a, b)

    def test_what_is_gone(self):
        model = llama(Qwen2ForCausalLM, Qwen2Config)
        report = ta.hf.replace(model, "softmax")
        self.assertEqual(report.gone, [f"model.layers.{layer}.self_attn.{name}_proj.bias" for layer in (0, 1) for name in "qkv"])

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "expected attentions with q_proj, k_proj, v_proj, o_proj and layer_idx, as Llama's, but GPT2LMHeadModel has none"):
            ta.hf.replace(GPT2LMHeadModel(GPT2Config(vocab_size=96, n_embd=64, n_layer=2, n_head=4)), "softmax")
        for given, shown in (("folder", "'folder'; from_pretrained of a class of transformers builds one"), (torch.nn.Linear(2, 2), "'Linear'"),
                             (LlamaConfig(**SIZES), r"a config, LlamaConfig; AutoModelForCausalLM.from_config\(config\) builds one")):
            with self.assertRaisesRegex(TypeError, f"expected a model of transformers, but got {shown}"):
                ta.hf.replace(given, "softmax")
        model = llama()
        ta.hf.replace(model, gated)
        with self.assertRaisesRegex(ValueError, "unsupported argument softcap"):
            model(tokens(), softcap=3.0)
        with self.assertRaisesRegex(ValueError, "StaticCache"):
            model.generate(tokens(), max_new_tokens=3, cache_implementation="static", disable_compile=True)


class Missing(unittest.TestCase):
    def test_without_transformers(self):
        program = "import sys; sys.modules['transformers'] = None; sys.path.insert(0, sys.argv[1]); import taylor_attention as ta; ta.attention; ta.hf"
        done = subprocess.run([sys.executable, "-c", program, str(ROOT / "runtime/python")], capture_output=True, text=True)
        self.assertEqual(done.stderr.strip().splitlines()[-1], "ImportError: requires transformers for ta.hf: pip install transformers")


class Trained(Case):
    def test_a_layer_of_a_checkpoint(self):
        """Names and values of taylor-train's are a ta.nn.Attention's, which computes what the checkpoint's own module does."""
        programs, tiny = pathlib.Path(sys.argv[1]), ROOT / "test/trainer/Inputs/tiny.toml"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "gated.mlir").write_text(gated.mlir)
            done = subprocess.run([programs / "taylor-train", "--config", tiny, "--attention", f"{folder}/gated.mlir", "--out", f"{folder}/run", "--set", "train.steps=2"],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            model = transformers.AutoModelForCausalLM.from_pretrained(f"{folder}/run/checkpoints/step-000002", trust_remote_code=True).eval()
        theirs = model.model.layers[1].self_attn
        torch.manual_seed(0)
        ours = ta.nn.Attention(gated, hidden=32, heads=2, kv_heads=1, layers=2)
        # After two small steps theirs are near the values that they began from: ours are of the same distributions.
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            ratio = (getattr(theirs, name).weight.std() / getattr(ours, name).weight.std()).item()
            self.assertLess(abs(ratio - 1), 0.15, name)
        self.close(theirs.weight, ours.weight, 0.05)
        self.assertLess((theirs.out_gate_proj.bias - ours.out_gate_proj.bias).abs().max().item(), 0.05)
        ours.load_state_dict(theirs.state_dict())
        x = torch.randn(2, 9, 32)
        self.close(ours(x), theirs(x))
        documents = torch.tensor([[0] * 4 + [1] * 5] * 2, dtype=torch.int32)
        self.close(ours(x, documents), theirs(x, documents))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
