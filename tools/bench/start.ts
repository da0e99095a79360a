// How long programs take from start to first use: `npm run bench:start [-- --runs 11]`. Each in a process of its own,
// in turn, of the built packages, without a cache of compiled code; beside a bare node:https server.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { selfSignedPair } from '../../src/server/index.ts';
import { builtProgram, median, printTable } from './program.ts';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '11' } } });
const runs = Number(values.runs);

const certificates = mkdtempSync(join(tmpdir(), 'bench-'));
const pair = selfSignedPair(new Date());
writeFileSync(join(certificates, 'tls.crt'), pair.cert);
writeFileSync(join(certificates, 'tls.key'), pair.key, { mode: 0o600 });
process.once('exit', () => rmSync(certificates, { recursive: true }));

const serve = ['serve', '--host', '127.0.0.1', '--port', '0', '--health-port', '0'];

/** Waits until a program prints a text; rejects if it exits before. */
async function untilPrinted(child: ChildProcess, pattern: RegExp): Promise<RegExpExecArray> {
  let text = '';
  for await (const chunk of child.stdout!) {
    text += chunk;
    const match = pattern.exec(text);
    if (match !== null) {
      return match;
    }
  }
  throw new Error(`${child.spawnargs.join(' ')} ended before it was ready: ${text}`);
}

async function untilReady(child: ChildProcess): Promise<void> {
  const [, port] = await untilPrinted(child, /"healthPort":(\d+)/);
  while ((await fetch(`http://127.0.0.1:${port}/readyz`)).status !== 200) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

const samples = fileURLToPath(new URL('../../manifests/samples', import.meta.url));
const sourceProgram = fileURLToPath(new URL('../../bin/extensionconfig-webhook', import.meta.url));
const sdk = new URL('../../dist/cluster-api-extension/index.js', import.meta.url).href;
/** Imports the SDK, or starts a server with it. */
const importing = `await import(${JSON.stringify(sdk)});`;
const extension = `const { createExtensionServer, handler } = await import(${JSON.stringify(sdk)});
const handlers = [handler('BeforeClusterCreate', { name: 'a', handle: (_request, { answer }) => answer.done() })];
const local = { host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0 };
await createExtensionServer({ handlers, certificates: { folder: ${JSON.stringify(certificates)} }, ...local }).start();`;
const bare = `import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
const [cert, key] = ['tls.crt', 'tls.key'].map((file) => readFileSync(${JSON.stringify(`${certificates}/`)} + file));
const server = createServer({ cert, key }, (_request, response) => response.end('ok'));
server.listen(0, '127.0.0.1', () => console.log('listening'));`;
const evaluate = (code: string) => ['--input-type=module', '--eval', code];

const programs: { name: string; aimMs?: number; args: string[]; ready: (child: ChildProcess) => Promise<unknown> }[] = [
  { name: 'node itself', args: ['-e', '0'], ready: (child) => once(child, 'exit') },
  {
    name: 'a bare node:https server',
    args: evaluate(bare),
    ready: (child) => untilPrinted(child, /listening/),
  },
  { name: '--version', aimMs: 80, args: [builtProgram, '--version'], ready: (child) => once(child, 'exit') },
  {
    name: 'lint of a file',
    aimMs: 150,
    args: [builtProgram, 'lint', `${samples}/good-service.yaml`],
    ready: (child) => once(child, 'exit'),
  },
  { name: 'lint manifests/samples', args: [builtProgram, 'lint', samples], ready: (child) => once(child, 'exit') },
  {
    name: 'serve --cert-dir, /readyz ok',
    aimMs: 300,
    args: [builtProgram, ...serve, '--cert-dir', certificates],
    ready: untilReady,
  },
  { name: 'serve --self-signed, /readyz ok', args: [builtProgram, ...serve, '--self-signed'], ready: untilReady },
  {
    name: 'import of cluster-api-extension',
    aimMs: 100,
    args: evaluate(importing),
    ready: (child) => once(child, 'exit'),
  },
  {
    name: 'an extension server',
    aimMs: 250,
    args: evaluate(extension),
    ready: (child) => untilPrinted(child, /listening/),
  },
  {
    name: 'sandbox',
    aimMs: 1000,
    args: [builtProgram, 'sandbox'],
    ready: (child) => untilPrinted(child, /API server with ExtensionConfig/),
  },
  {
    name: 'npm start (sandbox, from source)',
    aimMs: 1000,
    args: [sourceProgram, 'sandbox'],
    ready: (child) => untilPrinted(child, /API server with ExtensionConfig/),
  },
];

/** Milliseconds from the start of one process until it is ready. */
async function timeOf({ args, ready }: (typeof programs)[number]): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, NODE_DISABLE_COMPILE_CACHE: '1' },
  });
  const exited = once(child, 'exit');
  await ready(child);
  const took = performance.now() - startedAt;
  child.kill('SIGTERM');
  await exited;
  return took;
}

const times = programs.map((): number[] => []);
for (let run = 0; run < runs; run++) {
  for (const [index, program] of programs.entries()) {
    times[index]?.push(await timeOf(program));
  }
}
process.stdout.write(`milliseconds, ${runs} runs in turn\n`);
printTable([
  ['', 'median', 'fastest', 'target'],
  ...programs.map(({ name, aimMs }, index) => [
    name,
    median(times[index] ?? []).toFixed(0),
    Math.min(...(times[index] ?? [])).toFixed(0),
    aimMs === undefined ? '' : String(aimMs),
  ]),
]);
