// SPDX-License-Identifier: Apache-2.0
// libjpeg-turbo behind a class: its error exits become exceptions, its warnings of lost data too, its memory is capped.
#include "workloads/data/jpeg_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <csetjmp>
#include <cstdio>

// jpeglib.h needs <cstdio> before it.
#include <jpeglib.h>
// jerror.h needs jpeglib.h before it.
#include <jerror.h>

#include "gpusizer/error.hpp"

namespace gpusizer {

namespace {

constexpr int64_t most_pixels = int64_t{1} << 26;  // 8192 x 8192
constexpr long most_work_bytes = 512L << 20;       // a progressive file keeps 2 bytes for each value
constexpr int most_scans = 200;                    // a progressive file of a few kilobytes could ask for hours of work
constexpr uint8_t marker = 0xff, end_of_image = 0xd9;

// Warnings after which pixels are made up. Others (odd metadata, stray bytes between markers) leave the picture whole.
bool loses_pixels(int warning) {
  return warning == JWRN_JPEG_EOF || warning == JWRN_HIT_MARKER || warning == JWRN_HUFF_BAD_CODE ||
         warning == JWRN_MUST_RESYNC || warning == JWRN_ARITH_BAD_CODE;
}

}  // namespace

// libjpeg is C and leaves through longjmp: the functions that call setjmp hold nothing that has a destructor.
struct JpegImage::Decoder {
  Decoder(std::span<const uint8_t> file_bytes, const std::string& file_path) : bytes(file_bytes), path(file_path) {}
  ~Decoder() { jpeg_destroy_decompress(&info); }

  [[noreturn]] void refuse(const std::string& what, const std::string& hint = "") const {
    const size_t left = info.src == nullptr ? bytes.size() : std::min(info.src->bytes_in_buffer, bytes.size());
    throw Error(Fault::input, what, fmt::format("{}, byte {}", path, bytes.size() - left), hint);
  }
  [[noreturn]] void refuse_by_libjpeg() const;

  bool read_header();
  bool start();
  bool read_rows(int64_t skipped, int64_t count, uint8_t* rows);
  bool has_end_marker() const;

  static void leave(j_common_ptr common) { std::longjmp(static_cast<Decoder*>(common->client_data)->exit, 1); }
  static void judge_message(j_common_ptr common, int level) {
    if (level < 0 && loses_pixels(common->err->msg_code)) leave(common);
  }
  static void say_nothing(j_common_ptr) {}
  static void watch_progress(j_common_ptr common) {
    auto* self = static_cast<Decoder*>(common->client_data);
    if (self->info.input_scan_number > most_scans) {
      self->too_many_scans = true;
      leave(common);
    }
  }

