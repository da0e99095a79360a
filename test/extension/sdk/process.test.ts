import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:https';
import { aroundEach, test, vi } from 'vitest';
import { ending, endWith } from '../../support/ends.ts';

// The longest takes some seconds: they run at the same time.
aroundEach(ending);

const path = '/hooks.runtime.cluster.x-k8s.io/v1alpha1/beforeclustercreate/create';

/** Starts an extension in a process of its own and calls it once, so that its jobs run. */
async function startWithJobs(...kinds: string[]) {
  const program = new URL('process.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [program, ...kinds], { stdio: ['ignore', 'pipe', 'ignore'] });
  endWith(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit') as Promise<[number | null, string | null]>;
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await vi.waitUntil(() => output.includes('"listening"'), { timeout: 30_000 });
  const port = Number(/"extensionPort":(\d+)/.exec(output)?.[1]);
  const call = request({ host: '127.0.0.1', port, path, method: 'POST', rejectUnauthorized: false, agent: false });
  call.on('error', () => {});
  call.end('{"cluster":{"metadata":{"name":"a"},"spec":{}}}');
  const lines = () =>
    output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return {
    child,
    exited,
    lines,
    answered: () => vi.waitUntil(() => output.includes('call answered'), { timeout: 30_000 }),
  };
}

test.concurrent('after SIGTERM the signal of jobs is aborted, and the log names those that do not observe it', async ({
  expect,
}) => {
  const { child, exited, lines, answered } = await startWithJobs('sleeping', 'deaf');
  await answered();
  child.kill('SIGTERM');
  expect(await exited).toEqual([1, null]);
  expect(lines()).toContainEqual(
    expect.objectContaining({ job: expect.stringContaining('sleeping'), msg: 'job interrupted: the extension stops' }),
  );
  expect(lines().at(-1)).toMatchObject({
    level: 'error',
    unfinished: [expect.stringContaining('deaf')],
    msg: 'the process ends while this work runs: it does not observe its signal',
  });
});

test.concurrent('a rejection that nobody awaits is in the log before it ends the process', async ({ expect }) => {
  const { exited, lines } = await startWithJobs('floating');
  expect(await exited).toEqual([1, null]);
  expect(lines().at(-1)).toMatchObject({
    level: 'fatal',
    message: 'nobody awaits this',
    origin: 'unhandledRejection',
    msg: 'the process ends',
  });
});
