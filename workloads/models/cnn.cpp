// SPDX-License-Identifier: Apache-2.0
// ResNet (He et al., "Deep residual learning", 2015; v1.5 strides) and AlexNet (Krizhevsky, "One weird trick", 2014).
// Layers and parameters carry the names that torchvision gives them.
#include "workloads/models/cnn.hpp"

#include <fmt/format.h>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"

namespace gpusizer::cnn {

namespace {

struct Stage {
  int64_t channels, blocks, stride;
};

struct Network {
  ProgramBuilder builder;
  TensorId images, labels;
  bool training;
};

Network start(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode mode) {
  if (o.classes < 2) throw Error(Fault::usage, fmt::format("{} classes cannot be told apart", o.classes), "--classes");
  ProgramBuilder b{std::string(entry.name), batch};
  const TensorId images = b.input("images", {batch, o.channels, o.image_size, o.image_size});
  const TensorId labels = b.input("labels", {batch}, DType::i32);
  return {std::move(b), images, labels, mode == Mode::train};
}

TensorId conv_norm(Network& n, const std::string& conv, const std::string& norm, TensorId x, const ConvOptions& o) {
  return batch_norm(n.builder, norm, conv2d(n.builder, conv, x, o), n.training);
}

// The shortcut of a block: the identity, or a 1x1 projection where the shape changes.
TensorId shortcut(Network& n, const std::string& name, TensorId x, int64_t channels, int64_t stride) {
  if (stride == 1 && n.builder.shape(x)[1] == channels) return x;
  return conv_norm(n, name + ".downsample.0", name + ".downsample.1", x,
                   {.channels = channels, .kernel = 1, .stride = stride});
}

TensorId basic_block(Network& n, const std::string& name, TensorId x, int64_t channels, int64_t stride) {
  auto& b = n.builder;
  TensorId y = conv_norm(n, name + ".conv1", name + ".bn1", x,
                         {.channels = channels, .kernel = 3, .stride = stride, .padding = 1});
  y = relu(b, name + ".relu1", y);
  y = conv_norm(n, name + ".conv2", name + ".bn2", y, {.channels = channels, .kernel = 3, .padding = 1});
  return relu(b, name + ".relu2", add(b, name + ".add", y, shortcut(n, name, x, channels, stride)));
}

TensorId bottleneck_block(Network& n, const std::string& name, TensorId x, int64_t channels, int64_t stride) {
  auto& b = n.builder;
  TensorId y = conv_norm(n, name + ".conv1", name + ".bn1", x, {.channels = channels, .kernel = 1});
  y = relu(b, name + ".relu1", y);
  y = conv_norm(n, name + ".conv2", name + ".bn2", y,
                {.channels = channels, .kernel = 3, .stride = stride, .padding = 1});
  y = relu(b, name + ".relu2", y);
  y = conv_norm(n, name + ".conv3", name + ".bn3", y, {.channels = 4 * channels, .kernel = 1});
  return relu(b, name + ".relu3", add(b, name + ".add", y, shortcut(n, name, x, 4 * channels, stride)));
}

TensorId stem(Network& n, const std::string& kind, int64_t channels) {
  auto& b = n.builder;
  const bool imagenet = kind == "imagenet";
  if (!imagenet && kind != "cifar")
    throw Error(Fault::usage, fmt::format("there is no stem '{}'", kind), "--stem", "use imagenet or cifar");
  const ConvOptions wide{.channels = channels, .kernel = 7, .stride = 2, .padding = 3};
  const ConvOptions narrow{.channels = channels, .kernel = 3, .stride = 1, .padding = 1};
  TensorId x = relu(b, "relu", conv_norm(n, "conv1", "bn1", n.images, imagenet ? wide : narrow));
  return imagenet ? max_pool(b, "maxpool", x, {.kernel = 3, .stride = 2, .padding = 1}) : x;
}

using Block = TensorId (*)(Network&, const std::string&, TensorId, int64_t, int64_t);

Program resnet(Network n, const ModelOptions& o, int64_t stem_channels, const std::vector<Stage>& stages, Block block) {
  auto& b = n.builder;
  TensorId x = stem(n, o.stem, stem_channels);
  for (size_t s = 0; s < stages.size(); ++s)
    for (int64_t i = 0; i < stages[s].blocks; ++i)
      x = block(n, fmt::format("layer{}.{}", s + 1, i), x, stages[s].channels, i == 0 ? stages[s].stride : 1);
  x = linear(b, "fc", flatten(b, "flatten", global_avg_pool(b, "avgpool", x)), o.classes);
  classification_loss(b, x, n.labels, n.training ? o.label_smoothing.value_or(0) : 0);
  return b.finish();
}

}  // namespace

Program resnet8(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode mode) {
  return resnet(start(entry, o, batch, mode), o, 32, {{32, 1, 1}, {64, 1, 2}, {128, 1, 2}}, basic_block);
}

Program resnet18(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode mode) {
  return resnet(start(entry, o, batch, mode), o, 64, {{64, 2, 1}, {128, 2, 2}, {256, 2, 2}, {512, 2, 2}}, basic_block);
}

Program resnet50(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode mode) {
  return resnet(start(entry, o, batch, mode), o, 64, {{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}},
                bottleneck_block);
}

Program alexnet(const ModelEntry& entry, const ModelOptions& o, int64_t batch, Mode mode) {
  Network n = start(entry, o, batch, mode);
  auto& b = n.builder;
  const auto conv = [&](const std::string& name, TensorId x, int64_t channels, int64_t kernel, int64_t stride, int64_t pad) {
    return relu(b, name + ".relu", conv2d(b, name, x, {channels, kernel, stride, pad, 1, true}));
  };
  const PoolAttributes window{.kernel = 3, .stride = 2};
  TensorId x = max_pool(b, "pool1", conv("features.0", n.images, 64, 11, 4, 2), window);
  x = max_pool(b, "pool2", conv("features.3", x, 192, 5, 1, 2), window);
  x = conv("features.6", x, 384, 3, 1, 1);
  x = conv("features.8", x, 256, 3, 1, 1);
  x = flatten(b, "flatten", max_pool(b, "pool5", conv("features.10", x, 256, 3, 1, 1), window));
  const auto hidden = [&](const std::string& drop, const std::string& name, TensorId t) {
    if (const double rate = o.dropout.value_or(0); n.training && rate > 0) t = dropout(b, drop, t, rate);
    return relu(b, name + ".relu", linear(b, name, t, 4096));
  };
  x = hidden("classifier.3", "classifier.4", hidden("classifier.0", "classifier.1", x));
  classification_loss(b, linear(b, "classifier.6", x, o.classes), n.labels,
                      n.training ? o.label_smoothing.value_or(0) : 0);
  return b.finish();
}

}  // namespace gpusizer::cnn
