// SPDX-License-Identifier: Apache-2.0
// cuDNN's RNN functions, eighth version: descriptors, sizes, the weight space, and the three computations.
#include <algorithm>
#include <string>

#include "workloads/backend/cuda/emulated/dnn/descriptor.hpp"
#include "workloads/backend/cuda/emulated/dnn/recurrent.hpp"
#include "workloads/backend/cuda/emulated/dnn/tensor.hpp"
#include "workloads/backend/cuda/emulated/runtime/task.hpp"

namespace gpusizer::emulated {

LayerPlaces layer_places(const cudnnRNNStruct& rnn, int layer) {
  const int64_t hidden = rnn.hidden, square = 4 * hidden * hidden;
  const auto matrices_before = [&](int l) {
    return l == 0 ? 0 : 4 * hidden * rnn.input + square + (l - 1) * 2 * square;
  };
  LayerPlaces places{layer == 0 ? rnn.input : hidden, matrices_before(layer), 0, -1, -1};
  places.recurrent_matrices = places.input_matrices + 4 * hidden * places.input_width;
  if (rnn.bias == CUDNN_RNN_NO_BIAS) return places;
  const int64_t each = 4 * hidden, vectors = rnn.bias == CUDNN_RNN_DOUBLE_BIAS ? 2 : 1;
  const int64_t first = matrices_before(rnn.layers) + layer * vectors * each;
  if (rnn.bias != CUDNN_RNN_SINGLE_REC_BIAS) places.input_bias = first;
  if (rnn.bias == CUDNN_RNN_SINGLE_REC_BIAS) places.recurrent_bias = first;
  if (rnn.bias == CUDNN_RNN_DOUBLE_BIAS) places.recurrent_bias = first + each;
  return places;
}

int64_t weight_elements(const cudnnRNNStruct& rnn) {
  const LayerPlaces last = layer_places(rnn, rnn.layers - 1);
  const int64_t bias = std::max(last.input_bias, last.recurrent_bias), hidden = rnn.hidden;
  return bias >= 0 ? bias + 4 * hidden : last.recurrent_matrices + 4 * hidden * hidden;
}

int64_t reserve_floats(const cudnnRNNStruct& rnn, const cudnnRNNDataStruct& x) {
  return int64_t{10} * rnn.layers * x.steps * x.batch * rnn.hidden;
}

namespace {

constexpr size_t rnn_workspace_bytes = 1024;

cudnnStatus_t refuse(const char* function, const std::string& why) {
  return dnn_status(function, CUDNN_STATUS_BAD_PARAM, why);
}

// "" or which buffer is not wholly memory of the device.
class BufferCheck {
 public:
  explicit BufferCheck(int device) : device_(device) {}
  void needs(const char* name, const void* at, int64_t bytes, bool optional = false) {
    if (!wrong_.empty() || (optional && !at)) return;
    if (!at || !is_device_memory(at, static_cast<size_t>(bytes), device_))
      wrong_ = std::string(name) + " is not " + std::to_string(bytes) + " bytes of the device's memory";
  }
  const std::string& wrong() const { return wrong_; }

