import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scryptSync } from 'node:crypto';
import type { Bytes } from '../../../base/go-text/index.ts';
import { FunctionError, spend } from '../budget.ts';
import { define, type Functions } from './define.ts';
import { base64Decoded } from './strings.ts';

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

/** Templates of passwords by type: each letter stands for a set of characters. */
const passwordTemplates: Readonly<Record<string, readonly string[]>> = {
  maximum: ['anoxxxxxxxxxxxxxxxxx', 'axxxxxxxxxxxxxxxxxno'],
  long: [
    'CvcvnoCvcvCvcv CvcvCvcvnoCvcv CvcvCvcvCvcvno CvccnoCvcvCvcv CvccCvcvnoCvcv CvccCvcvCvcvno CvcvnoCvccCvcv',
    'CvcvCvccnoCvcv CvcvCvccCvcvno CvcvnoCvcvCvcc CvcvCvcvnoCvcc CvcvCvcvCvccno CvccnoCvccCvcv CvccCvccnoCvcv',
    'CvccCvccCvcvno CvcvnoCvccCvcc CvcvCvccnoCvcc CvcvCvccCvccno CvccnoCvcvCvcc CvccCvcvnoCvcc CvccCvcvCvccno',
  ].flatMap((names) => names.split(' ')),
  medium: ['CvcnoCvc', 'CvcCvcno'],
  short: ['Cvcn'],
  basic: ['aaanaaan', 'aannaaan', 'aaannaaa'],
  pin: ['nnnn'],
};
const vowels = 'AEIOU';
const consonants = 'BCDFGHJKLMNPQRSTVWXYZ';
const letters = `${vowels}${vowels.toLowerCase()}${consonants}${consonants.toLowerCase()}`;
const passwordCharacters: Readonly<Record<string, string>> = {
  V: vowels,
  C: consonants,
  v: vowels.toLowerCase(),
  c: consonants.toLowerCase(),
  A: vowels + consonants,
  a: letters,
  n: '0123456789',
  o: "@&%?,=[]_:-+*$#!'^~;()/.",
  x: `${letters}0123456789!@#$%^&*()`,
};
const seedName = 'com.lyndir.masterpassword';

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function derived(counter: number, type: Bytes, password: Bytes, user: Bytes, site: Bytes): Bytes {
  const templates = Object.hasOwn(passwordTemplates, type) ? passwordTemplates[type] : undefined;
  if (templates === undefined) {
    return `cannot find password template ${type}`;
  }
  const salt = Buffer.concat([Buffer.from(seedName), numberBytes(user.length), Buffer.from(user, 'latin1')]);
  const key = scryptSync(Buffer.from(password, 'latin1'), salt, 64, {
    N: 32_768,
    r: 8,
    p: 2,
    maxmem: 128 * 1024 * 1024,
  });
  const message = [Buffer.from(seedName), numberBytes(site.length), Buffer.from(site, 'latin1'), numberBytes(counter)];
  const seed = createHmac('sha256', key).update(Buffer.concat(message)).digest();
  const template = templates[(seed[0] ?? 0) % templates.length] ?? '';
  return Array.from(template, (letter, index) => {
    const characters = passwordCharacters[letter] ?? '';
    return characters[(seed[index + 1] ?? 0) % characters.length];
  }).join('');
}

function keyOf(password: Bytes): Buffer {
  const key = Buffer.alloc(32);
  key.write(password, 'latin1');
  return key;
}

function encrypted(password: Bytes, text: Bytes): Bytes {
  const start = randomBytes(16);
  const cipher = createCipheriv('aes-256-cbc', keyOf(password), start);
  return text && Buffer.concat([start, cipher.update(text, 'latin1'), cipher.final()]).toString('base64');
}

function decrypted(password: Bytes, packed: Bytes): Bytes {
  if (packed === '') {
    return '';
  }
  const bytes = Buffer.from(base64Decoded(packed), 'latin1');
  try {
    const decipher = createDecipheriv('aes-256-cbc', keyOf(password), bytes.subarray(0, 16));
    return decipher.update(bytes.subarray(16), undefined, 'latin1') + decipher.final('latin1');
  } catch {
    throw new FunctionError('the text cannot be decrypted');
  }
}

/** What a function costs in steps that takes tenths of a second. */
const slow = 40_000;

/** Functions of sprig for hashes and encryption. */
export const cryptoFunctions: Functions = {
  sha1sum: hashed('sha1'),
  sha256sum: hashed('sha256'),
  sha512sum: hashed('sha512'),
  adler32sum: define(['string'], ([text]) => adler32(text)),
  derivePassword: define(
    ['uint32', 'string', 'string', 'string', 'string'],
    ([counter, type, password, user, site]) => {
      spend(slow);
      return derived(Number(counter.value), type, password, user, site);
    },
  ),
  encryptAES: define(['string', 'string'], ([password, text]) => encrypted(password, text)),
  decryptAES: define(['string', 'string'], ([password, packed]) => decrypted(password, packed)),
};
