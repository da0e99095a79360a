import { createRequire } from 'node:module';
import type * as Library from '@marcbachmann/cel-js';

const require = createRequire(import.meta.url);
let loaded: typeof Library | undefined;

/** The library that evaluates CEL, loaded with the first expression: most schemas have none. */
export function library(): typeof Library {
  loaded ??= require('@marcbachmann/cel-js') as typeof Library;
  return loaded;
}
