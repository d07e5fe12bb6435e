// Reads SUMO's floating car data (positions of vehicles) from XML.
#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "formats.h"
#include "numbers.h"
#include "traffic/core/error.h"

namespace traffic::data_prep {
namespace {

constexpr int kParseBytes = 1 << 18;
constexpr std::size_t kMaxXmlDepth = 64;

class FcdXml final : public Recording {
 public:
  FcdXml(std::unique_ptr<TextInput> input, InputProblems& problems)
      : input_(std::move(input)), problems_(problems), fields_(input_->name(), problems) {}

  void read(const FrameSink& sink) override {
    const std::unique_ptr<XML_ParserStruct, void (*)(XML_Parser)> parser(XML_ParserCreate(nullptr),
                                                                         XML_ParserFree);
    if (!parser) throw std::bad_alloc();
    parser_ = parser.get();
    sink_ = &sink;
    XML_SetUserData(parser_, this);
    XML_SetElementHandler(parser_, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(parser_, on_doctype);
    while (!stopped_ && parse_some()) {
    }
    if (failure_) std::rethrow_exception(failure_);
    if (!stopped_ && !seen_root_) wrong_root("nothing");
  }

  [[nodiscard]] double share_read() const override { return input_->share_read(); }

 private:
  /// Parses the next bytes of the input.
  /// @return whether more bytes may follow
  bool parse_some() {
    void* buffer = XML_GetBuffer(parser_, kParseBytes);
    if (buffer == nullptr) throw std::bad_alloc();
    chunk_ = static_cast<const char*>(buffer);
    std::size_t n = 0;
    try {
      n = input_->read({static_cast<char*>(buffer), kParseBytes});
    } catch (const DataError& error) {
      problems_.report(input_->name(), line_, error.what());
      return false;
    }
    const auto status = XML_ParseBuffer(parser_, static_cast<int>(n), n == 0 ? 1 : 0);
    if (status != XML_STATUS_OK && !stopped_) {
      const auto line = static_cast<std::int64_t>(XML_GetCurrentLineNumber(parser_));
      problems_.report(input_->name(), line,
                       fmt::format("the XML is not well-formed here: {}; the rest cannot be read",
                                   XML_ErrorString(XML_GetErrorCode(parser_))));
      return false;
    }
    count_lines(chunk_ + n);
    chunk_begin_ += static_cast<std::int64_t>(n);
    counted_ = 0;
    return n > 0;
  }

  /// Line of the element that is being parsed. Counting lines here is faster than Expat's own
  /// count, which looks at single bytes.
  std::int64_t here() {
    const std::int64_t offset = XML_GetCurrentByteIndex(parser_) - chunk_begin_;
    if (offset > counted_) count_lines(chunk_ + offset);
    return line_;
  }
  void count_lines(const char* to) {
    line_ += std::count(chunk_ + counted_, to, '\n');
    counted_ = to - chunk_;
  }

  /// Runs `step` within a function that Expat calls. Exceptions must not pass through Expat, which
  /// is written in C. So guarded() stores an exception, and read() throws it again.
  template <typename Step>
  void guarded(Step step) noexcept {
    if (stopped_) return;
    try {
      step();
    } catch (...) {
      failure_ = std::current_exception();
      stop();
    }
  }
  void stop() {
    stopped_ = true;
    XML_StopParser(parser_, XML_FALSE);
  }

  static void XMLCALL on_start(void* self, const XML_Char* name, const XML_Char** attributes) {
    auto* me = static_cast<FcdXml*>(self);
    me->guarded([&] { me->start(name, attributes); });
  }
  static void XMLCALL on_end(void* self, const XML_Char* name) {
    auto* me = static_cast<FcdXml*>(self);
    me->guarded([&] { me->end(name); });
  }
  static void XMLCALL on_doctype(void* self, const XML_Char*, const XML_Char*, const XML_Char*,
                                 int) {
    auto* me = static_cast<FcdXml*>(self);
    me->guarded([&] {
      throw DataError("{}:{}: has a document type, which SUMO never writes; remove it",
                      me->input_->name(), me->here());
    });
  }

  void wrong_root(std::string_view found) {
    throw DataError(
        "{}: is not floating car data of SUMO: found <{}>, expected <fcd-export> (sumo "
        "--fcd-output FILE writes it)",
        input_->name(), found.substr(0, 40));
  }

  void start(const char* name, const char** attributes) {
    if (++depth_ > kMaxXmlDepth) {
      throw DataError(
          "{}:{}: elements are nested more than {} deep, so this is not floating car data",
          input_->name(), here(), kMaxXmlDepth);
    }
    if (!seen_root_) {
      if (std::strcmp(name, "fcd-export") != 0) wrong_root(name);
      seen_root_ = true;
    } else if (in_timestep_ && std::strcmp(name, "vehicle") == 0) {
      fields_.begin(here());
      for (; *attributes != nullptr; attributes += 2) {
        fields_.set(attributes[0], attributes[1], frame_);
      }
      fields_.finish(frame_);
    } else if (std::strcmp(name, "timestep") == 0) {
      begin_timestep(attributes);
    }
  }

  void begin_timestep(const char** attributes) {
    frame_.clear();
    frame_.line = here();
    in_timestep_ = false;
    std::string_view found;
    for (; *attributes != nullptr; attributes += 2) {
      if (std::strcmp(attributes[0], "time") == 0) found = attributes[1];
    }
    const auto time = parse_finite(found);
    if (!time) {
      problems_.report(input_->name(), frame_.line,
                       fmt::format("the time of the step is '{}', expected seconds (run SUMO "
                                   "without --human-readable-time)",
                                   found.substr(0, 40)));
      return;
    }
    frame_.time_s = *time;
    in_timestep_ = true;
  }

  void end(const char* name) {
    --depth_;
    if (!in_timestep_ || std::strcmp(name, "timestep") != 0) return;
    in_timestep_ = false;
    if (!(*sink_)(frame_)) stop();
  }

  std::unique_ptr<TextInput> input_;
  InputProblems& problems_;
  FcdFields fields_;
  XML_Parser parser_ = nullptr;
  const FrameSink* sink_ = nullptr;
  RecordedFrame frame_;
  const char* chunk_ = nullptr;
  std::int64_t chunk_begin_ = 0;  ///< number of bytes before the chunk
  std::ptrdiff_t counted_ = 0;    ///< number of bytes of the chunk up to which lines are counted
  std::int64_t line_ = 1;         ///< line of the byte at counted_
  std::size_t depth_ = 0;
  bool seen_root_ = false;
  bool in_timestep_ = false;
  bool stopped_ = false;
  std::exception_ptr failure_;
};

}  // namespace

std::unique_ptr<Recording> read_fcd_xml(std::unique_ptr<TextInput> input, InputProblems& problems) {
  return std::make_unique<FcdXml>(std::move(input), problems);
}

}  // namespace traffic::data_prep
