// Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0

#include "commands.h"

int main(int argc, char** argv) {
  return holdfast::app::run(argc, argv);
}
