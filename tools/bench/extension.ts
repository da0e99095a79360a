// Measures an extension written with the SDK beside a bare one, a node:https handler by hand that sends the same bytes:
// `npm run bench:extension [-- --rounds 25 --seconds 0.2 --callers 1,8]`. The bare one parses the request, and writes the
// response (and the patches, straight from the fields that they need) for each call. It checks nothing, has no limits and
// no timeouts, and logs and counts nothing.
//
// At 8 callers an extension takes 1.7 to 1.9 times its CPU time for a call, and 1.7 to 1.9 times for GeneratePatches: the less
// the machine has to do, the less. The aim of 1.5 is given up. Of a call, Express with its limits is 0.25, its line in the log 0.2, the rest is JSON with its depth, checks against the schemas, the context and metrics; no function of ours takes
// 5 %. An extension with patches by hand takes 1.2, so walkTemplates is the rest: of its 600 µs for these 50 templates, copies are 200,
// the comparison 150, what Cluster API ignores 130, base64 70. Tried: lists that are copied when they are first read (-100 µs, and
// console.log shows them as [Getter/Setter]), objects too (none less, since accessors cost as much), and nothing compared that
// Cluster API takes for sure (-20 µs). A proxy that records writes would save 350 µs, but structuredClone refuses it, and authors
// would have to know.
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
    ['call', ...['KiB', 'callers'], ...['CPU µs', 'p50 ms', 'p99 ms', 'per s'].flatMap((column) => [column, '/bare'])],
  ];
  for (const { name, path, body } of benchCalls) {
    assert.equal(await responseOf(sdk, path, body), await responseOf(bare, path, body));
    const request = requestBytes(path, body);
    // Compiles the code.
    await sideBySide([sdk, bare], { request, callers: 4, rounds: 1, milliseconds: 1000 });
    for (const callers of callerCounts) {
      const turns = await sideBySide([sdk, bare], { request, callers, rounds, milliseconds });
      rows.push([
        name,
        (body.length / 1024).toFixed(0),
        String(callers),
        ...cells(turns, 'cpuMicroseconds', 0),
        ...cells(turns, 'p50', 2),
        ...cells(turns, 'p99', 2),
        ...cells(turns, 'perSecond', 0),
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
