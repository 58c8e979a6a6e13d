// SPDX-License-Identifier: Apache-2.0
// The settings, one line each, and reading their values from text.
#include "bench/run_config/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "bench/run_config/parallel_text.hpp"
#include "gpusizer/error.hpp"

namespace gpusizer {
namespace {

using Value = SettingValue;
using Kind = SettingKind;

std::int64_t whole(const Value& v) { return std::get<std::int64_t>(v); }
double number(const Value& v) { return std::get<double>(v); }
const std::string& word(const Value& v) { return std::get<std::string>(v); }
bool flag(const Value& v) { return std::get<bool>(v); }

std::vector<std::string> parts_of(const std::string& text, const char* flag) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty())
      throw Error(Fault::usage, fmt::format("'{}' has an empty entry", text), flag, "separate the entries by one comma");
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> name_list(const std::string& text) { return parts_of(text, "--columns or --targets"); }

std::vector<std::int64_t> length_list(const std::string& text) {
  std::vector<std::int64_t> lengths;
  for (const std::string& part : parts_of(text, "--buckets")) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), lengths.emplace_back());
    if (error != std::errc{} || end != part.data() + part.size())
      throw Error(Fault::usage, fmt::format("'{}' is not a whole number", part), "--buckets", "write 32,64,128");
  }
  return lengths;
}

void set_mode(ParallelOptions& options, const std::string& mode) {
  options.mode = options.mode == "sync" || options.mode == mode ? mode : "both";  // check_parallel() refuses both
}

void set_group(ParallelOptions& options, std::int64_t samples) {
  if (samples == 0)
    throw Error(Fault::usage, "a group of 0 samples has no mean", "--norm-group",
                "use a divisor of --batch / --accumulate, or leave it out for all samples of a micro-batch");
  options.norm_group = samples;
}

