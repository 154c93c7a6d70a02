#include "arguments.h"

#include <climits>
#include <cmath>

namespace tileir {

namespace {

// Addresses, extents and strides are only asked whether they are multiples of this, and only up to
// this rank (DIVISOR and MAX_RANK_WITH_FACTS of signature.py).
constexpr int64_t DIVISOR = 16;
constexpr int MAX_RANK_WITH_FACTS = 5;
constexpr int DEEPEST = 32;

// Bits of Facts.
enum : uint8_t { AlignedPointer = 1, Disjoint = 2 };
enum : uint8_t { RoundExtent = 1, UnitExtent = 2, RoundStride = 4, UnitStride = 8 };

// As `disjoint` of signature.py: dimensions sorted by stride each step over what the smaller ones
// reach.
bool disjoint(const ArrayView &view) {
  int order[MAX_RANK];
  auto stride = [&](int axis) { return std::llabs(view.strides[axis]); };
  auto before = [&](int a, int b) {
    return stride(a) != stride(b) ? stride(a) < stride(b) : view.shape[a] < view.shape[b];
  };
  for (int axis = 0; axis < view.rank; ++axis) {
    int place = axis;
    for (; place > 0 && before(axis, order[place - 1]); --place)
      order[place] = order[place - 1];
    order[place] = axis;
  }
  int64_t reach = 0, more;
  for (int i = 0; i < view.rank; ++i) {
    int64_t extent = view.shape[order[i]];
    if (extent == 0)
      return true;
    if (extent == 1)
      continue;
    if (stride(order[i]) <= reach || __builtin_mul_overflow(stride(order[i]), extent - 1, &more) ||
        __builtin_add_overflow(reach, more, &reach))
      return false;
  }
  return true;
}

bool fits32(int64_t value) { return value == static_cast<int32_t>(value); }

} // namespace

bool ParameterRule::read(PyObject *description) {
  int isConstant;
  PyObject *itemRules, *eachRules;
  if (!PyArg_ParseTuple(description, "pi(iIIII)(iIIII)OO", &isConstant, &scalarBits,
                        &array.indexBits, &array.shape.first, &array.shape.last,
                        &array.strides.first, &array.strides.last, &element.indexBits,
                        &element.shape.first, &element.shape.last, &element.strides.first,
                        &element.strides.last, &itemRules, &eachRules))
    return false;
  constant = isConstant;
  return readRules(itemRules, items) && readRules(eachRules, each);
}

const ParameterRule &ParameterRule::item(size_t index, size_t count) const {
  static const ParameterRule usual, usualConstant = [] {
    ParameterRule rule;
    rule.constant = true;
    return rule;
  }();
  if (items.size() == count)
    return items[index];
  return !each.empty() ? each[0] : constant ? usualConstant : usual;
}

bool readRules(PyObject *sequence, std::vector<ParameterRule> &rules) {
  Py_ssize_t length = PySequence_Size(sequence);
  for (Py_ssize_t i = 0; i < length; ++i) {
    Ref one(PySequence_GetItem(sequence, i));
    rules.emplace_back();
    if (!one || !rules.back().read(one.get()))
      return false;
  }
  return length >= 0;
}

Outcome Arguments::add(PyObject *value, const ParameterRule &rule, int depth) {
  if (rule.constant)
    return constant(value, depth);
  PyTypeObject *type = Py_TYPE(value);
  if (type == &PyLong_Type)
    return number(value, rule);
  if (type == &PyFloat_Type)
    return real(PyFloat_AsDouble(value));
  if (type == &PyBool_Type) {
    put('b');
    words.push(value == Py_True);
    return Outcome::Ok;
  }
  if (value == Py_None)
    return constant(value, depth);
  Form form;
  if (!formOf(type, form))
    return Outcome::Raised;
  switch (form.kind) {
  case Form::Exchange:
  case Form::Capsule:
  case Form::Dlpack:
  case Form::Interface:
    return array(value, form, rule.array);
  case Form::Integer:
    return number(value, rule);
  case Form::Real:
    return real(PyFloat_AsDouble(value));
  case Form::Tuple:
    return items(value, rule, depth);
  case Form::List:
    return list(value, rule.element);
  case Form::Number: {
    static PyObject *name = PyUnicode_InternFromString("item");
    Ref plain(PyObject_CallMethodObjArgs(value, name, nullptr));
    if (!plain)
      return Outcome::Raised;
    PyTypeObject *found = Py_TYPE(plain.get());
    bool known = found == &PyLong_Type || found == &PyFloat_Type || found == &PyBool_Type;
    return known ? add(plain.get(), rule, depth) : Outcome::Other;
  }
  case Form::Other:
    break;
  }
  return Outcome::Other;
}

Outcome Arguments::number(PyObject *value, const ParameterRule &rule) {
  int overflow;
  int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (overflow || (rule.scalarBits == 32 && !fits32(number)))
    return Outcome::Other;
  put(rule.scalarBits == 32 ? 'i' : 'l');
  words.push(number);
  return Outcome::Ok;
}

Outcome Arguments::real(double value) {
  float narrow = static_cast<float>(value);
  if (std::isinf(narrow) && !std::isinf(value))
    return Outcome::Other;
  put('f');
  int64_t word = 0;
  memcpy(&word, &narrow, sizeof narrow);
  words.push(word);
  return Outcome::Ok;
}

// Type and value, as `constant_key` of signature.py.
Outcome Arguments::constant(PyObject *value, int depth) {
  PyTypeObject *type = Py_TYPE(value);
  int overflow = 0;
  if (type == &PyLong_Type) {
    int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (!overflow) {
      put('I');
      put(number);
      return Outcome::Ok;
    }
  } else if (type == &PyBool_Type || value == Py_None) {
    put(value == Py_True ? 'T' : value == Py_None ? 'N' : 'F');
    return Outcome::Ok;
  } else if (type == &PyFloat_Type) {
    put('R');
    put(PyFloat_AsDouble(value));
    return Outcome::Ok;
  } else if (type == &PyUnicode_Type) {
    Py_ssize_t length;
    if (const char *text = PyUnicode_AsUTF8AndSize(value, &length)) {
      put('S');
      put(length);
      key.append(reinterpret_cast<const uint8_t *>(text), length);
      return Outcome::Ok;
    }
    PyErr_Clear();
  } else if (type == &PyTuple_Type && depth < DEEPEST) {
    put('P');
    static const ParameterRule rule = [] {
      ParameterRule constants;
      constants.constant = true;
      return constants;
    }();
    return items(value, rule, depth);
  }
  Ref number(PyObject_CallMethod(owner, "intern", "O", value));
  if (!number)
    return Outcome::Raised;
  if (number.get() == Py_None)
    return Outcome::Other;
  put('O');
  put(PyLong_AsLongLong(number.get()));
  return Outcome::Ok;
}

Outcome Arguments::items(PyObject *tuple, const ParameterRule &rule, int depth) {
  if (depth >= DEEPEST)
    return Outcome::Other;
  Py_ssize_t count = PyTuple_Size(tuple);
  put('t');
  put(static_cast<int32_t>(count));
  Outcome outcome = Outcome::Ok;
  for (Py_ssize_t i = 0; i < count && outcome == Outcome::Ok; ++i)
    outcome = add(PyTuple_GetItem(tuple, i), rule.item(i, count), depth + 1);
  return outcome;
}

// ---- arrays -----------------------------------------------------------------------------------

// Reads an array and checks that it can be passed as the rule says.
Outcome Arguments::read(PyObject *value, const Form &form, const ArrayRule &rule,
                        ArrayView &view) {
  Outcome outcome = readArray(value, form, stream, view);
  if (outcome != Outcome::Ok)
    return outcome;
  if (view.device != UNKNOWN_DEVICE) {
    if (device != UNKNOWN_DEVICE && device != view.device)
      return Outcome::Other;
    device = view.device;
  }
  for (int axis = 0; axis < view.rank; ++axis)
    if (view.strides[axis] < 0)
      return Outcome::Other;
  if (rule.indexBits == 32)
    for (int axis = 0; axis < view.rank; ++axis)
      if (!fits32(view.shape[axis]) || !fits32(view.strides[axis]))
        return Outcome::Other;
  return Outcome::Ok;
}

namespace {

template <typename Facts>
void factsOf(const ArrayView &view, Facts &facts) {
  facts.array = disjoint(view) ? Disjoint : 0;
  if (view.rank > MAX_RANK_WITH_FACTS)
    return;
  if (view.address % DIVISOR == 0)
    facts.array |= AlignedPointer;
  int64_t itemsize = view.itemsize();
  for (int axis = 0; axis < view.rank; ++axis) {
    int64_t extent = view.shape[axis], stride = view.strides[axis];
    // Sixteen is a power of two, so that a product which overflows divides as the true one.
    uint64_t bytes = static_cast<uint64_t>(stride) * itemsize;
    facts.dimensions[axis] = (extent % DIVISOR == 0 ? RoundExtent : 0) |
                             (extent == 1 ? UnitExtent : 0) |
                             (bytes % DIVISOR == 0 ? RoundStride : 0) |
                             (stride == 1 ? UnitStride : 0);
  }
}

} // namespace

void Arguments::putArray(const ArrayView &view, const ArrayRule &rule, const Facts &facts) {
  put(view.code);
  put(view.bits);
  put(view.lanes);
  put(static_cast<uint8_t>(view.rank));
  put(facts.array);
  if (view.rank > MAX_RANK_WITH_FACTS)
    return;
  key.append(facts.dimensions, view.rank);
  for (int axis = 0; axis < view.rank; ++axis) {
    if (rule.shape.has(axis, view.rank))
      put(view.shape[axis]);
    if (rule.strides.has(axis, view.rank))
      put(view.strides[axis]);
  }
}

Outcome Arguments::array(PyObject *value, const Form &form, const ArrayRule &rule) {
  ArrayView view;
  Outcome outcome = read(value, form, rule, view);
  if (outcome != Outcome::Ok)
    return outcome;
  Facts facts{};
  factsOf(view, facts);
  put('a');
  putArray(view, rule, facts);
  putShared(view);
  words.push(view.address);
  words.append(view.shape, view.rank);
  words.append(view.strides, view.rank);
  return Outcome::Ok;
}

// Which earlier array begins where this one does: the two may share memory.
void Arguments::putShared(const ArrayView &view) {
  for (int axis = 0; axis < view.rank; ++axis)
    if (view.shape[axis] == 0) {
      starts.push(0);
      return;
    }
  for (size_t i = 0; i < starts.size(); ++i)
    if (starts[i] == view.address) {
      put('=');
      put(static_cast<int32_t>(i));
      break;
    }
  starts.push(view.address);
}

// All arrays of a list share one description: what holds for each of them.
Outcome Arguments::list(PyObject *value, const ArrayRule &rule) {
  Py_ssize_t count = PyList_Size(value);
  Facts joined{};
  Table table{words.size(), tableWords.size(), 0};
  ArrayView first;
  Ref firstItem; // whose shape `first` points to
  for (Py_ssize_t i = 0; i < count; ++i) {
    // Reading an array may run Python code, which may change the list.
    Ref item(PySequence_GetItem(value, i));
    Form form;
    if (!item || !formOf(Py_TYPE(item.get()), form))
      return Outcome::Raised;
    ArrayView other, &view = i ? other : first;
    Outcome outcome = read(item.get(), form, rule, view);
    if (outcome != Outcome::Ok)
      return outcome;
    Facts facts{};
    factsOf(view, facts);
    tableWords.push(view.address);
    tableWords.append(view.shape, view.rank);
    tableWords.append(view.strides, view.rank);
    if (i == 0) {
      joined = facts;
      firstItem = std::move(item);
      continue;
    }
    if (view.code != first.code || view.bits != first.bits || view.lanes != first.lanes ||
        view.rank != first.rank)
      return Outcome::Other;
    joined.array &= facts.array;
    for (int axis = 0; axis < view.rank; ++axis) {
      joined.dimensions[axis] &= facts.dimensions[axis];
      // What is pinned must be the same in all.
      if ((rule.shape.has(axis, view.rank) && view.shape[axis] != first.shape[axis]) ||
          (rule.strides.has(axis, view.rank) && view.strides[axis] != first.strides[axis]))
        return Outcome::Other;
    }
  }
  if (count < 1)
    return Outcome::Other;
  put('m');
  putArray(first, rule, joined);
  table.length = tableWords.size() - table.start;
  tables.push_back(table);
  words.push(0);
  words.push(count);
  return Outcome::Ok;
}

bool Arguments::stageTables(void *context) {
  for (const Table &table : tables) {
    Ref address(PyObject_CallMethod(
        owner, "stage", "KKy#", reinterpret_cast<unsigned long long>(context),
        static_cast<unsigned long long>(stream),
        reinterpret_cast<const char *>(tableWords.data() + table.start),
        static_cast<Py_ssize_t>(table.length * sizeof(int64_t))));
    if (!address)
      return false;
    words[table.word] = PyLong_AsUnsignedLongLong(address.get());
    if (PyErr_Occurred())
      return false;
  }
  return true;
}

} // namespace tileir
