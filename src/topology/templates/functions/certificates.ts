import { Buffer } from 'node:buffer';
import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { Bytes } from '../../../base/go-text/index.ts';
import { type Budget, FunctionError } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { sprintf } from '../values/print.ts';
import { Dict, type List, Struct, type Value } from '../values/values.ts';
import { define } from './define.ts';
import { base64Decoded } from './strings.ts';

/** A certificate with its key, both in PEM. */
class CertificateWithKey extends Struct {
  readonly type = 'sprig.certificate';
  readonly kind = 'struct';
  readonly certificate: Bytes;
  readonly key: Bytes;

  constructor(certificate: Bytes, key: Bytes) {
    super();
    this.certificate = certificate;
    this.key = key;
  }

  text(): undefined {
    return undefined;
  }

  method(): undefined {
    return undefined;
  }

  fields() {
    return [
      { name: 'Cert', type: 'string', value: this.certificate },
      { name: 'Key', type: 'string', value: this.key },
    ];
  }

  json(): Value {
    return new Dict(new Map(Object.entries({ Cert: this.certificate, Key: this.key })));
  }

  equals(other: Struct): boolean {
    return other instanceof CertificateWithKey && this.certificate === other.certificate && this.key === other.key;
  }
}

/** What starts the bytes of a text that is made up. */
const mark = Buffer.from('made up: ');
const markText = mark.toString('base64');

/**
 * PEM of random bytes. Nobody can know a key or a certificate before Cluster API makes it, whose are random too, and to make
 * a real one takes up to seconds.
 */
