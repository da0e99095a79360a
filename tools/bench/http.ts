// Measures the built webhooks beside a bare node:https handler and a bare Express application, which get the same bodies:
// `npm run bench [-- --rounds 25 --seconds 0.2 --callers 1,4,16,64]`, and with `--before FOLDER` beside another checkout that
// is built. The callers are in this process, each server in its own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { selfSignedPair } from '../../src/server/index.ts';
import { webhookPaths } from '../../src/webhook/index.ts';
import { exampleCaBundle } from '../../test/policy/rules/examples.ts';
import { requestBytes } from './load.ts';
import { builtProgram, printTable, startProgram } from './program.ts';
import { cells, sideBySide, type Turn } from './side-by-side.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    seconds: { type: 'string', default: '0.2' },
    callers: { type: 'string', default: '1,4,16,64' },
    only: { type: 'string', default: '' },
    before: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const milliseconds = Number(values.seconds) * 1000;
const callerCounts = values.callers.split(',').map(Number);

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const captured = (name: string) =>
  JSON.parse(readFileSync(path(`../../test/support/fixtures/webhook-calls/${name}`), 'utf8')).body as {
    request: { object: { metadata: Record<string, unknown>; spec: { clientConfig: Record<string, unknown> } } };
  };

const withBundle = captured('create-validate.json');
// With the annotation, Cluster API would overwrite the bundle, which is a warning and a line in the log.
delete withBundle.request.object.metadata.annotations;
withBundle.request.object.spec.clientConfig.caBundle = exampleCaBundle;
const cases = [
  { name: 'validate', path: webhookPaths.validate, body: JSON.stringify(captured('create-validate.json')) },
  { name: 'mutate', path: webhookPaths.mutate, body: JSON.stringify(captured('create-mutate.json')) },
  { name: 'validate, CA bundle', path: webhookPaths.validate, body: JSON.stringify(withBundle) },
].filter(({ name }) => name.includes(values.only));

const certificates = mkdtempSync(join(tmpdir(), 'bench-'));
const pair = selfSignedPair(new Date());
writeFileSync(join(certificates, 'tls.crt'), pair.cert);
writeFileSync(join(certificates, 'tls.key'), pair.key, { mode: 0o600 });
process.once('exit', () => rmSync(certificates, { recursive: true }));

const serve = (program: string) =>
  startProgram([
    // As the image's entry point.
    '--max-semi-space-size=8',
    program,
    ...['serve', '--cert-dir', certificates, '--feature-gates', 'RuntimeSDK=true'],
    ...['--host', '127.0.0.1', '--port', '0', '--health-port', '0'],
  ]);
const names = ['node:https', 'Express', ...(values.before === undefined ? [] : ['before'])];
const others = [
  await startProgram([path('bare.ts'), certificates, 'node']),
  await startProgram([path('bare.ts'), certificates, 'express']),
  ...(values.before === undefined ? [] : [await serve(join(values.before, 'dist/extensionconfig-webhook/main.js'))]),
];
const servers = [await serve(builtProgram), ...others];
const resident = () => servers.map((server) => server.residentMiB());
try {
  const atRest = resident();
  for (const { path: to, body } of cases) {
    // Compiles the code.
    await sideBySide(servers, { request: requestBytes(to, body), callers: 4, rounds: 1, milliseconds: 500 });
  }
  const columns = ['CPU µs', 'p50 ms', 'p99 ms', 'per s'];
  const rows: string[][] = [
    ['review', 'callers', ...columns.flatMap((column) => [column, ...names.map((name) => `/${name}`)])],
  ];
  const turnsOf = new Map<string, Turn[]>();
  for (const callers of callerCounts) {
    for (const { name, path: to, body } of cases) {
      const turns = await sideBySide(servers, { request: requestBytes(to, body), callers, rounds, milliseconds });
      turnsOf.set(name, [...(turnsOf.get(name) ?? []), ...turns]);
      rows.push([
        name,
        String(callers),
        ...cells(turns, 'cpuMicroseconds', 0),
        ...cells(turns, 'p50', 2),
        ...cells(turns, 'p99', 2),
        ...cells(turns, 'perSecond', 0),
      ]);
    }
  }
  const out = (line: string) => process.stdout.write(`${line}\n`);
  out(`medians of ${rounds} rounds of ${milliseconds / 1000} s in turn, and of their ratios to the other servers`);
  printTable(rows);
  out('');
  for (const [name, turns] of turnsOf) {
    const [, ofNode, ofExpress] = cells(turns, 'cpuMicroseconds', 0);
    out(`CPU time of a review, ${name}: ${ofNode} of bare node:https, ${ofExpress} of bare Express (target 1)`);
  }
  const list = (sizes: readonly number[]) =>
    ['ours', ...names].map((name, index) => `${name} ${sizes[index]?.toFixed(0)} MiB`).join(', ');
  out(`resident at rest: ${list(atRest)}`);
  out(`resident after the load: ${list(resident())}`);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
}
