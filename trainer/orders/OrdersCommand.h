// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TAYLOR_TRAINER_ORDERS_ORDERSCOMMAND_H
#define TAYLOR_TRAINER_ORDERS_ORDERSCOMMAND_H
#include "trainer/orders/Orders.h"
#include <CLI/CLI.hpp>

namespace taylor::trainer {

/// `taylor-train orders`: its options and their help. `options` must outlive the parse.
CLI::App *addOrdersCommand(CLI::App &app, OrdersOptions &options);

} // namespace taylor::trainer
#endif
