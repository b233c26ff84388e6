// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is shown of measured orders.
#ifndef TAYLOR_TRAINER_ORDERS_ORDERSREPORT_H
#define TAYLOR_TRAINER_ORDERS_ORDERSREPORT_H
#include "trainer/orders/OrderStatistics.h"
#include <filesystem>
#include <string>
#include <vector>

namespace taylor::trainer {

/// By layer, then head.
using OrdersTable = std::vector<std::vector<HeadOrders>>;

/// Two tables for people: magnitudes, and errors of the output; a line per layer and head, a column per
/// order.
std::string printOrders(const OrdersTable &table);

/// layer,head,order,mean_magnitude,weight_error,output_error; numbers read back as they are.
std::string printOrdersCsv(const OrdersTable &table);

/// A gnuplot script that draws orders.csv next to it: gnuplot -c orders.gp OUTPUT.png|OUTPUT.svg [CSV].
std::string printOrdersPlot(const OrdersTable &table, const std::string &title);

/// Writes orders.gp, orders.png and orders.svg into a folder that has orders.csv. Throws Error.
void plotOrders(const std::filesystem::path &folder, const OrdersTable &table, const std::string &title);

} // namespace taylor::trainer
#endif
