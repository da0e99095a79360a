import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeCertificate } from '../../base/x509/certificates.ts';

export const clientCa = makeCertificate({ commonName: 'client CA', isCa: true });
export const otherCa = makeCertificate({ commonName: 'other CA', isCa: true });
export const apiServer = makeCertificate({ commonName: 'kube-apiserver', issuer: clientCa });

/** A client CA file for one test. */
export async function clientCaFile(content = clientCa.cert): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'clients-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, 'ca.crt');
  await writeFile(file, content);
  return file;
}
