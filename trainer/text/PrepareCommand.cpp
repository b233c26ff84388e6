// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/Commands.h"
#include "trainer/support/Numbers.h"

namespace taylor::trainer {

static constexpr const char *kFooter = R"(
Examples:
  taylor-train prepare ~/fineweb --tokenizer llama-2/tokenizer.model --out tokens/fineweb
  taylor-train prepare 'pile/*.jsonl.zst' --validation-files 'val.*' --train-tokenizer 32000 --out tokens/pile
  taylor-train prepare --verify tokens/fineweb
  taylor-train --config examples/experiments/quickstart.toml --attention examples/specs/softmax.mlir --data tokens/fineweb

Files are read by their endings: .jsonl, .ndjson and .json as JSON Lines, .parquet, and others as text; .gz and .zst
are decompressed. In a folder with records, text and .json files are about the records and are left out; so are hidden
files. A record is a document. A text file is a document too, and is cut after line ends if it is longer than 1/200 of
all text (at least 1 kB, at most 1 MB).

The folder of --out depends on the files and options alone. It gets
  training-NNNNN, validation-NNNNN  .tokens (uint16) and .documents (uint64, where each document, <s> .. </s>, begins)
  tokenizer.model                   the tokenizer
  description.json                  counts, and the checksums (SHA-256) of all files

A preparation that was killed or stopped goes on with the same command. A record that is not JSON, lacks the field or is
not UTF-8 is left out and counted; the first ones are shown.)";

CLI::App *addPrepareCommand(CLI::App &app, PreparationOptions &options) {
  CLI::App *command = app.add_subcommand(
      "prepare", "turn text, JSON Lines or Parquet files into tokens, to train on with --data FOLDER");
  command->footer(kFooter);
  command->add_option("INPUT", options.inputs, "files, folders and globs of text")->type_name("");
  command->add_option("--out", options.out, "folder of the tokens")->type_name("FOLDER")->take_last();
  command
      ->add_option("--field", options.field,
                   "key of the text in JSON objects, or its column in Parquet files")
      ->type_name("NAME")
      ->take_last()
      ->capture_default_str();
  command
      ->add_option("--tokenizer", options.tokenizer, "SentencePiece model, such as Llama 2's tokenizer.model")
      ->type_name("FILE")
      ->take_last();
  command
      ->add_option("--train-tokenizer", options.trainTokenizer,
                   "pieces of a tokenizer to train, on up to 8 MB from the beginnings of up to 64 files")
      ->check(kWholeNumber)
      ->type_name("PIECES")
      ->take_last();
  command
      ->add_option(
          "--validation-fraction", options.validationFraction,
          "share of the documents to validate with, chosen by contents, so that copies stay together")
      ->take_last()
      ->capture_default_str();
  command
      ->add_option("--validation-files", options.validationFiles,
                   "files to validate with, by name or path; all others are trained on")
      ->type_name("GLOB")
      ->take_last()
      ->excludes("--validation-fraction");
  command
      ->add_option("--max-document-tokens", options.maxDocumentTokens,
                   "most tokens to keep of a document; 0: all")
      ->check(kWholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command
      ->add_option("--max-bad", options.maxBad,
                   "most bad records to leave out; more are an error, from which a larger number goes on")
      ->check(kWholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command->add_option("--shard-tokens", options.shardTokens, "tokens of a shard; documents are never divided")
      ->check(kWholeNumber)
      ->type_name("N")
      ->take_last()
      ->capture_default_str();
  command->add_option("--threads", options.threads, "threads that tokenize; 0: one per core")
      ->check(kWholeNumber)
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