  std::span<const uint8_t> bytes;
  const std::string& path;
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf exit{};
  bool too_many_scans = false;
};

void JpegImage::Decoder::refuse_by_libjpeg() const {
  if (too_many_scans) refuse(fmt::format("the JPEG has more than {} scans", most_scans), "convert the file again");
  const int code = errors.msg_code;
  if (code == JERR_NO_SOI) refuse("this is not a JPEG file", "convert it, or remove it from the folder");
  if (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JERR_INPUT_EOF || code == JERR_INPUT_EMPTY) {
    refuse("the JPEG is cut short", "copy the file again");
  }
  if (code == JERR_OUT_OF_MEMORY || code == JERR_NO_BACKING_STORE) refuse("decoding the JPEG takes too much memory");
  std::array<char, JMSG_LENGTH_MAX> text{};
  auto* common = reinterpret_cast<j_common_ptr>(const_cast<jpeg_decompress_struct*>(&info));
  errors.format_message(common, text.data());
  refuse(fmt::format("the JPEG is damaged: {}", text.data()), "copy the file again");
}

bool JpegImage::Decoder::read_header() {
  if (setjmp(exit) != 0) return false;
  info.err = jpeg_std_error(&errors);
  errors.error_exit = leave;
  errors.emit_message = judge_message;
  errors.output_message = say_nothing;
  info.client_data = this;
  jpeg_create_decompress(&info);  // keeps err and client_data
  info.mem->max_memory_to_use = most_work_bytes;
  progress.progress_monitor = watch_progress;
  info.progress = &progress;
  jpeg_mem_src(&info, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&info, TRUE);
  return true;
}

bool JpegImage::Decoder::start() {
  if (setjmp(exit) != 0) return false;
  jpeg_start_decompress(&info);
  return true;
}

bool JpegImage::Decoder::read_rows(int64_t skipped, int64_t count, uint8_t* rows) {
  if (setjmp(exit) != 0) return false;
  const size_t row_bytes = static_cast<size_t>(info.output_width) * static_cast<size_t>(info.output_components);
  if (skipped > 0) jpeg_skip_scanlines(&info, static_cast<JDIMENSION>(skipped));
  for (int64_t row = 0; row < count; ++row) {
    JSAMPROW target = rows + static_cast<size_t>(row) * row_bytes;
    jpeg_read_scanlines(&info, &target, 1);
  }
  jpeg_abort_decompress(&info);  // the rows below the crop are not needed
  return true;
}

// Looked for after the headers only, since a thumbnail in them has an end marker of its own; scan data has none. So a
// file that is cut short is always found, even when the crop of this epoch needs only its upper part.
bool JpegImage::Decoder::has_end_marker() const {
  const uint8_t* const first = info.src->next_input_byte;
  for (const uint8_t* at = first + info.src->bytes_in_buffer; at - first >= 2; --at) {
    if (at[-1] == end_of_image && at[-2] == marker) return true;
  }
  return false;
}

namespace {

// Printers' inks to red, green and blue, in place: 4 bytes a pixel become 3 or 1. Adobe's files hold the inks inverted.
void convert_inks(std::vector<uint8_t>& bytes, int64_t channels, bool inverted) {
  size_t out = 0;
  for (size_t in = 0; in < bytes.size(); in += 4) {
    std::array<int, 3> light{};
    for (size_t i = 0; i < 3; ++i) {
      const int ink = inverted ? bytes[in + i] : 255 - bytes[in + i];
      const int black = inverted ? bytes[in + 3] : 255 - bytes[in + 3];
      light[i] = (ink * black + 127) / 255;
    }
    if (channels == 1) {
      bytes[out++] =
          static_cast<uint8_t>((299 * light[0] + 587 * light[1] + 114 * light[2] + 500) / 1000);  // ITU-R BT.601
    } else {
      for (const int value : light) bytes[out++] = static_cast<uint8_t>(value);
    }
  }
  bytes.resize(out);
}

}  // namespace

JpegImage::JpegImage(std::span<const uint8_t> bytes, const std::string& path)
    : decoder_(std::make_unique<Decoder>(bytes, path)) {
  if (bytes.empty()) throw Error(Fault::input, "the file is empty", path);
  if (!decoder_->read_header()) decoder_->refuse_by_libjpeg();
  if (width() * height() > most_pixels) {
    decoder_->refuse(fmt::format("the header announces {} x {} pixels, more than {}", width(), height(), most_pixels));
  }
  if (!decoder_->has_end_marker()) {
    throw Error(Fault::input, "the JPEG is cut short", fmt::format("{}, byte {}", path, bytes.size()),
                "copy the file again");
  }
}

JpegImage::~JpegImage() = default;

int64_t JpegImage::width() const { return decoder_->info.image_width; }
int64_t JpegImage::height() const { return decoder_->info.image_height; }

PixelRows JpegImage::decode(const Crop& crop, int64_t channels, int64_t out_width, int64_t out_height) {
  jpeg_decompress_struct& info = decoder_->info;
  const bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = inks ? JCS_CMYK : channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  info.scale_denom = 8;
  info.scale_num =
      static_cast<unsigned>(std::clamp(std::ceil(8 * std::max(static_cast<double>(out_width) / crop.width,
                                                              static_cast<double>(out_height) / crop.height)),
                                       1.0, 8.0));
  if (!decoder_->start()) decoder_->refuse_by_libjpeg();

  const double scale_x = static_cast<double>(info.output_width) / static_cast<double>(width());
  const double scale_y = static_cast<double>(info.output_height) / static_cast<double>(height());
  PixelRows rows{static_cast<int64_t>(info.output_width),
                 0,
                 channels,
                 {},
                 {crop.left * scale_x, crop.top * scale_y, crop.width * scale_x, crop.height * scale_y, crop.mirrored}};
  // One row more on each side, for the interpolation between rows.
  const int64_t last_row = static_cast<int64_t>(info.output_height) - 1;
  const int64_t first = std::clamp<int64_t>(static_cast<int64_t>(rows.crop.top) - 1, 0, last_row);
  const int64_t last = std::clamp<int64_t>(static_cast<int64_t>(rows.crop.top + rows.crop.height) + 1, first, last_row);
  rows.height = last - first + 1;
  rows.crop.top -= static_cast<double>(first);
  rows.bytes.resize(static_cast<size_t>(rows.height * rows.width * info.output_components));
  if (!decoder_->read_rows(first, rows.height, rows.bytes.data())) decoder_->refuse_by_libjpeg();
  if (inks) convert_inks(rows.bytes, channels, info.saw_Adobe_marker != 0);
  return rows;
}

}  // namespace gpusizer
