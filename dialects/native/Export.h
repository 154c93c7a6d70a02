// Marks the functions that Python calls.

#ifndef TILEIR_DIALECTS_NATIVE_EXPORT_H
#define TILEIR_DIALECTS_NATIVE_EXPORT_H

#define TILEIR_EXPORT extern "C" __attribute__((visibility("default")))

#endif // TILEIR_DIALECTS_NATIVE_EXPORT_H
