// Measures the built webhooks beside a bare node:https handler that gets the same bodies: `npm run bench [-- --rounds 25
// --seconds 0.2 --callers 1,4,16,64]`. The callers are in this process, each server in its own.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { selfSignedPair } from '../../src/server/index.ts';
import { webhookPaths } from '../../src/webhook/index.ts';
import { exampleCaBundle } from '../../test/policy/rules/examples.ts';
import { requestBytes } from './load.ts';
import { builtProgram, median, printTable, startProgram } from './program.ts';
import { cells, ratios, sideBySide } from './side-by-side.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    seconds: { type: 'string', default: '0.2' },
    callers: { type: 'string', default: '1,4,16,64' },
    only: { type: 'string', default: '' },
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
  { name: 'validate', path: webhookPaths.validate, body: JSON.stringify(captured('create-validate.json')), aim: 1.3 },
  { name: 'mutate', path: webhookPaths.mutate, body: JSON.stringify(captured('create-mutate.json')), aim: 1.2 },
  { name: 'validate, CA bundle', path: webhookPaths.validate, body: JSON.stringify(withBundle), aim: 1.4 },
].filter(({ name }) => name.includes(values.only));

const certificates = mkdtempSync(join(tmpdir(), 'bench-'));
const pair = selfSignedPair(new Date());
writeFileSync(join(certificates, 'tls.crt'), pair.cert);
writeFileSync(join(certificates, 'tls.key'), pair.key, { mode: 0o600 });
process.once('exit', () => rmSync(certificates, { recursive: true }));

const bare = await startProgram([path('bare.ts'), certificates]);
const webhook = await startProgram([
  // As the image's entry point.
  '--max-semi-space-size=8',
  builtProgram,
  ...['serve', '--cert-dir', certificates, '--feature-gates', 'RuntimeSDK=true'],
  ...['--host', '127.0.0.1', '--port', '0', '--health-host', '127.0.0.1', '--health-port', '0'],
]);
try {
  const atRest = [webhook.residentMiB(), bare.residentMiB()];
  for (const { path: to, body } of cases) {
    // Compiles the code.
    await sideBySide(webhook, bare, { request: requestBytes(to, body), callers: 4, rounds: 1, milliseconds: 500 });
  }
  const rows: string[][] = [
    [
      'review',
      'callers',
      ...['CPU µs', 'bare', 'ratio'],
      ...['p50 ms', 'bare', 'ratio'],
      ...['p99 ms', 'bare', 'ratio'],
      ...['per s', 'bare', 'ratio'],
    ],
  ];
  const cpuRatios = new Map<string, number[]>();
  for (const callers of callerCounts) {
    for (const { name, path: to, body } of cases) {
      const pairs = await sideBySide(webhook, bare, { request: requestBytes(to, body), callers, rounds, milliseconds });
      cpuRatios.set(name, [...(cpuRatios.get(name) ?? []), ...ratios(pairs, 'cpuMicroseconds')]);
      rows.push([
        name,
        String(callers),
        ...cells(pairs, 'cpuMicroseconds', 0),
        ...cells(pairs, 'p50', 2),
        ...cells(pairs, 'p99', 2),
        ...cells(pairs, 'perSecond', 0),
      ]);
    }
  }
  const out = (line: string) => process.stdout.write(`${line}\n`);
  out(`medians of ${rounds} rounds of ${milliseconds / 1000} s in turn, beside a bare node:https handler`);
  printTable(rows);
  out('');
  for (const { name, aim } of cases) {
    out(
      `CPU time of a review, ${name}: ${median(cpuRatios.get(name) ?? []).toFixed(2)} of the bare handler (target ${aim})`,
    );
  }
  const [ours, theirs] = [webhook.residentMiB(), bare.residentMiB()];
  out(`resident at rest: ${atRest[0]?.toFixed(0)} MiB, bare ${atRest[1]?.toFixed(0)} MiB`);
  out(
    `resident after the load: ${ours.toFixed(0)} MiB, bare ${theirs.toFixed(0)} MiB: ${(ours / theirs).toFixed(2)} (target 1.1)`,
  );
} finally {
  await Promise.all([bare.stop(), webhook.stop()]);
}
