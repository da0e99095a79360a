import { randomBytes } from 'node:crypto';
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

/**
 * PEM of random bytes. Nobody can know a key or a certificate before Cluster API makes it, whose are random too, and to make
 * a real one takes up to seconds.
 */
function madeUp(label: string, size: number): Bytes {
  const body = randomBytes(size).toString('base64');
  return `-----BEGIN ${label}-----\n${body.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
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

/** A key that is given; what is in its PEM is not read. */
function givenKey(pem: Bytes, context = 'parsing private key'): Bytes {
  const [, label] = /-----BEGIN ([^-\n]*)-----/.exec(pem) ?? [];
  if (label === undefined) {
    throw new FunctionError(`${context}: no PEM data in input`);
  }
  if (!label.endsWith('PRIVATE KEY')) {
    throw new FunctionError(`${context}: no private key data in PEM block of type ${label}`);
  }
  return pem;
}

/** Checks the addresses and names that a certificate is for. */
function checkNames(addresses: List, hosts: List, budget: Budget): void {
  budget.spend(addresses.items.length + hosts.items.length);
  const check = (values: List, problem: string) => {
    const other = values.items.find((value) => typeof value !== 'string');
    if (other !== undefined) {
      throw new FunctionError(`${problem}: ${sprintf(budget, '%v', [other])} is not a string`);
    }
  };
  check(addresses, 'error parsing ip');
  const wrong = addresses.items.find((value) => isIP(value as Bytes) === 0);
  if (wrong !== undefined) {
    throw new FunctionError(`error parsing ip: ${wrong as Bytes}`);
  }
  check(hosts, 'error processing alternate dns name');
}

function issued(key = madeUp('RSA PRIVATE KEY', 1_180)): CertificateWithKey {
  return new CertificateWithKey(madeUp('CERTIFICATE', 780), key);
}

function issuedFor(addresses: List, hosts: List, budget: Budget, key?: Bytes): CertificateWithKey {
  checkNames(addresses, hosts, budget);
  return issued(key);
}

function decodedBase64(text: Bytes, what: string): Bytes {
  try {
    return base64Decoded(text);
  } catch {
    throw new FunctionError(`unable to decode base64 ${what}`);
  }
}

function custom(certificateText: Bytes, keyText: Bytes): CertificateWithKey {
  const certificate = decodedBase64(certificateText, 'certificate');
  const key = decodedBase64(keyText, 'private key');
  if (!certificate.includes('-----BEGIN ')) {
    throw new FunctionError('unable to decode certificate');
  }
  return new CertificateWithKey(certificate, givenKey(key, 'error parsing private key'));
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

/** Functions of sprig for keys, certificates and passwords. Their results differ each time. */
export const certificateFunctions: Readonly<Record<string, TemplateFunction>> = {
  bcrypt: define(['string'], ([password]) => bcrypted(password)),
  htpasswd: define(['string', 'string'], ([user, password]) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${bcrypted(password)}`,
  ),
  genPrivateKey: define(['string'], ([type]) => generatedKey(type)),
  buildCustomCert: define(['string', 'string'], ([certificate, key]) => custom(certificate, key)),
  genCA: define(['string', 'int'], () => issued()),
  genCAWithKey: define(['string', 'int', 'string'], ([_name, _days, key]) => issued(givenKey(key))),
  genSelfSignedCert: define(['string', 'list', 'list', 'int'], ([_name, addresses, hosts], budget) =>
    issuedFor(addresses, hosts, budget),
  ),
  genSelfSignedCertWithKey: define(['string', 'list', 'list', 'int', 'string'], (args, budget) =>
    issuedFor(args[1], args[2], budget, givenKey(args[4])),
  ),
  genSignedCert: define(['string', 'list', 'list', 'int', 'certificate'], ([_name, addresses, hosts], budget) =>
    issuedFor(addresses, hosts, budget),
  ),
  genSignedCertWithKey: define(['string', 'list', 'list', 'int', 'certificate', 'string'], (args, budget) =>
    issuedFor(args[1], args[2], budget, givenKey(args[5])),
  ),
};
