import { connect } from 'node:tls';
import { loadKubeConfig } from '../../../kubernetes/client/index.ts';
import { readLimitedFile } from '../../framework/limited-file.ts';

/** How long to wait for a TLS handshake with a sandbox to find out whether it is running, in milliseconds. */
const greetTimeout = 2_000;

/** The address and the CA in a sandbox's kubeconfig; undefined for any other file. */
async function sandboxIn(file: string): Promise<{ port: number; ca: string } | undefined> {
  const config = await loadKubeConfig({ kubeconfig: file }, {}).catch(() => undefined);
  const cluster = config?.getCurrentCluster();
  const isOurs = [config?.clusters, config?.users, config?.contexts].every(
    (entries) => entries?.length === 1 && entries[0]?.name === 'extensionconfig-sandbox',
  );
  const [, port] = /^https:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(cluster?.server ?? '') ?? [];
  return isOurs && port !== undefined && cluster?.caData !== undefined
    ? { port: Number(port), ca: Buffer.from(cluster.caData, 'base64').toString() }
    : undefined;
}

/** Whether a sandbox is still running: any other server on its port would have another certificate. */
function isRunning({ port, ca }: { port: number; ca: string }): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let socket: ReturnType<typeof connect>;
  try {
    socket = connect({ host: '127.0.0.1', port, ca, servername: 'localhost', timeout: greetTimeout });
  } catch {
    // No server can have used such a certificate.
    return Promise.resolve(false);
  }
  socket
    .once('secureConnect', () => resolve(true))
    .once('timeout', () => resolve(true))
    .once('error', () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** The text of a file that a killed sandbox left behind, which may be replaced; undefined for any other file. */
export async function staleKubeconfig(name: string, file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = readLimitedFile(name, file);
  } catch {
    // Too large or unreadable: it is not the file of a sandbox.
    return undefined;
  }
  const sandbox = await sandboxIn(file);
  return sandbox === undefined || (await isRunning(sandbox)) ? undefined : text;
}