 private:
  int device_;
  std::string wrong_;
};

int64_t bytes_of_rows(const cudnnRNNDataStruct& d) {
  return int64_t{d.steps} * d.batch * d.width * static_cast<int64_t>(element_bytes(element_of_dnn(d.type)));
}

std::string wrong_shapes(const RecurrentCall& call) {
  const auto &x = call.x_shape, &y = call.y_shape;
  if (x.width != call.rnn.input || y.width != call.rnn.hidden) return "the widths of x and y are not those of the RNN";
  if (x.steps != y.steps || x.batch != y.batch || !x.full_length || !y.full_length)
    return "x and y need the same steps and sequences, all of full length";
  if (x.type != call.rnn.type || y.type != call.rnn.type) return "x, y and the RNN need one type";
  const bool packed = x.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  if (!packed && !(call.rnn.flags & CUDNN_RNN_PADDED_IO_ENABLED)) return "an unpacked layout needs the padded-io flag";
  return "";
}

void check_states(const RecurrentCall& call, BufferCheck& check) {
  const int64_t bytes = int64_t{call.rnn.layers} * call.x_shape.batch * call.rnn.hidden *
                        static_cast<int64_t>(element_bytes(element_of_dnn(call.rnn.type)));
  for (const void* state : {call.hx, call.cx, call.dhy, call.dcy}) check.needs("a state", state, bytes, true);
  for (const void* state : {call.hy, call.cy, call.dhx, call.dcx}) check.needs("a state", state, bytes, true);
}

cudnnStatus_t start(const char* function, cudnnHandle_t handle, const RecurrentCall& call, BufferCheck& check,
                    void (*run)(const RecurrentCall&), size_t weight_bytes, const void* weights) {
  if (const int planted = planted_status(function))
    return dnn_status(function, static_cast<cudnnStatus_t>(planted), "planted");
  if (const std::string wrong = wrong_shapes(call); !wrong.empty()) return refuse(function, wrong);
  const int64_t needed = weight_elements(call.rnn) * static_cast<int64_t>(element_bytes(element_of_dnn(call.rnn.type)));
  if (static_cast<int64_t>(weight_bytes) < needed) return refuse(function, "the weight space is too small");
  check.needs("the weight space", weights, needed);
  check.needs("the reserve space", call.reserve, 4 * reserve_floats(call.rnn, call.x_shape), !call.reserve);
  check_states(call, check);
  if (!check.wrong().empty()) return refuse(function, check.wrong());
  const auto status = enqueue(function, handle->stream, [=] { return Task{function, {}, [run, call] { run(call); }}; });
  return status == cudaSuccess ? CUDNN_STATUS_SUCCESS
                               : dnn_status(function, CUDNN_STATUS_EXECUTION_FAILED, "the device is broken");
}

}  // namespace
}  // namespace gpusizer::emulated

using namespace gpusizer::emulated;

extern "C" {

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t algo, cudnnRNNMode_t cellMode,
                                       cudnnRNNBiasMode_t biasMode, cudnnDirectionMode_t dirMode,
                                       cudnnRNNInputMode_t inputMode, cudnnDataType_t dataType,
                                       cudnnDataType_t mathPrec, cudnnMathType_t, int32_t inputSize, int32_t hiddenSize,
                                       int32_t projSize, int32_t numLayers, cudnnDropoutDescriptor_t dropoutDesc,
                                       uint32_t auxFlags) {
  constexpr const char* function = "cudnnSetRNNDescriptor_v8";
  if (!rnnDesc || inputSize < 1 || hiddenSize < 1 || numLayers < 1 || projSize != hiddenSize)
    return refuse(function, "sizes of at least 1, and a projection as wide as the hidden state");
  const bool emulated = algo == CUDNN_RNN_ALGO_STANDARD && cellMode == CUDNN_LSTM && dirMode == CUDNN_UNIDIRECTIONAL &&
                        inputMode == CUDNN_LINEAR_INPUT && mathPrec == CUDNN_DATA_FLOAT &&
                        !(dropoutDesc && dropoutDesc->probability > 0 && numLayers > 1);
  if (!emulated) return dnn_status(function, CUDNN_STATUS_NOT_SUPPORTED, "only a plain LSTM is emulated");
  *rnnDesc = {cellMode, biasMode, dataType, inputSize, hiddenSize, numLayers, auxFlags};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc, cudnnDataType_t dataType,
                                        cudnnRNNDataLayout_t layout, int maxSeqLength, int batchSize, int vectorSize,
                                        const int seqLengthArray[], void*) {
  if (!rnnDataDesc || !seqLengthArray || maxSeqLength < 1 || batchSize < 1 || vectorSize < 1)
    return refuse("cudnnSetRNNDataDescriptor", "sizes of at least 1");
  const bool full = std::all_of(seqLengthArray, seqLengthArray + batchSize, [&](int n) { return n == maxSeqLength; });
  *rnnDataDesc = {dataType, layout, maxSeqLength, batchSize, vectorSize, full};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                                        cudnnRNNDataDescriptor_t xDesc, size_t* workSpaceSize,
                                        size_t* reserveSpaceSize) {
  if (workSpaceSize) *workSpaceSize = rnn_workspace_bytes;
  if (reserveSpaceSize)
    *reserveSpaceSize =
        fwdMode == CUDNN_FWD_MODE_TRAINING ? static_cast<size_t>(4 * reserve_floats(*rnnDesc, *xDesc)) : 0;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t, cudnnRNNDescriptor_t rnnDesc, size_t* weightSpaceSize) {
  *weightSpaceSize = static_cast<size_t>(weight_elements(*rnnDesc)) * element_bytes(element_of_dnn(rnnDesc->type));
  return CUDNN_STATUS_SUCCESS;
}

