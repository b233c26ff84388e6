// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialect/Reference/PairSums.h"
#include <cmath>
#include <limits>
#include <optional>
#include <thread>

using namespace taylor;
using namespace taylor::reference;

namespace {

/// [rows, width], row major.
struct PairMatrix {
  int64_t rows = 0, width = 1;
  std::vector<Real> values;
  /// Whether no element is an infinity or NaN. Whoever fills the matrix sets it.
  bool isFinite = true;

  PairMatrix() = default;
  PairMatrix(int64_t rows, int64_t width) : rows(rows), width(width), values(rows * width, 0) {}
  Real *row(int64_t i) { return values.data() + (rows == 1 ? 0 : i) * width; }
  const Real *row(int64_t i) const { return values.data() + (rows == 1 ? 0 : i) * width; }
  void findInfinities() {
    isFinite = llvm::all_of(values, [](Real element) { return std::isfinite(element); });
  }
};

bool isBatchAxis(AxisRef axis) {
  return axis == AxisRole::Batch || axis == AxisRole::Head || axis == AxisRole::KeyHead;
}

Real dot(const Real *a, const Real *b, int64_t width, const RoundingRules &arithmetic) {
  Real sum = 0;
  if (arithmetic.accumulator.isExact()) {
    for (int64_t c = 0; c < width; ++c)
      sum += a[c] * b[c];
    return sum;
  }
  for (int64_t c = 0; c < width; ++c)
    sum = arithmetic.accumulator.finite(sum + arithmetic.operand(a[c]) * arithmetic.operand(b[c]));
  if (std::isnan(sum)) { // `finite` makes NaN of an infinity
    sum = 0;
    for (int64_t c = 0; c < width; ++c)
      sum = arithmetic.accumulator(sum + arithmetic.operand(a[c]) * arithmetic.operand(b[c]));
  }
  return arithmetic.value(sum);
}

/// A row of a matrix += w times one of another, rounded as the running sum of a dot.
void addScaled(PairMatrix &matrix, int64_t row, Real w, const PairMatrix &other, int64_t otherRow,
               const RoundingRules &arithmetic) {
  Real *y = matrix.row(row);
  const Real *x = other.row(otherRow);
  int64_t width = matrix.width;
  if (arithmetic.accumulator.isExact()) {
    for (int64_t c = 0; c < width; ++c)
      y[c] += w * x[c];
    return;
  }
  w = arithmetic.operand(w);
  matrix.isFinite = matrix.isFinite && other.isFinite && std::isfinite(w);
  if (matrix.isFinite) {
    for (int64_t c = 0; c < width; ++c)
      y[c] = arithmetic.accumulator.finite(y[c] + w * arithmetic.operand(x[c]));
    return;
  }
  for (int64_t c = 0; c < width; ++c)
    y[c] = arithmetic.accumulator(y[c] + w * arithmetic.operand(x[c]));
}

} // namespace

void taylor::reference::inOrder(int64_t count, int threads, llvm::function_ref<void(int64_t)> work,
                                llvm::function_ref<void(int64_t)> finish) {
  int64_t width = threads < 1 ? 1 : threads;
  for (int64_t begin = 0; begin < count; begin += width) {
    int64_t end = begin + width < count ? begin + width : count;
    std::vector<std::thread> others;
    for (int64_t i = begin + 1; i < end; ++i)
      others.emplace_back([&, i] { work(i); });
    work(begin);
    for (std::thread &other : others)
      other.join();
    for (int64_t i = begin; i < end; ++i)
      finish(i);
  }
}

/// Everything of one batch point: operands as matrices, and what is computed from them.
struct PairSums::Head {
  std::vector<int64_t> batch;
  std::vector<PairMatrix> arrays, outputs, cotangents, gradients;
  std::vector<bool> hasCotangent;
  std::vector<int64_t> counts;
};

