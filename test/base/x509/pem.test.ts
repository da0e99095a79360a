import { expect, test } from 'vitest';
import { framingProblem, holdsPrivateKey, readPem } from '../../../src/base/x509/index.ts';

const begin = (label: string) => `-----BEGIN ${label}-----\n`;
const end = (label: string) => `-----END ${label}-----\n`;
const block = (label: string, body = 'AQID\n') => `${begin(label)}${body}${end(label)}`;
const certificate = block('CERTIFICATE');
const label64 = 'A'.repeat(64);

/** What follows each BEGIN line: the bytes, what is not base64, or nothing that Go recognizes. */
const found = 'AQID';
const noBytes = '';
const unseen = undefined;

// The blocks that kubectl 1.32 (Go) finds in each as certificate-authority-data.
test.each<[string, string, certificates: (string | undefined)[], hasPrivateKey?: boolean]>([
  ['nothing', '', []],
  ['one certificate', certificate, [found]],
  ['no line break at the end', certificate.trimEnd(), [found]],
  ['text around certificates', `a\n${certificate}\nb\n${certificate}c`, [found, found]],
  ['lines with CRLF', certificate.replaceAll('\n', '\r\n'), [found]],
  ['lines with CR', certificate.replaceAll('\n', '\r'), [unseen]],
  ['CR at the very end', `${certificate.trimEnd()}\r`, [unseen]],
  ['two CR before each LF', certificate.replaceAll('\n', '\r\r\n'), [unseen]],
  ['blanks at the ends of lines', certificate.replaceAll('\n', ' \t\r\n'), [found]],
  ['an indented body with empty lines', block('CERTIFICATE', '\n  AQ\n\n\tID\n'), [found]],
  ['an indented BEGIN line', ` ${certificate}`, [unseen]],
  ['an indented END line', block('CERTIFICATE', 'AQID\n '), [unseen]],
  ['a byte order mark', `\u00ef\u00bb\u00bf${certificate}${certificate}`, [unseen, found]],
  ['two files without a line break in between', certificate.trimEnd() + certificate, [unseen, unseen]],
  ['text after the BEGIN line', certificate.replace('-----\n', '----- x\n'), [unseen]],
  ['text after the END line', `${certificate.trimEnd()} # x\n`, [unseen]],
  ['an END line that is glued to the body', block('CERTIFICATE', 'AQID'), [unseen]],
  ['all in one line', certificate.replaceAll('\n', ''), [unseen]],
  ['all in one line, then one that is not', `${certificate.replaceAll('\n', '')}\n${certificate}`, [unseen, found]],
  ['a block that is not a certificate', `${block('X509 CRL')}${certificate}`, [found]],
  ['headers', block('CERTIFICATE', 'Proc-Type: 4\n\nAQID\n'), [noBytes]],
  ['bytes that are not base64', block('CERTIFICATE', 'A*ID\n'), [noBytes]],
  ['base64 without its padding', block('CERTIFICATE', 'AQ\n'), [noBytes]],
  ['a vertical tab', block('CERTIFICATE', '\vAQID\n'), [noBytes]],
  ['no bytes', block('CERTIFICATE', ''), [noBytes]],
  ['a label of 64 characters', block(label64) + certificate, [found]],
  ['a certificate without an end', `${begin('CERTIFICATE')}AQID\n`, [unseen]],
  ['one without an end before another', begin('CERTIFICATE') + certificate, [unseen, found]],
  ['one without an end after another', certificate + begin('CERTIFICATE'), [found, unseen]],
  ['another kind without an end before one', begin('X') + certificate, [found]],
  ['an end of another kind', `${begin('CERTIFICATE')}${end('X')}${certificate}`, [unseen, found]],
  ['an end of another kind with as many characters', `${begin('CERTIFICATE')}${end('X509REQUEST')}`, [unseen]],
  ['an end of another kind, then a late one', `${begin('CERTIFICATE')}${end('X')}${end('CERTIFICATE')}`, [unseen]],
  ['an end without a label', `${begin('CERTIFICATE')}-----END \n${end('CERTIFICATE')}`, [unseen]],
  ['ends before a beginning', `${end('CERTIFICATE')}${certificate}`, [found]],
  ['no label', '-----BEGIN -----\n-----END -----', []],
  ['a label in lower case', block('certificate'), []],
  ['a label that does not end', `-----BEGIN CERTIFICATE\n${end('CERTIFICATE')}`, []],
  ['a label of 65 characters, which hides nothing after it', block(`${label64}A`) + certificate, [found]],
  ['text that looks like the rest of an end line', `xxxxxxxxxCERTIFICATE-----\n${begin('CERTIFICATE')}`, [unseen]],
  ['a private key', certificate + block('PRIVATE KEY'), [found], true],
  ['a private key of a kind', block('RSA PRIVATE KEY'), [], true],
  ['the beginning of one', begin('EC PRIVATE KEY'), [], true],
  ['one in the middle of a line', `x ${begin('PRIVATE KEY')}`, [], true],
  ['one before a certificate', begin('PRIVATE KEY') + certificate, [found], true],
  ['no private key', block('PUBLIC KEY') + block('PRIVATE KEY INFO'), []],
])('%s', (_, text, certificates, hasPrivateKey = false) => {
  const content = readPem(text);
  expect(content.map((der) => der?.toString('base64'))).toEqual(certificates);
  expect(holdsPrivateKey(Buffer.from(text))).toBe(hasPrivateKey);
});

test('the first certificate that Go does not find is identified by its number', () => {
  expect(framingProblem(readPem(certificate))).toBeUndefined();
  expect(framingProblem(readPem(certificate + certificate.trimEnd() + certificate))).toBe(
    'has a certificate that cannot be read (number 2): its BEGIN and END markers must each be on a line of their own',
  );
});
