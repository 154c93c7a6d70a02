#pragma once

#include "python.h"

namespace tileir {

// Adds the Python type that launches one kernel: Dispatcher(owner, rules).
bool addDispatcherType(PyObject *module);

} // namespace tileir
