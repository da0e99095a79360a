import { type ChildProcess, type ExecFileException, execFile } from 'node:child_process';
import { isatty } from 'node:tty';
import type { KubeConfig, User } from '@kubernetes/client-node';
import { orAborted, printable, takeTerminal } from '../../base/index.ts';
import { type JsonObject, objectAt } from '../objects/json/json.ts';
import { perObject } from '../objects/per-object.ts';

// The client library runs a plugin without a time limit and without the end of its standard input, shows nothing of what it
// writes (a code to enter in a browser), and sends a refused token until it expires. So it gets the credentials instead.

/** How long a plugin may take, in ms: those of clouds take up to some seconds. */
const maxRunMs = 8_000;
/** How long a person may take to sign in, in ms: the codes that plugins show are valid that long. */
const maxSignInMs = 15 * 60_000;
/** Longest output of a plugin, in bytes: certificates are a few KiB. */
const maxOutputBytes = 1024 * 1024;

/** The credentials of a plugin (client.authentication.k8s.io, ExecCredential.status). */
export interface Credential {
  token?: string;
  clientCertificateData?: string;
  clientKeyData?: string;
  expirationTimestamp?: string;
}

export const areSameSecrets = (a: Credential, b: Credential): boolean =>
  (['token', 'clientCertificateData', 'clientKeyData'] as const).every((name) => a[name] === b[name]);

/** The message contains nothing that the plugin printed: it may be a token. */
export class PluginError extends Error {
  constructor(command: string, problem: string) {
    super(`the credential plugin ${printable(command)} ${problem}`);
  }
}

function credentialIn(output: string): Credential | undefined {
  let status: JsonObject;
  try {
    status = objectAt(JSON.parse(output), 'status');
  } catch {
    return undefined;
  }
  const credential: Credential = Object.fromEntries(
    Object.entries(status).filter(([, text]) => typeof text === 'string' && text !== ''),
  );
  const { token, clientCertificateData, clientKeyData } = credential;
  return token !== undefined || (clientCertificateData !== undefined && clientKeyData !== undefined)
    ? credential
    : undefined;
}

function problemOf({ code, killed, signal }: ExecFileException, maxMs: number): string {
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
    return `printed more than ${maxOutputBytes / 1024 / 1024} MiB`;
  }
  if (typeof code === 'string') {
    return `cannot be started (${code}): install it, or correct exec.command of the user in the kubeconfig`;
  }
  if (signal) {
    return killed ? `has not ended for ${maxMs / 1000} s` : `was ended by ${signal}`;
  }
  return `failed with exit code ${code}: "kubectl version" with the same kubeconfig shows what it writes`;
}

interface Plugin {
  apiVersion?: string;
  command: string;
  args?: string[];
  env?: { name: string; value: string }[] | null;
}

/** It is killed when nobody waits for it any longer. */
interface Run {
  credential: Promise<Credential>;
  waiting: number;
  child: ChildProcess;
}

function startRun({ command, args = [], apiVersion, env }: Plugin): Run {
  const isSeen = isatty(2);
  const maxMs = isSeen ? maxSignInMs : maxRunMs;
  const giveBack = isSeen ? takeTerminal() : undefined;
  const info = { kind: 'ExecCredential', apiVersion, spec: { interactive: false } };
  const options = {
    env: {
      ...process.env,
      ...Object.fromEntries((env ?? []).map(({ name, value }) => [name, value])),
      KUBERNETES_EXEC_INFO: JSON.stringify(info),
    },
    maxBuffer: maxOutputBytes,
    timeout: maxMs,
    killSignal: 'SIGKILL',
  } as const;
  const { promise, resolve, reject } = Promise.withResolvers<Credential>();
  const child = execFile(command, args, options, (error, stdout) => {
    giveBack?.();
    const credential = error === null ? credentialIn(stdout) : undefined;
    if (credential === undefined) {
      const problem = 'printed no ExecCredential with a token, or a client certificate and its key';
      reject(new PluginError(command, error === null ? problem : problemOf(error, maxMs)));
    } else {
      resolve(credential);
    }
  });
  child.stdin?.end();
  if (isSeen) {
    child.stderr?.pipe(process.stderr, { end: false });
  }
  return { credential: promise, waiting: 0, child };
}

/** The credential plugin of a kubeconfig's current user: of all connections with it, so that it asks a person once. */
export const pluginOf = perObject((config: KubeConfig) => {
  const { exec, ...user } = config.getCurrentUser() ?? { name: '' };
  if (!exec) {
    return undefined;
  }
  let current: Run | undefined;
  let held: Credential | undefined;
  return {
    /** The plugin runs if it has given nothing that is still valid and was not refused. @throws {PluginError} */
    async get(signal: AbortSignal, refused?: Credential): Promise<Credential> {
      const end = held?.expirationTimestamp;
      const isExpired = end !== undefined && Date.parse(end) <= Date.now();
      if (held !== undefined && held !== refused && !isExpired) {
        return held;
      }
      // A person is asked once for requests at the same time.
      current ??= startRun(exec as Plugin);
      const run = current;
      run.waiting++;
      try {
        held = await orAborted(run.credential, signal);
        return held;
      } finally {
        if (--run.waiting === 0) {
          current = current === run ? undefined : current;
          run.child.kill('SIGKILL');
        }
      }
    },
    /** The user with credentials instead of the plugin. A token of the user's own comes first, as in kubectl. */
    userWith({ token, clientCertificateData, clientKeyData }: Credential): User {
      const base64 = (text: string) => Buffer.from(text).toString('base64');
      return {
        ...user,
        ...(token !== undefined && !user.token && { token }),
        ...(clientCertificateData !== undefined &&
          clientKeyData !== undefined && { certData: base64(clientCertificateData), keyData: base64(clientKeyData) }),
      };
    },
  };
});
