import { Agent, request } from 'node:https';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const maps = '/api/v1/namespaces/default/configmaps';

function send(sandbox: Sandbox, method: string, path: string, body?: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${sandbox.token}`, 'content-type': 'application/json' };
    const call = request(new URL(path, sandbox.url), { agent, ca: sandbox.ca, method, headers }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () =>
        (response.statusCode ?? 500) < 300 ? resolve(text) : reject(new Error(`${response.statusCode} ${text}`)),
      );
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/**
 * Runs `count` calls, eight at a time.
 *
 * @returns seconds.
 */
async function timed(count: number, call: (n: number) => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  let next = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (next < count) {
        await call(next++);
      }
    }),
  );
  return (performance.now() - begin) / 1000;
}

function line(what: string, value: number, unit: string): void {
  process.stdout.write(`${what.padEnd(46)} ${value.toFixed(value < 10 ? 2 : 0).padStart(8)} ${unit}\n`);
}

function heap(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}

const begin = performance.now();
const sandbox = await startSandbox();
await send(sandbox, 'GET', maps);
line('start-up, to the first response', performance.now() - begin, 'ms');

const before = heap();
const objects = 10_000;
const object = (n: number) => ({
  metadata: { name: `m${n}`, labels: { n: `${n % 10}` } },
  data: { text: 'x'.repeat(200) },
});
line('writes (create)', objects / (await timed(objects, (n) => send(sandbox, 'POST', maps, object(n)))), '/s');
line('memory of 10,000 objects, history included', heap() - before, 'MiB');
line('reads (get)', 5000 / (await timed(5000, (n) => send(sandbox, 'GET', `${maps}/m${n}`))), '/s');
line('list of 10,000 objects', (await timed(8, () => send(sandbox, 'GET', maps))) * 125, 'ms');

const watchers = 100;
const writes = 100;
let seen = 0;
const all = Promise.withResolvers<void>();
const { metadata } = JSON.parse(await send(sandbox, 'GET', `${maps}?limit=1`)) as {
  metadata: { resourceVersion: string };
};
const calls = await Promise.all(
  Array.from({ length: watchers }, () => {
    const path = `${maps}?watch=true&resourceVersion=${metadata.resourceVersion}`;
    const started = Promise.withResolvers<ReturnType<typeof request>>();
    const headers = { authorization: `Bearer ${sandbox.token}` };
    const call = request(new URL(path, sandbox.url), { agent: false, ca: sandbox.ca, headers }, (response) => {
      response.on('data', (chunk: Buffer) => {
        seen += chunk.filter((byte) => byte === 10).length;
        if (seen === watchers * writes) {
          all.resolve();
        }
      });
      response.on('error', () => {});
      started.resolve(call);
    });
    call.on('error', () => {});
    call.end();
    return started.promise;
  }),
);
const fanOut = performance.now();
await timed(writes, (n) => send(sandbox, 'POST', maps, object(objects + n)));
await all.promise;
line('events delivered to 100 watchers', (watchers * writes) / ((performance.now() - fanOut) / 1000), '/s');
for (const call of calls) {
  call.destroy();
}
agent.destroy();
await sandbox.stop();
