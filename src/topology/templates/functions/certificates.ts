import { randomBytes } from 'node:crypto';
import type { Bytes } from '../../../base/go-text/index.ts';
import { FunctionError } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { Dict, Struct, type Value } from '../values/values.ts';
import { define } from './define.ts';
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

/** A certificate with a key that is given; what is in its PEM is not read. */
function issuedWith(key: Bytes): CertificateWithKey {
  if (!key.includes('-----BEGIN ')) {
    throw new FunctionError('parsing private key: no PEM data in input');
  }
  return new CertificateWithKey(key);
}

function bcrypted(): Bytes {
  return `$2a$10$${randomBytes(40).toString('base64').replaceAll('+', '.').slice(0, 53)}`;
}

/** Functions of sprig for keys, certificates and passwords. Their results differ each time. */
export const certificateFunctions: Readonly<Record<string, TemplateFunction>> = {
  bcrypt: define(['string'], bcrypted),
  htpasswd: define(['string', 'string'], ([user]) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${bcrypted()}`,
  ),
  genPrivateKey: define(['string'], ([type]) => generatedKey(type)),
  buildCustomCert: define(
    ['string', 'string'],
    ([certificate, key]) => new CertificateWithKey(base64Decoded(key), base64Decoded(certificate)),
  ),
  genCA: define(['string', 'int'], () => new CertificateWithKey()),
  genCAWithKey: define(['string', 'int', 'string'], ([_name, _days, key]) => issuedWith(key)),
  genSelfSignedCert: define(['string', 'list', 'list', 'int'], () => new CertificateWithKey()),
  genSelfSignedCertWithKey: define(['string', 'list', 'list', 'int', 'string'], (args) => issuedWith(args[4])),
  genSignedCert: define(['string', 'list', 'list', 'int', 'certificate'], () => new CertificateWithKey()),
  genSignedCertWithKey: define(['string', 'list', 'list', 'int', 'certificate', 'string'], (args) =>
    issuedWith(args[5]),
  ),
};
