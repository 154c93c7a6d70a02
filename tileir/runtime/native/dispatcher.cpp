// From a call in Python to the driver: what `launch` does when it is not the first of its kind.

#include "dispatcher.h"

#include "arguments.h"
#include "plan_table.h"

namespace tileir {

namespace {

// The driver's names for the default stream, which belongs to whichever context is current.
constexpr uint64_t LAST_SPECIAL_STREAM = 2;

// A context whose device has been asked for.
struct Context {
  void *handle;
  int ordinal;
  int64_t multiprocessors;
};
std::vector<Context> contexts;

struct DispatcherObject {
  PyObject_HEAD
  PyObject *kernel;
  // What Python does (dispatch.py): `slow` a launch that is not for us, `miss` a plan for a new
  // specialisation, `fail` an error in words, and more.
  PyObject *owner;
  std::vector<ParameterRule> *rules;
  PlanTable *plans;
};

// ---- stream, grid, context ----------------------------------------------------------------------

// The type of stream that was seen last, and the attribute that is its handle.
PyObject *streamType, *streamAttribute;

bool streamHandle(DispatcherObject *self, PyObject *stream, uint64_t &handle) {
  if (stream == Py_None) {
    handle = 0;
    return true;
  }
  Ref number;
  auto *type = reinterpret_cast<PyObject *>(Py_TYPE(stream));
  if (Py_TYPE(stream) == &PyLong_Type) {
    handle = PyLong_AsUnsignedLongLong(stream);
    if (!PyErr_Occurred())
      return true;
    PyErr_Clear(); // Python says that it is no stream
  }
  if (type == streamType) {
    number = Ref(PyObject_GetAttr(stream, streamAttribute));
  } else {
    // Gives the handle, and the attribute to read it from next time or None.
    Ref answer(PyObject_CallMethod(self->owner, "stream", "O", stream));
    PyObject *found, *attribute;
    if (!answer || !PyArg_ParseTuple(answer.get(), "OO", &found, &attribute))
      return false;
    number = Ref::borrow(found);
    if (attribute != Py_None) {
      Ref oldType(std::exchange(streamType, Ref::borrow(type).release()));
      Ref oldAttribute(std::exchange(streamAttribute, Ref::borrow(attribute).release()));
    }
  }
  handle = number ? PyLong_AsUnsignedLongLong(number.get()) : 0;
  return !PyErr_Occurred();
}

// A grid given as a number or as one to three of them. What is wrong with others Python says.
bool readGrid(PyObject *grid, int64_t (&extents)[3]) {
  auto integer = [](PyObject *object, int64_t &result) {
    if (Py_TYPE(object) != &PyLong_Type)
      return false;
    int overflow;
    result = PyLong_AsLongLongAndOverflow(object, &overflow);
    return !overflow;
  };
  extents[0] = extents[1] = extents[2] = 1;
  if (!PyTuple_Check(grid))
    return integer(grid, extents[0]);
  Py_ssize_t count = PyTuple_Size(grid);
  if (count < 1 || count > 3)
    return false;
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!integer(PyTuple_GetItem(grid, i), extents[i]))
      return false;
  return true;
}

const Context *known(void *handle) {
  for (const Context &one : contexts)
    if (one.handle == handle)
      return &one;
  return nullptr;
}

// Where the kernel will run: the context of the stream, or for the default stream that of the
// arrays' device. Null with a Python exception set.
const Context *placeOf(DispatcherObject *self, uint64_t stream, int device, void *current) {
  void *handle = current;
  if (stream > LAST_SPECIAL_STREAM &&
      driver.streamContext(reinterpret_cast<void *>(stream), &handle))
    handle = nullptr;
  const Context *found = handle ? known(handle) : nullptr;
  if (found && (device == UNKNOWN_DEVICE || device == found->ordinal))
    return found;
  if (stream <= LAST_SPECIAL_STREAM)
    for (const Context &one : contexts)
      if (one.ordinal == device)
        return &one;
  // Gives context, ordinal and multiprocessors, or raises.
  Ref answer(PyObject_CallMethod(self->owner, "context", "Ki", stream, device));
  unsigned long long context;
  int ordinal;
  long long multiprocessors;
  if (!answer ||
      !PyArg_ParseTuple(answer.get(), "KiL", &context, &ordinal, &multiprocessors))
    return nullptr;
  handle = reinterpret_cast<void *>(context);
  if (const Context *again = known(handle))
    return again;
  contexts.push_back({handle, ordinal, multiprocessors});
  return &contexts.back();
}

// ---- launching ----------------------------------------------------------------------------------

PyObject *failed(DispatcherObject *self, PyObject *plan, PyObject *grid, const Words &words,
                 size_t count, const LaunchResult &result) {
  if (result.failure == Failure::Python)
    return nullptr;
  Ref list(PyList_New(0));
  for (size_t i = 0; list && i < count; ++i) {
    Ref word(PyLong_FromLongLong(words[i]));
    if (!word || PyList_Append(list.get(), word.get()))
      return nullptr;
  }
  int status = result.failure == Failure::Driver ? result.status : 0;
  return list ? PyObject_CallMethod(self->owner, "fail", "OOOi", plan, grid, list.get(), status)
              : nullptr;
}

PyObject *slow(DispatcherObject *self, PyObject *const *args) {
  return PyObject_CallMethod(self->owner, "slow", "OOOO", args[0], args[1], args[2], args[3]);
}

// launch(kernel, stream, grid, args, programmatic_dependent_launch): False if this is the
// dispatcher of another kernel, as in a copy of the kernel's object with other hints.
PyObject *launch(PyObject *object, PyObject *const *args, Py_ssize_t count) {
  auto *self = reinterpret_cast<DispatcherObject *>(object);
  if (count != 5) {
    PyErr_SetString(PyExc_TypeError, "launch takes kernel, stream, grid, args and a flag");
    return nullptr;
  }
  if (*args++ != self->kernel)
    Py_RETURN_FALSE;
  uint64_t stream;
  if (!streamHandle(self, args[0], stream))
    return nullptr;
  int programmatic = PyObject_IsTrue(args[3]);
  int64_t grid[3];
  bool isTuple = PyTuple_Check(args[2]);
  Py_ssize_t given = isTuple             ? PyTuple_Size(args[2])
                     : PyList_Check(args[2]) ? PyList_Size(args[2])
                                             : -1;
  if (programmatic < 0)
    return nullptr;
  if (given != static_cast<Py_ssize_t>(self->rules->size()) || !readGrid(args[1], grid))
    return slow(self, args);

  Arguments arguments(self->owner, stream);
  for (Py_ssize_t i = 0; i < given; ++i) {
    // Reading an array may run Python code, which may change the list.
    Ref item = Ref::borrow(isTuple ? PyTuple_GetItem(args[2], i) : PyList_GetItem(args[2], i));
    if (!item)
      return nullptr;
    Outcome outcome = arguments.add(item.get(), (*self->rules)[i]);
    if (outcome == Outcome::Raised)
      return nullptr;
    if (outcome == Outcome::Other)
      return slow(self, args);
  }

  void *current = nullptr;
  driver.currentContext(&current);
  const Context *found = placeOf(self, stream, arguments.device, current);
  if (!found)
    return nullptr;
  Context context = *found; // the list may grow while Python runs
  arguments.key.append(reinterpret_cast<const uint8_t *>(&context.handle), sizeof context.handle);

  auto &key = arguments.key;
  Ref plan = Ref::borrow(reinterpret_cast<PyObject *>(self->plans->find(key.data(), key.size())));
  if (!plan) {
    auto handle = reinterpret_cast<unsigned long long>(context.handle);
    plan = Ref(PyObject_CallMethod(self->owner, "miss", "KKO", stream, handle, args[2]));
    if (!plan)
      return nullptr;
    if (Py_TYPE(plan.get()) != planType) {
      PyErr_SetString(PyExc_TypeError, "miss must give a Plan");
      return nullptr;
    }
    // Another thread may have been faster.
    if (!self->plans->find(key.data(), key.size()))
      self->plans->insert(key.data(), key.size(), Ref::borrow(plan.get()));
  }
  Plan &native = *reinterpret_cast<PlanObject *>(plan.get())->plan;
  if (native.parameters() != arguments.words.size()) {
    PyErr_SetString(PyExc_SystemError, "the kernel's parameters do not fit its signature");
    return nullptr;
  }
  if (!arguments.stageTables(context.handle))
    return nullptr;

  bool foreign = context.handle != current;
  int status = foreign ? driver.pushContext(context.handle) : 0;
  LaunchResult result{status ? Failure::Driver : Failure::None, status};
  if (!status) {
    Place place{context.handle, reinterpret_cast<void *>(stream), context.multiprocessors};
    result = native.launch(place, grid, arguments.words, programmatic);
    if (foreign)
      driver.popContext(&current);
  }
  if (result.failure == Failure::Empty)
    return slow(self, args);
  if (result.failure != Failure::None)
    return failed(self, plan.get(), args[1], arguments.words, native.parameters(), result);
  Py_RETURN_TRUE;
}

// ---- the type -----------------------------------------------------------------------------------

PyObject *newDispatcher(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *kernel, *owner, *ruleList;
  if (!PyArg_ParseTuple(args, "OOO", &kernel, &owner, &ruleList))
    return nullptr;
  auto rules = std::make_unique<std::vector<ParameterRule>>();
  if (!readRules(ruleList, *rules))
    return nullptr;
  auto *self = reinterpret_cast<DispatcherObject *>(PyType_GenericAlloc(type, 0));
  if (!self)
    return nullptr;
  self->kernel = Ref::borrow(kernel).release();
  self->owner = Ref::borrow(owner).release();
  self->rules = rules.release();
  self->plans = new PlanTable;
  return reinterpret_cast<PyObject *>(self);
}

int traverse(PyObject *object, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<DispatcherObject *>(object)->kernel);
  Py_VISIT(reinterpret_cast<DispatcherObject *>(object)->owner);
  return 0;
}

