import { writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { makeCertificate, type TestCertificate, testCa } from '../base/x509/certificates.ts';
import { apiServer, clientCa, clientCaFile, otherCa } from './connections/client-ca.ts';
import { openTls, readAll, review, start, stopAll, until, validate } from './running.ts';

afterEach(stopAll);

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a %s session that a client resumes', (version) => {
  /** Connects, and sends a review: its code, and the session to resume. */
  async function call(port: number, certificate: TestCertificate, session?: NonSharedBuffer) {
    const socket = await openTls(port, {
      ...certificate,
      ca: testCa.cert,
      minVersion: version,
      maxVersion: version,
      ...(session && { session }),
    });
    let newest = socket.getSession();
    socket.on('session', (ticket: NonSharedBuffer) => {
      newest = ticket;
    });
    const received = readAll(socket);
    const body = review('x');
    socket.write(
      `POST ${validate} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const text = await received;
    return { code: Number(text.slice('HTTP/1.1 '.length, 'HTTP/1.1 200'.length)), text, session: newest };
  }

  test('does not outlive the certificate of the client', async () => {
    const caFile = await clientCaFile();
    const { webhookPort } = await start({ clients: { caFile, allowedNames: [] } });
    // In a certificate, times have whole seconds.
    const notAfter = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2_000);
    const shortLived = makeCertificate({ commonName: 'kube-apiserver', issuer: clientCa, notAfter });
    const first = await call(webhookPort, shortLived);
    expect(first.code).toBe(200);
    await until(() => Date.now() > notAfter.getTime() + 1_000, 'it has expired');
    const second = await call(webhookPort, shortLived, first.session);
    expect([second.code, second.text]).toEqual([403, expect.stringContaining('CERT_HAS_EXPIRED')]);
  });

  test('does not outlive its CA', async () => {
    const caFile = await clientCaFile();
    const { webhookPort, lines } = await start({ clients: { caFile, allowedNames: [] }, pollMs: 20 });
    const first = await call(webhookPort, apiServer);
    expect(first.code).toBe(200);
    await writeFile(caFile, otherCa.cert);
    await until(() => lines.some(({ msg }) => msg === 'client CA reloaded'), 'the new CA is in use');
    expect((await call(webhookPort, apiServer, first.session)).code).toBe(403);
  });
});
