// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trainer/checkpoint/Safetensors.h"
#include "trainer/support/Error.h"
#include "trainer/support/Json.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_set>

using nlohmann::json;

namespace taylor::trainer {

namespace {

constexpr uint64_t kMaximalHeader = 100'000'000; // the limit of the reference implementation
static_assert(std::endian::native == std::endian::little, "safetensors are little-endian");

/// The product of the sizes, or -1 where it overflows.
int64_t elements(const std::vector<int64_t> &shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(product, size, &product))
      return -1;
  return product;
}

bool isNaturals(const json &value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const json &entry) {
           return entry.is_number_unsigned() && entry.get<uint64_t>() <= uint64_t(INT64_MAX);
         });
}

/// Accepts an object in which no name of the outermost level stands twice, since only one of the two would be
/// seen, and without nesting that the format has no use for. (A callback of json::parse would tell the same,
/// but the library then looks at all names again after each.)
class HeaderCheck : public nlohmann::json_sax<json> {
public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t &) override { return true; }
  bool string(string_t &) override { return true; }
  bool binary(binary_t &) override { return false; }
  bool key(string_t &name) override { return depth > 1 || names.insert(name).second; }
  bool start_object(std::size_t) override { return ++depth <= 4; }
  bool end_object() override { return depth-- > 0; }
  bool start_array(std::size_t) override { return ++depth <= 4; }
  bool end_array() override { return depth-- > 0; }
  bool parse_error(std::size_t, const std::string &, const nlohmann::detail::exception &) override {
    return false;
  }

private:
  int depth = 0;
  std::unordered_set<std::string> names;
};

/// The format wants an object from the first byte on and nothing after it but blanks; what another reader
/// would see in a longer header is refused.
json parseHeader(std::string_view header, const std::string &origin) {
  size_t end = header.find_last_not_of(' ') + 1;
  HeaderCheck check;
  if (!header.starts_with('{') || header[end - 1] != '}' || !isPlainJson(header) ||
      !json::sax_parse(header, &check))
    fail("expected safetensors, but the header of '", origin, "' is not the JSON of that format");
  return json::parse(header);
}

} // namespace

size_t dtypeSize(const std::string &dtype) {
  static const std::map<std::string, size_t> sizes = {
      {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8}, {"I32", 4}, {"I16", 2},
      {"I8", 1},  {"U64", 8}, {"U32", 4}, {"U16", 2},  {"U8", 1},  {"BOOL", 1}};
  auto found = sizes.find(dtype);
  return found == sizes.end() ? 0 : found->second;
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path &path) : file(path) {
  std::string origin = path.string();
  uint64_t length;
  if (file.size() < sizeof length)
    fail("expected safetensors, but '", origin, "' has ", file.size(), " bytes");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > kMaximalHeader || length > file.size() - sizeof length)
    fail("expected safetensors, but '", origin, "' has ", file.size(), " bytes and a header of ", length,
         ": truncated, or another format");
  json header = parseHeader(file.view().substr(sizeof length, length), origin);
  const char *data = file.data() + sizeof length + length;
  uint64_t size = file.size() - sizeof length - length;

  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto &[name, entry] : header.items()) {
    if (name == "__metadata__") {
      for (const auto &[key, value] : entry.items())
        if (value.is_string())
          strings[key] = value;
      continue;
    }
    auto refuse = [&](const std::string &reason) {
      fail("expected safetensors, but in '", origin, "' ", reason, " of tensor '", name, "'");
    };
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string())
      refuse("there is no dtype");
    if (!entry.contains("shape") || !isNaturals(entry["shape"]))
      refuse("there is no shape");
    if (!entry.contains("data_offsets") || !isNaturals(entry["data_offsets"]) ||
        entry["data_offsets"].size() != 2)
      refuse("there are no data_offsets");
    TensorView view;
    view.dtype = entry["dtype"];
    view.shape = entry["shape"].get<std::vector<int64_t>>();
    uint64_t begin = entry["data_offsets"][0], end = entry["data_offsets"][1];
    size_t unit = dtypeSize(view.dtype);
    if (unit == 0)
      fail("unsupported dtype '", view.dtype, "' of tensor '", name, "' in '", origin, "'");
    if (begin > end)
      refuse(text("data_offsets go back, from ", begin, " to ", end, ","));
    if (end > size)
      fail("expected ", end, " bytes of tensors in '", origin, "' for tensor '", name, "', but got ", size,
           ": the file is truncated");
    int64_t count = elements(view.shape), bytes;
    if (count < 0 || __builtin_mul_overflow(count, int64_t(unit), &bytes) || uint64_t(bytes) != end - begin)
      refuse("shape and data_offsets disagree");
    view.data = data + begin;
    view.size = end - begin;
    ranges.push_back({begin, end});
    entries[name] = std::move(view);
  }
  std::sort(ranges.begin(), ranges.end());
  uint64_t position = 0;
  for (auto [begin, end] : ranges) {
    if (begin != position)
      fail("expected safetensors, but tensors in '", origin, "' overlap or leave a gap at byte ", position);
    position = end;
  }
  if (position != size)
    fail("expected ", position, " bytes of tensors in '", origin, "', but got ", size);
}

void writeSafetensors(const std::filesystem::path &path, const std::map<std::string, TensorView> &tensors,
                      const std::map<std::string, std::string> &metadata) {
  json header = json::object();
  if (!metadata.empty())
    header["__metadata__"] = metadata;
  size_t position = 0;
  for (const auto &[name, view] : tensors) {
    header[name] = {
        {"dtype", view.dtype}, {"shape", view.shape}, {"data_offsets", {position, position + view.size}}};
    position += view.size;
  }
  std::string contents = header.dump();
  contents.resize((contents.size() + 7) / 8 * 8, ' '); // tensors begin at a multiple of 8
  uint64_t length = contents.size();
  contents.insert(0, reinterpret_cast<const char *>(&length), sizeof length);
  DurableFile file(path);
  file.write(contents);
  for (const auto &[name, view] : tensors)
    file.write({view.data, view.size});
  file.finish();
}

} // namespace taylor::trainer