int PairSums::addArray(const Array &array, bool isDifferentiable) {
  arrays.push_back(&array);
  differentiable.push_back(isDifferentiable);
  return static_cast<int>(arrays.size()) - 1;
}

Shape PairSums::batchShape() const {
  bool has[3] = {};
  auto note = [&](AxisRef axis) {
    has[0] |= axis == AxisRole::Batch;
    has[1] |= axis == AxisRole::Head;
    has[2] |= axis == AxisRole::KeyHead;
  };
  for (const Array *array : arrays)
    llvm::for_each(array->shape.axes, note);
  for (const Output &output : outputs)
    llvm::for_each(output.shape.axes, note);
  for (const PairProgram *part : {&visible, &maximum, &weight})
    for (const RegionProgram::Index &index : part->program.getIndices())
      note(index.axis);
  Shape batch;
  if (has[0])
    batch.append(AxisRole::Batch, environment.sizeOf(AxisRole::Batch));
  if (has[1])
    batch.append(AxisRole::Head, environment.sizeOf(AxisRole::Head));
  else if (has[2])
    batch.append(AxisRole::KeyHead, environment.sizeOf(AxisRole::KeyHead));
  return batch;
}

PairSums::Layout PairSums::layoutOf(const Shape &shape) const {
  Layout layout;
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (taylor::isTokenAxis(shape.axes[i]))
      layout.token = shape.axes[i];
    else if (!isBatchAxis(shape.axes[i]))
      layout.channels.append(shape.axes[i], shape.sizes[i]);
  }
  return layout;
}

Shape PairSums::loopOf(const Layout &layout) const {
  Shape loop;
  if (!layout.token.empty())
    loop.append(layout.token, environment.sizeOf(layout.token));
  for (int64_t i = 0; i < layout.channels.rank(); ++i)
    loop.append(layout.channels.axes[i], layout.channels.sizes[i]);
  return loop;
}

PairSums::Layout PairSums::outputLayout(const Output &output) const {
  Layout layout;
  if (output.array >= 0)
    layout.channels = layoutOf(arrays[output.array]->shape).channels;
  if (output.kind == Kind::Rows || output.kind == Kind::Maximum)
    layout.token = nameOf(AxisRole::Query);
  else if (output.kind == Kind::Columns)
    layout.token = nameOf(AxisRole::Key);
  else if (output.kind == Kind::Diagonals)
    layout.token = nameOf(AxisRole::Lag);
  return layout;
}

/// The loop over one batch point's tokens and channels, with the batch axes before it.
static Shape withBatch(const Shape &batch, const Shape &inner) {
  Shape loop = batch;
  for (int64_t i = 0; i < inner.rank(); ++i)
    loop.append(inner.axes[i], inner.sizes[i]);
  return loop;
}

/// Visits (element of the array, element of the matrix) for one batch point.
static void forEachElement(const Shape &array, const Shape &batch, llvm::ArrayRef<int64_t> batchPoint,
                           const Shape &inner, llvm::function_ref<void(int64_t, int64_t)> visit) {
  Walk walk(array, withBatch(batch, inner));
  std::vector<int64_t> point(batchPoint.begin(), batchPoint.end());
  point.resize(batchPoint.size() + inner.rank());
  int64_t element = 0;
  forEachPoint(inner, [&](llvm::ArrayRef<int64_t> innerPoint) {
    llvm::copy(innerPoint, point.begin() + batchPoint.size());
    visit(walk(point), element++);
  });
}

static PairMatrix makeMatrix(const Shape &inner, bool hasToken) {
  int64_t rows = hasToken ? inner.sizes[0] : 1;
  int64_t width = 1;
  for (int64_t i = hasToken ? 1 : 0; i < inner.rank(); ++i)
    width *= inner.sizes[i];
  return PairMatrix(rows, width);
}

