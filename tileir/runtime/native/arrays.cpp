#include "arrays.h"

#include <cstring>
#include <unordered_map>

namespace tileir {

namespace {

// DLPack's name for the default stream; 0 is not allowed there.
constexpr uint64_t LEGACY_STREAM = 1;
constexpr uint32_t DLPACK_MAJOR = 1;

// The head of DLPack's table of C functions.
struct ExchangeApi {
  uint32_t major, minor;
  ExchangeApi *previous;
  void *allocate, *fromObject, *toObject;
  Form::Fill fill;
};

PyObject *formCallable;
// Types are kept alive by their entries. There are few, unless a program makes them in a loop.
std::unordered_map<PyTypeObject *, Form> forms;
constexpr size_t MOST_FORMS = 512;

void forgetForms() {
  for (auto &[type, form] : forms) {
    Py_DECREF(reinterpret_cast<PyObject *>(type));
    Py_XDECREF(form.callable);
  }
  forms.clear();
}

// Fills the parts that depend on the kind; false where the type does not offer them after all.
bool complete(Form &form, PyObject *detail) {
  if (form.kind == Form::Exchange) {
    auto *api = static_cast<ExchangeApi *>(PyCapsule_GetPointer(detail, "dlpack_exchange_api"));
    while (api && api->major != DLPACK_MAJOR)
      api = api->previous;
    PyErr_Clear();
    form.fill = api ? api->fill : nullptr;
    return form.fill;
  }
  if (form.kind == Form::Capsule) {
    Py_INCREF(detail);
    form.callable = detail;
  }
  return true;
}

// What the owner of an array raises is for Python to put into words, with the parameter's name.
Outcome ownerRaised() {
  if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
    return Outcome::Raised; // Ctrl-C
  PyErr_Clear();
  return Outcome::Other;
}

} // namespace

void setFormOf(PyObject *callable) {
  Ref old(std::exchange(formCallable, Ref::borrow(callable).release()));
  forgetForms();
}

bool formOf(PyTypeObject *type, Form &form) {
  auto found = forms.find(type);
  if (found != forms.end()) {
    form = found->second;
    return true;
  }
  auto *object = reinterpret_cast<PyObject *>(type);
  Ref answer(PyObject_CallFunctionObjArgs(formCallable, object, nullptr));
  int kind;
  PyObject *detail;
  if (!answer || !PyArg_ParseTuple(answer.get(), "iO", &kind, &detail))
    return false;
  form = Form();
  form.kind = static_cast<Form::Kind>(kind);
  if (!complete(form, detail))
    form = Form{Form::Dlpack, nullptr, nullptr};
  if (forms.size() >= MOST_FORMS)
    forgetForms();
  auto [place, isNew] = forms.emplace(type, form);
  if (isNew) {
    Py_INCREF(object);
  } else { // somebody was faster while Python ran
    Py_XDECREF(form.callable);
    form = place->second;
  }
  return true;
}

namespace {

Outcome fromTensor(const DLTensor &tensor, ArrayView &view) {
  if (tensor.rank < 0 || tensor.rank > MAX_RANK)
    return Outcome::Other;
  view.deviceType = tensor.deviceType;
  if (tensor.deviceType != DLTensor::CUDA && tensor.deviceType != DLTensor::CUDAManaged)
    return Outcome::Other;
  view.address = reinterpret_cast<int64_t>(tensor.data) + tensor.offset;
  view.rank = tensor.rank;
  view.code = tensor.code;
  view.bits = tensor.bits;
  view.lanes = tensor.lanes;
  view.device = tensor.device;
  view.shape = tensor.shape;
  view.strides = tensor.strides;
  if (!tensor.strides) {
    int64_t stride = 1;
    for (int axis = tensor.rank - 1; axis >= 0; --axis) {
      view.storage[axis] = stride;
      stride *= tensor.shape[axis];
    }
    view.strides = view.storage;
  }
  int64_t elements = 1;
  for (int axis = 0; axis < view.rank; ++axis)
    elements *= view.shape[axis];
  // Wrappers that have a shape but no memory.
  return view.address == 0 && elements != 0 ? Outcome::Other : Outcome::Ok;
}

Outcome fromCapsule(Ref capsule, ArrayView &view) {
  if (!capsule)
    return ownerRaised();
  auto *tensor = static_cast<DLTensor *>(PyCapsule_GetPointer(capsule.get(), "dltensor"));
  if (!tensor)
    return ownerRaised();
  // The capsule is not consumed: its destructor lets go of the array.
  view.keep = std::move(capsule);
  return fromTensor(*tensor, view);
}

Outcome fromDlpack(PyObject *object, uint64_t stream, ArrayView &view) {
  static PyObject *deviceName = PyUnicode_InternFromString("__dlpack_device__");
  static PyObject *name = PyUnicode_InternFromString("__dlpack__");
  static PyObject *empty = PyTuple_New(0);
  Ref where(PyObject_CallMethodObjArgs(object, deviceName, nullptr));
  if (!where || !PyTuple_Check(where.get()) || PyTuple_Size(where.get()) != 2)
    return ownerRaised();
  long type = PyLong_AsLong(PyTuple_GetItem(where.get(), 0));
  if (type != DLTensor::CUDA && type != DLTensor::CUDAManaged)
    return ownerRaised();
  Ref method(PyObject_GetAttr(object, name));
  Ref keywords(Py_BuildValue("{sK}", "stream", stream ? stream : LEGACY_STREAM));
  if (!method || !keywords)
    return ownerRaised();
  return fromCapsule(Ref(PyObject_Call(method.get(), empty, keywords.get())), view);
}

// Integers of a tuple; the number of them, or -1.
int readIntegers(PyObject *tuple, int64_t *result) {
  Py_ssize_t count = tuple && PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  if (count > MAX_RANK)
    return -1;
  for (Py_ssize_t i = 0; i < count; ++i)
    result[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
  return PyErr_Occurred() ? -1 : count;
}

bool readTypestr(PyObject *typestr, ArrayView &view) {
  Py_ssize_t length;
  const char *text =
      typestr && PyUnicode_Check(typestr) ? PyUnicode_AsUTF8AndSize(typestr, &length) : nullptr;
  if (!text || length != 3 || (text[0] != '<' && text[0] != '|'))
    return false;
  const char *kinds = "iufb";
  const uint8_t codes[] = {DLTensor::Int, DLTensor::UInt, DLTensor::Float, DLTensor::Bool};
  const char *kind = strchr(kinds, text[1]);
  if (!kind || !strchr("1248", text[2]))
    return false;
  view.code = codes[kind - kinds];
  view.bits = 8 * (text[2] - '0');
  view.lanes = 1;
  return true;
}

Outcome fromInterface(PyObject *object, uint64_t stream, ArrayView &view) {
  static PyObject *name = PyUnicode_InternFromString("__cuda_array_interface__");
  Ref interface(PyObject_GetAttr(object, name));
  if (!interface || !PyDict_Check(interface.get()))
    return ownerRaised();
  auto item = [&](const char *key) { return PyDict_GetItemString(interface.get(), key); };
  PyObject *data = item("data"), *strides = item("strides"), *owner = item("stream");
  // Waiting for another stream is for Python.
  if (owner && owner != Py_None && PyLong_AsUnsignedLongLong(owner) != stream)
    return ownerRaised();
  view.rank = readIntegers(item("shape"), view.storage);
  if (view.rank < 0 || !readTypestr(item("typestr"), view) || !data || !PyTuple_Check(data))
    return ownerRaised();
  int64_t *steps = view.storage + MAX_RANK;
  if (strides && strides != Py_None) {
    if (readIntegers(strides, steps) != view.rank)
      return ownerRaised();
    for (int axis = 0; axis < view.rank; ++axis) {
      if (steps[axis] % view.itemsize())
        return Outcome::Other;
      steps[axis] /= view.itemsize();
    }
  } else {
    int64_t stride = 1;
    for (int axis = view.rank - 1; axis >= 0; --axis) {
      steps[axis] = stride;
      stride *= view.storage[axis];
    }
  }
  view.shape = view.storage;
  view.strides = steps;
  view.address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
  if (PyErr_Occurred())
    return ownerRaised();
  view.deviceType = DLTensor::CUDA;
  view.device = UNKNOWN_DEVICE;
  view.keep = std::move(interface);
  return Outcome::Ok;
}

} // namespace

Outcome readArray(PyObject *object, const Form &form, uint64_t stream, ArrayView &view) {
  switch (form.kind) {
  case Form::Exchange: {
    DLTensor tensor;
    if (form.fill(object, &tensor))
      return ownerRaised();
    return fromTensor(tensor, view);
  }
  case Form::Capsule: {
    Ref callable = Ref::borrow(form.callable);
    return fromCapsule(Ref(PyObject_CallFunctionObjArgs(callable.get(), object, nullptr)), view);
  }
  case Form::Dlpack:
    return fromDlpack(object, stream, view);
  case Form::Interface:
    return fromInterface(object, stream, view);
  default:
    return Outcome::Other;
  }
}

} // namespace tileir
