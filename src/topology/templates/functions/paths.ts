import { posix } from 'node:path';
import type { Bytes } from '../../../base/go-text/index.ts';
import { define, type Functions } from './define.ts';

/** path.Clean: unlike Node.js, without a slash at the end. */
const clean = (path: Bytes): Bytes => posix.normalize(path).replace(/(?<=.)\/$/, '');

const base = (path: Bytes): Bytes => posix.basename(path) || (path === '' ? '.' : '/');

function extension(path: Bytes): Bytes {
  const dot = path.lastIndexOf('.');
  return dot === -1 || path.includes('/', dot) ? '' : path.slice(dot);
}

const baseOf = define(['string'], ([path]) => base(path));
const dirOf = define(['string'], ([path]) => clean(path.slice(0, path.lastIndexOf('/') + 1)));
const cleanOf = define(['string'], ([path]) => clean(path));
const extensionOf = define(['string'], ([path]) => extension(path));
const isAbsolute = define(['string'], ([path]) => path.startsWith('/'));

/** Functions of sprig for paths; Cluster API runs on Linux, where both kinds are one. */
export const pathFunctions: Functions = {
  base: baseOf,
  dir: dirOf,
  clean: cleanOf,
  ext: extensionOf,
  isAbs: isAbsolute,
  osBase: baseOf,
  osDir: dirOf,
  osClean: cleanOf,
  osExt: extensionOf,
  osIsAbs: isAbsolute,
};
