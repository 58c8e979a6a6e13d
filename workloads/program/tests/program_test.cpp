// SPDX-License-Identifier: Apache-2.0
// Looking things up in programs, the checks that a program is one, and the table of operations.
#include "workloads/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gpusizer/error.hpp"
#include "workloads/program/layers.hpp"
#include "workloads/program/operations.hpp"

namespace gpusizer {
namespace {

// x -> a -> b
Program chain() {
  ProgramBuilder b{"chain", 1};
  relu(b, "b", relu(b, "a", b.input("x", {4})));
  return b.finish();
}

std::string refusal(const Program& p) {
  try {
    check_program(p);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(CheckProgram, AcceptsWhatTheBuilderMakes) { EXPECT_EQ(refusal(chain()), ""); }

TEST(CheckProgram, RefusesReadingBeforeWriting) {
  Program p = chain();
  std::swap(p.operations[0], p.operations[1]);
  EXPECT_EQ(refusal(p), "relu reads a before it is written (b)");
}

TEST(CheckProgram, RefusesWritingTwice) {
  Program p = chain();
  p.operations[1].outputs[0] = p.operations[0].outputs[0];
  EXPECT_EQ(refusal(p), "relu writes a a second time (b)");
}

TEST(CheckProgram, RefusesWritingInPlaceWhatDoesNotPersist) {
  Program p = chain();
  p.operations[1].outputs[0] = p.operations[1].inputs[0];
  EXPECT_NE(refusal(p), "");
}

TEST(CheckProgram, RefusesTensorsThatDoNotExist) {
  Program p = chain();
  p.operations[0].inputs[0] = TensorId{99};
  EXPECT_EQ(refusal(p), "relu reads a tensor that does not exist (a)");
  p = chain();
  p.operations[0].outputs[0] = TensorId{-1};
  EXPECT_EQ(refusal(p), "relu writes a tensor that does not exist (a)");
}

TEST(Program, ReadersAndWriters) {
  ProgramBuilder b{"shared", 1};
  const TensorId x = b.input("x", {4}), y = relu(b, "y", x);
  const TensorId z = add(b, "z", y, y);
  add(b, "w", z, x);
  const Program p = b.finish();
  const auto read_by = readers(p);
  EXPECT_EQ(read_by[static_cast<size_t>(x.index)], (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(read_by[static_cast<size_t>(y.index)], std::vector<int32_t>{1}) << "once, though it reads it twice";
  EXPECT_EQ(writers(p)[static_cast<size_t>(x.index)], -1);
  EXPECT_EQ(writers(p)[static_cast<size_t>(z.index)], 1);
  EXPECT_EQ(p.find("z")->id, z);
  EXPECT_EQ(p.find("none"), nullptr);
}

TEST(Operations, TheTableHasEveryKindOnceUnderItsOwnName) {
  std::set<std::string_view> names;
  const auto table = operations();
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table[i].kind, static_cast<OpKind>(i));
    EXPECT_TRUE(names.insert(table[i].name).second) << table[i].name;
  }
  EXPECT_EQ(table.size(), static_cast<size_t>(OpKind::batch_norm_apply_backward) + 1);
  EXPECT_THROW(rule(static_cast<OpKind>(200)), Error);
}

TEST(Tensor, ShapesAndSizes) {
  EXPECT_EQ(to_string(Shape{8, 64, 56, 56}), "[8, 64, 56, 56]");
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({2, 3, 4}), 24);
  EXPECT_EQ(element_bytes(DType::bf16), 2);
  EXPECT_EQ(element_bytes(DType::opaque), 0);
}

}  // namespace
}  // namespace gpusizer
