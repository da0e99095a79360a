import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { handshakeProblem, signatureOf, signingProblem, unreadableProblem } from '../../../src/base/x509/signature.ts';
import { unreadableKeys } from './odd-ca.ts';

const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).publicKey;
const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey;
const p256 = ec('prime256v1');

/** A key on P-256 whose point is in hybrid form (SEC 1, 2.3.3), which encodes y twice. */
function hybrid(): KeyObject {
  const der = p256.export({ type: 'spki', format: 'der' });
  der[der.length - 65] = 6 + ((der.at(-1) as number) & 1);
  return createPublicKey({ key: der, type: 'spki', format: 'der' });
}
const unreadable = new Map(unreadableKeys().map(([name, { publicKey }]) => [name, createPublicKey(publicKey)]));

const signing = 'which is not supported for signing: use an RSA key, or an EC key on P-256, P-384 or P-521';
const reading = 'which API servers cannot parse: use an RSA key, or an EC key on P-256, P-384 or P-521';

test.each<[string, KeyObject, object]>([
  ['RSA', rsa, { hash: 'sha256', oid: '1.2.840.113549.1.1.11', hasNull: true }],
  ['P-256', p256, { hash: 'sha256', oid: '1.2.840.10045.4.3.2', hasNull: false }],
  ['P-384', ec('secp384r1'), { hash: 'sha384', oid: '1.2.840.10045.4.3.3', hasNull: false }],
  ['P-521', ec('secp521r1'), { hash: 'sha512', oid: '1.2.840.10045.4.3.4', hasNull: false }],
])('a key of type %s signs, and is readable', (_, key, algorithm) => {
  expect(signatureOf(key)).toEqual(algorithm);
  expect([signingProblem(key), unreadableProblem(key)]).toEqual([undefined, undefined]);
});

test('an RSA key whose signatures Go refuses does not sign', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1016 });
  expect(signingProblem(publicKey)).toBe(
    'has 1016 bits, and API servers refuse signatures of RSA keys below 1024: use one of 2048 bits or more',
  );
});

const { publicKey: ed25519 } = generateKeyPairSync('ed25519');
const nameless = { asymmetricKeyType: 'ec', asymmetricKeyDetails: {} } as KeyObject;

test.each<[string, KeyObject, signs: string, isRead: string | undefined]>([
  ['P-224', ec('secp224r1'), `is of type ec on secp224r1, ${signing}`, undefined],
  ['Ed25519', ed25519, `is of type ed25519, ${signing}`, undefined],
  ['secp256k1', ec('secp256k1'), `is of type ec on secp256k1, ${signing}`, `has a key on secp256k1, ${reading}`],
  [
    'brainpool',
    ec('brainpoolP256r1'),
    `is of type ec on brainpoolP256r1, ${signing}`,
    `has a key on brainpoolP256r1, ${reading}`,
  ],
  [
    'an unnamed curve',
    nameless,
    `is of type ec on an unnamed curve, ${signing}`,
    `has a key on an unnamed curve, ${reading}`,
  ],
])('a key of type %s cannot sign', (_, key, signs, isRead) => {
  expect(signatureOf(key)).toBeUndefined();
  expect([signingProblem(key), unreadableProblem(key)]).toEqual([signs, isRead]);
});

test.each<[string, KeyObject | undefined]>([
  ['a compressed point', unreadable.get('compressed')],
  ['a point that is both', hybrid()],
  ['the parameters of its curve', unreadable.get('explicit')],
])('a key with %s is not readable', (_, key) => {
  expect(unreadableProblem(key as KeyObject)).toBe(
    'has a key in compressed form, or with explicit curve parameters instead of a named curve, which API servers cannot parse: generate an uncompressed one with a named curve',
  );
});

test.each<[string, KeyObject]>([
  ['RSA', rsa],
  ['P-256', p256],
  ['Ed25519', generateKeyPairSync('ed25519').publicKey],
])('API servers complete a handshake with a key of type %s', (_, key) => {
  expect(handshakeProblem(key)).toBeUndefined();
});

test.each<[string, KeyObject]>([
  ['ec on secp224r1', ec('secp224r1')],
  ['ec on secp256k1', ec('secp256k1')],
  ['ed448', generateKeyPairSync('ed448').publicKey],
  ['rsa-pss', generateKeyPairSync('rsa-pss', { modulusLength: 1024 }).publicKey],
])('API servers complete no handshake with a key of type %s', (type, key) => {
  expect(handshakeProblem(key)).toBe(
    `has a key of type ${type}, which API servers and Cluster API do not support in TLS: use an RSA key, or an EC key on P-256, P-384 or P-521`,
  );
});