PairSums::Head PairSums::makeHead(llvm::ArrayRef<int64_t> batchPoint) const {
  Head head;
  head.batch.assign(batchPoint.begin(), batchPoint.end());
  Shape batch = batchShape();
  for (const Array *array : arrays) {
    Layout layout = layoutOf(array->shape);
    Shape inner = loopOf(layout);
    PairMatrix &matrix = head.arrays.emplace_back(makeMatrix(inner, !layout.token.empty()));
    forEachElement(array->shape, batch, batchPoint, inner,
                   [&](int64_t from, int64_t to) { matrix.values[to] = array->values[from]; });
    matrix.findInfinities();
  }
  head.counts.assign(environment.sizeOf(AxisRole::Query), 0);
  return head;
}

namespace {

/// The registers of one program, filled row by row and pair by pair.
class HeadFrame {
public:
  HeadFrame(const PairSums &sums, const PairProgram &part, const std::vector<PairMatrix> &arrays,
            const std::vector<std::string> &tokens, const Shape &batch, llvm::ArrayRef<int64_t> batchPoint)
      : part(part), registers(part.program.makeRegisters()), environment(sums.environment) {
    for (auto [number, reg] : llvm::zip(sums.scalars, part.scalars)) {
      const PairMatrix *matrix = &arrays[number];
      if (tokens[number] == AxisRole::Query)
        rowScalars.push_back({matrix, reg});
      else if (tokens[number] == AxisRole::Key)
        columnScalars.push_back({matrix, reg});
      else if (tokens[number] == AxisRole::Lag)
        diagonalScalars.push_back({matrix, reg});
      else
        registers[reg] = *matrix->row(0);
    }
    for (const RegionProgram::Index &index : part.program.getIndices()) {
      if (index.axis == AxisRole::Query)
        rowIndex = index.reg;
      else if (index.axis == AxisRole::Key)
        columnIndex = index.reg;
      else if (int64_t axis = batch.find(index.axis); axis >= 0)
        registers[index.reg] = batchPoint[axis];
    }
  }

  void setRow(int64_t t) {
    row = t;
    for (auto [matrix, reg] : rowScalars)
      registers[reg] = *matrix->row(t);
    if (rowIndex >= 0)
      registers[rowIndex] = environment.position(AxisRole::Query, t);
  }
  /// After the row.
  void setColumn(int64_t u) {
    for (auto [matrix, reg] : columnScalars)
      registers[reg] = *matrix->row(u);
    for (auto [matrix, reg] : diagonalScalars)
      registers[reg] = *matrix->row(environment.lagOf(row, u));
    if (columnIndex >= 0)
      registers[columnIndex] = u;
  }
  void run() { part.program.run(registers); }
  Real result(int i) const { return registers[part.program.getResults()[i]]; }

  const PairProgram &part;
  std::vector<Real> registers;

private:
  struct Scalar {
    const PairMatrix *matrix;
    int reg;
  };
  llvm::SmallVector<Scalar> rowScalars, columnScalars, diagonalScalars;
  int rowIndex = -1, columnIndex = -1;
  int64_t row = 0;
  const Environment &environment;
};

/// What one row t of a head sees: its visible keys, the inner products with them, and the weight of each.
class RowOfPairs {
public:
  RowOfPairs(const PairSums &sums, const std::vector<PairMatrix> &arrays,
             std::vector<std::string> tokensOfArrays, llvm::ArrayRef<int64_t> batchPoint)
      : tokens(std::move(tokensOfArrays)), weight(makeFrame(sums, sums.weight, arrays, batchPoint)),
        sums(sums), arrays(arrays), visible(makeFrame(sums, sums.visible, arrays, batchPoint)),
        maximum(makeFrame(sums, sums.maximum, arrays, batchPoint)), products(sums.products.size()) {}

