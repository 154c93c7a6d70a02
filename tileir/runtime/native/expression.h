// Integer expressions over a launch, from a kernel's metadata (tileir/runtime/expressions.py), as a
// sequence of instructions for a stack.

#pragma once

#include "python.h"

#include <cstdint>
#include <vector>

namespace tileir {

// What the names of an expression stand for in one launch.
struct Environment {
  const int64_t *parameters;
  int64_t grid[3];
  int64_t multiprocessors;
};

class Expression {
public:
  // Reads a sequence of pairs (operation, number), as `expressions.instructions` makes it. False
  // with a Python exception if it is none.
  bool read(PyObject *pairs, size_t parameterCount);

  // False if a number does not fit 64 bits, or for a division by zero.
  bool evaluate(const Environment &environment, int64_t &result) const;

private:
  // Numbered as in expressions.py.
  enum Operation : int64_t {
    Constant, Parameter, Grid, Multiprocessors, Add, Sub, Mul, FloorDiv, CeilDiv, Min, Max,
  };
  struct Instruction {
    int64_t operation, number;
  };
  std::vector<Instruction> instructions;
};

// Reads a sequence of expressions. False with a Python exception set.
bool readExpressions(PyObject *sequence, size_t parameterCount, std::vector<Expression> &result);

} // namespace tileir
