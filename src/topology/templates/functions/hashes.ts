import { createHash } from 'node:crypto';
import type { Bytes } from '../../../base/go-text/index.ts';
import { define, type Functions } from './define.ts';

function hashed(algorithm: string) {
  return define(['string'], ([text]) => createHash(algorithm).update(text, 'latin1').digest('hex'));
}

function adler32(text: Bytes): Bytes {
  let low = 1;
  let high = 0;
  for (let at = 0; at < text.length; at++) {
    low = (low + text.charCodeAt(at)) % 65_521;
    high = (high + low) % 65_521;
  }
  return String(high * 65_536 + low);
}

export const hashFunctions: Functions = {
  sha1sum: hashed('sha1'),
  sha256sum: hashed('sha256'),
  sha512sum: hashed('sha512'),
  adler32sum: define(['string'], ([text]) => adler32(text)),
};
