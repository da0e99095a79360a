import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileError, type Log, readRegularFileSync } from '../../base/index.ts';
import { bundleOf, readCertificates } from '../../base/x509/index.ts';
import { type CertificateEvent, type CertificateSource, pairEvent } from './certificate.ts';

type FileState = string | FileError;

/** How often files are read, in ms: fs.watch is silent on some mounts, and after a folder was replaced. */
const defaultPollMs = 500;
/** How long to wait after a change before reading again: writers replace two files, and the kubelet a whole folder. */
const settleMs = 50;
/** Larger than any certificate file. */
const maxFileBytes = 1024 * 1024;

function readState(path: string): FileState {
  try {
    return readRegularFileSync(path, maxFileBytes).toString('utf8');
  } catch (error) {
    if (error instanceof FileError) {
      return error;
    }
    throw error;
  }
}

const areSame = (a: readonly FileState[], b: readonly FileState[]) => JSON.stringify(a) === JSON.stringify(b);

/**
 * Calls `onStates` with the first state of files before the promise resolves, then with each other one on which two reads in a row
 * agree: files are written in place, renamed over, or replaced through the `..data` symlink of a Kubernetes volume.
 *
 * @returns the function that stops it. Rejects with what `onStates` throws for the first state.
 */
async function watchFiles(
  paths: readonly string[],
  onStates: (...states: FileState[]) => void,
  pollMs: number = defaultPollMs,
): Promise<() => void> {
  const end = new AbortController();
  // Not a state of any file, so that the first one differs from it.
  let reported: readonly FileState[] = [];
  const pause = () => sleep(pollMs, undefined, { ref: false, signal: end.signal }).catch(() => {});

  async function check(settlingMs: number): Promise<void> {
    let states = paths.map(readState);
    while (!end.signal.aborted && !areSame(states, reported)) {
      await sleep(settlingMs);
      const next = paths.map(readState);
      if (areSame(states, next) && !end.signal.aborted) {
        reported = states;
        onStates(...states);
        return;
      }
      states = next;
    }
  }

  await check(1);
  void (async () => {
    for (await pause(); !end.signal.aborted; await pause()) {
      await check(settleMs);
    }
  })();
  return () => end.abort();
}

/** Those of a kubernetes.io/tls Secret that is mounted as a volume, and the trust bundle, whose expiry metrics report. */
const names = ['tls.crt', 'tls.key', 'ca.crt'] as const;

/** A folder that is mounted from a Secret may be empty for a while, but exists. */
const absence = (folder: string, path: string) =>
  existsSync(folder)
    ? `${path} does not exist: put tls.crt and tls.key there (in a pod, mount the Secret)`
    : `the folder ${folder} does not exist: correct its name, or create it with tls.crt and tls.key (in a pod, mount the Secret)`;

function eventOf(folder: string, cert: FileState = '', key: FileState = '', bundle: FileState = ''): CertificateEvent {
  for (const [index, state] of [cert, key].entries()) {
    if (state instanceof FileError) {
      const path = join(folder, names[index] ?? '');
      return state.code === 'ENOENT'
        ? { kind: 'absent', reason: absence(folder, path) }
        : { kind: 'broken', reason: `${path} ${state.problem}` };
    }
  }
  const trusted = bundle instanceof FileError ? undefined : bundle;
  return pairEvent(String(cert), String(key), trusted, `tls.crt and tls.key in ${folder}`);
}

/** The pair `tls.crt` and `tls.key` in a folder, read again whenever the files change. */
export function fileCertificates(folder: string, pollMs?: number): CertificateSource {
  const paths = names.map((name) => join(folder, name));
  return (onEvent) => watchFiles(paths, (...states) => onEvent(eventOf(folder, ...states)), pollMs);
}

/** The file of the client CA cannot be used at start; the message names it and the reason. */
export class ClientCaError extends Error {}

type ClientCa = { pem: string } | { problem: string };

function readClientCa(path: string, state: FileState): ClientCa {
  if (state instanceof FileError) {
    return { problem: state.message };
  }
  const certificates = readCertificates(state);
  if (certificates.state !== 'usable') {
    return { problem: `${path} ${certificates.state === 'absent' ? 'is empty' : certificates.problem}` };
  }
  // OpenSSL silently skips certificates whose BEGIN line does not start a line, as when files without a final line
  // break were concatenated.
  return { pem: bundleOf(certificates.value) };
}

/**
 * Passes on each change of the client CA file. While a new version is unusable, the previous one stays in use.
 * @returns the function that stops it. @throws {ClientCaError} at start: without it no client could be authenticated.
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
    (state = '') => {
      const clientCa = readClientCa(path, state);
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
