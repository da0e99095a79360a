import { randomBytes } from 'node:crypto';
import type { Bytes } from '../../../base/go-text/index.ts';
import { FunctionError, NotComputed } from '../budget.ts';
import type { TemplateFunction } from '../values/values.ts';
import { define, type Functions, type Parameter } from './define.ts';

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

/** A function that issues a certificate. `keyAt`: which parameter is its key. */
function issuing(parameters: readonly Parameter[], keyAt = -1): TemplateFunction {
  return define(parameters, (args: readonly unknown[]) => {
    const key = args[keyAt];
    if (typeof key === 'string' && !key.includes('-----BEGIN ')) {
      throw new FunctionError('parsing private key: no PEM data in input');
    }
    throw new NotComputed('a certificate is issued, which differs each time');
  });
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
  buildCustomCert: issuing(['string', 'string']),
  genCA: issuing(['string', 'int']),
  genCAWithKey: issuing(['string', 'int', 'string'], 2),
  genSelfSignedCert: issuing(['string', 'list', 'list', 'int']),
  genSelfSignedCertWithKey: issuing(['string', 'list', 'list', 'int', 'string'], 4),
  genSignedCert: issuing(['string', 'list', 'list', 'int', 'any']),
  genSignedCertWithKey: issuing(['string', 'list', 'list', 'int', 'any', 'string'], 5),
};