int clear(PyObject *object) {
  Py_CLEAR(reinterpret_cast<DispatcherObject *>(object)->kernel);
  Py_CLEAR(reinterpret_cast<DispatcherObject *>(object)->owner);
  return 0;
}

void deleteDispatcher(PyObject *object) {
  auto *self = reinterpret_cast<DispatcherObject *>(object);
  PyTypeObject *type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  clear(object);
  delete self->rules;
  delete self->plans;
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

PyObject *specialisations(PyObject *object, void *) {
  return PyLong_FromSize_t(reinterpret_cast<DispatcherObject *>(object)->plans->size());
}

PyMethodDef methods[] = {
    {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void *>(launch)), METH_FASTCALL,
     "launch(kernel, stream, grid, args, programmatic_dependent_launch)"},
    {nullptr, nullptr, 0, nullptr},
};
PyGetSetDef properties[] = {
    {"specialisations", specialisations, nullptr, "How many plans there are.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};
PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(newDispatcher)},
    {Py_tp_dealloc, reinterpret_cast<void *>(deleteDispatcher)},
    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(clear)},
    {Py_tp_methods, methods},
    {Py_tp_getset, properties},
    {0, nullptr},
};
PyType_Spec spec = {"tileir.runtime._launcher.Dispatcher", sizeof(DispatcherObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

} // namespace

bool addDispatcherType(PyObject *module) {
  Ref type(PyType_FromSpec(&spec));
  return type && !PyModule_AddObjectRef(module, "Dispatcher", type.get());
}

} // namespace tileir
