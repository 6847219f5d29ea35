#!/usr/bin/env python3
# Copyright the papcoll authors. SPDX-License-Identifier: BSL-1.0
"""Fails if an object file is larger than it may be.

    object_size.py <bytes> <object file>
"""
import pathlib
import sys

limit, path = int(sys.argv[1]), pathlib.Path(sys.argv[2])
size = path.stat().st_size
print(f"{path.name}: {size} bytes, at most {limit}")
sys.exit(size > limit)
