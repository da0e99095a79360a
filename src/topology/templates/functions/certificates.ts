import { Buffer } from 'node:buffer';
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import { signedCertificate } from '../../../base/x509/index.ts';
import { type Budget, FunctionError } from '../budget.ts';
import type { TemplateFunction } from '../evaluate.ts';
import { type Bytes, textOf } from '../values/bytes.ts';
import { sprintf } from '../values/print.ts';
import { Dict, List, Struct, type Value } from '../values/values.ts';
import { define } from './define.ts';

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

/** What making a key costs in steps: it takes up to some seconds. */
const steps = { rsa4096: 20_000, rsa2048: 10_000, other: 200 } as const;

type Asn1 = forge.asn1.Asn1;

/** A DSA key in the traditional format, which node:crypto does not write. */
function traditionalDsa(privateKey: KeyObject): string {
  const { asn1 } = forge;
  const parse = (der: Buffer) => asn1.fromDer(der.toString('latin1'));
  const child = (node: Asn1 | undefined, ...path: readonly number[]): Asn1 =>
    path.reduce((inner, index) => (inner as Asn1).value[index] as Asn1, node as Asn1);
  const own = parse(privateKey.export({ type: 'pkcs8', format: 'der' }));
  const shared = parse(createPublicKey(privateKey).export({ type: 'spki', format: 'der' }));
  const secret = asn1.fromDer(child(own, 2).value as string);
  const parameters = child(own, 1, 1).value as Asn1[];
  const version = child(own, 0);
  const all = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, [
    version,
    ...parameters,
    child(shared, 1, 0),
    secret,
  ]);
  const body = Buffer.from(asn1.toDer(all).getBytes(), 'latin1').toString('base64');
  return `-----BEGIN DSA PRIVATE KEY-----\n${body.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END DSA PRIVATE KEY-----\n`;
}

/** A key in the format that sprig writes for its type. */
function keyText(key: KeyObject): Bytes {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return key.export({ type: 'pkcs1', format: 'pem' }).toString();
    case 'ec':
      return key.export({ type: 'sec1', format: 'pem' }).toString();
    case 'dsa':
      return traditionalDsa(key);
    default:
      return key.export({ type: 'pkcs8', format: 'pem' }).toString();
  }
}

