// A growing array of plain values whose first N live inside the object, so that a launch of a usual
// kernel allocates nothing.

#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace tileir {

template <typename T, size_t N>
class SmallBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  SmallBuffer() = default;
  SmallBuffer(const SmallBuffer &) = delete;
  SmallBuffer &operator=(const SmallBuffer &) = delete;
  ~SmallBuffer() {
    if (values != own)
      free(values);
  }

  void push(T value) {
    if (count == capacity)
      grow(count + 1);
    values[count++] = value;
  }
  void append(const T *source, size_t number) {
    if (count + number > capacity)
      grow(count + number);
    memcpy(values + count, source, number * sizeof(T));
    count += number;
  }
  T &operator[](size_t index) { return values[index]; }
  const T &operator[](size_t index) const { return values[index]; }
  T *data() { return values; }
  const T *data() const { return values; }
  size_t size() const { return count; }

private:
  void grow(size_t least) {
    capacity = least > 2 * capacity ? least : 2 * capacity;
    T *larger = static_cast<T *>(malloc(capacity * sizeof(T)));
    if (!larger)
      abort();
    memcpy(larger, values, count * sizeof(T));
    if (values != own)
      free(values);
    values = larger;
  }

  size_t count = 0, capacity = N;
  T own[N];
  T *values = own;
};

} // namespace tileir
