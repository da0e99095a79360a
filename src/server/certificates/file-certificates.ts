import { join } from 'node:path';
import { type CertificateEvent, type CertificateSource, pairEvent } from './certificate.ts';
import { type FileState, watchFiles } from './file-watch.ts';

/** Files of a kubernetes.io/tls Secret that is mounted as a volume. */
const certificateFile = 'tls.crt';
const keyFile = 'tls.key';
/** The trust bundle: not needed for serving, but metrics report its expiry. */
const bundleFile = 'ca.crt';

/** The missing file, and the remedy: a folder that is mounted from a Secret may be empty for a while, but exists. */
function absence(folder: string, name: string, lacksFolder: boolean): string {
  const files = `${certificateFile} and ${keyFile}`;
  return lacksFolder
    ? `the folder ${folder} does not exist: correct its name, or create it with ${files} (in a pod, mount the Secret there)`
    : `${join(folder, name)} does not exist: put ${files} there (in a pod, into the Secret that is mounted there)`;
}

function eventOf(folder: string, cert: FileState, key: FileState, bundle: FileState): CertificateEvent {
  for (const [name, state] of [
    [certificateFile, cert],
    [keyFile, key],
  ] as const) {
    if ('code' in state) {
      return state.code === 'ENOENT'
        ? { kind: 'absent', reason: absence(folder, name, state.lacksFolder === true) }
        : { kind: 'broken', reason: `${join(folder, name)} ${state.problem}` };
    }
  }
  const textOf = (state: FileState) => ('text' in state ? state.text : undefined);
  const where = `${certificateFile} and ${keyFile} in ${folder}`;
  return pairEvent(textOf(cert) ?? '', textOf(key) ?? '', textOf(bundle), where);
}

/** The pair `tls.crt` and `tls.key` in a folder, read again whenever the files change. */
export function fileCertificates(folder: string, pollMs?: number): CertificateSource {
  let stop: (() => void) | undefined;
  return {
    async start(onEvent) {
      stop = await watchFiles(
        [certificateFile, keyFile, bundleFile].map((name) => join(folder, name)),
        (states) => {
          const [cert, key, bundle] = states as [FileState, FileState, FileState];
          onEvent(eventOf(folder, cert, key, bundle));
        },
        pollMs,
      );
    },
    stop() {
      stop?.();
    },
  };
}
