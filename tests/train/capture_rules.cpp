#include "capture_rules.h"

#include <ATen/record_function.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace traffic::train::testing {
namespace {

/// Operations that wait for the device, or whose result has a size that the device must tell.
constexpr std::array kWaits{"aten::item",
                            "aten::_local_scalar_dense",
                            "aten::is_nonzero",
                            "aten::equal",
                            "aten::allclose",
                            "aten::nonzero",
                            "aten::nonzero_numpy",
                            "aten::argwhere",
                            "aten::masked_select",
                            "aten::unique_dim",
                            "aten::unique_consecutive",
                            "aten::_unique",
                            "aten::_unique2",
                            "aten::repeat_interleave",
                            "aten::bincount",
                            "aten::histc",
                            "aten::tensor_split",
                            "aten::pin_memory"};
/// Those that overwrite their first argument without reading it.
constexpr std::array kOverwrites{"aten::copy_", "aten::fill_", "aten::zero_"};

template <std::size_t N>
bool is_one_of(const std::array<const char*, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Tensors among values, also in lists.
template <typename Visit>
void each_tensor(const c10::IValue& value, const Visit& visit) {
  if (value.isTensor()) {
    if (value.toTensor().defined()) visit(value.toTensor());
  } else if (value.isTensorList()) {
    for (const torch::Tensor& tensor : value.toTensorVector()) visit(tensor);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) each_tensor(item, visit);
  }
}

/// Watches the operations of this thread.
class Watch {
 public:
  explicit Watch(const std::vector<torch::Tensor>& fixed) {
    for (const torch::Tensor& tensor : fixed) know(tensor);
    current_ = this;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&Watch::before, &Watch::after)
                                             .needsInputs(true)
                                             .needsOutputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
  }
  ~Watch() {
    at::removeCallback(handle_);
    current_ = nullptr;
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  std::vector<std::string> take_broken() { return std::move(broken_); }

 private:
  struct Overwritten : at::ObserverContext {
    std::vector<torch::Tensor> tensors;
  };

  static std::unique_ptr<at::ObserverContext> before(const at::RecordFunction& function) {
    auto overwritten = std::make_unique<Overwritten>();
    const std::string_view name = function.name();
    const auto inputs = function.inputs();
    current_->check_name(name, inputs);
    // What an operation is made of differs from device to device.
    if (current_->depth_++ > 0) return overwritten;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      each_tensor(inputs[i], [&](const torch::Tensor& x) {
        if (i == 0 && is_one_of(kOverwrites, name)) {
          overwritten->tensors.push_back(x);
        } else if (!current_->knows(x)) {
          current_->blame(name, "reads a tensor of the host");
        }
      });
    }
    return overwritten;
  }

  static void after(const at::RecordFunction& function, at::ObserverContext* context) {
    if (--current_->depth_ > 0) return;
    for (const torch::Tensor& tensor : static_cast<Overwritten*>(context)->tensors) {
      current_->know(tensor);
    }
    // What is only allocated could be filled by the host.
    if (std::string_view(function.name()).starts_with("aten::empty")) return;
    for (const c10::IValue& output : function.outputs()) {
      each_tensor(output, [](const torch::Tensor& x) { current_->know(x); });
    }
  }

  void check_name(std::string_view name, c10::ArrayRef<const c10::IValue> inputs) {
    const auto any = [&](const auto& is) { return std::any_of(inputs.begin(), inputs.end(), is); };
    const bool names_device = any([](const c10::IValue& x) { return x.isDevice(); });
    if (is_one_of(kWaits, name)) blame(name, "waits for the device");
    if (names_device && (name == "aten::to" || name == "aten::_to_copy")) {
      blame(name, "names a device");
    }
    if (!names_device && name == "aten::scalar_tensor") blame(name, "makes a constant on the host");
    // It copies its constants to the device; elementwise operations hand theirs over as arguments.
    if (name == "aten::where" &&
        any([](const c10::IValue& x) { return x.isScalar() || is_number(x); })) {
      blame(name, "brings a constant from the host");
    }
  }
  /// A number that C++ passes as a tensor.
  static bool is_number(const c10::IValue& value) {
    return value.isTensor() && value.toTensor().defined() &&
           value.toTensor().unsafeGetTensorImpl()->is_wrapped_number();
  }

  void blame(std::string_view name, const char* why) {
    broken_.push_back(std::string(name) + ": " + why);
  }
  void know(const torch::Tensor& tensor) {
    // Kept, so that no other tensor gets its memory.
    if (known_.insert(tensor.storage().unsafeGetStorageImpl()).second) {
      kept_.push_back(tensor.storage());
    }
  }
  [[nodiscard]] bool knows(const torch::Tensor& tensor) const {
    return is_number(tensor) || tensor.numel() == 0 ||
           known_.contains(tensor.storage().unsafeGetStorageImpl());
  }

  static inline thread_local Watch* current_ = nullptr;
  at::CallbackHandle handle_ = 0;
  int depth_ = 0;  ///< operations within operations
  std::set<const void*> known_;
  std::vector<c10::Storage> kept_;
  std::vector<std::string> broken_;
};

}  // namespace

std::vector<std::string> broken_capture_rules(const std::function<void()>& work,
                                              const std::vector<torch::Tensor>& fixed) {
  Watch watch(fixed);
  work();
  return watch.take_broken();
}

}  // namespace traffic::train::testing
