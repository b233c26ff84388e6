// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/text/PrepareCommand.h"
#include "trainer/support/Numbers.h"

namespace taylor::trainer {

static const char *const footer = R"(
Examples:
  taylor-train prepare ~/fineweb --tokenizer llama-2/tokenizer.model --out tokens/fineweb
  taylor-train prepare 'pile/*.jsonl.zst' --validation-files 'val.*' --train-tokenizer 32000 --out tokens/pile
  taylor-train prepare --verify tokens/fineweb
  taylor-train --config examples/experiments/quickstart.toml --attention examples/specs/softmax.mlir --data tokens/fineweb

Files are read by their endings: .jsonl, .ndjson and .json as JSON Lines, .parquet, and others as text; .gz and .zst are
decompressed. Of a folder that has records, what is about them (text and .json) is left out, as are hidden files. A record is a document; a text file is one, cut behind line
ends where it is longer than 1/200 of all text (at least 1 kB, at most 1 MB).

The folder gets training-NNNNN and validation-NNNNN, .tokens (uint16) and .documents (uint64, where each begins), a document being
<s> .. </s>; tokenizer.model; and description.json, with the checksums (SHA-256) of all. It depends on the files and options
alone. A preparation that was killed or stopped goes on where it was with the same command.

A record that is no JSON, lacks the field, or is not UTF-8 is left out, counted and, of the first, shown.)";

CLI::App *addPrepareCommand(CLI::App &app, PreparationOptions &options) {
  CLI::App *command = app.add_subcommand(
      "prepare", "turn text, JSON Lines or Parquet files into tokens, to train on with --data FOLDER");
  command->footer(footer);
  command->add_option("INPUT", options.inputs, "files, folders and globs")->type_name("");
  command->add_option("--out", options.out, "folder of the tokens")->type_name("FOLDER")->take_last();
  command
      ->add_option("--field", options.field, "the text's key in JSON objects, or its column in Parquet files")
      ->type_name("NAME")
      ->take_last()
      ->capture_default_str();
  command
      ->add_option("--tokenizer", options.tokenizer,
                   "a SentencePiece model, such as Llama 2's tokenizer.model")
      ->type_name("FILE")
      ->take_last();
  command
      ->add_option("--train-tokenizer", options.trainTokenizer,
                   "train one of that many pieces on up to 8 MB from the beginnings of up to 64 files")
      ->check(wholeNumber)
      ->type_name("PIECES")
      ->take_last();
  command
      ->add_option("--validation-fraction", options.validationFraction,
                   "documents to validate with, chosen by their contents, so that copies stay together")
      ->take_last()
      ->capture_default_str();
  command
      ->add_option("--validation-files", options.validationFiles,
                   "validate with the files whose name or path matches, and train on all others")
      ->type_name("GLOB")
      ->take_last()
      ->excludes("--validation-fraction");
  command
      ->add_option("--max-document-tokens", options.maxDocumentTokens,
                   "keep that many tokens of a document; 0: all of them")
      ->check(wholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command
      ->add_option(
          "--max-bad", options.maxBad,
          "records to leave out before it is an error; what is done stays, to go on with a larger one")
      ->check(wholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command->add_option("--shard-tokens", options.shardTokens, "tokens of a shard; a document is never divided")
      ->check(wholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command->add_option("--threads", options.threads, "threads that tokenize; 0: one per core")
      ->check(wholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command->add_flag("--overwrite", options.overwrite, "begin anew in a folder that holds prepared text");
  command
      ->add_option("--verify", options.verify, "check the sizes and checksums of a prepared folder, and exit")
      ->type_name("FOLDER")
      ->take_last();
  return command;
}

} // namespace taylor::trainer
