// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/RunFolder.h"
#include "trainer/support/Error.h"
#include <cstdio>

namespace fs = std::filesystem;

namespace taylor::trainer {

static constexpr const char *kLockName = ".lock";
static constexpr const char *kClaimName = ".torchrun";

bool isInUse(const fs::path &folder) {
  std::error_code error;
  return fs::exists(folder / kLockName, error) && !FileLock::attempt(folder / kLockName);
}

RunFolder::RunFolder(fs::path theFolder, Existing existing)
    : folder(std::move(theFolder)), existing(existing) {
  std::error_code error;
  requireFolder(folder, "the run", "--out FOLDER");
  if (fs::exists(folder, error))
    lock();
  refuseRun();
}

void RunFolder::lock() {
  held = FileLock::attempt(folder / kLockName);
  if (!held)
    fail("expected a run folder of its own, but another process trains in '", folder.string(),
         "'; wait until it has ended, or pass --out FOLDER");
  if (!held->excludes())
    std::fprintf(
        stderr,
        "warning: the file system of '%s' has no locks: nothing keeps a second process from training "
        "there\n",
        folder.c_str());
}

void RunFolder::refuseRun() const {
  std::error_code error;
  if (existing == Existing::Refuse && fs::exists(folder / "metrics.jsonl", error))
    fail("expected an empty run folder, but '", folder.string(),
         "' has a run; pass --resume to continue it, "
         "--overwrite to begin anew, or --out FOLDER");
}

void RunFolder::claim(const std::string &runId) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    fail("cannot create the run folder '", folder.string(), "': ", error.message());
  if (!held) {
    lock();
    refuseRun(); // that came meanwhile
  }
  if (existing == Existing::Overwrite)
    empty();
  if (!runId.empty())
    replaceDurably(folder / kClaimName, runId);
}

void RunFolder::requireThere() const {
  if (held && !held->isStill(folder / kLockName))
    fail("requires the folder that the run began in, but '", folder.string(),
         "' was removed or replaced meanwhile, with its checkpoints and metrics; the run ends here, and "
         "nothing of it is ",
         "kept");
}

void RunFolder::empty() const {
  std::error_code error;
  // Hidden before it is emptied: a kill leaves no half of a checkpoint that a run could be resumed from.
  fs::remove_all(folder / ".checkpoints.old", error);
  fs::rename(folder / "checkpoints", folder / ".checkpoints.old", error);
  fs::remove_all(folder / ".checkpoints.old", error);
  for (const char *name : {"checkpoints", "metrics.jsonl", "metrics.csv", "summary.json", "config.toml"})
    fs::remove_all(folder / name, error);
}

bool isClaimedBy(const fs::path &folder, const std::string &runId) {
  std::error_code error;
  return !runId.empty() && fs::is_regular_file(folder / kClaimName, error) &&
         readFile(folder / kClaimName) == runId;
}

void forgetClaim(const fs::path &folder) {
  std::error_code error;
  fs::remove(folder / kClaimName, error);
}

} // namespace taylor::trainer
