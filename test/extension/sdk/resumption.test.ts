import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { aroundEach, describe, expect, test } from 'vitest';
import { handler } from '../../../src/extension/index.ts';
import { requestFor } from '../../../src/extension/sdk/testing/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { openTls, readAll, until } from '../../server/running.ts';
import { ending } from '../../support/ends.ts';
import { certificateFolder, startExtension } from './running.ts';

aroundEach(ending);

const path = `/${hooksGroup}/v1alpha1/beforeclustercreate/create`;
const create = handler('BeforeClusterCreate', {
  name: 'create',
  handle: async (_request, { answer }) => answer.done(),
});

describe('a session that a caller wants to resume does not outlive its certificate', () => {
  test.concurrent.each(['TLSv1.2', 'TLSv1.3'] as const)('%s', async (version) => {
    const caFile = join(certificateFolder(), 'ca.crt');
    writeFileSync(caFile, testCa.cert);
    const { port } = await startExtension([create], { clients: { caFile } });
    // In a certificate, times have whole seconds.
    const notAfter = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2_000);
    const { cert, key } = makeCertificate({ commonName: 'capi', issuer: testCa, notAfter });
    let resumable: NonSharedBuffer | undefined;

    /** The answer to a call on a new connection, which resumes the session of the one before. */
    async function resumed(): Promise<{ code: number; isResumed: boolean; message: unknown }> {
      const socket = await openTls(port, {
        ...{ cert, key, ca: testCa.cert, minVersion: version, maxVersion: version },
        ...(resumable && { session: resumable }),
      });
      socket.on('session', (session: NonSharedBuffer) => {
        resumable = session;
      });
      resumable ??= socket.getSession();
      const isResumed = socket.isSessionReused();
      const body = JSON.stringify(requestFor('BeforeClusterCreate'));
      const received = readAll(socket);
      socket.write(
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      const [head = '', text = ''] = (await received).split('\r\n\r\n');
      return { code: Number(head.split(' ')[1]), isResumed, message: JSON.parse(text).message };
    }

    expect((await resumed()).code).toBe(200);
    await until(() => Date.now() > notAfter.getTime() + 1_000, 'it has expired');
    // The certificate is checked in full handshakes only.
    expect(await resumed()).toEqual({
      code: 403,
      isResumed: false,
      message: expect.stringContaining('CERT_HAS_EXPIRED'),
    });
  });
});
