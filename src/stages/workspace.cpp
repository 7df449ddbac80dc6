// SPDX-License-Identifier: Apache-2.0
#include "stages/workspace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "core/files.h"

namespace ksplit {

namespace fs = std::filesystem;

namespace {

tl::unexpected<Error> unwritable(const fs::path& path, const std::error_code& error) {
  return fail(ErrorCode::output_unwritable,
              fmt::format("cannot write `{}`: {}", path.string(), error.message()),
              "name a folder you may write to with `--out DIR`");
}

}  // namespace

Workspace::Workspace(fs::path out)
    : out_(std::move(out)),
      root_(out_.string() + fmt::format(".partial-{}", static_cast<long>(getpid()))),
      result_(root_ / "result"),
      scratch_(root_ / "scratch") {}

Workspace::Workspace(Workspace&& other) noexcept
    : out_(std::move(other.out_)),
      root_(std::exchange(other.root_, {})),
      result_(std::move(other.result_)),
      scratch_(std::move(other.scratch_)) {}

Workspace::~Workspace() {
  std::error_code ignored;
  if (!root_.empty()) fs::remove_all(root_, ignored);
}

Result<Workspace> Workspace::create(const fs::path& out) {
  std::error_code error;
  if (fs::exists(out, error) && !fs::is_directory(out, error)) {
    return unwritable(out, std::make_error_code(std::errc::not_a_directory));
  }
  fs::path folder = fs::absolute(out).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "out/"
  Workspace workspace(std::move(folder));
  for (const fs::path& needed : {workspace.result_, workspace.scratch_}) {
    fs::create_directories(needed, error);
    if (error) return unwritable(out, error);
  }
  return workspace;
}

Status Workspace::write(const fs::path& relative, std::string_view content) const {
  return write_file(result_ / relative, content);
}

Status Workspace::copy(const fs::path& from, const fs::path& relative) const {
  std::error_code error;
  fs::create_directories((result_ / relative).parent_path(), error);
  if (!error) fs::copy_file(from, result_ / relative, fs::copy_options::overwrite_existing, error);
  if (error) return unwritable(result_ / relative, error);
  return {};
}

Result<fs::path> Workspace::write_scratch(const std::string& name, std::string_view content) const {
  fs::path path = scratch_ / name;
  KSPLIT_TRY_STATUS(write_file(path, content));
  return path;
}

Status Workspace::publish() {
  std::error_code error;
  if (!fs::exists(out_, error)) {
    fs::rename(result_, out_, error);
    if (error) return unwritable(out_, error);
    return {};
  }
  // One step, so that a reader or a kill at any moment finds either result whole.
  if (renameat2(AT_FDCWD, result_.c_str(), AT_FDCWD, out_.c_str(), RENAME_EXCHANGE) != 0) {
    return unwritable(out_, std::error_code(errno, std::generic_category()));
  }
  return {};
}

}  // namespace ksplit
