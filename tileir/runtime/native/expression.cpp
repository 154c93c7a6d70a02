#include "expression.h"

#include <algorithm>

namespace tileir {

namespace {

constexpr size_t DEEPEST = 64;

int64_t floorDivide(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

} // namespace

bool Expression::read(PyObject *pairs, size_t parameterCount) {
  Py_ssize_t length = PySequence_Size(pairs);
  if (length < 0)
    return false;
  size_t depth = 0;
  for (Py_ssize_t i = 0; i < length; ++i) {
    Ref pair(PySequence_GetItem(pairs, i));
    Instruction one;
    if (!pair || !PyArg_ParseTuple(pair.get(), "LL", &one.operation, &one.number))
      return false;
    bool operand = one.operation < Add;
    size_t limit = one.operation == Parameter ? parameterCount : one.operation == Grid ? 3 : 1;
    bool known = one.operation >= 0 && one.operation <= Max &&
                 (one.operation == Constant || static_cast<uint64_t>(one.number) < limit);
    if (!known || (!operand && depth < 2) || depth >= DEEPEST) {
      PyErr_SetString(PyExc_ValueError, "malformed expression");
      return false;
    }
    depth += operand ? 1 : -1;
    instructions.push_back(one);
  }
  if (depth != 1)
    PyErr_SetString(PyExc_ValueError, "an expression has one value");
  return depth == 1;
}

bool Expression::evaluate(const Environment &environment, int64_t &result) const {
  int64_t stack[DEEPEST];
  size_t top = 0;
  for (const Instruction &one : instructions) {
    switch (one.operation) {
    case Constant: stack[top++] = one.number; continue;
    case Parameter: stack[top++] = environment.parameters[one.number]; continue;
    case Grid: stack[top++] = environment.grid[one.number]; continue;
    case Multiprocessors: stack[top++] = environment.multiprocessors; continue;
    }
    int64_t b = stack[--top], &a = stack[top - 1];
    bool overflow = false;
    switch (one.operation) {
    case Add: overflow = __builtin_add_overflow(a, b, &a); break;
    case Sub: overflow = __builtin_sub_overflow(a, b, &a); break;
    case Mul: overflow = __builtin_mul_overflow(a, b, &a); break;
    case Min: a = std::min(a, b); break;
    case Max: a = std::max(a, b); break;
    case FloorDiv:
    case CeilDiv:
      if (b == 0 || (a == INT64_MIN && b == -1) || a == INT64_MIN)
        return false;
      a = one.operation == FloorDiv ? floorDivide(a, b) : -floorDivide(-a, b);
      break;
    }
    if (overflow)
      return false;
  }
  result = stack[0];
  return true;
}

bool readExpressions(PyObject *sequence, size_t parameterCount, std::vector<Expression> &result) {
  Py_ssize_t length = PySequence_Size(sequence);
  if (length < 0)
    return false;
  result.resize(length);
  for (Py_ssize_t i = 0; i < length; ++i) {
    Ref one(PySequence_GetItem(sequence, i));
    if (!one || !result[i].read(one.get(), parameterCount))
      return false;
  }
  return true;
}

} // namespace tileir
