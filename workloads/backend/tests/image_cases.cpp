// SPDX-License-Identifier: Apache-2.0
// Operation cases over images. To add one: a line in the table at the end, with a builder from the ones above it.
// Shapes are odd on purpose, and as small as still shows the fault.
#include "workloads/backend/tests/operation_cases.hpp"

#include "workloads/program/layers.hpp"
#include "workloads/transforms/sync_batch_norm.hpp"

namespace gpusizer {

namespace {

constexpr int64_t classes = 5;

struct Image {
  int64_t batch, channels, height, width;
};

// A program under construction whose input is the images.
struct Net {
  ProgramBuilder b;
  TensorId x;

  explicit Net(const Image& i) : b("case", i.batch), x(b.input("images", {i.batch, i.channels, i.height, i.width})) {}

  // Every result of the operation under test enters the loss with a weight of its own.
  Program finish(TensorId y, double label_smoothing = 0) {
    const TensorId labels = b.input("labels", {b.program().batch}, DType::i32);
    if (b.shape(y).size() == 4) y = flatten(b, "flatten", y);
    const TensorId logits = linear(b, "tail", y, classes);
    const auto out = b.apply(OpKind::softmax_cross_entropy, "loss", {logits, labels}, LossAttributes{label_smoothing});
    b.set_loss(out[0], out[1]);
    return b.finish();
  }
};

// `i.channels` channels that are themselves computed, so that the operation under test must give a gradient for its
// input: a 1x1 convolution of three image channels.
struct Inner : Net {
  explicit Inner(const Image& i, const std::string& name = "pre") : Net({i.batch, 3, i.height, i.width}) {
    x = conv2d(b, name, x, {.channels = i.channels, .bias = true});
  }
};

Program stem_case(const Image& i, const ConvOptions& o) {
  Net n{i};
  return n.finish(conv2d(n.b, "conv", n.x, o));
}

Program conv_case(const Image& i, const ConvOptions& o) {
  Inner n{i};
  return n.finish(conv2d(n.b, "conv", n.x, o));
}

Program conv_relu_case(const Image& i, const ConvOptions& o) {
  Inner n{i};
  return n.finish(relu(n.b, "relu", conv2d(n.b, "conv", n.x, o)));
}

Program norm_case(const Image& i) {
  Inner n{i};
  return n.finish(batch_norm(n.b, "bn", n.x, true));
}

Program conv_norm_relu_case(const Image& i, const ConvOptions& o) {
  Inner n{i};
  return n.finish(relu(n.b, "relu", batch_norm(n.b, "bn", conv2d(n.b, "conv", n.x, o), true)));
}

// relu(bn(conv(x)) + x), twice: the first block's result has two users, so its backward sums two gradients.
TensorId block(ProgramBuilder& b, const std::string& name, TensorId x, bool residual_first) {
  const int64_t channels = b.shape(x)[1];
  const TensorId y = conv2d(b, name + ".conv", x, {.channels = channels, .kernel = 3, .padding = 1});
  const TensorId z = batch_norm(b, name + ".bn", y, true);
  return relu(b, name + ".relu", residual_first ? add(b, name + ".add", x, z) : add(b, name + ".add", z, x));
}

Program residual_case(const Image& i, bool residual_first) {
  Inner n{i};
  const TensorId x = block(n.b, "a", n.x, residual_first);
  return n.finish(block(n.b, "b", x, residual_first));
}

// A block whose shortcut is a strided projection with its own batch norm.
Program downsample_case(const Image& i) {
  Inner n{i};
  auto& b = n.b;
  const int64_t channels = i.channels + 3;
  TensorId y = conv2d(b, "conv1", n.x, {.channels = channels, .kernel = 3, .stride = 2, .padding = 1});
  y = relu(b, "relu1", batch_norm(b, "bn1", y, true));
  y = batch_norm(b, "bn2", conv2d(b, "conv2", y, {.channels = channels, .kernel = 3, .padding = 1}), true);
  const TensorId down = conv2d(b, "down.conv", n.x, {.channels = channels, .stride = 2});
  return n.finish(relu(b, "relu2", add(b, "add", y, batch_norm(b, "down.bn", down, true))));
}

// relu(conv(x) + x): no batch norm that could take the add.
Program add_relu_case(const Image& i) {
  Inner n{i};
  const TensorId y = conv2d(n.b, "conv", n.x, {.channels = i.channels, .kernel = 3, .padding = 1, .bias = true});
  const TensorId z = relu(n.b, "relu", add(n.b, "add", y, n.x));
  return n.finish(add(n.b, "again", conv2d(n.b, "last", z, {.channels = i.channels}), z));
}

// One tensor with three users, one of which uses it twice.
Program three_users_case(const Image& i) {
  Inner n{i};
  const TensorId y = relu(n.b, "relu", batch_norm(n.b, "bn", n.x, true));
  const TensorId twice = add(n.b, "twice", y, y);
  const TensorId other = conv2d(n.b, "conv", y, {.channels = i.channels});
  return n.finish(add(n.b, "sum", add(n.b, "both", twice, other), y));
}

// A batch norm whose result is needed before and after the ReLU: that pattern must not be fused.
Program norm_two_users_case(const Image& i) {
  Inner n{i};
  const TensorId y = batch_norm(n.b, "bn", n.x, true);
  return n.finish(add(n.b, "add", relu(n.b, "relu", y), conv2d(n.b, "conv", y, {.channels = i.channels})));
}

// The same net where batch norms normalise `samples` at a time.
Program in_groups(const Program& forward, int64_t samples) { return set_norm_group(forward, samples); }

// Batch norm in the steps that several ranks share, with one rank that is alone.
Program shared_norm_case(const Image& i, bool stem) {
  Inner inner{i};
  Net outer{i};
  Net& n = stem ? outer : inner;
  auto& b = n.b;
  const auto vector = [&](const char* name, Role role, double value) {
    return b.persistent(name, {i.channels}, role, {Initializer::Kind::constant, value});
  };
  const TensorId statistics = b.apply(OpKind::batch_norm_statistics, "bn", {n.x}, NormAttributes{})[0];
  const TensorId y = b.apply(OpKind::batch_norm_apply, "bn",
                             {n.x, vector("bn.weight", Role::parameter, 1), vector("bn.bias", Role::parameter, 0),
                              vector("bn.running_mean", Role::state, 0), vector("bn.running_var", Role::state, 1),
                              statistics},
                             NormAttributes{})[0];
  return n.finish(relu(b, "relu", y));
}

Program plain_relu_case(const Image& i) {
  Inner n{i};
  const TensorId y = max_pool(n.b, "pool", n.x, {.kernel = 2, .stride = 1});
  return n.finish(relu(n.b, "relu", y));
}

Program max_pool_case(const Image& i, const PoolAttributes& window) {
  Inner n{i};
  return n.finish(max_pool(n.b, "pool", n.x, window));
}

// As in a ResNet's stem: many windows of zeros, where the first of equal values wins.
Program relu_max_pool_case(const Image& i, const PoolAttributes& window) {
  Inner n{i};
  return n.finish(max_pool(n.b, "pool", relu(n.b, "relu", batch_norm(n.b, "bn", n.x, true)), window));
}

Program avg_pool_case(const Image& i, const PoolAttributes& window) {
  Inner n{i};
  return n.finish(avg_pool(n.b, "pool", n.x, window));
}

Program global_pool_case(const Image& i) {
  Inner n{i};
  return n.finish(global_avg_pool(n.b, "pool", n.x));
}

// The first layer has no gradient for its input, the second one has; the ReLU between them is not a convolution's.
Program linear_case(int64_t batch, int64_t in, int64_t hidden, bool bias) {
  Net n{{batch, in, 1, 1}};
  const TensorId first = relu(n.b, "relu", linear(n.b, "fc1", flatten(n.b, "flat", n.x), hidden, bias));
  return n.finish(linear(n.b, "fc2", first, hidden + 2, bias));
}

Program dropout_case(const Image& i, double rate) {
  Inner n{i};
  const TensorId first = dropout(n.b, "drop1", n.x, rate);
  return n.finish(dropout(n.b, "drop2", linear(n.b, "fc", flatten(n.b, "flat", first), 13), rate));
}

Program smoothing_case(double smoothing) {
  Inner n{{3, 4, 3, 3}};
  return n.finish(n.x, smoothing);
}

const std::vector<OperationCase> table{
    {"conv_1x1", [] { return conv_case({2, 5, 6, 7}, {.channels = 9, .bias = true}); }},
    {"conv_1x1_stride_2", [] { return conv_case({2, 6, 7, 5}, {.channels = 11, .stride = 2}); }},
    {"conv_1x1_wide", [] { return conv_case({2, 48, 7, 7}, {.channels = 32}); }},
    {"conv_1x1_one_pixel", [] { return conv_case({1, 7, 1, 1}, {.channels = 17, .bias = true}); }},
    {"conv_3x3", [] { return conv_case({2, 3, 6, 7}, {.channels = 5, .kernel = 3}); }},
    {"conv_3x3_padded", [] { return conv_case({2, 6, 7, 5}, {.channels = 7, .kernel = 3, .padding = 1, .bias = true}); }},
    {"conv_3x3_stride_2", [] { return conv_case({2, 8, 9, 7}, {.channels = 12, .kernel = 3, .stride = 2, .padding = 1}); }},
    {"conv_3x3_stride_2_even", [] { return conv_case({1, 4, 8, 6}, {.channels = 6, .kernel = 3, .stride = 2, .padding = 1}); }},
    {"conv_3x3_stride_3", [] { return conv_case({2, 4, 11, 8}, {.channels = 3, .kernel = 3, .stride = 3, .padding = 1}); }},
    {"conv_3x3_batch_1", [] { return conv_case({1, 16, 7, 7}, {.channels = 16, .kernel = 3, .padding = 1}); }},
    {"conv_3x3_wide", [] { return conv_case({2, 32, 14, 14}, {.channels = 48, .kernel = 3, .padding = 1}); }, false, 2e-4},
    {"conv_3x3_wide_odd", [] { return conv_case({3, 20, 13, 9}, {.channels = 24, .kernel = 3, .padding = 1}); }, false, 2e-4},
    {"conv_3x3_wide_stride_2", [] { return conv_case({2, 32, 13, 13}, {.channels = 64, .kernel = 3, .stride = 2, .padding = 1}); }},
    {"conv_5x5_padded", [] { return conv_case({2, 4, 7, 7}, {.channels = 6, .kernel = 5, .padding = 2, .bias = true}); }},
    {"conv_2x2_stride_2", [] { return conv_case({2, 3, 7, 6}, {.channels = 4, .kernel = 2, .stride = 2}); }},
    {"conv_groups", [] { return conv_case({2, 6, 7, 5}, {.channels = 9, .kernel = 3, .padding = 1, .groups = 3}); }},
    {"conv_groups_wide", [] { return conv_case({2, 32, 6, 6}, {.channels = 32, .kernel = 3, .padding = 1, .groups = 2, .bias = true}); }},
    {"conv_groups_stride_2", [] { return conv_case({1, 8, 9, 9}, {.channels = 12, .kernel = 3, .stride = 2, .padding = 1, .groups = 4}); }},
    {"conv_depthwise", [] { return conv_case({2, 7, 8, 6}, {.channels = 7, .kernel = 3, .padding = 1, .groups = 7, .bias = true}); }},
    {"conv_depthwise_wide", [] { return conv_case({2, 32, 7, 7}, {.channels = 32, .kernel = 3, .stride = 2, .padding = 1, .groups = 32}); }},
    {"conv_kernel_is_image", [] { return conv_case({3, 5, 4, 4}, {.channels = 6, .kernel = 4, .bias = true}); }},
    {"conv_kernel_over_padding", [] { return conv_case({2, 3, 2, 2}, {.channels = 4, .kernel = 5, .padding = 2}); }},
    {"conv_much_padding", [] { return conv_case({1, 3, 3, 4}, {.channels = 4, .kernel = 3, .stride = 2, .padding = 3}); }},
    {"conv_unused_border", [] { return conv_case({2, 4, 8, 8}, {.channels = 5, .kernel = 3, .stride = 4}); }},
    {"stem_7x7_colour", [] { return stem_case({2, 3, 17, 15}, {.channels = 16, .kernel = 7, .stride = 2, .padding = 3}); }},
    {"stem_7x7_grey", [] { return stem_case({2, 1, 14, 18}, {.channels = 10, .kernel = 7, .stride = 2, .padding = 3}); }},
    {"stem_3x3_grey", [] { return stem_case({3, 1, 9, 9}, {.channels = 16, .kernel = 3, .padding = 1}); }},
    {"stem_11x11_stride_4", [] { return stem_case({1, 3, 23, 23}, {.channels = 8, .kernel = 11, .stride = 4, .padding = 2, .bias = true}); }},
    {"conv_relu", [] { return conv_relu_case({2, 5, 7, 6}, {.channels = 9, .kernel = 3, .padding = 1, .bias = true}); }, true},
    {"conv_relu_no_bias", [] { return conv_relu_case({2, 16, 5, 5}, {.channels = 16}); }, true},
    {"conv_relu_wide", [] { return conv_relu_case({2, 32, 8, 8}, {.channels = 32, .kernel = 3, .padding = 1, .bias = true}); }, true, 2e-4},
    {"norm", [] { return norm_case({3, 5, 4, 7}); }},
    {"norm_wide", [] { return norm_case({2, 32, 5, 5}); }},
    {"norm_batch_1", [] { return norm_case({1, 9, 3, 5}); }},
    {"norm_one_pixel", [] { return norm_case({4, 6, 1, 1}); }, false, 2e-4},
    {"conv_norm_relu", [] { return conv_norm_relu_case({2, 6, 7, 5}, {.channels = 7, .kernel = 3, .padding = 1}); }, true, 5e-5},
    {"conv_norm_relu_wide", [] { return conv_norm_relu_case({2, 16, 8, 8}, {.channels = 32, .kernel = 3, .stride = 2, .padding = 1}); }, true, 5e-5},
    {"conv_bias_norm_relu", [] { return conv_norm_relu_case({3, 4, 5, 5}, {.channels = 6, .bias = true}); }, true, 5e-5},
    {"residual", [] { return residual_case({2, 5, 6, 5}, false); }, true, 2e-4},
    {"residual_first", [] { return residual_case({2, 5, 5, 6}, true); }, true, 2e-4},
    {"residual_wide", [] { return residual_case({2, 16, 7, 7}, false); }, true, 2e-4},
    {"residual_batch_1", [] { return residual_case({1, 19, 5, 5}, false); }, true, 2e-4},
    {"downsample", [] { return downsample_case({2, 5, 7, 7}); }, true, 2e-4},
    {"downsample_wide", [] { return downsample_case({2, 13, 8, 8}); }, true, 2e-4},
    {"add_relu", [] { return add_relu_case({2, 5, 5, 4}); }, true, 5e-5},
    {"add_relu_wide", [] { return add_relu_case({2, 16, 6, 6}); }, true, 2e-4},
    {"three_users", [] { return three_users_case({2, 5, 4, 5}); }, true, 5e-5},
    {"three_users_wide", [] { return three_users_case({2, 32, 4, 4}); }, true, 5e-5},
    {"norm_two_users", [] { return norm_two_users_case({2, 6, 5, 4}); }, false, 5e-5},
    {"norm_groups", [] { return in_groups(norm_case({6, 5, 4, 3}), 2); }},
    {"norm_groups_wide", [] { return in_groups(norm_case({4, 32, 5, 5}), 2); }, false, 5e-5},
    {"norm_groups_of_one", [] { return in_groups(norm_case({3, 7, 4, 4}), 1); }},
    {"norm_groups_relu", [] { return in_groups(conv_norm_relu_case({4, 6, 7, 5}, {.channels = 7, .kernel = 3, .padding = 1}), 2); }, true, 5e-5},
    {"norm_groups_residual", [] { return in_groups(residual_case({4, 5, 6, 5}, false), 2); }, true, 2e-4},
    {"norm_groups_residual_wide", [] { return in_groups(residual_case({6, 16, 4, 4}, true), 3); }, true, 2e-4},
    {"shared_norm", [] { return shared_norm_case({3, 5, 4, 7}, false); }, false, 5e-5},
    {"shared_norm_wide", [] { return shared_norm_case({2, 32, 5, 5}, false); }, false, 5e-5},
    {"shared_norm_images", [] { return shared_norm_case({4, 3, 5, 6}, true); }, false, 5e-5},
    {"plain_relu", [] { return plain_relu_case({2, 7, 5, 5}); }},
    {"max_pool_2x2", [] { return max_pool_case({2, 5, 6, 8}, {.kernel = 2, .stride = 2}); }},
    {"max_pool_3x3_padded", [] { return max_pool_case({2, 16, 7, 9}, {.kernel = 3, .stride = 2, .padding = 1}); }},
    {"max_pool_overlapping", [] { return max_pool_case({1, 6, 7, 5}, {.kernel = 3, .stride = 1, .padding = 1}); }},
    {"max_pool_ignored_border", [] { return max_pool_case({2, 5, 8, 8}, {.kernel = 3, .stride = 3}); }},
    {"max_pool_whole_image", [] { return max_pool_case({2, 9, 4, 4}, {.kernel = 4, .stride = 4}); }},
    {"relu_max_pool", [] { return relu_max_pool_case({2, 8, 9, 7}, {.kernel = 3, .stride = 2, .padding = 1}); }, true, 5e-5},
    {"avg_pool_2x2", [] { return avg_pool_case({2, 5, 6, 8}, {.kernel = 2, .stride = 2}); }},
    {"avg_pool_3x3_padded", [] { return avg_pool_case({2, 16, 7, 9}, {.kernel = 3, .stride = 2, .padding = 1}); }},
    {"avg_pool_overlapping", [] { return avg_pool_case({1, 6, 7, 5}, {.kernel = 3, .stride = 1, .padding = 1}); }},
    {"avg_pool_ignored_border", [] { return avg_pool_case({2, 5, 8, 8}, {.kernel = 3, .stride = 3}); }},
    {"global_avg_pool", [] { return global_pool_case({2, 19, 5, 5}); }},
    {"global_avg_pool_one_pixel", [] { return global_pool_case({3, 8, 1, 1}); }},
    {"linear", [] { return linear_case(3, 37, 23, true); }},
    {"linear_no_bias", [] { return linear_case(4, 16, 8, false); }},
    {"linear_many_rows", [] { return linear_case(530, 37, 23, true); }, false, 1e-4},
    {"linear_batch_1", [] { return linear_case(1, 9, 33, true); }},
    {"dropout", [] { return dropout_case({2, 7, 5, 3}, 0.3); }},
    {"dropout_nothing", [] { return dropout_case({2, 5, 3, 3}, 0); }},
    {"dropout_wide", [] { return dropout_case({2, 24, 5, 5}, 0.5); }},
    {"label_smoothing", [] { return smoothing_case(0.1); }},
};

}  // namespace

const std::vector<OperationCase>& image_cases() { return table; }

}  // namespace gpusizer
