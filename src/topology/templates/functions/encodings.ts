import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { Bytes } from '../../../base/go-text/index.ts';
import { NotKnown } from '../../world/not-known.ts';
import { define, type Functions } from './define.ts';
import { perCharacter } from './strings.ts';

const base32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Puts numbers of some bits together to those of others; bits that are left over at the end are cut. */
function regrouped(numbers: Iterable<number>, from: 5 | 8, to: 5 | 8): number[] {
  const bits = Array.from(numbers, (number) => number.toString(2).padStart(from, '0')).join('');
  return Array.from(bits.match(to === 5 ? /.{5}/g : /.{8}/g) ?? [], (digits) => Number.parseInt(digits, 2));
}

function base32Encoded(text: Bytes): Bytes {
  const length = Math.ceil((text.length * 8) / 5);
  const digits = regrouped(Buffer.from(`${text}\0`, 'latin1'), 8, 5).slice(0, length);
  return digits
    .map((digit) => base32[digit])
    .join('')
    .padEnd(Math.ceil(length / 8) * 8, '=');
}

/** Encodings of bytes: characters that they do not have, the number of characters of a group, and how a text ends. */
const encodings = {
  base32: { other: /[^A-Z2-7]/, group: 8, shape: /^[^=]*(?:=|={3,4}|={6})?$/ },
  base64: { other: /[^A-Za-z0-9+/]/, group: 4, shape: /^[^=]*={0,2}$/ },
};

/** The text that is encoded in another one; that of Go's error where that has another character. */
function decodedFrom(name: keyof typeof encodings, encoded: Bytes): Bytes {
  const { other, group, shape } = encodings[name];
  const packed = encoded.replaceAll(/[\r\n]/g, '');
  const at = packed.search(other);
  if (at !== -1 && packed[at] !== '=') {
    return `illegal ${name} data at input byte ${at}`;
  }
  if (packed.length % group !== 0 || !shape.test(packed)) {
    throw new NotKnown(`the template decodes a text that is not whole ${name}`, { remedy: 'complete the text' });
  }
  if (name === 'base64') {
    return Buffer.from(packed, 'base64').toString('latin1');
  }
  const digits = Array.from(packed.replaceAll('=', ''), (char) => base32.indexOf(char));
  return Buffer.from(regrouped(digits, 5, 8)).toString('latin1');
}

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

/** Functions of sprig for encodings and hashes. */
export const encodingFunctions: Functions = {
  b64enc: define(['string'], ([text]) => Buffer.from(text, 'latin1').toString('base64')),
  b64dec: define(['string'], ([text]) => decodedFrom('base64', text)),
  b32enc: perCharacter(base32Encoded),
  b32dec: perCharacter((text) => decodedFrom('base32', text)),
  sha1sum: hashed('sha1'),
  sha256sum: hashed('sha256'),
  sha512sum: hashed('sha512'),
  adler32sum: define(['string'], ([text]) => adler32(text)),
};
