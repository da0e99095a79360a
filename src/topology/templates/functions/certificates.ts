import { randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { Bytes } from '../../../base/go-text/index.ts';
import { type Budget, FunctionError } from '../budget.ts';
import { sprintf } from '../values/print.ts';
import { Dict, List, Struct, type TemplateFunction, type Value } from '../values/values.ts';
import { define, type Functions, type Parameter } from './define.ts';
import { base64Decoded } from './strings.ts';

// Nobody can know a key, a certificate or a hash before Cluster API makes it, whose are random too, and to make real ones takes
// up to seconds: all results here are random texts in their forms.

/** A certificate with its key, both in PEM. */
class CertificateWithKey extends Struct {
  readonly type = 'sprig.certificate';
  override readonly fields;

  constructor(Key = madeUp('RSA PRIVATE KEY', 1_180), Cert = madeUp('CERTIFICATE', 780)) {
    super();
    this.fields = { Cert, Key };
  }

  text(): Bytes {
    return `{${this.fields.Cert} ${this.fields.Key}}`;
  }

  override json(): Value {
    return new Dict(new Map(Object.entries(this.fields)));
  }
}

function madeUp(label: string, size: number): Bytes {
  const body = randomBytes(size).toString('base64');
  return `-----BEGIN ${label}-----\n${body.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END ${label}-----\n`;
}

/** Labels and sizes of the keys that sprig makes. */
const keys: ReadonlyMap<string, readonly [string, number]> = new Map([
  ['', ['RSA PRIVATE KEY', 2_340]],
  ['rsa', ['RSA PRIVATE KEY', 2_340]],
  ['dsa', ['DSA PRIVATE KEY', 820]],
  ['ecdsa', ['EC PRIVATE KEY', 112]],
  ['ed25519', ['PRIVATE KEY', 39]],
]);

function generatedKey(type: Bytes): Bytes {
  const key = keys.get(type);
  return key === undefined ? `Unknown type ${type}` : madeUp(...key);
}

/** Checks a key that is given; what is in its PEM is not read. */
function checkKey(pem: Bytes, context = 'parsing private key'): void {
  const [, label] = /-----BEGIN ([^-\n]*)-----/.exec(pem) ?? [];
  if (label?.endsWith('PRIVATE KEY') !== true) {
    const problem = label === undefined ? 'no PEM data in input' : `no private key data in PEM block of type ${label}`;
    throw new FunctionError(`${context}: ${problem}`);
  }
}

/** Checks the addresses and names that a certificate is for. */
function checkNames(addresses: List, hosts: List, budget: Budget): void {
  budget.spend(addresses.items.length + hosts.items.length);
  const check = ({ items }: List, problem: string) => {
    const other = items.find((value) => typeof value !== 'string');
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

/** A function that issues a certificate: with a key that is given where it has one more parameter. */
function issuing<const P extends readonly Parameter[]>(parameters: P, keyAt = Number.NaN): TemplateFunction {
  return define(parameters, (args: readonly unknown[], budget) => {
    const [, addresses, hosts] = args;
    const key = args[keyAt] as Bytes | undefined;
    if (key !== undefined) {
      checkKey(key);
    }
    if (addresses instanceof List && hosts instanceof List) {
      checkNames(addresses, hosts, budget);
    }
    return new CertificateWithKey(key);
  });
}

function custom(certificateText: Bytes, keyText: Bytes): CertificateWithKey {
  const decoded = (text: Bytes, what: string): Bytes => {
    try {
      return base64Decoded(text);
    } catch {
      throw new FunctionError(`unable to decode base64 ${what}`);
    }
  };
  const certificate = decoded(certificateText, 'certificate');
  const key = decoded(keyText, 'private key');
  if (!certificate.includes('-----BEGIN ')) {
    throw new FunctionError('unable to decode certificate');
  }
  checkKey(key, 'error parsing private key');
  return new CertificateWithKey(key, certificate);
}

function bcrypted(): Bytes {
  return `$2a$10$${randomBytes(40).toString('base64').replaceAll('+', '.').slice(0, 53)}`;
}

/** Functions of sprig for keys, certificates and passwords. Their results differ each time. */
export const certificateFunctions: Functions = {
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
  genSignedCert: issuing(['string', 'list', 'list', 'int', 'certificate']),
  genSignedCertWithKey: issuing(['string', 'list', 'list', 'int', 'certificate', 'string'], 5),
};
