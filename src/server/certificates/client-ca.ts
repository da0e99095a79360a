import type { Log } from '../../base/index.ts';
import { bundleOf, readCertificates } from '../../base/x509/index.ts';
import { type FileState, watchFiles } from './file-watch.ts';

/** The client CA file is unusable at start. */
export class ClientCaError extends Error {}

/** The certificates of a client CA file in PEM, or why the file cannot be used. */
function checkClientCa(path: string, state: FileState): { pem: string } | { problem: string } {
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
 * Watches the client CA file and passes on its contents whenever they are usable. If a new version is broken, the
 * problem is logged and passed to `onProblem`, and the previous version stays in use.
 *
 * @returns the function that stops it.
 * @throws {ClientCaError} when the file is unusable at start: without it no client could be authenticated.
 */
export async function watchClientCa(
  path: string,
  onPem: (pem: string) => void,
  onProblem: (problem: string) => void,
  log: Log,
  pollMs?: number,
): Promise<() => void> {
  let isInUse = false;
  return watchFiles(
    [path],
    ([state]) => {
      const checked = checkClientCa(path, state as FileState);
      if ('pem' in checked) {
        onPem(checked.pem);
        if (isInUse) {
          log.info('client CA reloaded');
        }
        isInUse = true;
      } else if (isInUse) {
        onProblem(checked.problem);
        log.error({ reason: checked.problem }, 'the new client CA is unusable; the previous one stays in use');
      } else {
        throw new ClientCaError(checked.problem);
      }
    },
    pollMs,
  );
}
