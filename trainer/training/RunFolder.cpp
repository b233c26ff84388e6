// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/training/RunFolder.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"

namespace fs = std::filesystem;

namespace taylor::trainer {

static const char *const claim = ".torchrun";

fs::path checkFolder(const fs::path &folder, Existing existing) {
  std::error_code error;
  requireFolder(folder, "the run", "--out FOLDER");
  if (existing == Existing::Refuse && fs::exists(folder / "metrics.jsonl", error))
    fail("expected an empty run folder, but '", folder.string(),
         "' has a run; pass --resume to continue it, "
         "--overwrite to begin anew, or --out FOLDER");
  return folder;
}

void claimFolder(const fs::path &folder, Existing existing, const std::string &runId) {
  std::error_code error;
  if (existing == Existing::Overwrite) {
    // Hidden before it is emptied: a kill leaves no half of a checkpoint that a run could be resumed from.
    fs::remove_all(folder / ".checkpoints.old", error);
    fs::rename(folder / "checkpoints", folder / ".checkpoints.old", error);
    fs::remove_all(folder / ".checkpoints.old", error);
    for (const char *name : {"checkpoints", "metrics.jsonl", "metrics.csv", "summary.json", "config.toml"})
      fs::remove_all(folder / name, error);
  }
  fs::create_directories(folder, error);
  if (error)
    fail("cannot create the run folder '", folder.string(), "': ", error.message());
  if (!runId.empty())
    replaceDurably(folder / claim, runId);
}

bool isClaimedBy(const fs::path &folder, const std::string &runId) {
  std::error_code error;
  return !runId.empty() && fs::is_regular_file(folder / claim, error) && readFile(folder / claim) == runId;
}

void forgetClaim(const fs::path &folder) {
  std::error_code error;
  fs::remove(folder / claim, error);
}

} // namespace taylor::trainer
