import { createRequire } from 'node:module';
import type Forge from 'node-forge';

const require = createRequire(import.meta.url);

/** node-forge, loaded when the first certificate is made: a server that only uses one starts without it. */
export function nodeForge(): typeof Forge {
  return require('node-forge');
}
