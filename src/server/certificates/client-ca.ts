import type { Log } from '../../base/index.ts';
import { bundleOf, readCertificates } from '../../base/x509/index.ts';
import { type FileState, watchFiles } from './file-watch.ts';

/** The client CA file is unusable at start. */
export class ClientCaError extends Error {}

/** The certificates of a client CA file in PEM, or why the file cannot be used. */
type ClientCa = { pem: string } | { problem: string };

function readClientCa(path: string, state: FileState): ClientCa {
  if ('code' in state) {
    return { problem: `${path} ${state.problem}` };
  }
  const certificates = readCertificates(state.text);
  if (certificates.state !== 'usable') {
    return { problem: `${path} ${certificates.state === 'absent' ? 'is empty' : certificates.problem}` };
  }
  // OpenSSL silently skips certificates whose BEGIN line does not start a line, as when files without a final line
  // break were concatenated.
  return { pem: bundleOf(certificates.value) };
}

/**
 * Watches the client CA file and passes on each change. While a new version is unusable, the previous one stays in use.
 *
 * @returns the function that stops it.
 * @throws {ClientCaError} when the file is unusable at start: without it no client could be authenticated.
 */
export async function watchClientCa(
  path: string,
  onChange: (clientCa: ClientCa) => void,
  log: Log,
  pollMs?: number,
): Promise<() => void> {
  let isInUse = false;
  return watchFiles(
    [path],
    ([state]) => {
      const clientCa = readClientCa(path, state as FileState);
      if ('problem' in clientCa && !isInUse) {
        throw new ClientCaError(clientCa.problem);
      }
      onChange(clientCa);
      if ('problem' in clientCa) {
        log.error({ reason: clientCa.problem }, 'the new client CA is unusable; the previous one stays in use');
      } else if (isInUse) {
        log.info('client CA reloaded');
      }
      isInUse = true;
    },
    pollMs,
  );
}
