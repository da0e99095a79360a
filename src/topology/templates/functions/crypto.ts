import { Buffer } from 'node:buffer';
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, scryptSync } from 'node:crypto';
import type { Bytes } from '../../../base/go-text/index.ts';
import { FunctionError, NotComputed, spend } from '../budget.ts';
import type { TemplateFunction } from '../values/values.ts';
import { define, type Functions, type Parameter } from './define.ts';
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

// Nobody can know a key, a certificate or a hash before Cluster API makes it. Of keys and hashes there are random texts in
// their forms.

/** Labels and sizes of the keys that sprig makes. */
const keys: ReadonlyMap<string, readonly [label: string, bytes: number]> = new Map([
  ['', ['RSA PRIVATE KEY', 2_340]],
  ['rsa', ['RSA PRIVATE KEY', 2_340]],
  ['dsa', ['DSA PRIVATE KEY', 820]],
  ['ecdsa', ['EC PRIVATE KEY', 112]],
  ['ed25519', ['PRIVATE KEY', 39]],
]);

function generatedKey(type: Bytes): Bytes {
  const [label, bytes] = keys.get(type) ?? [];
  if (bytes === undefined) {
    return `Unknown type ${type}`;
  }
  const body = randomBytes(bytes).toString('base64');
  return `-----BEGIN ${label}-----\n${body.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
}

function checkPem(text: Bytes, problem: string): void {
  if (!text.includes('-----BEGIN ')) {
    throw new FunctionError(problem);
  }
}

/** A function that issues a certificate. `keyAt`: which parameter is its key. */
function issuing(parameters: readonly Parameter[], keyAt = -1): TemplateFunction {
  return define(parameters, (args: readonly unknown[]) => {
    const key = args[keyAt];
    if (typeof key === 'string') {
      checkPem(key, 'parsing private key: no PEM data in input');
    }
    throw new NotComputed('a certificate is issued, which differs each time');
  });
}

/** As sprig, which refuses what is no PEM. */
function custom(certificate: Bytes, key: Bytes): never {
  const decoded = (text: Bytes, what: string): Bytes => {
    try {
      return base64Decoded(text);
    } catch {
      throw new FunctionError(`unable to decode base64 ${what}`);
    }
  };
  const [pem, keyPem] = [decoded(certificate, 'certificate'), decoded(key, 'private key')];
  checkPem(pem, 'unable to decode certificate');
  checkPem(keyPem, 'error parsing private key: no PEM data in input');
  throw new NotComputed('a certificate with its key is not computed here');
}

function bcrypted(): Bytes {
  return `$2a$10$${randomBytes(40).toString('base64').replaceAll('+', '.').slice(0, 53)}`;
}

/** What a function costs in steps that takes tenths of a second. */
const slow = 40_000;

/** Functions of sprig for hashes, encryption, keys and certificates. */
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
  bcrypt: define(['string'], bcrypted),
  htpasswd: define(['string', 'string'], ([user]) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${bcrypted()}`,
  ),
  genPrivateKey: define(['string'], ([type]) => generatedKey(type)),
  buildCustomCert: define(['string', 'string'], ([certificate, key]) => custom(certificate, key)),
  genCA: issuing(['string', 'int']),
  genCAWithKey: issuing(['string', 'int', 'string'], 2),
  genSelfSignedCert: issuing(['string', 'list', 'list', 'int']),
  genSelfSignedCertWithKey: issuing(['string', 'list', 'list', 'int', 'string'], 4),
  genSignedCert: issuing(['string', 'list', 'list', 'int', 'any']),
  genSignedCertWithKey: issuing(['string', 'list', 'list', 'int', 'any', 'string'], 5),
};
