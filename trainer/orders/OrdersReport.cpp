// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/orders/OrdersReport.h"
#include "trainer/report/Gnuplot.h"
#include "trainer/report/Progress.h"
#include "trainer/support/Error.h"
#include "trainer/support/Files.h"
#include <algorithm>
#include <cmath>

namespace fs = std::filesystem;

namespace taylor::trainer {

namespace {

std::string right(const std::string &cell, size_t width) {
  return std::string(width > cell.size() ? width - cell.size() : 0, ' ') + cell;
}

std::string printTable(const OrdersTable &table, const std::string &title,
                       std::vector<double> HeadOrders::*values) {
  constexpr size_t width = 9;
  std::string text = title + "\n\nlayer  head";
  for (size_t n = 0; n < (table[0][0].*values).size(); ++n)
    text += right(std::to_string(n), width);
  text += "\n";
  for (size_t layer = 0; layer < table.size(); ++layer)
    for (size_t head = 0; head < table[layer].size(); ++head) {
      text += right(std::to_string(layer), 5) + right(std::to_string(head), 6);
      for (double value : table[layer][head].*values)
        text += right(value == 0 ? "0" : formatNumber("%.2e", value), width);
      text += "\n";
    }
  return text;
}

/// The smallest positive value that gets a colour of its own, and the largest. A colour for every decade down
/// to rounding would leave none for those that matter: it ends at a millionth, or 8 decades below the
/// largest.
std::pair<double, double> colourRange(const OrdersTable &table, std::vector<double> HeadOrders::*values) {
  constexpr double negligible = 1e-6, decades = 1e-8;
  double low = INFINITY, high = 0;
  for (const std::vector<HeadOrders> &heads : table)
    for (const HeadOrders &head : heads)
      for (double value : head.*values)
        if (std::isfinite(value) && value > 0) {
          low = std::min(low, value);
          high = std::max(high, value);
        }
  if (high == 0)
    return {1e-8, 1};
  low = std::max(low, std::min(high * decades, negligible));
  return {low < high ? low : high / 10, high};
}

/// The same for all tables; what differs is assigned above it.
constexpr const char *kPlotScript = R"(set encoding utf8
csv = ARGC < 2 ? "orders.csv" : ARG2
if (ARG1[strlen(ARG1) - 3:] eq ".png") {
  set terminal pngcairo size 1400, height font "Sans,12"
} else {
  set terminal svg size 1400, height font "Sans,14" background "white"
}
set output ARG1
set datafile separator ","
set multiplot layout 1, 2 title title noenhanced
set logscale cb
set format cb "10^{%T}"
set palette defined (0 "#fcfdbf", 1 "#fe9f6d", 2 "#de4968", 3 "#8c2981", 4 "#3b0f70", 5 "#000004")
set xlabel "order n"
set ylabel "layer, head"
set xrange [-0.5:orders + 0.5]
set yrange [rows - 0.5:-0.5]
set xtics 0, orders <= 25 ? 1 : orders <= 50 ? 5 : 10 out nomirror
set ytics () out nomirror
set for [row = 0:rows - 1:ceil(rows / 60.0)] ytics add (sprintf("%d, %d", int(row / heads), row - heads * int(row / heads)) row)
set style fill solid noborder
unset key
positive(x) = x > 0 ? x : NaN
row(layer, head) = heads * layer + head
set title "mean magnitude of order n's term"
set cblabel "mean of |c[n] s^n|" noenhanced offset 1
set cbrange [magnitude_low:magnitude_high]
plot csv using 3:(row($1, $2)):($3 - 0.5):($3 + 0.5):(row($1, $2) - 0.5):(row($1, $2) + 0.5):(positive($4)) skip 1 with boxxyerror linecolor palette
set title "error of the output, cut behind order n"
set xlabel "last order n"
set cblabel "|o_n - o| / |o|" noenhanced
set cbrange [error_low:error_high]
plot csv using 3:(row($1, $2)):($3 - 0.5):($3 + 0.5):(row($1, $2) - 0.5):(row($1, $2) + 0.5):(positive($6)) skip 1 with boxxyerror linecolor palette
unset multiplot
)";

/// The end of a title, which says most, as far as it fits above the panels; cut between characters.
std::string shortened(const std::string &title) {
  constexpr size_t longest = 140;
  if (title.size() <= longest)
    return title;
  size_t begin = title.size() - longest;
  while (begin < title.size() && (title[begin] & 0xC0) == 0x80)
    ++begin;
  return ".." + title.substr(begin);
}

} // namespace

std::string printOrders(const OrdersTable &table) {
  return printTable(table, "mean magnitude of order n's term, over visible pairs", &HeadOrders::magnitude) +
         "\n" +
         printTable(table, "error of the output with the orders 0 to n alone, relative to the output",
                    &HeadOrders::outputError);
}

std::string printOrdersCsv(const OrdersTable &table) {
  std::string text = "layer,head,order,mean_magnitude,weight_error,output_error\n";
  for (size_t layer = 0; layer < table.size(); ++layer)
    for (size_t head = 0; head < table[layer].size(); ++head) {
      const HeadOrders &values = table[layer][head];
      for (size_t n = 0; n < values.magnitude.size(); ++n)
        text += std::to_string(layer) + "," + std::to_string(head) + "," + std::to_string(n) + "," +
                formatNumber("%.17g", values.magnitude[n]) + "," +
                formatNumber("%.17g", values.weightError[n]) + "," +
                formatNumber("%.17g", values.outputError[n]) + "\n";
    }
  return text;
}

std::string printOrdersPlot(const OrdersTable &table, const std::string &title) {
  size_t rows = table.size() * table[0].size();
  auto [magnitudeLow, magnitudeHigh] = colourRange(table, &HeadOrders::magnitude);
  auto [errorLow, errorHigh] = colourRange(table, &HeadOrders::outputError);
  return text(
      "# Heat maps of orders.csv: gnuplot -c orders.gp OUTPUT.png|OUTPUT.svg [CSV]\n",
      "# Darker is larger; white is 0 or no number. Values below the lowest of a scale have its colour.\n",
      "title = ", quotedForPlot(shortened(title)), "\nheads = ", table[0].size(), "\nrows = ", rows,
      "\norders = ", table[0][0].magnitude.size() - 1,
      "\nheight = ", std::clamp<size_t>(160 + 20 * rows, 400, 1400), "\nmagnitude_low = ", magnitudeLow,
      "\nmagnitude_high = ", magnitudeHigh, "\nerror_low = ", errorLow, "\nerror_high = ", errorHigh, "\n",
      kPlotScript);
}

void plotOrders(const fs::path &folder, const OrdersTable &table, const std::string &title) {
  writeDurably(folder / "orders.gp", printOrdersPlot(table, title));
  for (const char *picture : {"orders.png", "orders.svg"})
    drawPlot(folder / "orders.gp", folder / picture, folder / "orders.csv");
}

} // namespace taylor::trainer