// linLayerID: 0 to 3 the input's gates, 4 to 7 the recurrent ones.
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t, cudnnRNNDescriptor_t rnnDesc, int32_t pseudoLayer, size_t,
                                      const void* weightSpace, int32_t linLayerID, cudnnTensorDescriptor_t mDesc,
                                      void** mAddr, cudnnTensorDescriptor_t bDesc, void** bAddr) {
  if (pseudoLayer < 0 || pseudoLayer >= rnnDesc->layers || linLayerID < 0 || linLayerID >= 2 * lstm_gates)
    return refuse("cudnnGetRNNWeightParams", "there is no such layer or gate");
  const LayerPlaces places = layer_places(*rnnDesc, pseudoLayer);
  const bool recurrent = linLayerID >= lstm_gates;
  const int gate = linLayerID % lstm_gates, hidden = rnnDesc->hidden;
  const int width = recurrent ? hidden : static_cast<int>(places.input_width);
  const int64_t matrix =
      (recurrent ? places.recurrent_matrices : places.input_matrices) + int64_t{gate} * hidden * width;
  const int64_t bias = recurrent ? places.recurrent_bias : places.input_bias;
  const auto address = [&](int64_t element) {
    const auto bytes = element * static_cast<int64_t>(element_bytes(element_of_dnn(rnnDesc->type)));
    return static_cast<void*>(static_cast<char*>(const_cast<void*>(weightSpace)) + bytes);
  };
  if (mDesc) *mDesc = {rnnDesc->type, {1, hidden, width}, {hidden * width, width, 1}};
  if (mAddr) *mAddr = address(matrix);
  if (bDesc) *bDesc = {rnnDesc->type, {1, hidden, 1}, {hidden, 1, 1}};
  if (bAddr) *bAddr = bias < 0 ? nullptr : address(bias + int64_t{gate} * hidden);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnForwardMode_t fwdMode,
                              const int32_t[], cudnnRNNDataDescriptor_t xDesc, const void* x,
                              cudnnRNNDataDescriptor_t yDesc, void* y, cudnnTensorDescriptor_t, const void* hx,
                              void* hy, cudnnTensorDescriptor_t, const void* cx, void* cy, size_t weightSpaceSize,
                              const void* weightSpace, size_t workSpaceSize, void* workSpace, size_t reserveSpaceSize,
                              void* reserveSpace) {
  constexpr const char* function = "cudnnRNNForward";
  RecurrentCall call{*rnnDesc, *xDesc, *yDesc, x};
  call.y_to = y;
  call.hx = hx;
  call.hy = hy;
  call.cx = cx;
  call.cy = cy;
  call.weights = weightSpace;
  BufferCheck check(device_of(handle->stream));
  if (fwdMode == CUDNN_FWD_MODE_TRAINING) {
    if (static_cast<int64_t>(reserveSpaceSize) < 4 * reserve_floats(*rnnDesc, *xDesc))
      return refuse(function, "the reserve space is too small");
    call.reserve = static_cast<float*>(reserveSpace);
    check.needs("the reserve space", reserveSpace, 4 * reserve_floats(*rnnDesc, *xDesc));
  }
  if (workSpaceSize < rnn_workspace_bytes) return refuse(function, "the workspace is too small");
  check.needs("the workspace", workSpace, rnn_workspace_bytes);
  check.needs("x", x, bytes_of_rows(*xDesc));
  check.needs("y", y, bytes_of_rows(*yDesc));
  return start(function, handle, call, check, run_lstm_forward, weightSpaceSize, weightSpace);
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int32_t[],
                                      cudnnRNNDataDescriptor_t yDesc, const void* y, const void* dy,
                                      cudnnRNNDataDescriptor_t xDesc, void* dx, cudnnTensorDescriptor_t, const void* hx,
                                      const void* dhy, void* dhx, cudnnTensorDescriptor_t, const void* cx,
                                      const void* dcy, void* dcx, size_t weightSpaceSize, const void* weightSpace,
                                      size_t workSpaceSize, void* workSpace, size_t reserveSpaceSize,
                                      void* reserveSpace) {
  constexpr const char* function = "cudnnRNNBackwardData_v8";
  RecurrentCall call{*rnnDesc, *xDesc, *yDesc, nullptr, y, dy};
  call.dx = dx;
  call.hx = hx;
  call.cx = cx;
  call.dhy = dhy;
  call.dcy = dcy;
  call.dhx = dhx;
  call.dcx = dcx;
  call.weights = weightSpace;
  call.reserve = static_cast<float*>(reserveSpace);
  if (static_cast<int64_t>(reserveSpaceSize) < 4 * reserve_floats(*rnnDesc, *xDesc) || !reserveSpace ||
      workSpaceSize < rnn_workspace_bytes)
    return refuse(function, "the reserve space or the workspace is too small");
  BufferCheck check(device_of(handle->stream));
  check.needs("the workspace", workSpace, rnn_workspace_bytes);
  check.needs("y", y, bytes_of_rows(*yDesc));
  check.needs("dy", dy, bytes_of_rows(*yDesc));
  check.needs("dx", dx, bytes_of_rows(*xDesc));
  return start(function, handle, call, check, run_lstm_backward_data, weightSpaceSize, weightSpace);
}

