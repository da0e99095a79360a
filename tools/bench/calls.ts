// Calls of an extension through the client beside bare node:https requests to the same server, in one run: `npm run
// bench:calls [-- --rounds 25 --seconds 0.2 --callers 1,10]`. The server runs in a process of its own. Then the same with
// 1,000 registered handlers of which 50 match.
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createClient } from '../../src/runtimehooks/client/index.ts';
import { hooks, hooksGroup } from '../../src/runtimehooks/index.ts';
import { sampleRequest } from '../../src/runtimehooks/messages/index.ts';
import {
  caBundle,
  extensionConfig,
  startExtension,
  storedHandler,
} from '../../test/runtimehooks/client/extension-server.ts';
import { median } from './program.ts';

/** Calls per second, the 99th percentile in ms and the CPU µs of a call, of a function that several callers call. */
async function load(callers: number, milliseconds: number, call: () => Promise<unknown>) {
  const latencies: number[] = [];
  const until = performance.now() + milliseconds;
  const started = performance.now();
  const cpu = process.cpuUsage();
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < until) {
        const begun = performance.now();
        await call();
        latencies.push(performance.now() - begun);
      }
    }),
  );
  const { user, system } = process.cpuUsage(cpu);
  latencies.sort((a, b) => a - b);
  return {
    cpu: (user + system) / latencies.length,
    perSecond: latencies.length / ((performance.now() - started) / 1000),
    p99: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
  };
}

async function measure(url: string, bundle: string, rounds: number, milliseconds: number, callerCounts: number[]) {
  const hook = hooks.BeforeClusterUpgrade;
  const { apiVersion: _a, kind: _k, settings: _s, ...request } = sampleRequest(hook);
  const object = { namespace: 'default', name: 'example' };
  const client = createClient({ namespaceLabels: async () => ({ team: 'a' }) });
  client.registry.warmUp([
    extensionConfig('one', { url, caBundle: bundle }, [storedHandler('upgrade.one', hook.name)]),
  ]);
  const ours = async () => {
    const result = await client.callExtension(hook, { handler: 'upgrade.one', object, request: request as never });
    if (!result.ok) {
      throw new Error(result.error.message);
    }
  };
  const text = JSON.stringify(sampleRequest(hook));
  const agent = new Agent({ keepAlive: true, maxSockets: 10, ca: Buffer.from(bundle, 'base64') });
  const bare = () =>
    new Promise<unknown>((resolve, reject) => {
      const sent = httpsRequest(
        `${url}/${hooksGroup}/v1alpha1/beforeclusterupgrade/upgrade?timeout=10s`,
        { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve(JSON.parse(Buffer.concat(chunks).toString())));
        },
      );
      sent.on('error', reject);
      sent.end(text);
    });
  for (const callers of callerCounts) {
    await load(callers, 1000, bare);
    await load(callers, 1000, ours);
    const pairs: Record<'bare' | 'ours', Awaited<ReturnType<typeof load>>>[] = [];
    // Many short rounds by turns: a machine that changes its speed then changes it for both.
    for (let round = 0; round < rounds; round++) {
      pairs.push({ bare: await load(callers, milliseconds, bare), ours: await load(callers, milliseconds, ours) });
    }
    const of = (who: 'bare' | 'ours', what: 'perSecond' | 'p99' | 'cpu', digits: number) =>
      median(pairs.map((pair) => pair[who][what])).toFixed(digits);
    const line = (who: 'bare' | 'ours') =>
      `${of(who, 'perSecond', 0)}/s, p99 ${of(who, 'p99', 2)} ms, CPU ${of(who, 'cpu', 0)} µs`;
    const rate = median(pairs.map((pair) => pair.ours.perSecond / pair.bare.perSecond));
    const cpu = median(pairs.map((pair) => pair.bare.cpu / pair.ours.cpu));
    print(
      `${callers} callers: bare ${line('bare')}; client ${line('ours')}; ratio ${rate.toFixed(2)}, of CPU time ${cpu.toFixed(2)} (aim 0.7)`,
    );
  }
  const handlers = (name: string) =>
    Array.from({ length: 50 }, (_, index) => storedHandler(`h${index}.${name}`, hook.name));
  client.registry.remove('one');
  for (let at = 0; at < 20; at++) {
    client.registry.add(
      extensionConfig(`e${at}`, { url, caBundle: bundle }, handlers(`e${at}`), {
        spec: { namespaceSelector: { matchLabels: { team: at === 7 ? 'a' : 'b' } } },
      }),
    );
  }
  const all = await load(1, 2000, async () => {
    const result = await client.callAllExtensions(hook, { object, request: request as never });
    if (!result.ok || result.calls.length !== 50) {
      throw new Error('not all were called');
    }
  });
  print(
    `1,000 registered handlers, 50 matching: ${all.perSecond.toFixed(1)} times all per second, p99 ${all.p99.toFixed(1)} ms (${(all.perSecond * 50).toFixed(0)} calls/s)`,
  );
  agent.destroy();
  await client.close();
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

if (process.send !== undefined) {
  const server = await startExtension(() => ({ status: 'Success', message: '', retryAfterSeconds: 0 }));
  setInterval(() => server.received.splice(0), 100).unref();
  process.send({ url: server.url, ca: caBundle });
  process.once('disconnect', () => process.exit());
} else {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '25' },
      seconds: { type: 'string', default: '0.2' },
      callers: { type: 'string', default: '1,10' },
    },
  });
  const child: ChildProcess = fork(fileURLToPath(import.meta.url));
  const [{ url, ca: bundle }] = (await once(child, 'message')) as [{ url: string; ca: string }];
  await measure(
    url,
    bundle,
    Number(values.rounds),
    Number(values.seconds) * 1000,
    values.callers.split(',').map(Number),
  );
  child.disconnect();
}
