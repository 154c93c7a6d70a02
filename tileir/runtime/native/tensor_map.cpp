#include "plan.h"

namespace tileir {

namespace {

// Bytes of a line of the second-level cache, of which it may fetch two at once, and what the
// driver calls fetching one and two.
constexpr uint64_t LINE = 128;
constexpr int PROMOTE_ONE_LINE = 2, PROMOTE_TWO_LINES = 3;

uint64_t mixed(uint64_t hash, uint64_t number) {
  hash = (hash ^ number) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 29);
}

} // namespace

bool TensorMaps::read(PyObject *description, size_t parameterCount) {
  PyObject *offsetPairs, *dimsList, *stridesList, *boxList, *stepsList;
  if (!PyArg_ParseTuple(description, "iiiiOOOOO", &type, &base, &swizzle, &outside, &offsetPairs,
                        &dimsList, &stridesList, &boxList, &stepsList) ||
      !offset.read(offsetPairs, parameterCount) ||
      !readExpressions(dimsList, parameterCount, dims) ||
      !readExpressions(stridesList, parameterCount, strides) ||
      !readExpressions(boxList, parameterCount, box))
    return false;
  rank = dims.size();
  if (rank < 1 || rank > MAX_RANK || strides.size() + 1 != dims.size() ||
      box.size() != dims.size() || PySequence_Size(stepsList) != rank || base < 0 ||
      static_cast<size_t>(base) >= parameterCount) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_ValueError, "malformed tensor map");
    return false;
  }
  for (int i = 0; i < rank; ++i) {
    Ref step(PySequence_GetItem(stepsList, i));
    steps[i] = step ? PyLong_AsUnsignedLong(step.get()) : 0;
  }
  return !PyErr_Occurred();
}

LaunchResult TensorMaps::get(const Environment &environment, EncodedMap &map) {
  Numbers numbers = {};
  uint64_t hash = 0;
  size_t count = 0;
  auto add = [&](const Expression &expression, int64_t more) {
    int64_t value;
    if (!expression.evaluate(environment, value))
      return false;
    numbers[count] = value + more;
    hash = mixed(hash, numbers[count++]);
    return true;
  };
  bool valid = add(offset, environment.parameters[base]);
  for (const auto *list : {&dims, &strides, &box})
    for (const Expression &one : *list)
      valid = valid && add(one, 0);
  if (!valid)
    return {Failure::Recipe};
  for (int i = 0; i < rank; ++i)
    if (numbers[1 + i] == 0)
      return {Failure::Empty};

  if (!sets)
    sets.reset(new Set[SETS]());
  Set &set = sets[hash % SETS];
  for (size_t way = 0; way < WAYS && way < set.used; ++way)
    if (memcmp(set.numbers[way], numbers, sizeof numbers) == 0) {
      map = set.maps[way]; // a copy: another thread may want the place before the driver reads it
      return {};
    }
  LaunchResult result = encode(numbers, map);
  if (result.failure == Failure::None) {
    size_t way = set.used++ % WAYS; // the oldest
    memcpy(set.numbers[way], numbers, sizeof numbers);
    set.maps[way] = map;
  }
  return result;
}

LaunchResult TensorMaps::encode(const Numbers &numbers, EncodedMap &map) const {
  const uint64_t *sizes = numbers + 1, *steps64 = sizes + rank, *boxes = steps64 + rank - 1;
  // Rows that do not start on a line would have the cache fetch neighbours' ends, too.
  bool aligned = numbers[0] % LINE == 0;
  for (int i = 0; i + 1 < rank; ++i)
    aligned = aligned && steps64[i] % LINE == 0;
  uint32_t boxSizes[MAX_RANK];
  for (int i = 0; i < rank; ++i)
    boxSizes[i] = boxes[i] <= UINT32_MAX ? boxes[i] : 0;
  // The driver wants an address even where there are no strides.
  const uint64_t none[1] = {16};
  int status =
      driver.encodeMap(&map, type, rank, reinterpret_cast<void *>(numbers[0]), sizes,
                       rank > 1 ? steps64 : none, boxSizes, steps, /*interleave=*/0, swizzle,
                       aligned ? PROMOTE_TWO_LINES : PROMOTE_ONE_LINE, outside);
  // Which rule the map breaks is for Python to say.
  return {status ? Failure::Recipe : Failure::None, status};
}

} // namespace tileir
