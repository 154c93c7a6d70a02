#include "plan.h"

namespace tileir {

PyTypeObject *planType;

namespace {

// Largest extents of a grid.
constexpr int64_t GRID_LIMITS[3] = {0x7FFFFFFF, 65535, 65535};
constexpr int MOST_MAPS = 16;

constexpr size_t RECENT = 8;
PyObject *recent[RECENT];
size_t launches;

void remember(PyObject *name) {
  Py_INCREF(name);
  Ref oldest(std::exchange(recent[launches++ % RECENT], name));
}

} // namespace

PyObject *recentLaunches() {
  PyObject *names = PyList_New(0);
  for (size_t i = 0; names && i < RECENT; ++i)
    if (PyObject *name = recent[(launches + i) % RECENT])
      PyList_Append(names, name);
  return names;
}

void forgetRecentLaunches() {
  for (PyObject *&name : recent)
    Ref old(std::exchange(name, nullptr));
}

// ---- reading ----------------------------------------------------------------------------------

bool Plan::read(PyObject *description) {
  PyObject *kernel, *gridList, *clusterList, *hiddenList, *allocate;
  unsigned long long handle;
  Py_ssize_t count;
  if (!PyArg_ParseTuple(description, "OK(III)InOOOO", &kernel, &handle, &block[0], &block[1],
                        &block[2], &sharedBytes, &count, &gridList, &clusterList, &hiddenList,
                        &allocate))
    return false;
  function = handle;
  parameterCount = count;
  name = Ref::borrow(kernel);
  workspaces = Ref::borrow(allocate);
  if (!readExpressions(gridList, count, grid) || !readExpressions(clusterList, count, cluster))
    return false;
  Py_ssize_t length = PySequence_Size(hiddenList);
  hidden.resize(length < 0 ? 0 : length);
  int maps = 0;
  for (size_t i = 0; i < hidden.size(); ++i) {
    Ref one(PySequence_GetItem(hiddenList, i));
    int kind, zeroed;
    PyObject *rest;
    if (!one || !PyArg_ParseTuple(one.get(), "iOp", &kind, &rest, &zeroed))
      return false;
    hidden[i].kind = static_cast<Hidden::Kind>(kind);
    hidden[i].zeroed = zeroed;
    maps += kind == Hidden::Map;
    if (!(kind == Hidden::Map ? hidden[i].map.read(rest, count)
                              : hidden[i].value.read(rest, count)))
      return false;
  }
  if (grid.size() == 3 && cluster.size() == 3 && maps <= MOST_MAPS)
    return length >= 0;
  PyErr_SetString(PyExc_ValueError, "malformed description of a kernel");
  return false;
}

// ---- launching --------------------------------------------------------------------------------

LaunchResult Plan::launch(const Place &place, const int64_t (&programGrid)[3], Words &words,
                          bool programmatic) {
  Environment environment{words.data(),
                          {programGrid[0], programGrid[1], programGrid[2]},
                          place.multiprocessors};
  LaunchConfig config;
  LaunchAttribute attributes[2];
  uint32_t clusterShape[3];
  if (!extents(environment, config, clusterShape))
    return {Failure::Recipe};

  EncodedMap maps[MOST_MAPS];
  size_t mapCount = 0;
  bool shares = false; // memory with the launch before
  for (size_t slot = 0; slot < hidden.size(); ++slot) {
    Hidden &one = hidden[slot];
    int64_t word = 0;
    LaunchResult result;
    if (one.kind == Hidden::Map) {
      result = one.map.get(environment, maps[mapCount++]);
    } else if (one.kind == Hidden::Workspace) {
      result = workspace(one, slot, environment, place, word);
      shares = true;
    } else if (!one.value.evaluate(environment, word)) {
      result = {Failure::Recipe};
    }
    if (result.failure != Failure::None)
      return result;
    words.push(word);
    environment.parameters = words.data(); // they may have moved
  }

  SmallBuffer<void *, 96> pointers;
  for (size_t i = 0; i < words.size(); ++i)
    pointers.push(&words[i]);
  for (size_t slot = 0, map = 0; slot < hidden.size(); ++slot)
    if (hidden[slot].kind == Hidden::Map)
      pointers[parameterCount + slot] = &maps[map++];

  config.stream = place.stream;
  config.attributes = attributes;
  config.attributeCount = 0;
  if (clusterShape[0] * clusterShape[1] * clusterShape[2] != 1) {
    LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute = {LaunchAttribute::ClusterDimension, 0, {}};
    memcpy(attribute.value.cluster, clusterShape, sizeof clusterShape);
  }
  if (programmatic && !shares) {
    LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute = {LaunchAttribute::ProgrammaticStreamSerialization, 0, {}};
    attribute.value.enabled = 1;
  }
  remember(name.get());
  auto *handle = reinterpret_cast<void *>(function);
  // The call waits where the stream's queue is full, perhaps for a callback in Python.
  PyThreadState *state = PyEval_SaveThread();
  int status = driver.launchKernel(&config, handle, pointers.data(), nullptr);
  PyEval_RestoreThread(state);
  return {status ? Failure::Driver : Failure::None, status};
}

bool Plan::extents(const Environment &environment, LaunchConfig &config,
                   uint32_t (&clusterShape)[3]) const {
  for (int axis = 0; axis < 3; ++axis) {
    int64_t blocks, count;
    if (!grid[axis].evaluate(environment, blocks) || !cluster[axis].evaluate(environment, count))
      return false;
    int64_t given = environment.grid[axis];
    if (given < 1 || given > GRID_LIMITS[axis] || blocks < 1 || blocks > GRID_LIMITS[axis] ||
        count < 1 || blocks % count)
      return false;
    config.grid[axis] = blocks;
    config.block[axis] = block[axis];
    clusterShape[axis] = count;
  }
  config.sharedBytes = sharedBytes;
  return true;
}

LaunchResult Plan::workspace(const Hidden &one, size_t slot, const Environment &environment,
                             const Place &place, int64_t &word) const {
  int64_t bytes;
  if (!one.value.evaluate(environment, bytes))
    return {Failure::Recipe};
  if (bytes < 1)
    bytes = 1;
  Ref block(PyObject_CallFunction(
      workspaces.get(), "KKnL", reinterpret_cast<unsigned long long>(place.context),
      reinterpret_cast<unsigned long long>(place.stream), slot, static_cast<long long>(bytes)));
  if (!block)
    return {Failure::Python};
  word = PyLong_AsUnsignedLongLong(block.get());
  if (PyErr_Occurred())
    return {Failure::Python};
  int status = one.zeroed ? driver.fill(word, 0, bytes, place.stream) : 0;
  return {status ? Failure::Driver : Failure::None, status};
}

// ---- the type ---------------------------------------------------------------------------------

namespace {

PyObject *newPlan(PyTypeObject *type, PyObject *args, PyObject *) {
  auto *self = reinterpret_cast<PlanObject *>(PyType_GenericAlloc(type, 0));
  if (!self)
    return nullptr;
  self->plan = new Plan;
  if (self->plan->read(args))
    return reinterpret_cast<PyObject *>(self);
  Py_DECREF(self);
  return nullptr;
}

void deletePlan(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  delete reinterpret_cast<PlanObject *>(self)->plan;
  PyObject_Free(self);
  Py_DECREF(type);
}

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(newPlan)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deletePlan)},
    {0, nullptr},
};
PyType_Spec spec = {"tileir.runtime._launcher.Plan", sizeof(PlanObject), 0, Py_TPFLAGS_DEFAULT,
                    slots};

} // namespace

bool addPlanType(PyObject *module) {
  planType = reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
  return planType && !PyModule_AddObjectRef(module, "Plan", reinterpret_cast<PyObject *>(planType));
}

} // namespace tileir
