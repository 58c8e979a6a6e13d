# SPDX-License-Identifier: Apache-2.0
"""First losses and gradient norms of small models of every family, made with PyTorch, for pytorch_test.cpp.

Run `python3 make_expected.py` beside PyTorch (1.13 made the numbers); it writes expected.inc into this folder and prints
nothing. The models are written with PyTorch's own modules (nn.LSTM, nn.TransformerEncoderLayer, nn.functional), in double.
Starting weights are those that our program would draw: from (seed, tensor name, element) by Philox 4x32-10; see
workloads/program/initial_values.hpp. Inputs follow a formula of whole numbers, so that both sides have the same bits.
The result depends on nothing else: running it again gives the same file up to the last digits.
"""

import math
import pathlib

import numpy
import torch
from torch import nn
from torch.nn import functional

SEED = 1
STEPS = 3


# ---- starting weights ------------------------------------------------------------------------------------------------

def philox(counter, key):
    """Ten rounds of Philox 4x32 (Salmon et al., SC11) over arrays of counters; words as uint64 below 2^32."""
    low = numpy.uint64(0xFFFFFFFF)
    half = numpy.uint64(32)
    c = [numpy.asarray(word, dtype=numpy.uint64) for word in counter]
    for round_number in range(10):
        k = [numpy.uint64((key[0] + round_number * 0x9E3779B9) & 0xFFFFFFFF),
             numpy.uint64((key[1] + round_number * 0xBB67AE85) & 0xFFFFFFFF)]
        a = numpy.uint64(0xD2511F53) * c[0]
        b = numpy.uint64(0xCD9E8D57) * c[2]
        c = [(b >> half) ^ c[1] ^ k[0], b & low, (a >> half) ^ c[3] ^ k[1], a & low]
    return c