// Gradients are added to what is there; the real library has no other mode either.
cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, cudnnWgradMode_t addGrad,
                                         const int32_t[], cudnnRNNDataDescriptor_t xDesc, const void* x,
                                         cudnnTensorDescriptor_t, const void* hx, cudnnRNNDataDescriptor_t yDesc,
                                         const void* y, size_t weightSpaceSize, void* dweightSpace,
                                         size_t workSpaceSize, void* workSpace, size_t reserveSpaceSize,
                                         void* reserveSpace) {
  constexpr const char* function = "cudnnRNNBackwardWeights_v8";
  if (addGrad != CUDNN_WGRAD_MODE_ADD) return dnn_status(function, CUDNN_STATUS_NOT_SUPPORTED, "gradients are added");
  RecurrentCall call{*rnnDesc, *xDesc, *yDesc, x, y};
  call.hx = hx;
  call.weight_gradients = dweightSpace;
  call.reserve = static_cast<float*>(reserveSpace);
  if (static_cast<int64_t>(reserveSpaceSize) < 4 * reserve_floats(*rnnDesc, *xDesc) || !reserveSpace ||
      workSpaceSize < rnn_workspace_bytes)
    return refuse(function, "the reserve space or the workspace is too small");
  BufferCheck check(device_of(handle->stream));
  check.needs("the workspace", workSpace, rnn_workspace_bytes);
  check.needs("x", x, bytes_of_rows(*xDesc));
  check.needs("y", y, bytes_of_rows(*yDesc));
  return start(function, handle, call, check, run_lstm_backward_weights, weightSpaceSize, dweightSpace);
}

}  // extern "C"
