// Measures an extension written with the SDK beside a bare one, a node:https handler by hand that sends the same bytes:
// `npm run bench:extension [-- --rounds 25 --seconds 0.2 --callers 1,8]`. The bare one parses the request, and writes the
// response (and the patches, straight from the fields that they need) for each call. It checks nothing, has no limits and
// no timeouts, and logs and counts nothing.
//
// At 8 callers an extension takes 1.64 times its CPU time for a call, and 1.72 times for GeneratePatches (two busy cores). Of
// the 1,160 µs that walkTemplates takes for these 50 templates, copies are 180 to 270, the comparison 230, what Cluster API
// ignores 120, base64 40. A proxy that records writes would take 40 instead of the first three, but authors would see it
// (structuredClone refuses it), and it would not change calls: there, a quarter is writing to sockets, as in the bare one,
// and no function of ours takes 5 %.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { selfSignedPair } from '../../src/server/index.ts';
import { benchCalls } from './extension-calls.ts';
import { requestBytes } from './load.ts';
import { type Program, printTable, startProgram } from './program.ts';
import { cells, sideBySide } from './side-by-side.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '25' },
    seconds: { type: 'string', default: '0.2' },
    callers: { type: 'string', default: '1,8' },
  },
});
const rounds = Number(values.rounds);
const milliseconds = Number(values.seconds) * 1000;
const callerCounts = values.callers.split(',').map(Number);

const certificates = mkdtempSync(join(tmpdir(), 'bench-'));
const pair = selfSignedPair(new Date());
writeFileSync(join(certificates, 'tls.crt'), pair.cert);
writeFileSync(join(certificates, 'tls.key'), pair.key, { mode: 0o600 });
process.once('exit', () => rmSync(certificates, { recursive: true }));

/** The body of a server's response. */
function responseOf({ webhookPort: port }: Program, path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    httpsRequest({ host: '127.0.0.1', port, path, method: 'POST', rejectUnauthorized: false }, (response) => {
      text(response).then(resolve, reject);
    })
      .once('error', reject)
      .end(body);
  });
}

const program = fileURLToPath(new URL('extension-server.ts', import.meta.url));
const sdk = await startProgram([program, certificates, 'sdk']);
const bare = await startProgram([program, certificates, 'bare']);
try {
  const rows: string[][] = [
    [
      'call',
      ...['KiB', 'callers'],
      ...['CPU µs', 'bare', 'ratio'],
      ...['p50 ms', 'bare', 'ratio'],
      ...['p99 ms', 'bare', 'ratio'],
      ...['per s', 'bare', 'ratio'],
    ],
  ];
  for (const { name, path, body } of benchCalls) {
    assert.equal(await responseOf(sdk, path, body), await responseOf(bare, path, body));
    const request = requestBytes(path, body);
    // Compiles the code.
    await sideBySide(sdk, bare, { request, callers: 4, rounds: 1, milliseconds: 1000 });
    for (const callers of callerCounts) {
      const pairs = await sideBySide(sdk, bare, { request, callers, rounds, milliseconds });
      rows.push([
        name,
        (body.length / 1024).toFixed(0),
        String(callers),
        ...cells(pairs, 'cpuMicroseconds', 0),
        ...cells(pairs, 'p50', 2),
        ...cells(pairs, 'p99', 2),
        ...cells(pairs, 'perSecond', 0),
      ]);
    }
  }
  process.stdout.write(
    `medians of ${rounds} rounds of ${milliseconds / 1000} s in turn, beside a bare node:https handler (target: p99 of GeneratePatches under 20 ms)\n`,
  );
  printTable(rows);
} finally {
  await Promise.all([sdk.stop(), bare.stop()]);
}
