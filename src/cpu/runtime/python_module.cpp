// SPDX-License-Identifier: Apache-2.0

// The module `ksplit.cpu._native`: generator, loader and launcher for Python. It keeps to CPython's
// stable interface of 3.10 (whose parts used here are the same in 3.9), so one file serves all
// versions, and takes what it needs of libpython from the process that loads it.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpu/generate.h"
#include "cpu/runtime/kernel_sources.h"
#include "cpu/runtime/pool.h"
#include "cpu/runtime/services.h"
#include "ttir/parser.h"
#include "ttir/verifier.h"

namespace ksplit::cpu {
namespace {

PyObject* unsupported_error = nullptr;
PyObject* fault_error = nullptr;
PyObject* thread_count = nullptr;  // a callable, or null: one thread
PyObject* name_data_ptr = nullptr;
PyObject* name_is_cpu = nullptr;

/// A new reference that is dropped at the end of its scope.
class Ref {
 public:
  explicit Ref(PyObject* object) : object_(object) {}
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

bool text_of(PyObject* object, std::string& out) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(object, &size);
  if (data == nullptr) return false;
  out.assign(data, static_cast<std::size_t>(size));
  return true;
}

// --- generate
// -------------------------------------------------------------------------------------

std::string error_text(const Error& error) {
  std::string text = error.message;
  if (error.at) text += " at " + error.at->file + ":" + std::to_string(error.at->line);
  for (const std::string& cause : error.causes) text += "\n  " + cause;
  return text;
}

Result<std::string> generated(const std::string& text, bool check) {
  KSPLIT_TRY(const ttir::Module module, ttir::parse(text, "kernel.ttir"));
  KSPLIT_TRY_STATUS(ttir::verify(module));
  return generate(module, {check});
}

PyObject* py_generate(PyObject*, PyObject* args) {
  PyObject* text_object = nullptr;
  int check = 0;
  std::string text;
  if (PyArg_ParseTuple(args, "Op", &text_object, &check) == 0 || !text_of(text_object, text)) {
    return nullptr;
  }
  try {
    const Result<std::string> source = generated(text, check != 0);
    if (source) {
      return PyUnicode_FromStringAndSize(source->data(), static_cast<Py_ssize_t>(source->size()));
    }
    PyErr_SetString(unsupported_error, error_text(source.error()).c_str());
  } catch (const std::exception& error) {
    PyErr_Format(PyExc_RuntimeError, "a bug in ksplit: %s", error.what());
  }
  return nullptr;
}

// --- load
// -----------------------------------------------------------------------------------------

/// Loads a kernel library; its address is what Triton hands around as the function. Libraries stay
/// loaded: nobody can tell when the last launch of one is over.
PyObject* py_load(PyObject*, PyObject* args) {
  PyObject* path_object = nullptr;
  std::string path;
  if (PyArg_ParseTuple(args, "O", &path_object) == 0 || !text_of(path_object, path)) return nullptr;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return PyErr_Format(PyExc_RuntimeError, "cannot load a compiled kernel: %s", dlerror());
  }
  const auto* kernel = static_cast<const Kernel*>(dlsym(library, "ksplit_kernel"));
  if (kernel == nullptr || kernel->abi_version != kAbiVersion) {
    return PyErr_Format(PyExc_RuntimeError, "%s is not a kernel of this version of ksplit",
                        path.c_str());
  }
  return PyLong_FromVoidPtr(const_cast<Kernel*>(kernel));
}

// --- launch
// ---------------------------------------------------------------------------------------

enum class Slot : std::uint8_t { skip, pointer, integer, f16, bf16, f32, f64 };

/// Arguments that a launch takes before the kernel's own.
constexpr std::size_t kLeading = 9;
constexpr std::size_t kMostArguments = 256;

struct Launcher {
  std::vector<Slot> slots;
  std::string kernel;
};

bool slot_named(std::string_view type, Slot& slot) {
  if (type == "constexpr") {
    slot = Slot::skip;
  } else if (type.starts_with('*')) {
    slot = Slot::pointer;
  } else if (type == "fp16") {
    slot = Slot::f16;
  } else if (type == "bf16") {
    slot = Slot::bf16;
  } else if (type == "fp32" || type == "f32") {
    slot = Slot::f32;
  } else if (type == "fp64") {
    slot = Slot::f64;
  } else if (type.starts_with('i') || type.starts_with('u')) {
    slot = Slot::integer;
  } else {
    return false;
  }
  return true;
}

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

bool refuse_device(const Launcher& launcher, std::size_t position, PyObject* tensor) {
  const Ref device(PyObject_GetAttrString(tensor, "device"));
  if (!device) return false;
  PyErr_Format(PyExc_ValueError,
               "kernel %s: argument %zu is a tensor on %S; the CPU backend takes CPU tensors",
               launcher.kernel.c_str(), position, device.get());
  return false;
}

/// The address of a tensor's first element. An int is an address itself, None the null pointer.
bool pointer_of(const Launcher& launcher, std::size_t position, PyObject* object,
                std::uint64_t& bits) {
  if (object == Py_None) {
    bits = 0;
    return true;
  }
  if (PyLong_Check(object) != 0) {
    bits = PyLong_AsUnsignedLongLong(object);
    return PyErr_Occurred() == nullptr;
  }
  const Ref on_cpu(PyObject_GetAttr(object, name_is_cpu));
  if (!on_cpu) {
    // Wrappers around a tensor, such as those of triton.reinterpret, have a device only.
    PyErr_Clear();
    const Ref device(PyObject_GetAttrString(object, "device"));
    const Ref type(device ? PyObject_GetAttrString(device.get(), "type") : nullptr);
    std::string name;
    if (!type) {
      PyErr_Format(PyExc_TypeError, "kernel %s: argument %zu must be a tensor",
                   launcher.kernel.c_str(), position);
      return false;
    }
    if (!text_of(type.get(), name)) return false;
    if (name != "cpu") return refuse_device(launcher, position, object);
  } else if (on_cpu.get() != Py_True) {
    return refuse_device(launcher, position, object);
  }
  const Ref address(PyObject_CallMethodObjArgs(object, name_data_ptr, nullptr));
  if (!address) return false;
  bits = PyLong_AsUnsignedLongLong(address.get());
  return PyErr_Occurred() == nullptr;
}

bool slot_bits(const Launcher& launcher, std::size_t position, Slot slot, PyObject* object,
               std::uint64_t& bits) {
  switch (slot) {
    case Slot::skip: return true;
    case Slot::pointer: return pointer_of(launcher, position, object, bits);
    case Slot::integer:
      bits = PyLong_AsUnsignedLongLongMask(object);
      return PyErr_Occurred() == nullptr;
    default: break;
  }
  const double number = PyFloat_AsDouble(object);
  if (number == -1.0 && PyErr_Occurred() != nullptr) return false;
  const auto narrow = [&](ttir::FloatFormat format) { return ttir::encode_float(format, number); };
  bits = slot == Slot::f64   ? bits_of(number)
         : slot == Slot::f32 ? bits_of(static_cast<float>(number))
         : slot == Slot::f16 ? narrow(ttir::FloatFormat::f16)
                             : narrow(ttir::FloatFormat::bf16);
  return true;
}

/// What a tensor's elements span, from sizes and strides: a view may not be left for its storage.
bool extent_of(PyObject* object, std::uint64_t address, Extent& extent) {
  auto* const begin = reinterpret_cast<const char*>(address);
  extent = {begin, begin};
  if (object == Py_None) return true;
  if (PyLong_Check(object) != 0) {
    extent = {nullptr, reinterpret_cast<const char*>(~std::uintptr_t{0})};
    return true;
  }
  const Ref shape(PyObject_GetAttrString(object, "shape"));
  const Ref strides(PyObject_CallMethod(object, "stride", nullptr));
  const Ref item(PyObject_CallMethod(object, "element_size", nullptr));
  if (!shape || !strides || !item) return false;
  const long long item_bytes = PyLong_AsLongLong(item.get());
  long long last = 0;
  for (Py_ssize_t d = 0; d < PySequence_Size(shape.get()); ++d) {
    const Ref size(PySequence_GetItem(shape.get(), d));
    const Ref stride(PySequence_GetItem(strides.get(), d));
    if (!size || !stride) return false;
    const long long length = PyLong_AsLongLong(size.get());
    if (length == 0) return true;
    last += (length - 1) * PyLong_AsLongLong(stride.get());
  }
  extent.end = begin + (last + 1) * item_bytes;
  return PyErr_Occurred() == nullptr;
}

int threads_for(std::int64_t work) {
  if (work < kParallelWork || thread_count == nullptr) return 1;
  const Ref count(PyObject_CallObject(thread_count, nullptr));
  return count ? static_cast<int>(PyLong_AsLong(count.get())) : -1;
}

/// Triton's chain of hooks, which it passes with none in it as well; a call would cost as much as
/// the rest of a small launch.
bool is_empty_chain(PyObject* hook) {
  static PyObject* const attribute = PyUnicode_InternFromString("calls");
  const Ref calls(PyObject_GetAttr(hook, attribute));
  if (!calls) PyErr_Clear();
  return calls && PyList_Check(calls.get()) && PyList_Size(calls.get()) == 0;
}

bool call_hook(PyObject* hook, PyObject* metadata) {
  if (hook == Py_None || is_empty_chain(hook)) return true;
  const Ref result(PyObject_CallFunctionObjArgs(hook, metadata, nullptr));
  return static_cast<bool>(result);
}

bool run(const Kernel& kernel, const Launch& launch) {
  const std::int64_t total = std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  const bool huge = kernel.cost > (std::int64_t{1} << 40) / total;
  const std::int64_t work = huge ? std::int64_t{1} << 40 : kernel.cost * total;
  const int threads = threads_for(work);
  if (threads < 0) return false;
  std::string fault;
  bool no_memory = false;
  // Other Python threads may run meanwhile, where that is worth its price.
  PyThreadState* state = work < kParallelWork ? nullptr : PyEval_SaveThread();
  try {
    run_launch(kernel, launch, threads);
  } catch (const KernelFault& error) {
    fault = error.what();
  } catch (const std::bad_alloc&) {
    no_memory = true;
  }
  if (state != nullptr) PyEval_RestoreThread(state);
  if (no_memory) {
    PyErr_NoMemory();
  } else if (!fault.empty()) {
    PyErr_SetString(fault_error, fault.c_str());
  }
  return !no_memory && fault.empty();
}

/// launcher(grid_x, grid_y, grid_z, stream, function, packed_metadata, launch_metadata, enter_hook,
/// exit_hook, *arguments)
PyObject* py_launch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  const auto& launcher =
      *static_cast<const Launcher*>(PyCapsule_GetPointer(self, "ksplit.cpu.launcher"));
  const std::span<PyObject* const> given(args, static_cast<std::size_t>(count));
  if (given.size() != kLeading + launcher.slots.size()) {
    return PyErr_Format(PyExc_TypeError, "kernel %s takes %zu arguments, not %zd",
                        launcher.kernel.c_str(), launcher.slots.size(),
                        count - static_cast<Py_ssize_t>(kLeading));
  }
  std::array<std::uint64_t, kMostArguments> slots;
  std::array<Extent, kMostArguments> extents;
  const auto& kernel = *static_cast<const Kernel*>(PyLong_AsVoidPtr(given[4]));
  if (PyErr_Occurred() != nullptr) return nullptr;
  std::size_t used = 0;
  for (std::size_t i = 0; i < launcher.slots.size(); ++i) {
    if (launcher.slots[i] == Slot::skip) continue;
    PyObject* object = given[kLeading + i];
    slots[used] = 0;
    if (!slot_bits(launcher, i, launcher.slots[i], object, slots[used])) return nullptr;
    if (kernel.checked != 0) {
      extents[used] = {nullptr, nullptr};
      if (launcher.slots[i] == Slot::pointer && !extent_of(object, slots[used], extents[used])) {
        return nullptr;
      }
    }
    ++used;
  }
  if (static_cast<std::int32_t>(used) != kernel.argument_count) {
    return PyErr_Format(PyExc_RuntimeError, "kernel %s was compiled for %d arguments, not %zu",
                        launcher.kernel.c_str(), kernel.argument_count, used);
  }
  Launch launch{slots.data(),
                kernel.checked != 0 ? extents.data() : nullptr,
                static_cast<std::int32_t>(used),
                {},
                &host_services()};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    launch.grid[axis] = static_cast<std::int32_t>(PyLong_AsLong(given[axis]));
  }
  if (PyErr_Occurred() != nullptr || !call_hook(given[7], given[6])) return nullptr;
  if (launch.grid[0] > 0 && launch.grid[1] > 0 && launch.grid[2] > 0 && !run(kernel, launch)) {
    return nullptr;
  }
  if (!call_hook(given[8], given[6])) return nullptr;
  Py_RETURN_NONE;
}

