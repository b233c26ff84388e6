/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The instructions of AMX that kernels use, in plain C, bit for bit as the Intel 64 and IA-32 Architectures
 * Software Developer's Manual defines them (volume 2: LDTILECFG, TILELOADD, TILESTORED, TILEZERO, TDPBF16PS,
 * TILERELEASE). An artifact for a target `NAME+emulated-tiles` holds this object and calls it, so that every
 * machine can test what the matrix unit would compute. Slow, and meant to be read beside the manual.
 *
 * Registers belong to a thread, as the hardware's do. What the hardware refuses with a fault (a register
 * number or a size out of range, use without a configuration) traps here. */
#include <stdint.h>
#include <string.h>
#include <xmmintrin.h>

enum { MAX_ROWS = 16, MAX_BYTES = 64, REGISTERS = 8 };

/* MXCSR with subnormal numbers as zero, in operands and results, rounding to nearest even, exceptions masked.
 */
enum { TILE_MXCSR = 0x9fc0 };

typedef struct {
  uint8_t bytes[MAX_ROWS][MAX_BYTES];
  int rows, columnBytes;
} Register;

static __thread Register registers[REGISTERS];
static __thread int isConfigured;

static Register *find(uint8_t number) {
  if (!isConfigured || number >= REGISTERS || registers[number].rows == 0)
    __builtin_trap();
  return &registers[number];
}

/* Bytes 16 to 31: bytes of a row, 16 bits for each register; 48 to 55: rows. All registers become zero. */
void taylor_emulated_ldtilecfg(const uint8_t *configuration) {
  memset(registers, 0, sizeof(registers));
  isConfigured = configuration[0] == 1;
  for (int i = 0; i < REGISTERS; ++i) {
    uint16_t columnBytes;
    memcpy(&columnBytes, configuration + 16 + 2 * i, sizeof(columnBytes));
    registers[i].columnBytes = columnBytes;
    registers[i].rows = configuration[48 + i];
    if (columnBytes > MAX_BYTES || columnBytes % 4 || configuration[48 + i] > MAX_ROWS)
      __builtin_trap();
  }
}

void taylor_emulated_tilerelease(void) {
  memset(registers, 0, sizeof(registers));
  isConfigured = 0;
}

void taylor_emulated_tilezero(uint8_t number) {
  Register *tile = find(number);
  memset(tile->bytes, 0, sizeof(tile->bytes));
}

/* Rows and bytes that the register lacks become zero. `stride` is in bytes. */
void taylor_emulated_tileloadd64(uint8_t number, const uint8_t *from, int64_t stride) {
  Register *tile = find(number);
  memset(tile->bytes, 0, sizeof(tile->bytes));
  for (int row = 0; row < tile->rows; ++row)
    memcpy(tile->bytes[row], from + row * stride, (size_t)tile->columnBytes);
}

void taylor_emulated_tilestored64(uint8_t number, uint8_t *to, int64_t stride) {
  const Register *tile = find(number);
  for (int row = 0; row < tile->rows; ++row)
    memcpy(to + row * stride, tile->bytes[row], (size_t)tile->columnBytes);
}

/* The f32 whose upper half is the bf16 at an even (0) or odd (1) place of a word. */
static inline float widen(const uint8_t *word, int odd) {
  uint16_t half;
  memcpy(&half, word + 2 * odd, sizeof(half));
  uint32_t bits = (uint32_t)half << 16;
  float number;
  memcpy(&number, &bits, sizeof(number));
  return number;
}

/* C[m][n] += sum over k of A[m][2k] B[k][2n] + A[m][2k + 1] B[k][2n + 1]: even and odd terms are summed
 * apart, each with fused multiply-adds, then added, then added to C. */
__attribute__((target("avx2,fma"))) void taylor_emulated_tdpbf16ps(uint8_t c, uint8_t a, uint8_t b) {
  Register *sums = find(c);
  const Register *left = find(a), *right = find(b);
  if (left->rows != sums->rows || right->columnBytes != sums->columnBytes ||
      right->rows * 4 != left->columnBytes)
    __builtin_trap();
  unsigned before = _mm_getcsr();
  _mm_setcsr(TILE_MXCSR);
  int columns = sums->columnBytes / 4, pairs = left->columnBytes / 4;
  for (int m = 0; m < sums->rows; ++m) {
    float even[MAX_BYTES / 4] = {0}, odd[MAX_BYTES / 4] = {0}, row[MAX_BYTES / 4];
    for (int k = 0; k < pairs; ++k) {
      float evenA = widen(left->bytes[m] + 4 * k, 0), oddA = widen(left->bytes[m] + 4 * k, 1);
      for (int n = 0; n < columns; ++n) {
        even[n] = __builtin_fmaf(evenA, widen(right->bytes[k] + 4 * n, 0), even[n]);
        odd[n] = __builtin_fmaf(oddA, widen(right->bytes[k] + 4 * n, 1), odd[n]);
      }
    }
    memcpy(row, sums->bytes[m], sizeof(row));
    for (int n = 0; n < columns; ++n)
      row[n] += even[n] + odd[n];
    memcpy(sums->bytes[m], row, (size_t)sums->columnBytes);
  }
  /* The compiler may not move the sums over the change of the mode. */
  __asm__ volatile("" ::: "memory");
  _mm_setcsr(before);
}
