// The extension module tileir.runtime._launcher.

#include "arrays.h"
#include "dispatcher.h"
#include "driver.h"
#include "plan.h"

namespace tileir {

namespace {

// load(library): the name of what the driver lacks, None if it has everything.
PyObject *load(PyObject *, PyObject *library) {
  Ref path(PyUnicode_EncodeFSDefault(library));
  const char *name = path ? PyBytes_AsString(path.get()) : nullptr;
  if (!name)
    return nullptr;
  const char *missing = driver.load(name);
  return missing ? PyUnicode_FromString(missing) : Ref::borrow(Py_None).release();
}

PyObject *useForms(PyObject *, PyObject *callable) {
  setFormOf(callable);
  Py_RETURN_NONE;
}

PyObject *recent(PyObject *, PyObject *) { return recentLaunches(); }

PyObject *forgetRecent(PyObject *, PyObject *) {
  forgetRecentLaunches();
  Py_RETURN_NONE;
}

PyObject *integers(const int64_t *values, int count) {
  PyObject *tuple = PyTuple_New(count);
  for (int i = 0; tuple && i < count; ++i)
    PyTuple_SetItem(tuple, i, PyLong_FromLongLong(values[i]));
  return tuple;
}

// array(object, stream): (address, shape, strides, code, bits, lanes, device) of an array on a
// device, None for anything else.
PyObject *array(PyObject *, PyObject *args) {
  PyObject *object;
  unsigned long long stream;
  if (!PyArg_ParseTuple(args, "OK", &object, &stream))
    return nullptr;
  Form form;
  if (!formOf(Py_TYPE(object), form))
    return nullptr;
  ArrayView view;
  Outcome outcome = readArray(object, form, stream, view);
  if (outcome == Outcome::Raised)
    return nullptr;
  if (outcome == Outcome::Other)
    Py_RETURN_NONE;
  Ref shape(integers(view.shape, view.rank)), strides(integers(view.strides, view.rank));
  if (!shape || !strides)
    return nullptr;
  return Py_BuildValue("KOOiiii", static_cast<unsigned long long>(view.address), shape.get(),
                       strides.get(), view.code, view.bits, view.lanes, view.device);
}

PyMethodDef methods[] = {
    {"load", load, METH_O, "load(library): finds the driver's functions; what is missing or None"},
    {"use_forms", useForms, METH_O, "use_forms(callable): decides how objects of a type are read"},
    {"recent", recent, METH_NOARGS, "recent(): names of the kernels launched last"},
    {"forget_recent", forgetRecent, METH_NOARGS, "forget_recent(): they have run"},
    {"array", array, METH_VARARGS,
     "array(object, stream): (address, shape, strides, code, bits, lanes, device) or None"},
    {nullptr, nullptr, 0, nullptr},
};
PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_launcher", "Launches kernels: the part that must be fast.", -1,
    methods, nullptr, nullptr, nullptr, nullptr,
};

} // namespace

} // namespace tileir

PyMODINIT_FUNC PyInit__launcher() {
  using namespace tileir;
  Ref module(PyModule_Create(&definition));
  if (!module || !addPlanType(module.get()) || !addDispatcherType(module.get()))
    return nullptr;
  return module.release();
}
