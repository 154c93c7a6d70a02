// The plans of one kernel by the keys of their specialisations.

#pragma once

#include "plan.h"
#include "python.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace tileir {

class PlanTable {
public:
  // The plan for a key, or null. The reference stays the table's.
  PlanObject *find(const uint8_t *key, size_t length) {
    if (last && last->matches(key, length))
      return last->plan();
    for (size_t i = hash(key, length) & mask; slots[i]; i = (i + 1) & mask)
      if (slots[i]->matches(key, length)) {
        last = slots[i].get();
        return last->plan();
      }
    return nullptr;
  }

  void insert(const uint8_t *key, size_t length, Ref plan) {
    if (2 * ++count > mask)
      grow();
    std::unique_ptr<Entry> entry(new Entry);
    entry->key.assign(key, key + length);
    entry->value = std::move(plan);
    last = entry.get();
    place(std::move(entry));
  }

  size_t size() const { return count; }

  void clear() {
    std::vector<std::unique_ptr<Entry>> old(SMALLEST);
    std::swap(old, slots);
    mask = SMALLEST - 1;
    count = 0;
    last = nullptr;
  }

private:
  struct Entry {
    std::vector<uint8_t> key;
    Ref value;
    bool matches(const uint8_t *other, size_t length) const {
      return key.size() == length && memcmp(key.data(), other, length) == 0;
    }
    PlanObject *plan() const { return reinterpret_cast<PlanObject *>(value.get()); }
  };
  static constexpr size_t SMALLEST = 16;

  static uint64_t hash(const uint8_t *key, size_t length) {
    uint64_t result = length;
    for (size_t i = 0; i < length; i += 8) {
      uint64_t part = 0;
      memcpy(&part, key + i, length - i < 8 ? length - i : 8);
      result = (result ^ part) * 0x9E3779B97F4A7C15;
      result ^= result >> 32;
    }
    return result;
  }
  void place(std::unique_ptr<Entry> entry) {
    size_t i = hash(entry->key.data(), entry->key.size()) & mask;
    while (slots[i])
      i = (i + 1) & mask;
    slots[i] = std::move(entry);
  }
  void grow() {
    std::vector<std::unique_ptr<Entry>> old(2 * slots.size());
    std::swap(old, slots);
    mask = slots.size() - 1;
    for (auto &entry : old)
      if (entry)
        place(std::move(entry));
  }

  std::vector<std::unique_ptr<Entry>> slots = std::vector<std::unique_ptr<Entry>>(SMALLEST);
  size_t mask = SMALLEST - 1, count = 0;
  Entry *last = nullptr;
};

} // namespace tileir
