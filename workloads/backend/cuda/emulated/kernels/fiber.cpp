// SPDX-License-Identifier: Apache-2.0
// Stacks and the switch between them. Compiled without the thread sanitizer, which is told about every switch instead.
#include "workloads/backend/cuda/emulated/kernels/fiber.hpp"

#include <pthread.h>
#include <sys/mman.h>

#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if !defined(__x86_64__)
#error "fibers are written for x86-64; the build leaves the emulated device out elsewhere"
#endif

// Present only in a process that runs under the thread sanitizer.
extern "C" {
void* __tsan_create_fiber(unsigned flags) __attribute__((weak));
void __tsan_destroy_fiber(void* fiber) __attribute__((weak));
void __tsan_switch_to_fiber(void* fiber, unsigned flags) __attribute__((weak));
void* __tsan_get_current_fiber() __attribute__((weak));
void __tsan_acquire(void* tag) __attribute__((weak));
void __tsan_release(void* tag) __attribute__((weak));

// Saves what a callee must keep (System V calling convention) on the running stack and goes on on another.
void gpusizer_emulated_switch(void** save, void* load);
}
asm(R"(
.text
.type gpusizer_emulated_switch,@function
gpusizer_emulated_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size gpusizer_emulated_switch,.-gpusizer_emulated_switch
)");

namespace gpusizer::emulated {
namespace {

constexpr size_t page_bytes = 4096;
constexpr size_t fiber_stack_bytes = 256 << 10;  // only what a kernel touches becomes memory
constexpr unsigned no_order = 1;                 // a switch alone orders nothing for the thread sanitizer
constexpr int callee_saved_registers = 6;

}  // namespace

bool under_thread_sanitizer() { return __tsan_create_fiber != nullptr; }

void happens_before(void* tag) {
  if (__tsan_release) __tsan_release(tag);
}

void happens_after(void* tag) {
  if (__tsan_acquire) __tsan_acquire(tag);
}

Context make_fiber(void (*entry)()) {
  void* all = mmap(nullptr, page_bytes + fiber_stack_bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  mprotect(all, page_bytes, PROT_NONE);  // a stack that grows too far ends in a fault, not in its neighbour
  Context fiber;
  char* bottom = static_cast<char*>(all) + page_bytes;
  void** top = reinterpret_cast<void**>(bottom + fiber_stack_bytes);
  *--top = nullptr;  // keeps the stack aligned as after a call
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < callee_saved_registers; ++i) *--top = nullptr;
  fiber.stack_pointer = top;
  fiber.stack_bottom = bottom;
  fiber.stack_bytes = fiber_stack_bytes;
  if (__tsan_create_fiber) fiber.tsan_fiber = __tsan_create_fiber(0);
  return fiber;
}

void free_fiber(Context& fiber) {
  if (fiber.tsan_fiber) __tsan_destroy_fiber(fiber.tsan_fiber);
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(fiber.stack_bottom, fiber.stack_bytes);
#endif
  munmap(static_cast<char*>(const_cast<void*>(fiber.stack_bottom)) - page_bytes, page_bytes + fiber.stack_bytes);
  fiber = {};
}

void describe_own_stack(Context& own) {
  if (__tsan_get_current_fiber) own.tsan_fiber = __tsan_get_current_fiber();
  if (own.stack_bottom) return;
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* bottom = nullptr;
  pthread_attr_getstack(&attributes, &bottom, &own.stack_bytes);
  own.stack_bottom = bottom;
  pthread_attr_destroy(&attributes);
}

void switch_fiber(Context& from, Context& to) {
  if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(to.tsan_fiber, no_order);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.stack_bottom, to.stack_bytes);
#endif
  gpusizer_emulated_switch(&from.stack_pointer, to.stack_pointer);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

void arrive_in_fiber() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

}  // namespace gpusizer::emulated
