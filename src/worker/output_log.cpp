// SPDX-License-Identifier: Apache-2.0
#include "worker/output_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace ksplit {

namespace {

constexpr std::size_t kLineCap = 400;
constexpr std::string_view kCutNotice = "\n[ksplit: the rest of this output is not kept]\n";

}  // namespace

OutputLog::OutputLog(const std::filesystem::path& file) {
  if (file.empty()) return;
  file_ = Descriptor(open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  struct stat status {};
  if (file_ && fstat(file_.get(), &status) == 0) {
    file_bytes_ = static_cast<std::size_t>(status.st_size);
  }
}

void OutputLog::append_to_file(std::string_view bytes) {
  if (!file_ || file_bytes_ >= kFileCap) return;
  const std::string_view kept = bytes.substr(0, kFileCap - file_bytes_);
  file_bytes_ += kept.size();
  bool written = write(file_.get(), kept.data(), kept.size()) == static_cast<ssize_t>(kept.size());
  if (file_bytes_ >= kFileCap) {
    written = written && write(file_.get(), kCutNotice.data(), kCutNotice.size()) > 0;
  }
  if (!written) file_.reset();
}

void OutputLog::append(std::string_view bytes) {
  append_to_file(bytes);
  tail_ += bytes.substr(bytes.size() - std::min(bytes.size(), kTailCap));
  // Trimming only at twice the cap moves each byte at most once.
  if (tail_.size() > 2 * kTailCap) tail_.erase(0, tail_.size() - kTailCap);
}

std::vector<std::string> OutputLog::last_lines(std::size_t count) const {
  std::vector<std::string> lines;
  std::string_view rest = tail_;
  while (!rest.empty() && lines.size() < count) {
    const std::size_t newline = rest.rfind('\n');
    const std::string_view line = newline == rest.npos ? rest : rest.substr(newline + 1);
    rest = newline == rest.npos ? std::string_view() : rest.substr(0, newline);
    if (line.find_first_not_of(" \t\r") != line.npos) lines.emplace_back(line.substr(0, kLineCap));
  }
  std::reverse(lines.begin(), lines.end());
  return lines;
}

}  // namespace ksplit
