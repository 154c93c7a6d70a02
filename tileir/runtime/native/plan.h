// A compiled kernel on one context, ready to launch: how to get from the words of its entry's
// parameters to the driver's call.

#pragma once

#include "driver.h"
#include "expression.h"
#include "python.h"
#include "small_buffer.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace tileir {

// The entry's parameters, each in 8 bytes, integers sign-extended. On a little-endian machine the
// address of such a word is also that of the shorter parameter that it holds.
using Words = SmallBuffer<int64_t, 64>;

// Why a launch did not happen.
enum class Failure {
  None,
  Recipe,  // grid, cluster or tensor map out of range: Python knows the words for it
  Empty,   // a tensor map without elements: Python makes what stands in for it
  Driver,  // the driver's status says why
  Python,  // an exception is set
};

struct LaunchResult {
  Failure failure = Failure::None;
  int status = 0;
};

// Where a launch goes.
struct Place {
  void *context;
  void *stream;
  int64_t multiprocessors;
};

// A hidden parameter that is a tensor map (TensorMapRecipe in tileir/runtime/tensor_map.py), and
// the maps made for it last: which arrays a kernel is launched on repeats.
class TensorMaps {
public:
  bool read(PyObject *description, size_t parameterCount);
  LaunchResult get(const Environment &environment, EncodedMap &map);

private:
  static constexpr int MAX_RANK = 5;
  // Address, dimensions, byte strides and box, all that differs between launches.
  using Numbers = uint64_t[1 + MAX_RANK + (MAX_RANK - 1) + MAX_RANK];
  static constexpr size_t SETS = 16, WAYS = 4;
  struct Set {
    size_t used;
    Numbers numbers[WAYS];
    EncodedMap maps[WAYS];
  };

  LaunchResult encode(const Numbers &numbers, EncodedMap &map) const;

  int type, rank, base, swizzle, outside;
  Expression offset;
  std::vector<Expression> dims, strides, box;
  uint32_t steps[MAX_RANK];
  std::unique_ptr<Set[]> sets;
};

// A hidden parameter: a tensor map, a number, or memory of the launcher's.
struct Hidden {
  enum Kind { Map, Scalar, Workspace } kind;
  TensorMaps map;
  Expression value; // of a number; bytes of a workspace
  bool zeroed = false;
};

class Plan {
public:
  // Reads what `plans.native_plan` describes. False with a Python exception set.
  bool read(PyObject *description);

  // Starts the kernel. `words` are the entry's parameters, and get the hidden ones appended.
  LaunchResult launch(const Place &place, const int64_t (&grid)[3], Words &words,
                      bool programmatic);

  size_t parameters() const { return parameterCount; }

private:
  bool extents(const Environment &environment, LaunchConfig &config, uint32_t (&cluster)[3]) const;
  LaunchResult workspace(const Hidden &hidden, size_t slot, const Environment &environment,
                         const Place &place, int64_t &word) const;

  uint64_t function = 0;
  size_t parameterCount = 0;
  uint32_t block[3];
  uint32_t sharedBytes = 0;
  std::vector<Expression> grid, cluster;
  std::vector<Hidden> hidden;
  Ref name;          // for the driver's messages
  Ref workspaces;    // called with context, stream, slot and bytes; gives an address
};

// Names of the kernels launched last, the latest at the end: a list of strings.
PyObject *recentLaunches();
void forgetRecentLaunches();

// The Python type around a plan.
struct PlanObject {
  PyObject_HEAD
  Plan *plan;
};
extern PyTypeObject *planType;
bool addPlanType(PyObject *module);

} // namespace tileir