constexpr Setting kSettings[] = {
    {"model", Kind::word, "NAME", "what to train; see gpusizer list models", [](CaseConfig& c, const Value& v) { c.model = word(v); }},
    {"mode", Kind::word, "train|infer", "train a model, or answer requests with it [train]", [](CaseConfig& c, const Value& v) { c.mode = word(v); }},
    {"data", Kind::word, "NAME", "what to train on: a name, name:path or a folder; see gpusizer list data [synthetic]", [](CaseConfig& c, const Value& v) { c.data = word(v); }},
    {"synthetic-samples", Kind::whole, "N", "samples in an epoch of synthetic data [images: 1281167]", [](CaseConfig& c, const Value& v) { c.synthetic_samples = whole(v); }},
    {"device", Kind::word, "NAME", "what to run on; see gpusizer list devices [cpu]", [](CaseConfig& c, const Value& v) { c.device = word(v); }},
    {"devices", Kind::whole, "N", "ranks, each of them a share of this machine's threads, or a process that mpirun started: N replicas unless --parallel says otherwise [1]", [](CaseConfig& c, const Value& v) { c.parallel.devices = whole(v); }},
    {"parallel", Kind::word, "dp=N,pp=N,tp=N", "replicas of the model, pipeline stages of each, slices of each stage (as dp2pp2, too); micro-batches of a pipeline: --accumulate [1 each]", [](CaseConfig& c, const Value& v) { read_layout(word(v), c.parallel); }},
    {"scaling", Kind::word, "weak|strong", "--batch is of each replica, or of the whole job and divided [weak]", [](CaseConfig& c, const Value& v) { c.parallel.scaling = word(v); }},
    {"stages", Kind::word, "N,N,...", "blocks in each pipeline stage, as 3,3,3,3 [balanced by work and memory]", [](CaseConfig& c, const Value& v) { read_stages(word(v), c.parallel); }},
    {"pipeline-schedule", Kind::word, "1f1b|gpipe", "order of a pipeline's micro-batches [1f1b]", [](CaseConfig& c, const Value& v) { c.parallel.schedule = word(v); }},
    {"shard-optimizer", Kind::on_off, "on|off", "each replica updates its part of the parameters, and keeps only that part's optimizer state [off]", [](CaseConfig& c, const Value& v) { c.parallel.sharded = flag(v); }},
    {"recompute", Kind::on_off, "on|off", "compute activations again in the backward pass instead of keeping them [off]", [](CaseConfig& c, const Value& v) { c.parallel.recompute = flag(v); }},
    {"norm-group", Kind::whole, "N", "samples that a batch norm takes together [the micro-batch of a replica]", [](CaseConfig& c, const Value& v) { set_group(c.parallel, whole(v)); }},
    {"sync-batch-norm", Kind::on_off, "on|off", "batch norms take the samples of all replicas together [off]", [](CaseConfig& c, const Value& v) { c.parallel.sync_batch_norm = flag(v); }},
    {"local-sgd", Kind::whole, "K", "replicas step on their own and average their weights every K steps [gradients are summed in every step]", [](CaseConfig& c, const Value& v) { set_mode(c.parallel, "local_sgd"), c.parallel.period = whole(v); }},
    {"async-staleness", Kind::whole, "S", "asynchronous steps: each updates with the gradients of S steps before, which are summed meanwhile, so that a rank may be S steps ahead of another; the first S steps update nothing, and ranks meet at evaluations and checkpoints [gradients are summed in every step]", [](CaseConfig& c, const Value& v) { set_mode(c.parallel, "async"), c.parallel.staleness = whole(v); }},
    {"bucket-mib", Kind::whole, "N", "gradients that one all-reduce carries, in MiB; 0: all [25]", [](CaseConfig& c, const Value& v) { c.parallel.bucket_mib = whole(v); }},
    {"comm-timeout", Kind::number, "S", "seconds after which a silent rank ends its case [120]", [](CaseConfig& c, const Value& v) { c.parallel.comm_timeout_seconds = number(v); }},
    {"wire", Kind::word, "latency=T,bandwidth=B", "delay messages between ranks, as latency=1ms,bandwidth=1Gb/s; shows what such a network would do, never a measurement [none]", [](CaseConfig& c, const Value& v) { read_wire(word(v), c.parallel); }},
    {"inject-fault", Kind::word, "KIND@RANK:STEP", "rehearse a fault: throw, stall, exit or nan, as throw@1:5 [none]", [](CaseConfig& c, const Value& v) { read_fault(word(v), c.parallel); }},
    {"threads", Kind::whole, "N", "threads that compute, of each rank [all cores or OMP_NUM_THREADS, shared out among the ranks here]", [](CaseConfig& c, const Value& v) { c.threads = whole(v); }},
    {"loader-threads", Kind::whole, "N", "threads that prepare samples [by the data]", [](CaseConfig& c, const Value& v) { c.loader_threads = whole(v); }},
    {"batch", Kind::whole, "N", "samples in a step, or in a request [by the model and the size of its samples; 1 in a request]", [](CaseConfig& c, const Value& v) { c.batch = whole(v); }},
    {"tail", Kind::word, "keep|drop", "the smaller last batch of an epoch: a program of its own, or left out [keep]", [](CaseConfig& c, const Value& v) { c.tail = word(v); }},
    {"augment", Kind::on_off, "on|off", "random shifts, crops and mirror images in training [on from 10 epochs on]", [](CaseConfig& c, const Value& v) { c.augment = flag(v); }},
    {"precision", Kind::word, "P", "number format of the arithmetic: fp32, tf32, fp16 or bf16; emulated on CPUs, where only fp32 is fast; int8 to infer [fp32]", [](CaseConfig& c, const Value& v) { c.precision = word(v); }},
    {"seed", Kind::whole, "N", "of weights, sample order, augmentation and dropout [1]", [](CaseConfig& c, const Value& v) { c.seed = static_cast<std::uint64_t>(whole(v)); }},
    {"epochs", Kind::number, "E", "train for E passes over the data", [](CaseConfig& c, const Value& v) { c.epochs = number(v); }},
    {"steps", Kind::whole, "N", "train for exactly N steps", [](CaseConfig& c, const Value& v) { c.steps = whole(v); }},
    {"warmup", Kind::whole, "N", "leading steps that never count, at least 1; more are cut where the times say so [1]", [](CaseConfig& c, const Value& v) { c.warmup = whole(v); }},
    {"max-steps", Kind::whole, "N", "stop after N steps at the latest", [](CaseConfig& c, const Value& v) { c.max_steps = whole(v); }},
    {"max-seconds", Kind::number, "S", "stop after S seconds of training, or of requests to each form of the model, at the latest [to infer: 20]", [](CaseConfig& c, const Value& v) { c.max_seconds = number(v); }},
    {"precision-target", Kind::number, "P", "stop when the 95 % half-width of the mean step time is within P of it [0.02]", [](CaseConfig& c, const Value& v) { c.precision_target = number(v); }},
    {"optimizer", Kind::word, "NAME", "sgd, adam, adamw, adagrad or lamb [images: sgd, text: adamw, series: adam]", [](CaseConfig& c, const Value& v) { c.optimizer = word(v); }},
    {"accumulate", Kind::whole, "K", "micro-batches that a step's batch is cut into, one update for all [1]", [](CaseConfig& c, const Value& v) { c.accumulate = whole(v); }},
    {"clip-norm", Kind::number, "N", "largest norm of the gradients of a step [none]", [](CaseConfig& c, const Value& v) { c.clip_norm = number(v); }},
    {"l1", Kind::number, "L", "L1 penalty on the weights [0]", [](CaseConfig& c, const Value& v) { c.l1 = number(v); }},
    {"beta1", Kind::number, "B", "of Adam, AdamW and LAMB [0.9]", [](CaseConfig& c, const Value& v) { c.beta1 = number(v); }},
    {"beta2", Kind::number, "B", "of Adam, AdamW and LAMB [0.999]", [](CaseConfig& c, const Value& v) { c.beta2 = number(v); }},
    {"patience", Kind::whole, "N", "stop after N evaluations in a row without a better loss [never]", [](CaseConfig& c, const Value& v) { c.patience = whole(v); }},
    {"lr", Kind::number, "R", "learning rate, the highest one of the schedule [by optimizer, model and batch]", [](CaseConfig& c, const Value& v) { c.lr = number(v); }},
    {"momentum", Kind::number, "M", "of SGD [0.9]", [](CaseConfig& c, const Value& v) { c.momentum = number(v); }},
    {"weight-decay", Kind::number, "W", "on the weights [images: 0.0005, text: 0.01, series: 0]", [](CaseConfig& c, const Value& v) { c.weight_decay = number(v); }},
    {"schedule", Kind::word, "constant|cosine|linear|step", "of the learning rate [where the number of steps is known: cosine, text: linear]", [](CaseConfig& c, const Value& v) { c.schedule = word(v); }},
    {"lr-warmup-share", Kind::number, "P", "share of all steps in which the rate rises, unless it is constant [0.1]", [](CaseConfig& c, const Value& v) { c.lr_warmup_share = number(v); }},
    {"image-size", Kind::whole, "N", "height and width of the images [the data's, else the model's]", [](CaseConfig& c, const Value& v) { c.options.image_size = whole(v); }},
    {"classes", Kind::whole, "N", "outputs of the model [the data's, else the model's]", [](CaseConfig& c, const Value& v) { c.options.classes = whole(v); }},
    {"channels", Kind::whole, "N", "of the images [the data's, else the model's]", [](CaseConfig& c, const Value& v) { c.options.channels = whole(v); }},
    {"stem", Kind::word, "imagenet|cifar", "first layers: 7x7 and max-pool, or 3x3 [the model's]", [](CaseConfig& c, const Value& v) { c.options.stem = word(v); }},
    {"layers", Kind::whole, "N", "of a Transformer or an LSTM [the model's]", [](CaseConfig& c, const Value& v) { c.options.layers = whole(v); }},
    {"hidden", Kind::whole, "N", "size of the hidden state [the model's]", [](CaseConfig& c, const Value& v) { c.options.hidden = whole(v); }},
    {"heads", Kind::whole, "N", "of the attention [the model's]", [](CaseConfig& c, const Value& v) { c.options.heads = whole(v); }},
    {"feed-forward", Kind::whole, "N", "width of the middle of a Transformer's layer [4 x hidden]", [](CaseConfig& c, const Value& v) { c.options.feed_forward = whole(v); }},
    {"head", Kind::word, "pretraining|classification", "what BERT learns: masked words and next sentences, or classes [pretraining]", [](CaseConfig& c, const Value& v) { c.options.head = word(v); }},
    {"vocabulary", Kind::whole, "N", "word pieces that the model knows [the data's, else the model's]", [](CaseConfig& c, const Value& v) { c.options.vocabulary = whole(v); }},
    {"vocab", Kind::word, "FILE", "vocab.txt, one word piece a line [the data's own way]", [](CaseConfig& c, const Value& v) { c.vocabulary_file = word(v); }},
    {"sequence", Kind::whole, "N", "tokens of a sample, padding included [the longest bucket, else 128]", [](CaseConfig& c, const Value& v) { c.options.sequence = whole(v); }},
    {"predictions", Kind::whole, "N", "masked positions of a sample [15 % of the sequence]", [](CaseConfig& c, const Value& v) { c.options.predictions = whole(v); }},
    {"buckets", Kind::word, "N,N,...", "lengths that texts are padded to, each with a program of its own [one: the sequence]", [](CaseConfig& c, const Value& v) { c.buckets = length_list(word(v)); }},
    {"window", Kind::whole, "N", "time steps that a forecast sees [the model's]", [](CaseConfig& c, const Value& v) { c.options.window = whole(v); }},
    {"horizon", Kind::whole, "N", "time steps that are forecast [the model's]", [](CaseConfig& c, const Value& v) { c.options.horizon = whole(v); }},
    {"features", Kind::whole, "N", "values in a time step of synthetic series [the model's]", [](CaseConfig& c, const Value& v) { c.options.features = whole(v); }},
    {"columns", Kind::word, "A,B,...", "columns of a series that a forecast sees [all with numbers]", [](CaseConfig& c, const Value& v) { c.columns = name_list(word(v)); }},
    {"targets", Kind::word, "A,...", "columns that are forecast [the first]", [](CaseConfig& c, const Value& v) { c.targets = name_list(word(v)); }},
    {"date-column", Kind::word, "NAME", "column with the dates [the first that has them]", [](CaseConfig& c, const Value& v) { c.date_column = word(v); }},
    {"target-base", Kind::word, "none|last|season", "what targets are counted from: zero, the last value seen, the one a season before [none]", [](CaseConfig& c, const Value& v) { c.target_base = word(v); }},
    {"rows", Kind::word, "COLUMN=VALUE", "only the rows of a series with that value [all]", [](CaseConfig& c, const Value& v) { c.rows = word(v); }},
    {"loss", Kind::word, "mse|pinball", "of a forecast [mse]", [](CaseConfig& c, const Value& v) { c.options.loss = word(v); }},
    {"dropout", Kind::number, "P", "rate in training [the model's: 0.1, alexnet: 0.5]", [](CaseConfig& c, const Value& v) { c.options.dropout = number(v); }},
    {"label-smoothing", Kind::number, "P", "share of a right answer that goes to all classes [0]", [](CaseConfig& c, const Value& v) { c.options.label_smoothing = number(v); }},
    {"eval", Kind::on_off, "on|off", "measure accuracy on the test set after each epoch [on with --epochs or a target]", [](CaseConfig& c, const Value& v) { c.eval = flag(v); }},
    {"target-accuracy", Kind::number, "A", "stop when the test accuracy reaches A (0 to 1), and report the time", [](CaseConfig& c, const Value& v) { c.target_accuracy = number(v); }},
    {"checkpoint", Kind::word, "DIR", "save weights and all else there that --resume needs, the last two times", [](CaseConfig& c, const Value& v) { c.checkpoint = word(v); }},
    {"checkpoint-every", Kind::whole, "N", "steps between checkpoints; the end and an interruption have one too [an epoch]", [](CaseConfig& c, const Value& v) { c.checkpoint_every = whole(v); }},
    {"checkpoint-of", Kind::word, "CASE", "the checkpoints are those of this case, the same job in another layout [its own]", [](CaseConfig& c, const Value& v) { c.checkpoint_of = word(v); }},
    {"rate", Kind::number, "R", "to infer: requests offered per second, at random moments [each when the one before is done]", [](CaseConfig& c, const Value& v) { c.rate = number(v); }},
    {"requests", Kind::whole, "N", "to infer: requests to each form of the model [as many as come in --max-seconds]", [](CaseConfig& c, const Value& v) { c.requests = whole(v); }},
    {"weights", Kind::word, "FILE", "to infer: a checkpoint or another safetensors file [trained with --epochs or --steps, else random]", [](CaseConfig& c, const Value& v) { c.weights = word(v); }},
    {"training-batch", Kind::whole, "N", "to infer: samples in a step of the training before [by the model and the size of its samples]", [](CaseConfig& c, const Value& v) { c.training_batch = whole(v); }},
    {"prune", Kind::number, "P", "to infer: share of the weights, the smallest ones, that are set to zero [0]", [](CaseConfig& c, const Value& v) { c.prune = number(v); }},
};