function generatedKey(type: Bytes, budget: Budget): Bytes {
  switch (type) {
    case '':
    case 'rsa':
      budget.spend(steps.rsa4096);
      return keyText(generateKeyPairSync('rsa', { modulusLength: 4096 }).privateKey);
    case 'dsa':
      budget.spend(steps.rsa4096);
      return keyText(generateKeyPairSync('dsa', { modulusLength: 2048, divisorLength: 256 }).privateKey);
    case 'ecdsa':
      budget.spend(steps.other);
      return keyText(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
    case 'ed25519':
      budget.spend(steps.other);
      return keyText(generateKeyPairSync('ed25519').privateKey);
    default:
      return `Unknown type ${type}`;
  }
}

function newKey(budget: Budget): KeyObject {
  budget.spend(steps.rsa2048);
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
}

const pemStart = /-----BEGIN ([^-\n]*)-----/;

function keyOf(pem: Bytes): KeyObject {
  const [, label] = pemStart.exec(pem) ?? [];
  if (label === undefined) {
    throw new FunctionError('no PEM data in input');
  }
  if (label !== 'PRIVATE KEY' && !label.endsWith(' PRIVATE KEY')) {
    throw new FunctionError(`no private key data in PEM block of type ${label}`);
  }
  try {
    return createPrivateKey(pem.slice(pem.indexOf('-----BEGIN')));
  } catch (error) {
    throw new FunctionError(`parsing private key from PEM: ${(error as Error).message}`);
  }
}

function given(pem: Bytes): KeyObject {
  try {
    return keyOf(pem);
  } catch (error) {
    throw new FunctionError(`parsing private key: ${(error as Error).message}`);
  }
}

/** The names that a certificate is for. */
interface Names {
  commonName: Bytes;
  addresses: List;
  hosts: List;
}

function addressOf(value: Value, budget: Budget): string {
  if (typeof value !== 'string') {
    throw new FunctionError(`error parsing ip: ${sprintf(budget, '%v', [value])} is not a string`);
  }
  if (isIP(value) === 0) {
    throw new FunctionError(`error parsing ip: ${value}`);
  }
  return value;
}

function hostOf(value: Value, budget: Budget): string {
  if (typeof value !== 'string') {
    throw new FunctionError(`error processing alternate dns name: ${sprintf(budget, '%v', [value])} is not a string`);
  }
  return textOf(value);
}

interface Issuer {
  certificate: X509Certificate;
  key: KeyObject;
}

const dayMs = 86_400_000;

function issued(
  { commonName, addresses, hosts }: Names,
  days: bigint,
  key: KeyObject,
  budget: Budget,
  { isCa = false, issuer }: { isCa?: boolean; issuer?: Issuer } = {},
): CertificateWithKey {
  const altNames = [
    ...hosts.items.map((value) => ({ type: 2, value: hostOf(value, budget) })),
    ...addresses.items.map((value) => ({ type: 7, ip: addressOf(value, budget) })),
  ];
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 1;
  const now = Date.now();
  const end = new Date(now + dayMs * Math.max(Math.min(Number(days), 100_000), -100_000));
  const der = signedCertificate(
    {
      serial: serial.toString('hex'),
      subject: [{ shortName: 'CN', value: textOf(commonName) }],
      issuer: issuer?.certificate,
      publicKey: createPublicKey(key),
      notBefore: new Date(now),
      notAfter: end,
      extensions: [
        { name: 'basicConstraints', critical: true, cA: isCa },
        { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true, keyCertSign: isCa },
        { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
        ...(altNames.length > 0 ? [{ name: 'subjectAltName', altNames }] : []),
      ],
    },
    (issuer?.key ?? key).export({ type: 'pkcs8', format: 'pem' }).toString(),
  );
  return new CertificateWithKey(new X509Certificate(der).toString(), keyText(key));
}

function issuerOf(ca: Value): Issuer {
  const { certificate, key } = ca as CertificateWithKey;
  return { certificate: parsedCertificate(certificate, 'decodedSignerCert'), key: signerKey(key) };
}

function signerKey(pem: Bytes): KeyObject {
  try {
    return keyOf(pem);
  } catch (error) {
    throw new FunctionError(`error parsing private key: ${(error as Error).message}`);
  }
}

function parsedCertificate(pem: Bytes, name: string): X509Certificate {
  if (!pemStart.test(pem)) {
    throw new FunctionError('unable to decode certificate');
  }
  try {
    return new X509Certificate(pem);
  } catch (error) {
    throw new FunctionError(`error parsing certificate: ${name}.Bytes: ${(error as Error).message}`);
  }
}

function decodedBase64(text: Bytes, what: string): Bytes {
  const packed = text.replaceAll(/[\r\n]/g, '');
  if (packed.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(packed)) {
    throw new FunctionError(`unable to decode base64 ${what}`);
  }
  return Buffer.from(text, 'base64').toString('latin1');
}

function custom(certificateText: Bytes, keyBase64: Bytes): CertificateWithKey {
  const certificate = decodedBase64(certificateText, 'certificate');
  const key = decodedBase64(keyBase64, 'private key');
  parsedCertificate(certificate, 'decodedCert');
  signerKey(key);
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

const none = { addresses: new List([]), hosts: new List([]) };

/** Functions of sprig for keys, certificates and passwords. Their results differ each time. */
export const certificateFunctions: Readonly<Record<string, TemplateFunction>> = {
  bcrypt: define(['string'], ([password]) => bcrypted(password)),
  htpasswd: define(['string', 'string'], ([user, password]) =>
    user.includes(':') ? `invalid username: ${user}` : `${user}:${bcrypted(password)}`,
  ),
  genPrivateKey: define(['string'], ([type], budget) => generatedKey(type, budget)),
  buildCustomCert: define(['string', 'string'], ([certificate, key]) => custom(certificate, key)),
  genCA: define(['string', 'int'], ([commonName, days], budget) =>
    issued({ commonName, ...none }, days, newKey(budget), budget, { isCa: true }),
  ),
  genCAWithKey: define(['string', 'int', 'string'], ([commonName, days, key], budget) =>
    issued({ commonName, ...none }, days, given(key), budget, { isCa: true }),
  ),
  genSelfSignedCert: define(['string', 'list', 'list', 'int'], ([commonName, addresses, hosts, days], budget) =>
    issued({ commonName, addresses, hosts }, days, newKey(budget), budget),
  ),
  genSelfSignedCertWithKey: define(
    ['string', 'list', 'list', 'int', 'string'],
    ([commonName, addresses, hosts, days, key], budget) =>
      issued({ commonName, addresses, hosts }, days, given(key), budget),
  ),
  genSignedCert: define(
    ['string', 'list', 'list', 'int', 'certificate'],
    ([commonName, addresses, hosts, days, ca], budget) =>
      issued({ commonName, addresses, hosts }, days, newKey(budget), budget, { issuer: issuerOf(ca) }),
  ),
  genSignedCertWithKey: define(
    ['string', 'list', 'list', 'int', 'certificate', 'string'],
    ([commonName, addresses, hosts, days, ca, key], budget) =>
      issued({ commonName, addresses, hosts }, days, given(key), budget, { issuer: issuerOf(ca) }),
  ),
};
