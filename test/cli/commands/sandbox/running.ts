import { PassThrough } from 'node:stream';
import { expect } from 'vitest';
import { run } from '../../../../src/cli/index.ts';
import { eventually } from '../../../sandbox/client.ts';
import type { Shell } from '../../../support/shell.ts';

/** A sandbox with nothing but its API server and its webhook. */
export function startAlone(args: string[]) {
  return start(['--no-extension', ...args]);
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

/**
 * Waits until a sandbox prints what to try.
 *
 * @returns the path of its kubeconfig.
 */
export async function ready(output: { out: string }): Promise<string> {
  await eventually(
    async () => output.out,
    (text) => text.includes('kubectl get'),
  );
  return /KUBECONFIG='?(.*?)'?$/m.exec(output.out)?.[1] as string;
}

/** With these kubectl apply reads no OpenAPI documents, which takes most of its time. The result is the same. */
export const withoutDocuments = ['--validate=false', '--openapi-patch=false'];

/**
 * Runs kubectl with a kubeconfig: its output.
 *
 * @throws if it fails.
 */
export function kubectlOf(shell: Shell, kubeconfig: string) {
  return async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await shell.run('kubectl', ['--kubeconfig', kubeconfig, ...args]);
    if (code !== 0) {
      throw new Error(stderr);
    }
    return stdout;
  };
}

/** Applies a manifest that is allowed and one that is not: each gets its answer, in one run. */
export async function applyGoodAndBad(shell: Shell, kubeconfig: string): Promise<void> {
  const files = ['-f', 'manifests/samples/good-url.yaml', '-f', 'manifests/samples/bad-url.yaml'];
  const { code, stdout, stderr } = await shell.run('kubectl', [
    '--kubeconfig',
    kubeconfig,
    'apply',
    ...withoutDocuments,
    ...files,
  ]);
  expect([code, stdout, stderr]).toEqual([
    1,
    expect.stringMatching(/created/),
    expect.stringMatching(/denied the request/),
  ]);
}
