// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_ORDERS_ORDERS_H
#define TAYLOR_TRAINER_ORDERS_ORDERS_H
#include <cstdint>
#include <string>

namespace taylor::trainer {

struct OrdersOptions {
  std::string checkpoint; // a checkpoint's folder, or a run's: then its newest
  std::string data;       // file or folder of text; "": what the checkpoint was trained on
  std::string attention;  // a specification in place of the checkpoint's
  std::string out;        // folder of the results; "": orders, in the folder of `checkpoint`
  int64_t orders = 20;    // the highest
  int64_t sequences = 4;  // of as many tokens as the model was trained on
  int64_t threads = 0;
  bool noPlots = false;
  bool overwrite = false;

  void check() const; // throws Error that names the flag
};

/// Measures orders (OrderStatistics.h) on a checkpoint and text, prints tables on stdout, and writes the
/// folder: orders.csv, orders.txt, orders.json, and heat maps orders.png, orders.svg with the gnuplot script
/// that draws them. The folder appears whole or not at all. Throws Error.
void measureOrders(const OrdersOptions &options);

} // namespace taylor::trainer
#endif
