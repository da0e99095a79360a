import { PassThrough } from 'node:stream';
import { run } from '../../../src/commands/index.ts';
import { eventually } from '../../sandbox/client.ts';

/** A sandbox with nothing but its API server and its webhook. */
export function startAlone(args: string[]) {
  return start(['--no-extension', '--no-controller', ...args]);
}

/** A sandbox with these arguments, in this process. */
export function start(args: string[]) {
  const stop = new AbortController();
  const output = { out: '', err: '' };
  const stdout = new PassThrough().on('data', (chunk) => {
    output.out += chunk;
  });
  const stderr = new PassThrough().on('data', (chunk) => {
    output.err += chunk;
  });
  const ended = run(['sandbox', ...args], { stdin: new PassThrough(), stdout, stderr, env: {}, signal: stop.signal });
  return { stop, output, ended };
}

/** Waits until a sandbox says what to try. @returns where its kubeconfig is. */
export async function ready(output: { out: string }): Promise<string> {
  await eventually(
    async () => output.out,
    (text) => text.includes('kubectl get'),
  );
  return /KUBECONFIG=(\S+)/.exec(output.out)?.[1] as string;
}
