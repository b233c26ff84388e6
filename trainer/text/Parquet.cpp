// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parquet through Arrow, where the build has it.
#include "trainer/support/Error.h"
#include "trainer/text/Records.h"

#ifdef TAYLOR_ARROW
#include <arrow/array.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>
#endif

namespace taylor::trainer {

#ifdef TAYLOR_ARROW

namespace {

// A row is a record. One column is read, in batches of rows, page by page.
class ParquetSource : public RecordSource {
public:
  ParquetSource(const InputFile &file, const std::string &field, Cursor from)
      : path(file.path.string()), size(file.size), position(from) {
    try {
      parquet::ReaderProperties properties = parquet::default_reader_properties();
      properties.enable_buffered_stream();
      properties.set_page_checksum_verification(true); // where the file has them
      parquet::arrow::FileReaderBuilder builder;
      check(builder.Open(valueOf(arrow::io::ReadableFile::Open(path)), properties));
      parquet::ArrowReaderProperties arrowProperties;
      arrowProperties.set_batch_size(batchRows);
      arrowProperties.set_pre_buffer(false); // else it reads a group of rows at once
      builder.properties(arrowProperties);
      reader = valueOf(builder.Build());
      rows = reader->parquet_reader()->metadata()->num_rows();
      openColumn(field);
    } catch (const parquet::ParquetException &error) {
      failDamaged(error.what());
    }
  }

  bool next(Block &block) override {
    block.bytes.clear();
    block.records.clear();
    try {
      while (int64_t(block.bytes.size()) < blockBytes) {
        std::shared_ptr<arrow::RecordBatch> batch = valueOf(batches->Next());
        if (!batch)
          break;
        const arrow::Array &column = *batch->column(0);
        if (column.type_id() == arrow::Type::STRING)
          append(block, static_cast<const arrow::StringArray &>(column));
        else
          append(block, static_cast<const arrow::LargeStringArray &>(column));
      }
    } catch (const parquet::ParquetException &error) {
      failDamaged(error.what());
    }
    block.next = position;
    block.consumed = rows > 0 ? int64_t(double(size) * position.offset / rows) : size;
    return !block.records.empty();
  }

private:
  static constexpr int64_t batchRows = 256;

  [[noreturn]] void failDamaged(const std::string &how) const {
    fail("cannot read the Parquet file '", path, "': ", how);
  }
  void check(const arrow::Status &status) const {
    if (!status.ok())
      failDamaged(status.message());
  }
  template <typename Value> Value valueOf(arrow::Result<Value> result) const {
    check(result.status());
    return std::move(result).ValueUnsafe();
  }

  void openColumn(const std::string &field) {
    std::shared_ptr<arrow::Schema> schema;
    check(reader->GetSchema(&schema));
    int index = schema->GetFieldIndex(field);
    std::string names;
    for (const auto &one : schema->fields())
      names += (names.empty() ? "" : ", ") + one->name();
    if (index < 0)
      fail("expected a column '", field, "' in '", path, "', but it has: ", names, "; name one with --field");
    arrow::Type::type type = schema->field(index)->type()->id();
    if (type != arrow::Type::STRING && type != arrow::Type::LARGE_STRING)
      fail("expected strings in the column '", field, "' of '", path, "', but it has values of type ",
           schema->field(index)->type()->ToString(), "; name another column with --field (there are: ", names,
           ")");
    // Whole groups of rows are passed over without being read.
    std::vector<int> groups;
    int64_t passed = 0;
    for (int64_t g = 0, before = 0, count; g < reader->num_row_groups(); ++g, before += count) {
      count = reader->parquet_reader()->metadata()->RowGroup(g)->num_rows();
      if (before + count > position.offset)
        groups.push_back(g);
      else
        passed = before + count;
    }
    skip = position.offset - passed;
    batches =
        valueOf(reader->GetRecordBatchReader(groups, {reader->manifest().schema_fields[index].column_index}));
  }

  template <typename Array> void append(Block &block, const Array &column) {
    for (int64_t i = 0; i < column.length(); ++i) {
      if (skip > 0) {
        --skip;
        continue;
      }
      ++position.offset;
      ++position.number;
      if (column.IsNull(i)) {
        block.records.push_back({0, 0, position.number, Block::Record::Missing});
      } else if (std::string_view text = column.GetView(i); int64_t(text.size()) > longestRecord) {
        block.records.push_back({0, 0, position.number, Block::Record::TooLong});
      } else {
        block.records.push_back({block.bytes.size(), text.size(), position.number});
        block.bytes += text;
      }
    }
  }

  std::string path;
  int64_t size, rows = 0;
  Cursor position;
  int64_t skip = 0; // rows in front of the first one wanted, in its group
  std::unique_ptr<parquet::arrow::FileReader> reader;
  std::unique_ptr<arrow::RecordBatchReader> batches;
};

} // namespace

std::unique_ptr<RecordSource> openParquet(const InputFile &file, const RecordOptions &options, Cursor from) {
  return std::make_unique<ParquetSource>(file, options.field, from);
}

#else

std::unique_ptr<RecordSource> openParquet(const InputFile &file, const RecordOptions &, Cursor) {
  fail("unsupported file '", file.path.string(),
       "': Parquet is read by Arrow, which this taylor-train was built without; "
       "'.venv/bin/python3 -m pip install pyarrow==26.0.1 && ./quickstart.sh' adds it");
}

#endif

} // namespace taylor::trainer
