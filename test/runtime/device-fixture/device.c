// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* An artifact for a GPU alone, of device.ptx and device.json. */
#include "runtime/artifact.h"
#include <stddef.h>

static const char manifest[] = {
#include "device.json.inc"
};
static const char text[] = {
#include "device.ptx.inc"
    , 0};
#ifndef IMAGES /* what the table of images holds: a test of its checks may say otherwise */
#define IMAGES {"sm_80", TAYLOR_IMAGE_PTX, text, sizeof(text) - 1}
#endif
static const TaylorImage images[] = {IMAGES};
#ifndef IMAGE_COUNT
#define IMAGE_COUNT sizeof(images) / sizeof(*images)
#endif
__attribute__((visibility("default"))) const TaylorArtifact taylor_artifact = {
    TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, manifest, sizeof(manifest), NULL, 0, images, IMAGE_COUNT};