  void set(int64_t t) {
    keys.clear();
    visible.setRow(t);
    int64_t begin = 0, end = sums.environment.sizeOf(AxisRole::Key);
    if (sums.chunk) {
      begin = std::max<int64_t>(0, sums.environment.offset + t / sums.chunk * sums.chunk);
      end = std::min(end, sums.environment.offset + (t / sums.chunk + 1) * sums.chunk);
    }
    for (int64_t u = begin; u < end; ++u) {
      if (!sums.environment.visits(t, u))
        continue;
      if (!sums.visible.program.getResults().empty()) {
        visible.setColumn(u);
        visible.run();
        if (visible.result(0) == 0)
          continue;
      }
      keys.push_back(u);
    }
    for (auto [product, values] : llvm::zip_equal(sums.products, products)) {
      const PairMatrix &row = arrays[product.row], &column = arrays[product.column];
      values.clear();
      for (int64_t u : keys)
        values.push_back(dot(row.row(t), column.row(u), row.width, sums.environment.arithmetic));
    }
    runningMaximum = -std::numeric_limits<Real>::infinity();
    if (size_t maxima = sums.maximum.program.getResults().size()) {
      maximum.setRow(t);
      for (size_t j = 0; j < keys.size(); ++j) {
        runPair(maximum, j);
        for (size_t i = 0; i < maxima; ++i)
          runningMaximum = std::max(runningMaximum, maximum.result(i));
      }
    }
    weight.setRow(t);
    if (sums.weight.maximum >= 0)
      weight.registers[sums.weight.maximum] = runningMaximum;
  }

  /// Evaluates the weight of the j-th visible key.
  void run(size_t j) { runPair(weight, j); }

  /// The axis t, u, lag or none of each array.
  const std::vector<std::string> tokens;
  std::vector<int64_t> keys;
  Real runningMaximum = 0;
  HeadFrame weight;

private:
  HeadFrame makeFrame(const PairSums &sums, const PairProgram &part, const std::vector<PairMatrix> &arrays,
                      llvm::ArrayRef<int64_t> batchPoint) const {
    return HeadFrame(sums, part, arrays, tokens, sums.batchShape(), batchPoint);
  }
  void runPair(HeadFrame &frame, size_t j) const {
    for (auto [values, reg] : llvm::zip(products, frame.part.products))
      frame.registers[reg] = values[j];
    frame.setColumn(keys[j]);
    frame.run();
  }

  const PairSums &sums;
  const std::vector<PairMatrix> &arrays;
  HeadFrame visible, maximum;
  std::vector<std::vector<Real>> products;
};

} // namespace

static std::vector<std::string> tokensOf(llvm::ArrayRef<const Array *> arrays) {
  std::vector<std::string> tokens;
  for (const Array *array : arrays)
    tokens.emplace_back(array->shape.has(AxisRole::Query) ? nameOf(AxisRole::Query)
                        : array->shape.has(AxisRole::Key) ? nameOf(AxisRole::Key)
                        : array->shape.has(AxisRole::Lag) ? nameOf(AxisRole::Lag)
                                                          : "");
  return tokens;
}

int64_t PairSums::rowOf(Kind kind, int64_t t, int64_t u) const {
  switch (kind) {
  case Kind::Rows:
  case Kind::Maximum:
    return t;
  case Kind::Columns:
    return u;
  case Kind::Diagonals:
    return environment.lagOf(t, u);
  case Kind::Total:
    return 0;
  }
  llvm_unreachable("all kinds of outputs are covered");
}

int64_t PairSums::rowOf(AxisRef token, int64_t t, int64_t u) const {
  return token == AxisRole::Query ? t
         : token == AxisRole::Key ? u
         : token == AxisRole::Lag ? environment.lagOf(t, u)
                                  : 0;
}

