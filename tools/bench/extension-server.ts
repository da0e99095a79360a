// Run with a folder that holds tls.crt and tls.key, and `sdk` or `bare`. An extension for bench:extension: written with
// the SDK, or with node:https alone, by hand.
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pino } from 'pino';
import { createLogOutput, type LogStream } from '../../src/base/index.ts';
import { createExtensionServer, handler } from '../../src/extension/index.ts';
import { walkTemplates } from '../../src/extension/sdk/topology/index.ts';
import { benchCalls } from './extension-calls.ts';

const [folder = '.', kind = 'sdk'] = process.argv.slice(2);

/** The template that the templates of the bench describe objects with. */
interface Described {
  metadata?: { labels?: Record<string, string> };
  spec: { flavor?: unknown };
}

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
            mutate({ spec }, { variables }) {
              const template = spec.template as unknown as Described;
              const flavor = variables.string('flavor');
              template.metadata = { ...template.metadata, labels: { ...template.metadata?.labels, flavor } };
              template.spec.flavor = flavor;
            },
          },
        ]),
      }),
  }),
];

interface Variables {
  variables?: { name: string; value: unknown }[];
}

interface PatchRequest extends Variables {
  items: (Variables & { uid: string; object: { spec: { template: Described } } })[];
}

const apiVersion = 'hooks.runtime.cluster.x-k8s.io/v1alpha1';

/** The same handlers, as one writes them for a single purpose: they know the request, and check nothing. */
const byHand = [
  () => ({
    ...{ apiVersion, kind: 'BeforeClusterUpgradeResponse' },
    ...{ status: 'Success', message: 'backups run', retryAfterSeconds: 30 },
  }),
  (request: PatchRequest) => {
    const flavorIn = ({ variables }: Variables) => variables?.find(({ name }) => name === 'flavor')?.value;
    const common = flavorIn(request);
    const items = request.items.map((item) => {
      const flavor = flavorIn(item) ?? common;
      const { metadata, spec } = item.object.spec.template;
      const patch = [
        metadata === undefined
          ? { op: 'add', path: '/spec/template/metadata', value: { labels: { flavor } } }
          : metadata.labels === undefined
            ? { op: 'add', path: '/spec/template/metadata/labels', value: { flavor } }
            : { op: 'add', path: '/spec/template/metadata/labels/flavor', value: flavor },
        { op: spec.flavor === undefined ? 'add' : 'replace', path: '/spec/template/spec/flavor', value: flavor },
      ];
      return { uid: item.uid, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') };
    });
    return { apiVersion, kind: 'GeneratePatchesResponse', items, status: 'Success' };
  },
];

function report(port: number): void {
  process.stdout.write(`${JSON.stringify({ msg: 'listening', webhookPort: port })}\n`);
}

if (kind === 'sdk') {
  // Its log is discarded: reading it would take time from the callers.
  const nowhere = createWriteStream('/dev/null');
  await once(nowhere, 'open');
  const { port, stop } = await createExtensionServer({
    handlers,
    certificates: { folder },
    ...{ host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0 },
    log: pino({ base: null }, createLogOutput(nowhere as unknown as LogStream)),
  }).start();
  process.once('SIGTERM', () => void stop({ graceMs: 0, timeoutMs: 1000 }));
  report(port);
} else {
  const routes = new Map(benchCalls.map(({ path }, index) => [path, byHand[index]!]));
  const server = createServer(
    { cert: readFileSync(join(folder, 'tls.crt')), key: readFileSync(join(folder, 'tls.key')) },
    (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const route = routes.get((request.url ?? '').split('?')[0] ?? '')!;
        const text = JSON.stringify(route(JSON.parse(Buffer.concat(chunks).toString()) as PatchRequest));
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
        response.end(text);
      });
    },
  );
  server.listen(0, '127.0.0.1', () => report((server.address() as AddressInfo).port));
}