def name_hash(name):
    """FNV-1a of the tensor's name, 64 bits."""
    h = 0xCBF29CE484222325
    for byte in name.encode():
        h = (h ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return h


def random_values(name, shape, kind, value):
    """What initial_values() gives for a tensor of that name: float32, row-major."""
    count = math.prod(shape)
    block = numpy.arange((count + 3) // 4, dtype=numpy.uint64)
    h = name_hash(name)
    words = philox([block & numpy.uint64(0xFFFFFFFF), block >> numpy.uint64(32),
                    numpy.full_like(block, h & 0xFFFFFFFF), numpy.full_like(block, h >> 32)], [SEED, 0])
    unit = [(word.astype(numpy.float64) + 0.5) * 2.0 ** -32 for word in words]
    if kind == "uniform":
        four = [2 * u - 1 for u in unit]
    else:
        r0, r1 = numpy.sqrt(-2 * numpy.log(unit[0])), numpy.sqrt(-2 * numpy.log(unit[2]))
        a0, a1 = 2 * math.pi * unit[1], 2 * math.pi * unit[3]
        four = [r0 * numpy.cos(a0), r0 * numpy.sin(a0), r1 * numpy.cos(a1), r1 * numpy.sin(a1)]
    values = (value * numpy.stack(four, axis=1)).reshape(-1)[:count].astype(numpy.float32)
    return values.astype(numpy.float64).reshape(shape)


class Weights:
    """The parameters of one model by our names; each is made where it is first asked for."""

    def __init__(self):
        self.by_name = {}

    def _add(self, name, values):
        self.by_name[name] = nn.Parameter(torch.tensor(values, dtype=torch.float64))
        return self.by_name[name]

    def normal(self, name, shape, deviation):
        return self.by_name.get(name) if name in self.by_name else self._add(
            name, random_values(name, shape, "normal", deviation))

    def uniform(self, name, shape, fan_in):
        return self.by_name.get(name) if name in self.by_name else self._add(
            name, random_values(name, shape, "uniform", 1.0 / math.sqrt(fan_in)))

    def constant(self, name, shape, value):
        return self.by_name.get(name) if name in self.by_name else self._add(
            name, numpy.full(shape, value, dtype=numpy.float64))


# ---- inputs ----------------------------------------------------------------------------------------------------------

def numbers(name, shape, step):
    """Values in -50/32 ... 50/32, exact in float32."""
    i = numpy.arange(math.prod(shape), dtype=numpy.int64)
    values = ((i * 37 + step * 11 + len(name) * 5) % 101 - 50) / 32.0
    return torch.tensor(values.reshape(shape), dtype=torch.float64)


def whole(name, shape, step, limit, gaps=False):
    """Whole numbers below `limit`; with gaps every third is -1."""
    i = numpy.arange(math.prod(shape), dtype=numpy.int64)
    values = (i * 7 + step * 3 + len(name)) % limit
    if gaps:
        values[i % 3 == 1] = -1
    return torch.tensor(values.reshape(shape))


# ---- models: each returns a function (step) -> loss and the weights ---------------------------------------------------

def resnet8(batch, size, classes):
    weights = Weights()

    def conv_norm(conv, norm, x, channels, kernel, stride):
        w = weights.normal(conv + ".weight", (channels, x.shape[1], kernel, kernel),
                           math.sqrt(2.0 / (channels * kernel * kernel)))
        y = functional.conv2d(x, w, stride=stride, padding=kernel // 2)
        return functional.batch_norm(y, None, None, weights.constant(norm + ".weight", (channels,), 1.0),
                                     weights.constant(norm + ".bias", (channels,), 0.0), training=True, eps=1e-5)

    def block(name, x, channels, stride):
        y = functional.relu(conv_norm(name + ".conv1", name + ".bn1", x, channels, 3, stride))
        y = conv_norm(name + ".conv2", name + ".bn2", y, channels, 3, 1)
        if stride != 1 or x.shape[1] != channels:
            x = conv_norm(name + ".downsample.0", name + ".downsample.1", x, channels, 1, stride)
        return functional.relu(y + x)

    def loss(step):
        x = functional.relu(conv_norm("conv1", "bn1", numbers("images", (batch, 1, size, size), step), 32, 3, 1))
        for stage, (channels, stride) in enumerate(((32, 1), (64, 2), (128, 2)), start=1):
            x = block(f"layer{stage}.0", x, channels, stride)
        x = x.mean(dim=(2, 3))
        logits = functional.linear(x, weights.uniform("fc.weight", (classes, 128), 128),
                                   weights.uniform("fc.bias", (classes,), 128))
        return functional.cross_entropy(logits, whole("labels", (batch,), step, classes))

    return loss, weights


def dense(weights, name, x, features):
    return functional.linear(x, weights.normal(name + ".weight", (features, x.shape[-1]), 0.02),
                             weights.constant(name + ".bias", (features,), 0.0))


def layer_norm(weights, name, x):
    width = x.shape[-1]
    return functional.layer_norm(x, (width,), weights.constant(name + ".weight", (width,), 1.0),
                                 weights.constant(name + ".bias", (width,), 0.0), eps=1e-12)


def encoder_layer(weights, name, hidden, heads, feed_forward):
    """PyTorch's own Transformer block with our weights; its form is BERT's: norm after each sublayer, exact GELU."""
    layer = nn.TransformerEncoderLayer(hidden, heads, feed_forward, dropout=0.0, activation="gelu",
                                       layer_norm_eps=1e-12, batch_first=True, dtype=torch.float64)

    def put(module, prefix, shape):
        module.weight = weights.normal(prefix + ".weight", shape, 0.02)
        module.bias = weights.constant(prefix + ".bias", shape[:1], 0.0)

    def put_norm(module, prefix):
        module.weight = weights.constant(prefix + ".weight", (hidden,), 1.0)
        module.bias = weights.constant(prefix + ".bias", (hidden,), 0.0)

    qkv = name + ".attention.self.qkv"
    layer.self_attn.in_proj_weight = weights.normal(qkv + ".weight", (3 * hidden, hidden), 0.02)
    layer.self_attn.in_proj_bias = weights.constant(qkv + ".bias", (3 * hidden,), 0.0)
    put(layer.self_attn.out_proj, name + ".attention.output.dense", (hidden, hidden))
    put_norm(layer.norm1, name + ".attention.output.LayerNorm")
    put(layer.linear1, name + ".intermediate.dense", (feed_forward, hidden))
    put(layer.linear2, name + ".output.dense", (hidden, feed_forward))
    put_norm(layer.norm2, name + ".output.LayerNorm")
    return layer.train()


BERT = dict(layers=2, hidden=32, heads=2, feed_forward=64, vocabulary=50, sequence=16, predictions=4, classes=3)


def bert(batch, head):
    weights = Weights()
    hidden, sequence, vocabulary = BERT["hidden"], BERT["sequence"], BERT["vocabulary"]
    layers = [encoder_layer(weights, f"bert.encoder.layer.{i}", hidden, BERT["heads"], BERT["feed_forward"])
              for i in range(BERT["layers"])]

    def encoded(step):
        name = "bert.embeddings"
        words = weights.normal(name + ".word_embeddings.weight", (vocabulary, hidden), 0.02)
        positions = weights.normal(name + ".position_embeddings.weight", (512, hidden), 0.02)
        types = weights.normal(name + ".token_type_embeddings.weight", (2, hidden), 0.02)
        x = functional.embedding(whole("input_ids", (batch, sequence), step, vocabulary), words) + positions[:sequence]
        x = x + functional.embedding(whole("token_types", (batch, sequence), step, 2), types)
        x = layer_norm(weights, name + ".LayerNorm", x)
        lengths = sequence - whole("lengths", (batch,), step, sequence // 2)
        padding = torch.arange(sequence)[None, :] >= lengths[:, None]
        for layer in layers:
            x = layer(x, src_key_padding_mask=padding)
        return x, words

    def pooled(x):
        return torch.tanh(dense(weights, "bert.pooler.dense", x[:, 0], hidden))

    def pretraining(step):
        x, words = encoded(step)
        shape = (batch, BERT["predictions"])
        chosen = whole("mlm_positions", shape, step, sequence // 2)
        y = torch.gather(x, 1, chosen[:, :, None].expand(-1, -1, hidden)).reshape(-1, hidden)
        y = functional.gelu(dense(weights, "cls.predictions.transform.dense", y, hidden))
        y = layer_norm(weights, "cls.predictions.transform.LayerNorm", y)
        logits = functional.linear(y, words, weights.constant("cls.predictions.bias", (vocabulary,), 0.0))
        mlm = functional.cross_entropy(logits, whole("mlm_labels", shape, step, vocabulary, gaps=True).reshape(-1),
                                       ignore_index=-1)
        nsp = dense(weights, "cls.seq_relationship", pooled(x), 2)
        return mlm + functional.cross_entropy(nsp, whole("nsp_labels", (batch,), step, 2))

    def classification(step):
        logits = dense(weights, "classifier", pooled(encoded(step)[0]), BERT["classes"])
        return functional.cross_entropy(logits, whole("labels", (batch,), step, BERT["classes"]))

    return (pretraining if head == "pretraining" else classification), weights


FORECASTER = dict(layers=2, hidden=16, heads=2, feed_forward=32, window=12, horizon=4, features=3)
QUANTILES = (0.1, 0.5, 0.9)


def forecaster_loss(weights, summary, batch, step, kind):
    horizon, hidden = FORECASTER["horizon"], FORECASTER["hidden"]
    targets = numbers("targets", (batch, horizon), step)
    columns = horizon * (len(QUANTILES) if kind == "pinball" else 1)
    y = functional.linear(summary, weights.uniform("head.weight", (columns, hidden), hidden),
                          weights.uniform("head.bias", (columns,), hidden))
    if kind == "mse":
        return functional.mse_loss(y, targets)
    difference = targets[:, :, None] - y.reshape(batch, horizon, len(QUANTILES))
    q = torch.tensor(QUANTILES, dtype=torch.float64)
    return torch.maximum(q * difference, (q - 1) * difference).mean()


def lstm(batch, kind):
    weights = Weights()
    hidden, features = FORECASTER["hidden"], FORECASTER["features"]
    module = nn.LSTM(features, hidden, num_layers=FORECASTER["layers"], batch_first=True).double()
    for i in range(FORECASTER["layers"]):
        for part, shape in (("weight_ih", (4 * hidden, features if i == 0 else hidden)),
                            ("weight_hh", (4 * hidden, hidden)), ("bias_ih", (4 * hidden,)),
                            ("bias_hh", (4 * hidden,))):
            setattr(module, f"{part}_l{i}", weights.uniform(f"lstm.{i}.{part}", shape, hidden))

    def loss(step):
        values = numbers("values", (batch, FORECASTER["window"], features), step)
        return forecaster_loss(weights, module(values)[0][:, -1], batch, step, kind)

    return loss, weights


def temporal(batch, kind):
    weights = Weights()
    hidden, features, window = FORECASTER["hidden"], FORECASTER["features"], FORECASTER["window"]
    layers = [encoder_layer(weights, f"encoder.layer.{i}", hidden, FORECASTER["heads"], FORECASTER["feed_forward"])
              for i in range(FORECASTER["layers"])]

    def loss(step):
        x = functional.linear(numbers("values", (batch, window, features), step),
                              weights.uniform("input.weight", (hidden, features), features),
                              weights.uniform("input.bias", (hidden,), features))
        x = x + weights.normal("positions.weight", (window, hidden), 0.02)
        for layer in layers:
            x = layer(x)
        return forecaster_loss(weights, x[:, -1], batch, step, kind)

    return loss, weights


# ---- training --------------------------------------------------------------------------------------------------------

def make_optimizer(kind, parameters, rate):
    if kind == "sgd":
        return torch.optim.SGD(parameters, lr=rate, momentum=0.9)
    if kind == "adam":
        return torch.optim.Adam(parameters, lr=rate, weight_decay=0.01)
    if kind == "adamw":
        return torch.optim.AdamW(parameters, lr=rate, weight_decay=0.01)
    return torch.optim.Adagrad(parameters, lr=rate, weight_decay=0.01)


def norm_of(tensors):
    return math.sqrt(sum(float((t ** 2).sum()) for t in tensors))


def train(model, optimizer_kind, rate, clip):
    """Losses and norms of all gradients for STEPS steps, and each parameter's norm in the first one."""
    loss_of, weights = model
    loss_of(0)  # makes all weights
    parameters = weights.by_name
    optimizer = make_optimizer(optimizer_kind, list(parameters.values()), rate)
    losses, norms, first = [], [], {}
    for step in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(step)
        loss.backward()
        losses.append(float(loss.detach()))
        norms.append(norm_of([p.grad for p in parameters.values()]))
        if step == 0:
            first = {name: norm_of([p.grad]) for name, p in parameters.items()}
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(list(parameters.values()), clip)
        optimizer.step()
    return losses, norms, first


# name of the case, our model, head or loss, batch, optimizer, learning rate, clip norm, the model here
CASES = (
    ("resnet8_sgd", "resnet8", "", 4, "sgd", 0.02, 0.0, lambda: resnet8(4, 16, 10)),
    ("bert_sgd", "bert-mini", "pretraining", 3, "sgd", 0.1, 0.0, lambda: bert(3, "pretraining")),
    ("bert_adamw", "bert-mini", "pretraining", 3, "adamw", 0.01, 1.0, lambda: bert(3, "pretraining")),
    ("bert_classification_sgd", "bert-mini", "classification", 5, "sgd", 0.1, 0.0, lambda: bert(5, "classification")),
    ("lstm_sgd", "lstm", "mse", 4, "sgd", 0.1, 0.0, lambda: lstm(4, "mse")),
    ("lstm_adam", "lstm", "mse", 4, "adam", 0.01, 0.25, lambda: lstm(4, "mse")),
    ("lstm_pinball_adagrad", "lstm", "pinball", 4, "adagrad", 0.05, 0.0, lambda: lstm(4, "pinball")),
    ("temporal_sgd", "temporal", "mse", 4, "sgd", 0.05, 0.0, lambda: temporal(4, "mse")),
    ("temporal_pinball_adamw", "temporal", "pinball", 4, "adamw", 0.01, 0.1, lambda: temporal(4, "pinball")),
)


def case_text(case):
    name, model, kind, batch, optimizer, rate, clip, build = case
    losses, norms, first = train(build(), optimizer, rate, clip)
    numbers_text = ["{" + ", ".join(f"{v:.15g}" for v in values) + "}" for values in (losses, norms)]
    lines = [f'{{"{name}", "{model}", "{kind}", {batch}, "{optimizer}", {rate}, {clip},',
             f" {numbers_text[0]},", f" {numbers_text[1]},", " {"]
    lines += [f'  {{"{parameter}", {value:.15g}}},' for parameter, value in first.items()]
    return "\n".join(lines) + "\n }},\n"


def main():
    torch.manual_seed(0)
    text = "// SPDX-License-Identifier: Apache-2.0\n"
    text += "// Made by make_expected.py with PyTorch: case, model, head or loss, batch, optimizer, learning rate, clip norm;\n"
    text += "// then losses, norms of all gradients, and each parameter's gradient norm in the first step.\n"
    text += "".join(case_text(case) for case in CASES)
    (pathlib.Path(__file__).parent / "expected.inc").write_text(text)


if __name__ == "__main__":
    main()
