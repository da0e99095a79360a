import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderProblem, makeFolder } from '../../base/index.ts';
import { type CertificatePair, selfSignedPair } from '../../server/index.ts';
import { prefixOf } from './handlers/options.ts';

/** An ExtensionConfig of a server on this machine, which trusts its self-signed certificate. */
export function localExtensionConfig(
  name: string,
  port: number,
  path: string | undefined,
  { cert }: Pick<CertificatePair, 'cert'>,
): string {
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
    const [cert, key] = ['tls.crt', 'tls.key'].map((name) => readFileSync(join(folder, name), 'utf8')) as [
      string,
      string,
    ];
    const certificate = new X509Certificate(cert);
    const isValid = certificate.validToDate.getTime() - now.getTime() > 24 * 60 * 60 * 1000;
    return isValid && certificate.checkPrivateKey(createPrivateKey(key)) ? cert : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Makes a folder with a self-signed certificate for localhost, and keeps one that is still valid, so that an
 * ExtensionConfig stays usable when the server restarts.
 *
 * @returns a function that writes `extension-config.yaml` into the folder, once the port is known, and returns its path.
 * @throws {Error} when the folder cannot be written.
 */
export function prepareDevelopment(folder: string, now: Date): (name: string, port: number, path: string) => string {
  try {
    makeFolder(folder);
    let cert = keptCertificate(folder, now);
    if (cert === undefined) {
      const pair = selfSignedPair(now);
      writeFileSync(join(folder, 'tls.key'), pair.key, { mode: 0o600 });
      writeFileSync(join(folder, 'tls.crt'), pair.cert);
      cert = pair.cert;
    }
    const served = cert;
    return (name, port, path) => {
      const file = join(folder, 'extension-config.yaml');
      writeFileSync(file, localExtensionConfig(name, port, path, { cert: served }));
      return file;
    };
  } catch (error) {
    throw new Error(`certificates: ${folderProblem(folder, 'written', error)}`);
  }
}
