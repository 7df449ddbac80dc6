// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ksplit::cpu {

/// C++ source being written, line by line, two spaces of indentation for each open block.
class Text {
 public:
  void line(std::string_view text) { lines_.push_back({depth_, std::string(text)}); }
  void blank() { lines_.push_back({0, {}}); }

  /// `text {`, and deeper from here on.
  void open(std::string_view text) {
    line(text.empty() ? std::string("{") : std::string(text) + " {");
    ++depth_;
  }
  void close(std::string_view text = "}") {
    --depth_;
    line(text);
  }
  void deeper() { ++depth_; }

  /// Adds other lines, indented from here.
  void append(const Text& other) {
    for (const Line& line : other.lines_) lines_.push_back({line.depth + depth_, line.text});
  }

  bool empty() const { return lines_.empty(); }

  std::string str() const {
    std::string out;
    for (const Line& line : lines_) {
      if (!line.text.empty() && line.text.front() != '#') {
        out.append(2 * static_cast<std::size_t>(line.depth), ' ');
      }
      out += line.text;
      out += '\n';
    }
    return out;
  }

 private:
  struct Line {
    int depth;
    std::string text;
  };
  std::vector<Line> lines_;
  int depth_ = 0;
};

}  // namespace ksplit::cpu
