// SPDX-License-Identifier: Apache-2.0
// A fiber: a stack of its own that the host switches to and from, known to the sanitizers. x86-64 only.
#pragma once

#include <cstddef>

namespace gpusizer::emulated {

// What is needed to go on at some place: for a fiber, and for the thread's own stack that started it.
struct Context {
  void* stack_pointer = nullptr;
  const void* stack_bottom = nullptr;
  size_t stack_bytes = 0;
  void* tsan_fiber = nullptr;  // the thread sanitizer's name for it
  void* fake_stack = nullptr;  // the address sanitizer's
};

// Under the thread sanitizer every fiber is a thread of its own, ordered with others only where we say so.
bool under_thread_sanitizer();
void happens_before(void* tag);  // what this fiber did so far is seen by ...
void happens_after(void* tag);   // ... whoever calls this with the same tag later

// Makes a stack on which `entry` starts at the first switch. Throws std::bad_alloc. `entry` must never return.
Context make_fiber(void (*entry)());
void free_fiber(Context& fiber);
// Fills in the running thread's own stack, before its first switch away.
void describe_own_stack(Context& own);

// Leaves `from` (the running context) and goes on in `to`; returns when somebody switches back.
void switch_fiber(Context& from, Context& to);
// The first thing that a fiber's entry does.
void arrive_in_fiber();

}  // namespace gpusizer::emulated
