// What a producer and its members may not do.
// RUN: taylor-opt %s --split-input-file --verify-diagnostics
!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    // expected-error @+1 {{'simt.roles' op expected 1 to 7 members, but got 8}}
    simt.roles members 8 registers 40, 232 producer {
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    // expected-error @+1 {{'simt.roles' op expected a multiple of 8 from 24 to 256 registers, but got 44}}
    simt.roles members 2 registers 44, 232 producer {
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    // expected-error @+1 {{'simt.roles' op expected at most 65536 registers in all, but got 66560}}
    simt.roles members 2 registers 56, 232 producer {
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    // expected-error @+1 {{'simt.roles' op expected nothing after it: roles do not meet again}}
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
    }
    %n = tile.size "u"
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    %zero = arith.constant 0.0 : f32
    simt.roles members 2 registers 40, 232 producer {
      // expected-error @+1 {{'tile.splat' op unsupported tile in a producer: it has the registers for addresses alone}}
      %x = tile.splat %zero : f32 -> !tile.tile<[t = 64], f32>
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
      // expected-error @+1 {{'simt.acquire' op expected it in the producer of a simt.roles}}
      %s = simt.acquire %r[%c0] : !ring
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
      // expected-error @+1 {{'simt.acquire' op expected one simt.copy in the same block that fills the slot and signals this use}}
      %s = simt.acquire %r[%c0] : !ring
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
      // expected-error @+1 {{'simt.wait_full' op expected it in the consumer of a simt.roles}}
      %s = simt.wait_full %r[%c0] : !ring
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
      // expected-error @+1 {{'simt.wait_full' op expected a simt.release of this use after it in the same block}}
      %s = simt.wait_full %r[%c0] : !ring
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
      // expected-error @+1 {{'simt.release' op expected a simt.wait_full of this use before it in the same block, and no other release}}
      simt.release %r[%c0] : !ring
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
      %s = simt.wait_full %r[%c0] : !ring
      simt.release %r[%c0] : !ring
      // expected-error @+1 {{'simt.release' op expected a simt.wait_full of this use before it in the same block, and no other release}}
      simt.release %r[%c0] : !ring
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
#x = #simt.layout<lane = [d:1, d:2, d:4, d:8, d:16], warp = [u:1, u:2], register = [d:32*2, u:4*16]>
!x = !tile.tile<[u = 64, d = 64], bf16, #x>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
      // expected-error @+1 {{'simt.wait_full' op expected readers of the slot before its release}}
      %s = simt.wait_full %r[%c0] : !ring
      simt.release %r[%c0] : !ring
      %x = simt.read %s : !k -> !x
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
#x = #simt.layout<lane = [d:1, d:2, d:4, d:8, d:16], warp = [u:1, u:2], register = [d:32*2, u:4*16]>
!x = !tile.tile<[u = 64, d = 64], bf16, #x>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    %zero = arith.constant 0.0 : bf16
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
      // expected-error @+1 {{'simt.wait_full' op expected a member to read the slot, but one of them writes it}}
      %s = simt.wait_full %r[%c0] : !ring
      %x = tile.splat %zero : bf16 -> !x
      simt.write %x, %s : !x, !k
      simt.release %r[%c0] : !ring
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
      // expected-error @+1 {{'simt.barrier' op expected no barrier in a producer, which one warp runs}}
      simt.barrier
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
      // expected-error @+1 {{'simt.barrier' op expected a barrier of the member alone in a consumer of simt.roles}}
      simt.barrier
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    // expected-error @+1 {{'simt.barrier' op expected a consumer of simt.roles around a barrier of its member}}
    simt.barrier member
    simt.roles members 2 registers 40, 232 producer {
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    %more = arith.cmpi slt, %c0, %c0 : index
    simt.roles members 2 registers 40, 232 producer {
      %s = simt.acquire %r[%c0] : !ring
      // expected-error @+1 {{'simt.copy' op expected simt.acquire, signals and no condition together: a use of a ring is filled once, by a copy that signals it}}
      simt.copy %keys[u = %c0], %s if %more signals %r[%c0] : !array, !k, !ring
    } consumer (%member) {
    }
  }
}

// -----

!array = !tile.array<[u, d = 64], bf16>
!k = !simt.buffer<1 x [u = 64, d = 64], bf16, swizzle = 128>
!ring = !simt.ring<!simt.buffer<2 x [u = 64, d = 64], bf16, swizzle = 128>>
tile.program @p {
  %keys = tile.tensor "input:k" : !array
  tile.kernel @k grid(%i in t) {
    %c0 = arith.constant 0 : index
    %r = simt.ring "k" : !ring
    %b = simt.alloc "b" : !k
    simt.roles members 2 registers 40, 232 producer {
      // expected-error @+1 {{'simt.copy' op expected a producer to fill a ring: nothing else tells the members of its copies}}
      simt.copy %keys[u = %c0], %b : !array, !k
    } consumer (%member) {
    }
  }
}