struct Heading {
  std::string_view first;  // setting below it
  std::string_view text;
};
constexpr Heading kHeadings[] = {{"model", "What is trained, and on what"},
                                 {"devices", "Ranks"},
                                 {"threads", "The machine"},
                                 {"batch", "A step"},
                                 {"epochs", "How long, and what counts"},
                                 {"optimizer", "Optimizer"},
                                 {"image-size", "The model"},
                                 {"vocab", "Text"},
                                 {"window", "Series"},
                                 {"dropout", "Regularisation and evaluation"},
                                 {"checkpoint", "Checkpoints"},
                                 {"rate", "Inference"}};

[[noreturn]] void refuse(const Setting& setting, const std::string& text, const char* expected) {
  throw Error(Fault::usage, fmt::format("'{}' is not {}", text, expected), flag_of(setting),
              fmt::format("write {} {}", flag_of(setting), setting.placeholder));
}

template <class Number>
Number parse_number(const Setting& setting, const std::string& text, const char* expected) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) refuse(setting, text, expected);
  return value;
}

double parse_real(const Setting& setting, const std::string& text) {
  const double value = parse_number<double>(setting, text, "a number");
  if (!std::isfinite(value)) refuse(setting, text, "a finite number");
  return value;
}

bool parse_on_off(const Setting& setting, const std::string& text) {
  if (text != "on" && text != "off") refuse(setting, text, "on or off");
  return text == "on";
}

}  // namespace

std::span<const Setting> settings() { return kSettings; }

std::string_view heading_before(std::string_view setting) {
  const auto* heading = std::ranges::find(kHeadings, setting, &Heading::first);
  return heading == std::end(kHeadings) ? std::string_view() : heading->text;
}

std::string flag_of(const Setting& setting) { return fmt::format("--{}", setting.name); }

std::string key_of(const Setting& setting) {
  std::string key(setting.name);
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

SettingValue parse_setting(const Setting& setting, const std::string& text) {
  switch (setting.kind) {
    case Kind::whole: return parse_number<std::int64_t>(setting, text, "a whole number");
    case Kind::number: return parse_real(setting, text);
    case Kind::on_off: return parse_on_off(setting, text);
    case Kind::word: break;
  }
  if (text.empty()) refuse(setting, text, "a word");
  return text;
}

}  // namespace gpusizer
