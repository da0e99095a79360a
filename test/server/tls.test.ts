import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fixedCertificate } from '../../src/server/index.ts';
import { makeCertificate, makeKey, testCa } from '../base/x509/certificates.ts';
import { openTls, pairOf, start, stopAll } from './running.ts';

let port: number;
beforeAll(async () => {
  const named = { commonName: 'localhost', dnsNames: ['localhost'], issuer: testCa };
  const certificates = fixedCertificate(pairOf(makeCertificate({ ...named, key: makeKey(2048) })));
  port = (await start({ certificates })).webhookPort;
});
afterAll(stopAll);

/** Clients allow the weakest settings, so that it is the server that rejects them. */
const weak = ':@SECLEVEL=0';

describe('TLS 1.2', () => {
  test.each([
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-RSA-AES256-GCM-SHA384',
    'ECDHE-RSA-CHACHA20-POLY1305',
  ])('accepts %s', async (cipher) => {
    const socket = await openTls(port, { maxVersion: 'TLSv1.2', ciphers: cipher });
    expect(socket.getCipher().name).toBe(cipher);
    socket.destroy();
  });

  test.each([
    ['no forward secrecy', 'AES128-GCM-SHA256'],
    ['no forward secrecy, CBC', 'AES256-SHA'],
    ['CBC', 'ECDHE-RSA-AES128-SHA'],
    ['CBC', 'ECDHE-RSA-AES256-SHA384'],
    ['finite-field Diffie-Hellman', 'DHE-RSA-AES128-GCM-SHA256'],
  ])('rejects %s: %s', async (_why, cipher) => {
    const client = openTls(port, { maxVersion: 'TLSv1.2', ciphers: cipher + weak });
    await expect(client).rejects.toMatchObject({ code: expect.stringMatching(/HANDSHAKE_FAILURE|NO_SHARED_CIPHER/) });
  });

  test.each(['secp224r1', 'prime192v1', 'secp256k1'])('rejects the curve %s', async (curve) => {
    const options = { maxVersion: 'TLSv1.2', ecdhCurve: curve, ciphers: `ECDHE-RSA-AES128-GCM-SHA256${weak}` } as const;
    await expect(openTls(port, options)).rejects.toThrow(/handshake failure/i);
  });

  test('does not renegotiate', async () => {
    const socket = await openTls(port, { maxVersion: 'TLSv1.2' });
    const failed = new Promise<Error | null>((resolve) => {
      socket.on('error', resolve);
      socket.renegotiate({}, resolve);
    });
    expect(await failed).toBeInstanceOf(Error);
    socket.destroy();
  });
});

test.each(['X25519', 'prime256v1', 'secp384r1'])('TLS 1.3 with the curve %s', async (curve) => {
  const socket = await openTls(port, { minVersion: 'TLSv1.3', ecdhCurve: curve });
  expect(socket.getProtocol()).toBe('TLSv1.3');
  socket.destroy();
});