void PairSums::evaluateHead(Head &head) const {
  const RoundingRules &arithmetic = environment.arithmetic;
  RowOfPairs row(*this, head.arrays, tokensOf(arrays), head.batch);

  for (const Output &output : outputs) {
    Layout layout = outputLayout(output);
    head.outputs.push_back(makeMatrix(loopOf(layout), !layout.token.empty()));
  }
  for (int64_t t = 0, rows = environment.sizeOf(AxisRole::Query); t < rows; ++t) {
    row.set(t);
    head.counts[t] = row.keys.size();
    for (auto [output, result] : llvm::zip_equal(outputs, head.outputs))
      if (output.kind == Kind::Maximum)
        *result.row(t) = row.runningMaximum;
    for (size_t j = 0; j < row.keys.size(); ++j) {
      int64_t u = row.keys[j];
      row.run(j);
      for (auto [output, result] : llvm::zip_equal(outputs, head.outputs)) {
        if (output.kind == Kind::Maximum)
          continue;
        Real w = row.weight.result(output.yielded);
        int64_t to = rowOf(output.kind, t, u);
        int64_t from = output.kind == Kind::Rows ? u : t;
        if (output.array < 0)
          accumulate(*result.row(to), w, arithmetic.accumulator);
        else
          addScaled(result, to, w, head.arrays[output.array], from, arithmetic);
      }
    }
  }
}

void PairSums::pullbackHead(Head &head) const {
  const RoundingRules &arithmetic = environment.arithmetic;
  RowOfPairs row(*this, head.arrays, tokensOf(arrays), head.batch);
  std::vector<Real> cotangents(row.weight.registers.size());

  for (auto [array, isDifferentiable] : llvm::zip_equal(head.arrays, differentiable))
    head.gradients.push_back(isDifferentiable ? PairMatrix(array.rows, array.width) : PairMatrix());
  auto gradient = [&](int array) { return differentiable[array] ? &head.gradients[array] : nullptr; };
  for (int64_t t = 0, rows = environment.sizeOf(AxisRole::Query); t < rows; ++t) {
    row.set(t);
    for (size_t j = 0; j < row.keys.size(); ++j) {
      int64_t u = row.keys[j];
      row.run(j);

      // Outputs: y += w x gives dw = <dy, x> and dx += w dy.
      std::fill(cotangents.begin(), cotangents.end(), Real(0));
      for (size_t i = 0; i < outputs.size(); ++i) {
        const Output &output = outputs[i];
        if (output.kind == Kind::Maximum || !head.hasCotangent[i])
          continue;
        int64_t to = rowOf(output.kind, t, u);
        int64_t from = output.kind == Kind::Rows ? u : t;
        const PairMatrix &cotangent = head.cotangents[i];
        int reg = weight.program.getResults()[output.yielded];
        Real dw = output.array < 0 ? *cotangent.row(to)
                                   : dot(cotangent.row(to), head.arrays[output.array].row(from),
                                         cotangent.width, arithmetic);
        accumulate(cotangents[reg], dw, arithmetic.value);
        if (output.array >= 0)
          if (PairMatrix *dx = gradient(output.array))
            addScaled(*dx, from, row.weight.result(output.yielded), cotangent, to, arithmetic);
      }
      weight.program.pullback(row.weight.registers, cotangents);

      // Arguments: s = <a, b> gives da += ds b and db += ds a.
      for (auto [product, reg] : llvm::zip(products, weight.products)) {
        Real ds = cotangents[reg];
        if (ds == 0)
          continue;
        const PairMatrix &a = head.arrays[product.row], &b = head.arrays[product.column];
        if (PairMatrix *da = gradient(product.row))
          addScaled(*da, t, ds, b, u, arithmetic);
        if (PairMatrix *db = gradient(product.column))
          addScaled(*db, u, ds, a, t, arithmetic);
      }
      for (auto [number, reg] : llvm::zip(scalars, weight.scalars))
        if (PairMatrix *dx = gradient(number)) {
          accumulate(*dx->row(rowOf(row.tokens[number], t, u)), cotangents[reg], arithmetic.accumulator);
          dx->isFinite &= std::isfinite(cotangents[reg]);
        }
    }
  }
}

RoundingRules PairSums::arithmeticOf(const Output &output) const {
  // Counts are integers, also in eager code.
  bool isCount = output.kind != Kind::Maximum && output.array < 0 &&
                 !weight.program.dependsOnArray(weight.program.getResults()[output.yielded]);
  return isCount ? RoundingRules::exact() : environment.arithmetic;
}

