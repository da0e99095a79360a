import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderProblem, makeFolder } from '../../base/index.ts';
import { selfSignedPair } from '../../server/index.ts';
import { prefixOf } from './handlers/options.ts';

/** An ExtensionConfig of a server on this machine, which trusts its self-signed certificate. */
export function localExtensionConfig(name: string, port: number, path: string | undefined, cert: string): string {
  const url = `https://localhost:${port}${prefixOf(path)}`;
  return `\
apiVersion: runtime.cluster.x-k8s.io/v1beta2
kind: ExtensionConfig
metadata:
  name: ${name}
spec:
  clientConfig:
    url: ${JSON.stringify(url)}
    caBundle: ${Buffer.from(cert).toString('base64')}
  namespaceSelector: {}
`;
}

/** A certificate that was kept, if its key is there, and it is valid for another day. */
function keptCertificate(folder: string, now: Date): string | undefined {
  try {
    const cert = readFileSync(join(folder, 'tls.crt'), 'utf8');
    const key = readFileSync(join(folder, 'tls.key'), 'utf8');
    const certificate = new X509Certificate(cert);
    const isValid = certificate.validToDate.getTime() - now.getTime() > 24 * 60 * 60 * 1000;
    return isValid && certificate.checkPrivateKey(createPrivateKey(key)) ? cert : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a folder with a self-signed certificate for localhost, or keeps one that is still valid. Returns a function that
 * writes `extension-config.yaml` into it and returns its path. @throws {Error} when the folder cannot be written.
 */
export function prepareDevelopment(folder: string, now: Date): (name: string, port: number, path: string) => string {
  try {
    makeFolder(folder);
    const kept = keptCertificate(folder, now);
    const pair = kept === undefined ? selfSignedPair(now) : undefined;
    if (pair !== undefined) {
      writeFileSync(join(folder, 'tls.key'), pair.key, { mode: 0o600 });
      writeFileSync(join(folder, 'tls.crt'), pair.cert);
    }
    return (name, port, path) => {
      const file = join(folder, 'extension-config.yaml');
      writeFileSync(file, localExtensionConfig(name, port, path, kept ?? pair?.cert ?? ''));
      return file;
    };
  } catch (error) {
    throw new Error(`certificates: ${folderProblem(folder, 'written', error)}`);
  }
}
