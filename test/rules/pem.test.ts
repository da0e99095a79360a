import { expect, test } from 'vitest';
import { readPem } from '../../src/rules/pem.ts';

const begin = (label: string) => `-----BEGIN ${label}-----\n`;
const end = (label: string) => `-----END ${label}-----`;
const block = (label: string, body = 'AAAA\n') => `${begin(label)}${body}${end(label)}`;
const certificate = block('CERTIFICATE');
const label64 = 'A'.repeat(64);

test.each<[string, string, certificates: string[], hasPrivateKey?: boolean]>([
  ['nothing', '', []],
  ['one certificate', certificate, [certificate]],
  ['text around certificates', `a\n${certificate}\nb\n${certificate}c`, [certificate, certificate]],
  ['certificates in one line', certificate + certificate, [certificate, certificate]],
  ['what is not a certificate', `${block('X509 CRL')}\n${certificate}`, [certificate]],
  ['a label of 64 characters', block(label64) + certificate, [certificate]],
  ['a certificate without an end', `${begin('CERTIFICATE')}AAAA\n`, []],
  ['one without an end before another', begin('CERTIFICATE') + certificate, [begin('CERTIFICATE') + certificate]],
  ['another kind without an end before one', begin('X') + certificate, [certificate]],
  ['an end of another kind', `${begin('CERTIFICATE')}${end('X')}\n${certificate}`, [certificate]],
  ['an end without a label', `${begin('CERTIFICATE')}-----END \n${end('CERTIFICATE')}`, []],
  ['ends before a beginning', `${end('CERTIFICATE')}\n${certificate}`, [certificate]],
  ['no label', '-----BEGIN -----\n-----END -----', []],
  ['a label in lower case', block('certificate'), []],
  ['a label that does not end', `-----BEGIN CERTIFICATE\n${end('CERTIFICATE')}`, []],
  ['a label of 65 characters, which hides nothing behind it', block(`${label64}A`) + certificate, [certificate]],
  ['what looks like the rest of an end', `xxxxxxxxCERTIFICATE-----\n${begin('CERTIFICATE')}`, []],
  ['a private key', certificate + block('PRIVATE KEY'), [certificate], true],
  ['a private key of a kind', block('RSA PRIVATE KEY'), [], true],
  ['the beginning of one', begin('EC PRIVATE KEY'), [], true],
  ['one before a certificate', begin('PRIVATE KEY') + certificate, [certificate], true],
  ['no private key', block('PUBLIC KEY') + block('PRIVATE KEY INFO'), []],
])('%s', (_, text, certificates, hasPrivateKey = false) => {
  expect(readPem(text)).toEqual({ certificates, hasPrivateKey });
});
