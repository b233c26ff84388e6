// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parquet through Arrow, where the build has it.
#include "trainer/support/Error.h"
#include "trainer/text/Records.h"
#include <algorithm>
#include <optional>

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

/// A row is a record. One column is read, in batches of rows, page by page.
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
      arrowProperties.set_batch_size(kBatchRows);
      arrowProperties.set_pre_buffer(false); // else it reads a group of rows at once
      builder.properties(arrowProperties);
      reader = valueOf(builder.Build());
      rows = reader->parquet_reader()->metadata()->num_rows();
      openColumn(field);
    } catch (const parquet::ParquetException &error) {
      failDamaged(error.what());
    }
  }

  bool next(RecordBlock &block) override {
    block.bytes.clear();
    block.records.clear();
    try {
      while (int64_t(block.bytes.size()) < kBlockBytes) {
        std::shared_ptr<arrow::RecordBatch> batch = valueOf(batches->Next());
        if (!batch)
          break;
        append(block, *batch->column(0));
      }
    } catch (const parquet::ParquetException &error) {
      failDamaged(error.what());
    }
    block.next = position;
    block.consumed = rows > 0 ? int64_t(double(size) * position.offset / rows) : size;
    return !block.records.empty();
  }

private:
  static constexpr int64_t kBatchRows = 256;

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

  using SchemaField = parquet::arrow::SchemaField;

  static std::string namesOf(const std::vector<SchemaField> &fields) {
    std::string names;
    for (const SchemaField &one : fields)
      names += (names.empty() ? "" : ", ") + one.field->name();
    return names;
  }
  /// The only one of the name; null where there is none.
  const SchemaField *oneOf(const std::vector<SchemaField> &fields, std::string_view name) const {
    const SchemaField *found = nullptr;
    for (const SchemaField &one : fields) {
      if (one.field->name() != name)
        continue;
      if (found)
        fail("requires one column '", std::string(name), "' in '", path,
             "', but it has several of that name: ", namesOf(fields),
             "; write it anew with names of their own");
      found = &one;
    }
    return found;
  }
  /// The column of that name or, of a name with dots, the field within a column of fields.
  const SchemaField &fieldNamed(const std::string &field) const {
    const std::vector<SchemaField> &columns = reader->manifest().schema_fields;
    const SchemaField *found = oneOf(columns, field);
    std::string_view rest = field;
    for (const std::vector<SchemaField> *fields = &columns; !found && fields;) {
      size_t dot = rest.find('.');
      const SchemaField *one = oneOf(*fields, rest.substr(0, dot));
      if (dot == rest.npos)
        found = one;
      fields = dot != rest.npos && one && one->field->type()->id() == arrow::Type::STRUCT ? &one->children
                                                                                          : nullptr;
      rest.remove_prefix(std::min(dot, rest.size() - 1) + 1);
    }
    if (!found)
      fail("expected a column '", field, "' in '", path, "', but it has: ", namesOf(columns),
           "; name one with --field");
    return *found;
  }
  /// The values that a dictionary numbers are those of its column.
  static bool holdsText(const arrow::DataType &type) {
    switch (type.id()) {
    case arrow::Type::STRING:
    case arrow::Type::LARGE_STRING:
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY:
    case arrow::Type::LARGE_BINARY:
    case arrow::Type::BINARY_VIEW:
      return true;
    case arrow::Type::DICTIONARY:
      return holdsText(*static_cast<const arrow::DictionaryType &>(type).value_type());
    default:
      return false;
    }
  }

  void openColumn(const std::string &field) {
    const SchemaField &chosen = fieldNamed(field);
    if (chosen.field->type()->id() == arrow::Type::STRUCT)
      fail("expected strings in the column '", field, "' of '", path,
           "', but it has fields: ", namesOf(chosen.children), "; name one of them, as --field ", field, ".",
           chosen.children[0].field->name());
    if (!holdsText(*chosen.field->type()))
      fail("expected strings in the column '", field, "' of '", path, "', but it has values of type ",
           chosen.field->type()->ToString(),
           "; name another column with --field (there are: ", namesOf(reader->manifest().schema_fields), ")");
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
    batches = valueOf(reader->GetRecordBatchReader(groups, {chosen.column_index}));
  }

  /// A value of a column, of a field in a column of fields, of a dictionary's values; nothing where there is
  /// none.
  static std::optional<std::string_view> textAt(const arrow::Array &array, int64_t i) {
    if (array.IsNull(i))
      return std::nullopt;
    switch (array.type_id()) {
    case arrow::Type::STRUCT: // of which one field is read
      return textAt(*static_cast<const arrow::StructArray &>(array).field(0), i);
    case arrow::Type::DICTIONARY: {
      const auto &numbers = static_cast<const arrow::DictionaryArray &>(array);
      return textAt(*numbers.dictionary(), numbers.GetValueIndex(i));
    }
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return static_cast<const arrow::LargeBinaryArray &>(array).GetView(i);
    case arrow::Type::STRING_VIEW:
    case arrow::Type::BINARY_VIEW:
      return static_cast<const arrow::BinaryViewArray &>(array).GetView(i);
    default: // STRING, BINARY: holdsText() lets no other pass
      return static_cast<const arrow::BinaryArray &>(array).GetView(i);
    }
  }

  void append(RecordBlock &block, const arrow::Array &column) {
    for (int64_t i = 0; i < column.length(); ++i) {
      if (skip > 0) {
        --skip;
        continue;
      }
      ++position.offset;
      ++position.number;
      std::optional<std::string_view> text = textAt(column, i);
      if (!text) {
        block.records.push_back({0, 0, position.number, RecordBlock::Record::Missing});
      } else if (int64_t(text->size()) > kLongestRecord) {
        block.records.push_back({0, 0, position.number, RecordBlock::Record::TooLong});
      } else {
        block.records.push_back({block.bytes.size(), text->size(), position.number});
        block.bytes += *text;
      }
    }
  }

  std::string path;
  int64_t size, rows = 0;
  Cursor position;
  int64_t skip = 0; // rows before the first one wanted, in its group
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
