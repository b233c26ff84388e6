// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/Commands.h"
#include "trainer/support/Numbers.h"

namespace taylor::trainer {

static constexpr const char *kFooter = R"(
Examples:
  taylor-train orders runs/softmax
  taylor-train orders runs/softmax/checkpoints/step-000320 --data ~/books --orders 10 --out orders-of-books

Measured for each layer and head, in fp64, over the visible pairs of all sequences:
  mean_magnitude[n]  mean of |c[n] s^n|; s[t,u] is the product of query and key with its scale, after rotary positions
                     and feature maps, as the specification defines it; c[n] = 1/n! for exp
  weight_error[N]    sum of |w_N - w| over sum of |w|; w are the weights, w_N = sum over n <= N of c[n] s^n
  output_error[N]    |o_N - o| / |o| over tokens and channels; o is the specification's output, with its own mass and
                     norms, and o_N the same with w_N instead of w; the layer's inputs are those in the whole model
A decay's factor is part of each term. The authors' code, get_taylor_terms, differs: it takes the mean over all T x T
pairs, hidden ones as 0, which is (T + 1) / 2T times ours, and order 1 with its sign.

Weights must be a power series of one product: exponential, or orders(a to b) with coefficients. A score(..), weight(..)
or visible(..) is refused at its line; to measure without it, pass a copy of the specification with --attention.

The folder of --out appears whole or not at all, with
  orders.csv, orders.txt       the measures; the tables that are printed
  orders.json                  checkpoint, specification, text, and numbers of sequences, tokens, pairs and orders
  orders.png, orders.svg, .gp  heat maps, and the gnuplot script that draws them)";

CLI::App *addOrdersCommand(CLI::App &app, OrdersOptions &options) {
  CLI::App *command = app.add_subcommand(
      "orders", "measure how much each order of the weights' Taylor series matters in a trained model");
  command->footer(kFooter);
  command->add_option("CHECKPOINT", options.checkpoint, "checkpoint, or a run's folder for its newest one")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option(
          "--data", options.data,
          "text to measure on (default: the text that the model was trained on, as config.toml names it)")
      ->type_name("FILE_OR_FOLDER")
      ->take_last();
  command->add_option("--orders", options.orders, "highest order of the tables, at most 100")
      ->check(kWholeNumber)
      ->capture_default_str();
  command
      ->add_option(
          "--sequences", options.sequences,
          "sequences of text, each as long as those that the model was trained on; fewer if the text ends")
      ->check(kWholeNumber)
      ->capture_default_str();
  command
      ->add_option("--attention", options.attention,
                   "specification instead of the checkpoint's, with the same arguments")
      ->type_name("SPEC")
      ->take_last();
  command->add_option("--out", options.out, "folder of the results (default: CHECKPOINT/orders)")
      ->type_name("FOLDER")
      ->take_last();
  command
      ->add_option("--threads", options.threads,
                   "threads to compute with; 0: OMP_NUM_THREADS, or one per core")
      ->check(kWholeNumber)
      ->capture_default_str();
  command->add_flag("--no-plots", options.noPlots, "write tables and CSV only, without gnuplot");
  command->add_flag("--overwrite", options.overwrite, "replace the results of an earlier measurement");
  return command;
}

} // namespace taylor::trainer