// METH_FASTCALL functions have another type than the table's member; the flag says so.
PyMethodDef launch_method = {"launch",
                             reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(py_launch)),
                             METH_FASTCALL, nullptr};

void free_launcher(PyObject* capsule) {
  delete static_cast<Launcher*>(PyCapsule_GetPointer(capsule, "ksplit.cpu.launcher"));
}

/// launcher(name, types) -> callable
PyObject* py_launcher(PyObject*, PyObject* args) {
  PyObject* name = nullptr;
  PyObject* types = nullptr;
  if (PyArg_ParseTuple(args, "OO", &name, &types) == 0) return nullptr;
  auto launcher = std::make_unique<Launcher>();
  if (!text_of(name, launcher->kernel)) return nullptr;
  const Py_ssize_t count = PySequence_Size(types);
  if (count < 0) return nullptr;
  if (static_cast<std::size_t>(count) > kMostArguments) {
    return PyErr_Format(PyExc_ValueError, "more than %zu arguments", kMostArguments);
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Ref type(PySequence_GetItem(types, i));
    std::string text;
    Slot slot{};
    if (!type || !text_of(type.get(), text)) return nullptr;
    if (!slot_named(text, slot)) {
      return PyErr_Format(PyExc_TypeError, "an argument of type %s", text.c_str());
    }
    launcher->slots.push_back(slot);
  }
  const Ref capsule(PyCapsule_New(launcher.get(), "ksplit.cpu.launcher", free_launcher));
  if (!capsule) return nullptr;
  static_cast<void>(launcher.release());  // the capsule frees it
  return PyCFunction_NewEx(&launch_method, capsule.get(), nullptr);
}