function madeUp(label: string, size: number): Bytes {
  const body = Buffer.concat([mark, randomBytes(size)]).toString('base64');
  return `-----BEGIN ${label}-----\n${body.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
}

function isMadeUp(pem: Bytes): boolean {
  return pem.includes(`-----\n${markText}`);
}

/** Labels and sizes of the keys that sprig makes. */
const keys: Readonly<Record<string, readonly [string, number]>> = {
  '': ['RSA PRIVATE KEY', 2_340],
  rsa: ['RSA PRIVATE KEY', 2_340],
  dsa: ['DSA PRIVATE KEY', 820],
  ecdsa: ['EC PRIVATE KEY', 112],
  ed25519: ['PRIVATE KEY', 39],
};

function generatedKey(type: Bytes): Bytes {
  const key = Object.hasOwn(keys, type) ? keys[type] : undefined;
  return key === undefined ? `Unknown type ${type}` : madeUp(...key);
}

const pemStart = /-----BEGIN ([^-\n]*)-----/;

/** Checks a key. @returns it in the format that sprig writes for its type. */
function checkedKey(pem: Bytes): Bytes {
  const [, label] = pemStart.exec(pem) ?? [];
  if (label === undefined) {
    throw new FunctionError('no PEM data in input');
  }
  if (label !== 'PRIVATE KEY' && !label.endsWith(' PRIVATE KEY')) {
    throw new FunctionError(`no private key data in PEM block of type ${label}`);
  }
  if (isMadeUp(pem)) {
    return pem;
  }
  try {
    const key = createPrivateKey(pem.slice(pem.indexOf('-----BEGIN')));
    const type = key.asymmetricKeyType === 'rsa' ? 'pkcs1' : key.asymmetricKeyType === 'ec' ? 'sec1' : 'pkcs8';
    return key.export({ type, format: 'pem' }).toString();
  } catch (error) {
    throw new FunctionError(`parsing private key from PEM: ${(error as Error).message}`);
  }
}

/** Runs what fails with a context before its message. */
function within<T>(context: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw new FunctionError(`${context}: ${(error as Error).message}`);
  }
}

function checkCertificate(pem: Bytes, name: string): void {
  if (!pemStart.test(pem)) {
    throw new FunctionError('unable to decode certificate');
  }
  if (!isMadeUp(pem)) {
    within(`error parsing certificate: ${name}.Bytes`, () => new X509Certificate(pem));
  }
}

function checkIssuer({ certificate, key }: CertificateWithKey): void {
  checkCertificate(certificate, 'decodedSignerCert');
  within('error parsing private key', () => checkedKey(key));
}

/** Checks the addresses and names that a certificate is for. */
function checkNames(addresses: List, hosts: List, budget: Budget): void {
  budget.spend(addresses.items.length + hosts.items.length);
  for (const value of addresses.items) {
    if (typeof value !== 'string') {
      throw new FunctionError(`error parsing ip: ${sprintf(budget, '%v', [value])} is not a string`);
    }
    if (isIP(value) === 0) {
      throw new FunctionError(`error parsing ip: ${value}`);
    }
  }
  for (const value of hosts.items) {
    if (typeof value !== 'string') {
      throw new FunctionError(`error processing alternate dns name: ${sprintf(budget, '%v', [value])} is not a string`);
    }
  }
}

function issued(key = madeUp('RSA PRIVATE KEY', 1_180)): CertificateWithKey {
  return new CertificateWithKey(madeUp('CERTIFICATE', 780), key);
}

function decodedBase64(text: Bytes, what: string): Bytes {
  try {
    return base64Decoded(text);
  } catch {
    throw new FunctionError(`unable to decode base64 ${what}`);
  }
}

function custom(certificateText: Bytes, keyBase64: Bytes): CertificateWithKey {
  const certificate = decodedBase64(certificateText, 'certificate');
  const key = decodedBase64(keyBase64, 'private key');
  checkCertificate(certificate, 'decodedCert');
  within('error parsing private key', () => checkedKey(key));
  return new CertificateWithKey(certificate, key);
}

const bcryptAlphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * A text in the form of a bcrypt hash, at random: nobody can know the real one before Cluster API makes it, whose salt is
 * random too, and to compute some hash would take a tenth of a second to say the same.
 */
function bcrypted(password: Bytes): Bytes {
  if (password.length > 72) {
    return 'failed to encrypt string with bcrypt: bcrypt: password length exceeds 72 bytes';
  }
  return `$2a$10$${Array.from(randomBytes(53), (byte) => bcryptAlphabet[byte % 64]).join('')}`;
}

function given(pem: Bytes): Bytes {
  return within('parsing private key', () => checkedKey(pem));
}

/** Functions of sprig for keys, certificates and passwords. Their results differ each time. */
export const certificateFunctions: Readonly<Record<string, TemplateFunction>> = {
  bcrypt: define(['string'], ([password]) => bcrypted(password)),
  htpasswd: define(['string', 'string'], ([user, password]) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${bcrypted(password)}`,
  ),
  genPrivateKey: define(['string'], ([type]) => generatedKey(type)),
  buildCustomCert: define(['string', 'string'], ([certificate, key]) => custom(certificate, key)),
  genCA: define(['string', 'int'], () => issued()),
  genCAWithKey: define(['string', 'int', 'string'], ([_name, _days, key]) => issued(given(key))),
  genSelfSignedCert: define(['string', 'list', 'list', 'int'], ([_name, addresses, hosts], budget) => {
    checkNames(addresses, hosts, budget);
    return issued();
  }),
  genSelfSignedCertWithKey: define(
    ['string', 'list', 'list', 'int', 'string'],
    ([_name, addresses, hosts, _days, pem], budget) => {
      const key = given(pem);
      checkNames(addresses, hosts, budget);
      return issued(key);
    },
  ),
  genSignedCert: define(
    ['string', 'list', 'list', 'int', 'certificate'],
    ([_name, addresses, hosts, _days, issuer], budget) => {
      checkIssuer(issuer as CertificateWithKey);
      checkNames(addresses, hosts, budget);
      return issued();
    },
  ),
  genSignedCertWithKey: define(
    ['string', 'list', 'list', 'int', 'certificate', 'string'],
    ([_name, addresses, hosts, _days, issuer, pem], budget) => {
      const key = given(pem);
      checkIssuer(issuer as CertificateWithKey);
      checkNames(addresses, hosts, budget);
      return issued(key);
    },
  ),
};
