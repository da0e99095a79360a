import { connect } from 'node:tls';
import { load } from 'js-yaml';
import { isJsonObject, type Json, type JsonObject, objectAt } from '../../../kubernetes/index.ts';
import { readLimitedFile } from '../../framework/limited-file.ts';

/** How long to wait for a TLS handshake with a sandbox to find out whether it is running, in milliseconds. */
const greetTimeout = 2_000;

function only(list: Json | undefined): JsonObject | undefined {
  return Array.isArray(list) && list.length === 1 && isJsonObject(list[0]) ? list[0] : undefined;
}

/** The address and the CA in a sandbox's kubeconfig; undefined for any other text. */
function sandboxOf(text: string): { port: number; ca: string } | undefined {
  let document: Json;
  try {
    document = load(text, { json: true, maxAliases: 0 }) as Json;
  } catch {
    return undefined;
  }
  const config = objectAt(document);
  const names = [only(config.clusters), only(config.users), only(config.contexts)].map((entry) => entry?.name);
  if (names.some((name) => name !== 'extensionconfig-sandbox') || config['current-context'] !== names[0]) {
    return undefined;
  }
  const cluster = only(config.clusters)?.cluster;
  const server = isJsonObject(cluster) ? cluster.server : undefined;
  const ca = isJsonObject(cluster) ? cluster['certificate-authority-data'] : undefined;
  const port = typeof server === 'string' ? /^https:\/\/127\.0\.0\.1:(\d{1,5})$/.exec(server)?.[1] : undefined;
  return port === undefined || typeof ca !== 'string'
    ? undefined
    : { port: Number(port), ca: Buffer.from(ca, 'base64').toString() };
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

/**
 * Whether a file was left behind by a killed sandbox. Only such a file may be replaced.
 *
 * @param name the name of its flag.
 * @returns its text; undefined if the file is anything else or its sandbox is running.
 */
export async function staleKubeconfig(name: string, file: string): Promise<string | undefined> {
  let text: string;
  try {
    text = readLimitedFile(name, file);
  } catch {
    // Too large or unreadable: it is not the file of a sandbox.
    return undefined;
  }
  const sandbox = sandboxOf(text);
  return sandbox === undefined || (await isRunning(sandbox)) ? undefined : text;
}