PyObject* py_set_thread_count(PyObject*, PyObject* callable) {
  Py_INCREF(callable);
  Py_XDECREF(thread_count);
  thread_count = callable;
  Py_RETURN_NONE;
}

/// headers() -> {file name: text}: what generated sources include.
PyObject* py_headers(PyObject*, PyObject*) {
  PyObject* headers = PyDict_New();
  for (const KernelSource& source : kKernelSources) {
    const Ref text(PyUnicode_FromStringAndSize(source.text.data(),
                                               static_cast<Py_ssize_t>(source.text.size())));
    if (!text || PyDict_SetItemString(headers, source.name, text.get()) != 0) {
      Py_DECREF(headers);
      return nullptr;
    }
  }
  return headers;
}

PyMethodDef methods[] = {
    {"generate", py_generate, METH_VARARGS,
     "generate(ttir, check_access) -> C++ source; raises Unsupported"},
    {"headers", py_headers, METH_NOARGS, "headers() -> {name: text} of what sources include"},
    {"load", py_load, METH_VARARGS, "load(path) -> the kernel's address"},
    {"launcher", py_launcher, METH_VARARGS, "launcher(kernel_name, types) -> callable"},
    {"set_thread_count", py_set_thread_count, METH_O,
     "set_thread_count(callable): asked for the number of threads of a large launch"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_native", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

/// Kernel libraries find the elementary functions in this one: its symbols become global.
bool publish_symbols() {
  Dl_info self;
  if (dladdr(reinterpret_cast<void*>(&publish_symbols), &self) == 0) return false;
  return dlopen(self.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) != nullptr;
}

}  // namespace
}  // namespace ksplit::cpu

extern "C" __attribute__((visibility("default"))) PyObject* PyInit__native() {
  using namespace ksplit::cpu;
  if (!publish_symbols()) {
    PyErr_SetString(PyExc_ImportError, "cannot make ksplit's symbols visible to its kernels");
    return nullptr;
  }
  PyObject* module = PyModule_Create(&definition);
  if (module == nullptr) return nullptr;
  name_data_ptr = PyUnicode_InternFromString("data_ptr");
  name_is_cpu = PyUnicode_InternFromString("is_cpu");
  unsupported_error =
      PyErr_NewException("ksplit.cpu.Unsupported", PyExc_NotImplementedError, nullptr);
  fault_error = PyErr_NewException("ksplit.cpu.KernelFault", PyExc_RuntimeError, nullptr);
  Py_XINCREF(unsupported_error);
  Py_XINCREF(fault_error);
  PyModule_AddObject(module, "Unsupported", unsupported_error);
  PyModule_AddObject(module, "KernelFault", fault_error);
  return module;
}
