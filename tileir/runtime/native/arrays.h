// Arrays of other libraries: where they lie, their shape and strides, their element type.

#pragma once

#include "python.h"

#include <cstdint>

namespace tileir {

// The structures of dlpack.h, version 1; sizes and places are part of its binary interface.
struct DLTensor {
  enum DeviceType : int32_t { CPU = 1, CUDA = 2, CUDAManaged = 13 };
  enum TypeCode : uint8_t { Int = 0, UInt = 1, Float = 2, Bool = 6 };
  void *data;
  int32_t deviceType;
  int32_t device;
  int32_t rank;
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
  int64_t *shape;
  int64_t *strides; // in elements; null for row-major
  uint64_t offset;  // in bytes
};

// How the objects of a Python type are read. Python decides which (`forms.form_of`), once a type.
struct Form {
  // Numbered as in forms.py.
  enum Kind {
    Other,     // not for us
    Exchange,  // DLPack's table of C functions
    Capsule,   // `callable(object)` gives a DLPack capsule
    Dlpack,    // __dlpack__
    Interface, // __cuda_array_interface__
    Number,    // a NumPy scalar: item() is a Python number
    Integer,   // a subclass of int
    Real,      // a subclass of float
    Tuple,     // a subclass of tuple
    List,      // a subclass of list
  };
  using Fill = int (*)(void *object, DLTensor *result);
  Kind kind = Other;
  Fill fill = nullptr;          // of Exchange
  PyObject *callable = nullptr; // of Capsule; valid until Python code runs
};

// Finds the form of a type. False with a Python exception set.
bool formOf(PyTypeObject *type, Form &form);
// Sets what decides on new types: a callable from type to (kind, detail).
void setFormOf(PyObject *callable);

enum class Outcome {
  Ok,
  Other, // Python has to look at it: an array in host memory, or an error
  Raised // a Python exception is set
};

constexpr int MAX_RANK = 16;
constexpr int UNKNOWN_DEVICE = -1;

// An array as a kernel sees it. Pointers are valid as long as the view and the object.
struct ArrayView {
  int64_t address;
  int rank;
  const int64_t *shape, *strides; // in elements
  uint8_t code, bits;             // of elements, as DLPack has them
  uint16_t lanes;
  int deviceType, device;

  int64_t storage[2 * MAX_RANK];
  Ref keep;

  int itemsize() const { return bits * lanes / 8 ? bits * lanes / 8 : 1; }
};

// Reads an array. `stream` is where a kernel will use it: its owner makes it ready there.
Outcome readArray(PyObject *object, const Form &form, uint64_t stream, ArrayView &view);

} // namespace tileir
