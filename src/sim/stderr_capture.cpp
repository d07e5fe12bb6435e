// Captures what SUMO prints to stderr, and makes one-line messages of it.
#include "stderr_capture.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>

#include "traffic/os/shared_memory.h"

namespace traffic::sim {

StderrCapture::StderrCapture()
    : saved_(dup(STDERR_FILENO)),
      memory_(os::create_memory_file("sumo-stderr", 0, os::Allocation::kSparse)) {
  if (saved_.is_open()) dup2(memory_.get(), STDERR_FILENO);
}

StderrCapture::~StderrCapture() { end(); }

std::string StderrCapture::end() {
  if (!saved_.is_open()) return {};
  std::cerr.flush();
  std::fflush(stderr);
  dup2(saved_.get(), STDERR_FILENO);
  saved_.reset();
  std::string text;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = pread(memory_.get(), buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0)
    text.append(buffer, static_cast<std::size_t>(n));
  return text;
}

std::string one_line(std::string messages) {
  while (messages.starts_with("Warning: ")) {
    const auto end = messages.find('\n');
    messages.erase(0, end == std::string::npos ? end : end + 1);
  }
  for (std::size_t at = 0; (at = messages.find("Error: ", at)) != std::string::npos;) {
    messages.erase(at, 7);
  }
  std::replace(messages.begin(), messages.end(), '\n', ' ');
  const auto is_space = [](char c) { return c == ' '; };
  messages.erase(std::unique(messages.begin(), messages.end(),
                             [&](char a, char b) { return is_space(a) && is_space(b); }),
                 messages.end());
  while (!messages.empty() && is_space(messages.back())) messages.pop_back();
  return messages;
}

std::string reason_of(const std::string& captured, const std::exception& error) {
  const std::string printed = one_line(captured);
  return printed.empty() ? one_line(error.what()) : printed;
}

}  // namespace traffic::sim
