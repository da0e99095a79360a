// Run with a folder that holds tls.crt and tls.key, and `sdk` or `bare`. An extension for bench:extension: written with
// the SDK, or a node:https handler that only parses the request and sends the response that the SDK sends, built once.
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import type { LogStream } from '../../src/base/index.ts';
import { createExtensionServer, handler, walkTemplates } from '../../src/extension/index.ts';
import { defaultLog } from '../../src/extension/sdk/log.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { benchCalls } from './extension-calls.ts';

const [folder = '.', kind = 'sdk'] = process.argv.slice(2);

const handlers = [
  handler('BeforeClusterUpgrade', {
    name: 'upgrade',
    handle: (_, { answer }) => answer.retry(30, 'backups run'),
  }),
  handler('GeneratePatches', {
    name: 'patch',
    handle: (request, { answer }) =>
      answer.done({
        items: walkTemplates(request, [
          {
            mutate(template, { variables }) {
              template.metadata.labels = { ...template.metadata.labels, flavor: variables.string('flavor') };
              template.spec.flavor = variables.string('flavor');
            },
          },
        ]),
      }),
  }),
];

if (kind === 'sdk') {
  // Its log is discarded: reading it would take time from the callers.
  const nowhere = createWriteStream('/dev/null');
  await once(nowhere, 'open');
  const { port, stop } = await createExtensionServer({
    handlers,
    certificates: { folder },
    ...{ host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0 },
    log: defaultLog('info', nowhere as unknown as LogStream).log,
  }).start();
  process.once('SIGTERM', () => void stop({ graceMs: 0, timeoutMs: 1000 }));
  process.stdout.write(`${JSON.stringify({ msg: 'listening', webhookPort: port })}\n`);
} else {
  const inProcess = createExtensionServer({ handlers, log: pino({ level: 'silent' }) });
  const answers = new Map<string, string>();
  for (const { path, handlerName, body } of benchCalls) {
    const { response } = await inProcess.call(handlerName, JSON.parse(body) as JsonObject);
    answers.set(path, JSON.stringify(response));
  }
  const server = createServer(
    { cert: readFileSync(join(folder, 'tls.crt')), key: readFileSync(join(folder, 'tls.key')) },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        JSON.parse(Buffer.concat(chunks).toString());
        const text = answers.get((request.url ?? '').split('?')[0] ?? '') ?? '';
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
        response.end(text);
      });
    },
  );
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ msg: 'listening', webhookPort: port })}\n`);
  });
}