/// Adds one head's matrix to an array, and rounds it to the storage type on the way, as eager code does per
/// head.
static void scatter(Array &array, const PairMatrix &matrix, const Shape &batch,
                    llvm::ArrayRef<int64_t> batchPoint, const Shape &inner, const RoundingRules &arithmetic) {
  forEachElement(array.shape, batch, batchPoint, inner, [&](int64_t to, int64_t from) {
    accumulate(array.values[to], arithmetic.value(matrix.values[from]), arithmetic.accumulator);
  });
}

static std::vector<std::vector<int64_t>> pointsOf(const Shape &loop) {
  std::vector<std::vector<int64_t>> points;
  forEachPoint(loop, [&](llvm::ArrayRef<int64_t> point) { points.emplace_back(point.begin(), point.end()); });
  return points;
}

PairSums::Forward PairSums::evaluate() const {
  Shape batch = batchShape();
  Forward forward;
  for (const Output &output : outputs)
    forward.outputs.emplace_back(output.shape);
  Shape rows;
  rows.append(AxisRole::Query, environment.sizeOf(AxisRole::Query));
  forward.counts = Array(withBatch(batch, rows));

  std::vector<std::vector<int64_t>> points = pointsOf(batch);
  std::vector<std::optional<Head>> heads(points.size());
  auto work = [&](int64_t i) { evaluateHead(heads[i].emplace(makeHead(points[i]))); };
  auto finish = [&](int64_t i) {
    Head &head = *heads[i];
    for (auto [output, array, matrix] : llvm::zip_equal(outputs, forward.outputs, head.outputs))
      scatter(array, matrix, batch, points[i], loopOf(outputLayout(output)), arithmeticOf(output));
    for (size_t t = 0; t < head.counts.size(); ++t)
      forward.counts.values[i * head.counts.size() + t] = head.counts[t];
    heads[i].reset();
  };
  inOrder(points.size(), environment.threads, work, finish);
  for (auto [output, array] : llvm::zip_equal(outputs, forward.outputs))
    roundAll(array, arithmeticOf(output).value);
  return forward;
}

std::vector<Array> PairSums::pullback(llvm::ArrayRef<Array> cotangents) const {
  Shape batch = batchShape();
  std::vector<Array> gradients;
  for (auto [array, isDifferentiable] : llvm::zip_equal(arrays, differentiable))
    gradients.push_back(isDifferentiable ? Array(array->shape) : Array());

  std::vector<std::vector<int64_t>> points = pointsOf(batch);
  std::vector<std::optional<Head>> heads(points.size());
  auto work = [&](int64_t i) {
    Head &head = heads[i].emplace(makeHead(points[i]));
    for (auto [output, cotangent] : llvm::zip_equal(outputs, cotangents)) {
      Layout layout = outputLayout(output);
      Shape inner = loopOf(layout);
      PairMatrix &matrix = head.cotangents.emplace_back(makeMatrix(inner, !layout.token.empty()));
      head.hasCotangent.push_back(!cotangent.values.empty());
      if (head.hasCotangent.back())
        forEachElement(cotangent.shape, batch, points[i], inner,
                       [&](int64_t from, int64_t to) { matrix.values[to] = cotangent.values[from]; });
      matrix.findInfinities();
    }
    pullbackHead(head);
  };
  auto finish = [&](int64_t i) {
    for (size_t a = 0; a < arrays.size(); ++a)
      if (differentiable[a])
        scatter(gradients[a], heads[i]->gradients[a], batch, points[i], loopOf(layoutOf(arrays[a]->shape)),
                environment.arithmetic);
    heads[i].reset();
  };
  inOrder(points.size(), environment.threads, work, finish);
  for (Array &gradient : gradients)
    roundAll(gradient, environment.arithmetic.value);
  return gradients;
}
