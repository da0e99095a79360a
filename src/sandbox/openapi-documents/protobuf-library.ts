import { createRequire } from 'node:module';
import type * as Protobuf from 'protobufjs';
import { maxJsonDepth } from '../../kubernetes/index.ts';

const require = createRequire(import.meta.url);

let library: typeof Protobuf | undefined;

/** protobufjs, loaded with the first message: most clients speak JSON only. */
export function protobufLibrary(): typeof Protobuf {
  if (library === undefined) {
    library = require('protobufjs') as typeof Protobuf;
    // It stops at 100 nested messages, which is 25 nested properties: definitions have more. JSON nests at most 256 levels,
    // and `items` in `items`, at three messages per level, is the most.
    library.util.recursionLimit = Math.max(library.util.recursionLimit, maxJsonDepth * 3);
  }
  return library;
}
