// From the arguments of a call to the key of a specialisation and to the words of the parameters.
//
// A specialisation is what is known when a kernel is compiled (tileir/lang/signature.py). Two calls
// with equal keys have equal signatures. The reverse need not hold: a key that tells more apart
// only leads to the same compiled kernel twice.

#pragma once

#include "arrays.h"
#include "plan.h"
#include "python.h"
#include "small_buffer.h"

#include <cstdint>
#include <vector>

namespace tileir {

// Dimensions of an array that are part of the specialisation with their numbers: bit n is dimension
// n, counted from the first or from the last.
struct Pinned {
  uint32_t first = 0, last = 0;
  bool has(int axis, int rank) const { return (first >> axis | last >> (rank - 1 - axis)) & 1; }
};

struct ArrayRule {
  int indexBits = 32; // of extents and strides: 32 or 64
  Pinned shape, strides;
};

// What a kernel's source says about one parameter.
struct ParameterRule {
  bool constant = false;
  int scalarBits = 32; // of Python's integers: 32 or 64
  ArrayRule array, element; // of an array, and of the arrays of a list
  // Of the items of a tuple, if they are told apart; otherwise of each.
  std::vector<ParameterRule> items, each;

  // Reads what `specialize.native_rule` makes. False with a Python exception set.
  bool read(PyObject *description);
  const ParameterRule &item(size_t index, size_t count) const;
};

// Reads a sequence of rules. False with a Python exception set.
bool readRules(PyObject *sequence, std::vector<ParameterRule> &rules);

class Arguments {
public:
  // `owner` has two methods: intern(constant) gives an integer that tells a constant apart that is
  // no number or text, or None; stage(context, stream, bytes) the device address of a table.
  // `stream` is where the kernel will run.
  Arguments(PyObject *owner, uint64_t stream) : owner(owner), stream(stream) {}

  Outcome add(PyObject *value, const ParameterRule &rule, int depth = 0);

  // Puts the tables of lists on the device and their addresses into the words. False with a Python
  // exception set.
  bool stageTables(void *context);

  using Key = SmallBuffer<uint8_t, 512>;
  Key key;
  Words words;
  int device = UNKNOWN_DEVICE; // of the arrays

private:
  // What is known of an array's layout, one bit a fact, so that lists can join theirs with &.
  struct Facts {
    uint8_t array;
    uint8_t dimensions[MAX_RANK];
  };
  struct Table {
    size_t word, start, length;
  };

  template <typename T>
  void put(T value) {
    key.append(reinterpret_cast<const uint8_t *>(&value), sizeof value);
  }
  Outcome number(PyObject *value, const ParameterRule &rule);
  Outcome real(double value);
  Outcome constant(PyObject *value, int depth);
  Outcome array(PyObject *value, const Form &form, const ArrayRule &rule);
  Outcome list(PyObject *value, const ArrayRule &rule);
  Outcome read(PyObject *value, const Form &form, const ArrayRule &rule, ArrayView &view);
  void putArray(const ArrayView &view, const ArrayRule &rule, const Facts &facts);
  void putShared(const ArrayView &view);
  Outcome items(PyObject *tuple, const ParameterRule &rule, int depth);

  PyObject *owner;
  uint64_t stream;
  SmallBuffer<int64_t, 16> starts; // of the arrays so far, 0 for those without elements
  SmallBuffer<int64_t, 1> tableWords;
  std::vector<Table> tables;
};

} // namespace tileir
