import type { Bytes } from '../../../base/go-text/index.ts';
import { define, type Functions } from './define.ts';

/** path.Clean: without empty, `.` and `..` elements where they can be removed. */
function clean(path: Bytes): Bytes {
  const isAbsolute = path.startsWith('/');
  const parts: Bytes[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') {
      continue;
    }
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') {
      parts.pop();
    } else if (part !== '..' || !isAbsolute) {
      parts.push(part);
    }
  }
  return (isAbsolute ? '/' : '') + parts.join('/') || '.';
}

function base(path: Bytes): Bytes {
  if (path === '') {
    return '.';
  }
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') {
    end--;
  }
  return end === 0 ? '/' : path.slice(path.lastIndexOf('/', end - 1) + 1, end);
}

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
