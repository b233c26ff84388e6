// RUN: taylor-opt %s --split-input-file --verify-diagnostics
tile.program @forward {
  tile.kernel @attend grid(%b in b, %h in h) {
    %from, %to, %step = simt.own_tiles
    // expected-error @below {{'simt.place' op expected 2 results, one for each extent of the grid, but got 1}}
    %i = simt.place %from : index
  }
}

// -----

func.func @alone(%k: index) {
  // expected-error @below {{'simt.place' op expected a tile.kernel around}}
  %i = simt.place %k : index
  return
}
