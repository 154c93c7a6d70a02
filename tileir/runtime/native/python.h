// Python's stable ABI (PEP 384) as of 3.11, and an owner of references.
//
// The wheel is for any Python 3, so the launcher is an extension module that uses nothing else: one
// file, _launcher.abi3.so, is imported by every CPython from 3.11 on. Against a plain library called
// through ctypes.PyDLL it saves the 0.3 to 0.5 us that ctypes takes for a call with objects, and
// needs no declarations of Python's functions of our own.

#pragma once

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <utility>

namespace tileir {

// Owns one reference. Made from a new reference; `borrow` takes one of its own.
class Ref {
public:
  Ref() = default;
  explicit Ref(PyObject *object) : object(object) {}
  Ref(Ref &&other) : object(other.release()) {}
  Ref(const Ref &) = delete;
  ~Ref() { Py_XDECREF(object); }
  Ref &operator=(Ref &&other) {
    Ref old(std::exchange(object, other.release()));
    return *this;
  }

  static Ref borrow(PyObject *object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  PyObject *get() const { return object; }
  PyObject *release() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object != nullptr; }

private:
  PyObject *object = nullptr;
};

} // namespace tileir
