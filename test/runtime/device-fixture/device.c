// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* An artifact for a GPU alone, of device.ptx and device.json. MAPS=1: code that takes tensor maps
   instead; 2: and a second one that does not. */
#include "runtime/artifact.h"
#include <stddef.h>

#ifndef MAPS
#define IMAGE_TEXT "device.ptx.inc"
#define MANIFEST "device.json.inc"
#define TARGET "sm_80"
#else
#define IMAGE_TEXT "maps.ptx.inc"
#define TARGET "sm_90a"
#if MAPS == 1
#define MANIFEST "maps-alone.json.inc"
#else
#define MANIFEST "maps.json.inc"
static const char plain[] = {
#include "plain.ptx.inc"
    , 0};
#define IMAGES                                                                                               \
  {TARGET, TAYLOR_IMAGE_PTX, text, sizeof(text) - 1}, {"sm_80", TAYLOR_IMAGE_PTX, plain, sizeof(plain) - 1}
#endif
#endif
static const char manifest[] = {
#include MANIFEST
};
static const char text[] = {
#include IMAGE_TEXT
    , 0};
#ifndef IMAGES /* what the table of images holds: a test of its checks may say otherwise */
#define IMAGES {TARGET, TAYLOR_IMAGE_PTX, text, sizeof(text) - 1}
#endif
static const TaylorImage images[] = {IMAGES};
#ifndef IMAGE_COUNT
#define IMAGE_COUNT sizeof(images) / sizeof(*images)
#endif
__attribute__((visibility("default"))) const TaylorArtifact taylor_artifact = {
    TAYLOR_ARTIFACT_MAGIC, TAYLOR_ARTIFACT_ABI, manifest, sizeof(manifest), NULL, 0, images, IMAGE_COUNT};
