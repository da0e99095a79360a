import { Agent, request } from 'node:https';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.ts';
import { median } from './program.ts';

// What OpenAPI documents cost in the sandbox: the time from a change of one of many definitions until its document is
// updated, how long the list of documents takes then, and how many documents per second are served once they are built.
// CPU time is that of server and client together, and means more than wall-clock time while other programs run.

const agent = new Agent({ keepAlive: true, maxSockets: 8 });
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

interface Answer {
  status: number;
  etag: string;
  bytes: Buffer;
}

function send(
  sandbox: Sandbox,
  method: string,
  path: string,
  options: { body?: object; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${sandbox.token}`,
      'content-type': 'application/json',
      ...options.headers,
    };
    const call = request(new URL(path, sandbox.url), { agent, ca: sandbox.ca, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const [status, bytes] = [response.statusCode ?? 500, Buffer.concat(chunks)];
        if (status >= 400 && status !== 404) {
          reject(new Error(`${method} ${path}: ${status} ${bytes.toString().slice(0, 300)}`));
        } else {
          resolve({ status, etag: response.headers.etag ?? '', bytes });
        }
      });
    });
    call.on('error', reject);
    call.end(options.body === undefined ? undefined : JSON.stringify(options.body));
  });
}

/** A schema of some 20 KiB, as many definitions have. */
function schemaOf(change: number): object {
  const properties = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `field${index}`,
      {
        type: 'object',
        description: `Field ${index} says how part ${index} of the whole is to be: ${'words '.repeat(20)}`,
        properties: {
          name: { type: 'string', maxLength: 63 + change },
          parts: { type: 'array', items: { type: 'string' } },
        },
      },
    ]),
  );
  return { type: 'object', properties: { spec: { type: 'object', properties } } };
}

function versionsOf(change: number): object[] {
  return [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schemaOf(change) } }];
}

/** Ten definitions share a group. */
function definitionOf(index: number): { group: string; name: string; body: object } {
  const group = `group${Math.floor(index / 10)}.example.com`;
  const plural = `things${index}`;
  const kind = `Thing${index}`;
  return {
    group,
    name: `${plural}.${group}`,
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, singular: plural, kind, listKind: `${kind}List` },
        versions: versionsOf(0),
      },
    },
  };
}

async function until<T>(read: () => Promise<T>, wanted: (value: T) => boolean): Promise<T> {
  const end = performance.now() + 30_000;
  for (;;) {
    const value = await read();
    if (wanted(value)) {
      return value;
    }
    if (performance.now() > end) {
      throw new Error('nothing happened for 30 s');
    }
  }
}

/** The counters of documents built: one line per definition and reason. */
async function built(sandbox: Sandbox): Promise<number> {
  const { bytes } = await send(sandbox, 'GET', '/metrics');
  return Number(/^crd_openapi_v3_aggregation_duration_seconds_count (\d+)$/m.exec(bytes.toString())?.[1] ?? 0);
}

/** CPU time of this process, in ms. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Requests per second, eight at a time, over one second: by wall-clock time and by CPU time. */
async function rate(call: () => Promise<unknown>): Promise<[number, number]> {
  const end = performance.now() + 1000;
  const [begin, cpuBegin] = [performance.now(), cpu()];
  let count = 0;
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (performance.now() < end) {
        await call();
        count++;
      }
    }),
  );
  return [(count * 1000) / (performance.now() - begin), (count * 1000) / (cpu() - cpuBegin)];
}

function row(...cells: (string | number)[]): void {
  const [first = '', ...others] = cells.map(String);
  process.stdout.write(`${first.padEnd(14)}${others.map((cell) => cell.padStart(18)).join('')}\n`);
}

row('definitions', 'first list, ms', 'change, ms', 'CPU per change, ms', 'list after, ms', 'built per change');
const sizes = [10, 100, 500];
for (const size of sizes) {
  const sandbox = await startSandbox();
  try {
    for (let index = 0; index < size; index++) {
      await send(sandbox, 'POST', definitions, { body: definitionOf(index).body });
    }
    const last = definitionOf(size - 1);
    const document = `/openapi/v3/apis/${last.group}/v1`;
    await until(
      () => send(sandbox, 'GET', document),
      ({ bytes }) => bytes.includes(`Thing${size - 1}`),
    );
    const firstBegin = performance.now();
    await send(sandbox, 'GET', '/openapi/v3');
    const first = performance.now() - firstBegin;

    const [changes, cpus, lists] = [[] as number[], [] as number[], [] as number[]];
    const before = await built(sandbox);
    const count = 20;
    for (let change = 1; change <= count; change++) {
      const { etag } = await send(sandbox, 'GET', document);
      const [begin, cpuBegin] = [performance.now(), cpu()];
      await send(sandbox, 'PATCH', `${definitions}/${last.name}`, {
        body: { spec: { versions: versionsOf(change) } },
        headers: { 'content-type': 'application/merge-patch+json' },
      });
      await until(
        () => send(sandbox, 'GET', document),
        (answer) => answer.etag !== etag,
      );
      const changed = performance.now();
      changes.push(changed - begin);
      cpus.push(cpu() - cpuBegin);
      await send(sandbox, 'GET', '/openapi/v3');
      lists.push(performance.now() - changed);
    }
    const perChange = ((await built(sandbox)) - before) / count;
    row(
      size,
      first.toFixed(1),
      median(changes).toFixed(1),
      median(cpus).toFixed(1),
      median(lists).toFixed(1),
      perChange.toFixed(1),
    );

    if (size === sizes.at(-1)) {
      const { etag, bytes } = await send(sandbox, 'GET', document);
      process.stdout.write(
        `\na document of ten definitions (${(bytes.length / 1024).toFixed(0)} KiB), once it is built:\n`,
      );
      const accept = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
      const encodeBegin = performance.now();
      const { bytes: encoded } = await send(sandbox, 'GET', document, { headers: { accept } });
      const encode = performance.now() - encodeBegin;
      const rates: [string, [number, number]][] = [
        ['JSON', await rate(() => send(sandbox, 'GET', document))],
        [
          `protobuf (${(encoded.length / 1024).toFixed(0)} KiB)`,
          await rate(() => send(sandbox, 'GET', document, { headers: { accept } })),
        ],
        ['not modified', await rate(() => send(sandbox, 'GET', document, { headers: { 'if-none-match': etag } }))],
        ['the list', await rate(() => send(sandbox, 'GET', '/openapi/v3'))],
      ];
      for (const [what, [perSecond, perCpuSecond]] of rates) {
        const figures = `${perSecond.toFixed(0).padStart(8)} requests/s ${perCpuSecond.toFixed(0).padStart(8)} per CPU second`;
        process.stdout.write(`${what.padEnd(24)} ${figures}\n`);
      }
      process.stdout.write(`first protobuf ${encode.toFixed(1)} ms\n`);
    }
  } finally {
    await sandbox.stop();
  }
}
agent.destroy();
