// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/orders/OrdersCommand.h"
#include "trainer/support/Numbers.h"

namespace taylor::trainer {

static const char *const footer = R"(
Examples:
  taylor-train orders runs/softmax
  taylor-train orders runs/softmax/checkpoints/step-000320 --data ~/books --orders 10 --out orders-of-books

What is measured, for each layer and head, in fp64, over the visible pairs of all sequences:
  mean_magnitude[n]  mean of |c[n] s^n|, where s[t,u] is the product of query and key with its scale, as the specification
                     defines it, behind rotary positions and feature maps; c[n] = 1/n! for exp
  weight_error[N]    sum of |w_N - w| over sum of |w|; w the weights, w_N = sum over n <= N of c[n] s^n
  output_error[N]    |o_N - o| / |o| over tokens and channels; o what the specification gives, with its own mass and norms,
                     and o_N the same with w_N for w; inputs of the layer are those of the whole model
A decay's factor is part of each term. (The authors' code, get_taylor_terms, takes the mean over all T x T pairs, hidden ones as
0: (T + 1) / 2T times ours; and takes order 1 with its sign.)

Weights must be a power series of one product: exponential, or orders(a to b) with coefficients. A score(..), weight(..) or
visible(..) is refused at its line; a copy of the specification without the clause can be measured with --attention.

The folder gets orders.csv, orders.txt (the tables that are printed), orders.json (what was measured on what), orders.png and
orders.svg (heat maps), and orders.gp, which draws them with gnuplot. It appears whole or not at all.)";

CLI::App *addOrdersCommand(CLI::App &app, OrdersOptions &options) {
  CLI::App *command = app.add_subcommand(
      "orders", "measure how much each order of the weights' Taylor series matters in a trained model");
  command->footer(footer);
  command->add_option("CHECKPOINT", options.checkpoint, "a checkpoint, or a run's folder for its newest one")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option(
          "--data", options.data,
          "text to measure on; by default the text that the model was trained on, as config.toml names it")
      ->type_name("FILE_OR_FOLDER")
      ->take_last();
  command->add_option("--orders", options.orders, "the highest order of the tables, at most 100")
      ->check(wholeNumber)
      ->capture_default_str();
  command
      ->add_option(
          "--sequences", options.sequences,
          "sequences of text, each of as many tokens as the model was trained on; fewer where the text ends")
      ->check(wholeNumber)
      ->capture_default_str();
  command
      ->add_option("--attention", options.attention,
                   "a specification in place of the checkpoint's, with the same arguments")
      ->type_name("SPEC")
      ->take_last();
  command->add_option("--out", options.out, "folder of the results; by default CHECKPOINT/orders")
      ->type_name("FOLDER")
      ->take_last();
  command
      ->add_option("--threads", options.threads,
                   "threads to compute with; 0: one per core, or OMP_NUM_THREADS")
      ->check(wholeNumber)
      ->capture_default_str();
  command->add_flag("--no-plots", options.noPlots, "tables and CSV alone, without gnuplot");
  command->add_flag("--overwrite", options.overwrite, "replace the results of an earlier measurement");
  return command;
}

} // namespace taylor::trainer
