import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { User } from '@kubernetes/client-node';
import { printable, takeTerminal } from '../../../base/index.ts';
import { isJsonObject, type Json, parseJson } from '../../objects/json/json.ts';

/** Longest output of a plugin, in bytes: a token has to fit into a header, and certificates are a few KiB. */
const maxOutputBytes = 1024 * 1024;
/** How much of what a plugin writes for a person is kept for the message if it fails, in bytes. */
const maxComplaintBytes = 300;
/** How long a plugin that was told to end may take before it is killed, in ms. */
const maxEndMs = 2000;

/** The credentials of a plugin (client.authentication.k8s.io, ExecCredential.status). */
export interface Credential {
  token?: string;
  clientCertificateData?: string;
  clientKeyData?: string;
  expirationTimestamp?: string;
}

/** Whether two credentials are the same, but for their time. */
export const areSameSecrets = (a: Credential, b: Credential): boolean =>
  (['token', 'clientCertificateData', 'clientKeyData'] as const).every((name) => a[name] === b[name]);

/** Credentials that change while the program runs: those of a plugin, or in a file. */
export interface CredentialSource {
  /**
   * What the next requests send. That may take longer than a request: a person may have to do something.
   *
   * @param refused what the API server has refused; it is not used again before others were looked for.
   * @throws {CredentialError} when there are none.
   */
  get(signal: AbortSignal, refused?: Credential): Promise<Credential>;
  /** A user with credentials, as the client library knows them. */
  userWith(user: User, credential: Credential): User;
}

/** There are no credentials. The message contains nothing secret. */
export class CredentialError extends Error {}

export interface PluginCall {
  command: string;
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Whether it may read from the terminal. */
  asks: boolean;
  /** Whether a person sees what it writes to standard error, at once. */
  isSeen: boolean;
}

/** A plugin failed. The message names it, and contains nothing of its output. */
export class PluginError extends CredentialError {
  constructor(command: string, problem: string) {
    super(`the credential plugin ${printable(command)} ${problem}`);
  }
}

/** The credentials in the output of a plugin, checked as client-go does. */
function credentialIn(output: Buffer, command: string): Credential {
  let value: Json;
  try {
    value = parseJson(output);
  } catch {
    // The message of the error quotes the output, which may be a token.
    throw new PluginError(command, 'printed something that is not JSON, instead of an ExecCredential');
  }
  const status = isJsonObject(value) ? value.status : undefined;
  if (!isJsonObject(status)) {
    throw new PluginError(command, 'printed an ExecCredential without status');
  }
  const credential: Credential = {};
  for (const name of ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'] as const) {
    const text = status[name];
    if (typeof text === 'string' && text !== '') {
      credential[name] = text;
    } else if (text !== undefined && text !== null && text !== '') {
      throw new PluginError(command, `printed a status.${name} that is not a string`);
    }
  }
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = credential;
  if (token === undefined && clientCertificateData === undefined && clientKeyData === undefined) {
    throw new PluginError(command, 'printed neither a token nor a client certificate');
  }
  if ((clientCertificateData === undefined) !== (clientKeyData === undefined)) {
    throw new PluginError(command, 'printed only one of clientCertificateData and clientKeyData');
  }
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new PluginError(command, 'printed a token with characters that a token cannot have');
  }
  if (expirationTimestamp !== undefined && Number.isNaN(Date.parse(expirationTimestamp))) {
    throw new PluginError(command, 'printed a status.expirationTimestamp that is not a time');
  }
  return credential;
}

/** A stream's bytes, as far as they are within the limit; `onMore` is called when there are more. */
function collect(stream: Readable, maxBytes: number, onMore = () => {}): () => Buffer {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on('data', (chunk: Buffer) => {
    if (length < maxBytes) {
      chunks.push(chunk.subarray(0, maxBytes - length));
    }
    length += chunk.length;
    if (length > maxBytes) {
      onMore();
    }
  });
  return () => Buffer.concat(chunks);
}

/**
 * Runs a plugin once.
 *
 * @param signal ends the plugin; the promise rejects at once with its reason.
 * @throws {PluginError} when it fails, or prints no credentials.
 */
export async function runPlugin(
  { command, args, env, asks, isSeen }: PluginCall,
  signal: AbortSignal,
): Promise<Credential> {
  const { promise, resolve, reject } = Promise.withResolvers<Credential>();
  const unstarted = (error: unknown) =>
    new PluginError(
      command,
      `cannot be started (${(error as NodeJS.ErrnoException).code}): install it, or correct exec.command of the user in the kubeconfig`,
    );
  let child: ChildProcessByStdio<null, Readable, Readable>;
  try {
    child = spawn(command, args, { env, stdio: [asks ? 'inherit' : 'ignore', 'pipe', 'pipe'] });
  } catch (error) {
    throw unstarted(error);
  }
  child.on('error', (error) => reject(unstarted(error)));
  if (child.pid === undefined) {
    return promise;
  }
  const kill = () => void child.kill('SIGKILL');
  /** First in a way that lets it tidy up: it may have turned off the echo of the terminal. */
  function stop(error: unknown): void {
    reject(error);
    child.kill();
    const timer = setTimeout(kill, maxEndMs);
    child.on('exit', () => clearTimeout(timer));
    // Programs that it has started may keep them open.
    child.stdout.destroy();
    child.stderr.destroy();
  }
  const onAbort = () => stop(signal.reason);
  signal.addEventListener('abort', onAbort);
  process.on('exit', kill);
  child.on('exit', () => process.off('exit', kill));
  const output = collect(child.stdout, maxOutputBytes, () =>
    stop(new PluginError(command, `printed more than ${maxOutputBytes / 1024 / 1024} MiB`)),
  );
  const complaint = collect(child.stderr, maxComplaintBytes);
  const giveBack = isSeen ? takeTerminal() : undefined;
  if (isSeen) {
    // A code to enter in a browser, a prompt.
    child.stderr.pipe(process.stderr, { end: false });
  }
  child.on('close', (code, killedBy) => {
    signal.removeEventListener('abort', onAbort);
    giveBack?.();
    if (code !== 0) {
      const text = complaint().toString('utf8').trim();
      const how = code === null ? `was ended by ${killedBy}` : `failed with exit code ${code}`;
      reject(new PluginError(command, text === '' ? how : `${how}: ${text}`));
      return;
    }
    try {
      resolve(credentialIn(output(), command));
    } catch (error) {
      reject(error);
    }
  });
  return promise;
}
