import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { needs } from '../../support/needs.ts';
import { eventually, send } from '../client.ts';
import { type AggregatedServer, type Answers, apiService, json, startAggregatedServer } from './aggregated-server.ts';

const fixtures = new URL('../../support/fixtures/openapi/', import.meta.url);
const fixture = (name: string) => readFileSync(new URL(name, fixtures));
const apiServices = '/apis/apiregistration.k8s.io/v1/apiservices';
const gadgetsDocument = '/openapi/v3/apis/old.example.com/v1';
const widgetsDocument = '/openapi/v3/apis/lab.example.com/v1';

let sandbox: Sandbox;
let newer: AggregatedServer;
let older: AggregatedServer;
/** Ports of the Services that exist, by name. */
const ports = new Map<string, number>();

const get = (path: string, headers: Record<string, string> = {}) => send(sandbox, 'GET', path, { headers });
/** The listed documents of OpenAPI v3. */
const entries = async () => (await get('/openapi/v3')).json.paths as Record<string, { serverRelativeURL: string }>;

function list(group: string, kind: string, plural: string): JsonObject {
  const verbs = ['get', 'list', 'create', 'delete'];
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: `${group}/v1`,
    resources: [
      {
        name: plural,
        singularName: kind.toLowerCase(),
        namespaced: false,
        kind,
        verbs,
        shortNames: [plural.slice(0, 2)],
      },
      { name: `${plural}/status`, singularName: '', namespaced: false, kind, verbs: ['get'] },
    ],
  };
}

const widgetKind = { group: 'lab.example.com', version: 'v1', kind: 'Widget' };
const widgetsV3: JsonObject = {
  openapi: '3.0.0',
  info: { title: 'widgets', version: '1' },
  paths: {
    '/apis/lab.example.com/v1/widgets/{name}': {
      get: { responses: { 200: { description: 'OK' } }, 'x-kubernetes-group-version-kind': widgetKind },
    },
  },
  components: {
    schemas: {
      'com.example.lab.v1.Widget': {
        type: 'object',
        description: 'a widget',
        properties: { width: { type: 'integer', description: 'how wide' } },
        'x-kubernetes-group-version-kind': [widgetKind],
      },
    },
  },
};

const broken: Answers = (_, response) => {
  response.destroy();
  return true;
};

/** A server of a group, which publishes OpenAPI v3. */
const answersOfNewer: Answers = ({ url, method, body }, response) => {
  if (url === '/apis/lab.example.com/v1') {
    return json(response, list('lab.example.com', 'Widget', 'widgets'));
  }
  if (url === '/openapi/v3') {
    const paths = Object.fromEntries(
      ['apis/lab.example.com/v1', 'api/v1', 'apis/apps/v1'].map((path) => [
        path,
        { serverRelativeURL: `/openapi/v3/${path}?hash=LAB1` },
      ]),
    );
    return json(response, { paths });
  }
  if (url.startsWith('/openapi/v3/apis/lab.example.com/v1')) {
    return json(response, widgetsV3, 200, { etag: '"LAB1"', 'x-own': 'kept' });
  }
  if (!url.startsWith('/apis/lab.example.com/v1/widgets')) {
    return false;
  }
  if (url.includes('watch=true')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"type":"ADDED","object":{}}\n');
    return true;
  }
  const headers = { 'x-own': 'kept', connection: 'x-hop', 'x-hop': 'a' };
  return json(response, { kind: 'Widget', method, body }, method === 'POST' ? 201 : 200, headers);
};

const gadget = {
  kind: 'Gadget',
  apiVersion: 'old.example.com/v1',
  metadata: { name: 'g', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-21T00:00:00Z' },
};

/** A server that publishes only OpenAPI v2. */
const answersOfOlder: Answers = ({ url, headers }, response) => {
  if (url === '/apis/old.example.com/v1') {
    return json(response, list('old.example.com', 'Gadget', 'gadgets'));
  }
  if (url === '/openapi/v2') {
    if (headers['if-none-match'] === '"V2"') {
      response.writeHead(304).end();
    } else {
      response.writeHead(200, { 'content-type': 'application/json', etag: '"V2"' });
      response.end(fixture('aggregated-old-v2.json'));
    }
    return true;
  }
  return url.startsWith('/apis/old.example.com/v1/gadgets')
    ? json(response, { kind: 'GadgetList', apiVersion: 'old.example.com/v1', metadata: {}, items: [gadget] })
    : false;
};

async function conditionOf(name: string): Promise<JsonObject> {
  const { json: object } = await get(`${apiServices}/${name}`);
  const { conditions = [] } = (object.status ?? {}) as { conditions?: JsonObject[] };
  return conditions[0] ?? {};
}

const untilCondition = (name: string, reason: string) =>
  eventually(
    () => conditionOf(name),
    (condition) => condition.reason === reason,
  );

beforeAll(async () => {
  sandbox = await startSandbox({
    resolveService: ({ namespace, name }) => {
      const port = namespace === 'lab' ? ports.get(name) : undefined;
      return port === undefined ? undefined : { host: '127.0.0.1', port, servername: 'localhost' };
    },
    aggregationPace: { checkMs: 100, timeoutMs: 2000 },
  });
  const { json: config } = await get('/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication');
  const data = config.data as Record<string, string>;
  expect(data['requestheader-allowed-names']).toBe('["front-proxy-client"]');
  const ca = data['requestheader-client-ca-file'] as string;
  newer = await startAggregatedServer(ca, answersOfNewer);
  older = await startAggregatedServer(ca, answersOfOlder);
  ports.set('newer', newer.port);
  ports.set('older', older.port);
  const { caBundle } = newer;
  await send(sandbox, 'POST', apiServices, { body: apiService('lab.example.com', 'newer', { caBundle }) });
  await send(sandbox, 'POST', apiServices, {
    body: apiService('old.example.com', 'older', { caBundle: older.caBundle }),
  });
  await untilCondition('v1.lab.example.com', 'Passed');
  await untilCondition('v1.old.example.com', 'Passed');
});

afterEach(() => {
  newer.answers = answersOfNewer;
  older.answers = answersOfOlder;
});

afterAll(async () => {
  await sandbox.stop();
  newer.stop();
  older.stop();
});

describe('APIServices', () => {
  test('are listed in a table as by kubectl', async () => {
    const local = { service: undefined } as unknown as JsonObject;
    await send(sandbox, 'POST', apiServices, { body: apiService('local.example.com', '', local) });
    const { json: table } = await get(apiServices, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const columns = (table.columnDefinitions as JsonObject[]).map(({ name }) => name);
    expect(columns).toEqual(['Name', 'Service', 'Available', 'Age']);
    const rows = (table.rows as { cells: string[] }[]).map(({ cells }) => cells.slice(0, 3));
    expect(rows).toContainEqual(['v1.lab.example.com', 'lab/newer', 'True']);
    expect(rows).toContainEqual(['v1.local.example.com', 'Local', 'Unknown']);
  });

  test.each<[string, JsonObject, string]>([
    ['another name', { metadata: { name: 'v1.other' } }, 'must be `spec.version+\\".\\"+spec.group`'],
    [
      'no priority',
      { spec: { ...(apiService('bad.example.com', 'x').spec as JsonObject), groupPriorityMinimum: 0 } },
      'should be greater than or equal to 1',
    ],
    [
      'a bundle and no verification',
      {
        spec: {
          ...(apiService('bad.example.com', 'x').spec as JsonObject),
          caBundle: 'YQ==',
          insecureSkipTLSVerify: true,
        },
      },
      'may not be true if caBundle is present',
    ],
  ])('with %s are rejected', async (_, parts, message) => {
    const { status, text } = await send(sandbox, 'POST', apiServices, {
      body: { ...apiService('bad.example.com', 'x'), ...parts },
    });
    expect(status).toBe(422);
    expect(JSON.stringify(JSON.parse(text))).toContain(message.replaceAll('\\"', '\\"'));
  });

  test.each<[string, JsonObject, string, RegExp]>([
    ['without a Service', {}, 'ServiceNotFound', /^service\/nothing in "lab" is not present$/],
    [
      'whose server has another certificate',
      { service: { namespace: 'lab', name: 'newer' }, caBundle: '' },
      'FailedDiscoveryCheck',
      /^failing or missing response from https:\/\/127\.0\.0\.1:\d+\/apis\/gone\.example\.com\/v1: .*certificate/,
    ],
    [
      'whose server does not serve it',
      { service: { namespace: 'lab', name: 'newer' }, insecureSkipTLSVerify: true },
      'FailedDiscoveryCheck',
      /bad status from https:\/\/127\.0\.0\.1:\d+\/apis\/gone\.example\.com\/v1: 404$/,
    ],
  ])('%s are not available', async (_, spec, reason, message) => {
    await send(sandbox, 'POST', apiServices, { body: apiService('gone.example.com', 'nothing', spec) });
    const condition = await untilCondition('v1.gone.example.com', reason);
    expect(condition).toMatchObject({ type: 'Available', status: 'False' });
    expect(condition.message).toMatch(message);
    const answer = await get('/apis/gone.example.com/v1/things');
    expect([answer.status, answer.text, answer.headers['content-type']]).toEqual([
      503,
      'service unavailable\n',
      'text/plain; charset=utf-8',
    ]);
    await send(sandbox, 'DELETE', `${apiServices}/v1.gone.example.com`);
    await eventually(
      () => get('/apis/gone.example.com/v1'),
      ({ status }) => status === 404,
    );
  });

  test('become available when their Service appears', async () => {
    await send(sandbox, 'POST', '/api/v1/namespaces', { body: { metadata: { name: 'lab' } } });
    await send(sandbox, 'POST', apiServices, {
      body: apiService('later.example.com', 'later', {
        insecureSkipTLSVerify: true,
        service: { namespace: 'lab', name: 'later', port: newer.port },
      }),
    });
    await untilCondition('v1.later.example.com', 'ServiceNotFound');
    await send(sandbox, 'POST', '/api/v1/namespaces/lab/services', {
      body: { metadata: { name: 'later' }, spec: { ports: [{ port: 443 }] } },
    });
    await untilCondition('v1.later.example.com', 'MissingEndpoints');
    newer.answers = (seen, response) => {
      if (seen.url !== '/apis/later.example.com/v1') {
        return answersOfNewer(seen, response);
      }
      return json(response, list('later.example.com', 'Later', 'laters'));
    };
    await send(sandbox, 'PATCH', '/api/v1/namespaces/lab/services/later', {
      body: { spec: { type: 'ExternalName', externalName: 'localhost' } },
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    await untilCondition('v1.later.example.com', 'Passed');
    expect((await get('/apis/later.example.com/v1')).json).toEqual(list('later.example.com', 'Later', 'laters'));
    newer.answers = answersOfNewer;
    await send(sandbox, 'DELETE', `${apiServices}/v1.later.example.com`);
  });
});

describe('requests to an aggregated server', () => {
  const path = '/apis/lab.example.com/v1/widgets/w?x=1&y=%20';

  test('have the recorded headers', async () => {
    newer.seen.length = 0;
    const answer = await send(sandbox, 'POST', path, {
      body: { a: 'ä' },
      headers: {
        'x-remote-user': 'somebody',
        'x-remote-extra-a': 'b',
        'x-forwarded-for': '10.0.0.1',
        'x-custom': 'kept',
      },
    });
    expect([answer.status, answer.headers['x-own'], answer.headers['x-hop']]).toEqual([201, 'kept', undefined]);
    expect(answer.json).toEqual({ kind: 'Widget', method: 'POST', body: '{"a":"ä"}' });
    const seen = newer.seen.find(({ method }) => method === 'POST');
    expect(seen).toMatchObject({ url: path, client: 'front-proxy-client' });
    const { headers } = seen as { headers: JsonObject };
    expect(headers).toMatchObject({
      'x-remote-user': 'sandbox-admin',
      'x-remote-group': 'system:masters, system:authenticated',
      'x-forwarded-for': '10.0.0.1, 127.0.0.1',
      'x-forwarded-host': new URL(sandbox.url).host,
      'x-forwarded-proto': 'https',
      'x-forwarded-uri': '/apis/lab.example.com/v1/widgets/w',
      'x-custom': 'kept',
    });
    const gone = ['authorization', 'x-remote-extra-a', 'x-remote-uid'];
    expect(gone.filter((name) => name in headers)).toEqual([]);
  });

  test('from the API server itself are the recorded ones', async () => {
    const recorded = fixture('aggregator-requests.jsonl')
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { url: string; headers: Record<string, string> });
    const whom = (url: string) => {
      const { headers } = recorded.find((entry) => entry.url === url) as (typeof recorded)[number];
      return [headers['x-remote-user'], headers['x-remote-group'], headers.accept];
    };
    for (const url of ['/openapi/v3', '/openapi/v2', '/apis/old.example.com/v1']) {
      const seen = older.seen.find((entry) => entry.url === url);
      const { headers } = seen as { headers: JsonObject };
      expect([headers['x-remote-user'], headers['x-remote-group'], headers.accept], url).toEqual(whom(url));
    }
    await eventually(
      async () => older.seen.some(({ headers }) => headers['if-none-match'] === '"V2"'),
      (isAsked) => isAsked,
    );
  });

  test('can be watches, which stream events until the client disconnects', async () => {
    const closed = Promise.withResolvers<void>();
    newer.answers = (seen, response) => {
      if (seen.url.includes('watch=true')) {
        response.on('close', closed.resolve);
      }
      return answersOfNewer(seen, response);
    };
    const call = request(new URL('/apis/lab.example.com/v1/widgets?watch=true', sandbox.url), {
      ca: sandbox.ca,
      headers: { authorization: `Bearer ${sandbox.token}` },
    });
    const line = await new Promise<string>((resolve, reject) => {
      call.on('response', (response) => response.on('data', (chunk: Buffer) => resolve(chunk.toString())));
      call.on('error', reject);
      call.end();
    });
    expect(line).toBe('{"type":"ADDED","object":{}}\n');
    call.on('error', () => {});
    call.destroy();
    await closed.promise;
  });

  test('are repeated on a connection that the server has closed', async () => {
    await get(path);
    newer.closeIdle();
    expect((await get(path)).status).toBe(200);
  });

  test('get a 503 when the server disconnects, and later a 503 without a call', async () => {
    newer.answers = broken;

    const answer = await get(path);
    expect([answer.status, answer.text]).toEqual([
      503,
      expect.stringMatching(/^error trying to reach service: |^service unavailable/),
    ]);
    await untilCondition('v1.lab.example.com', 'FailedDiscoveryCheck');
    expect((await get(path)).text).toBe('service unavailable\n');
    newer.answers = answersOfNewer;
    await untilCondition('v1.lab.example.com', 'Passed');
    expect((await get(path)).status).toBe(200);
  });
});

describe('discovery', () => {
  const entry = (group: string) => ({
    name: group,
    versions: [{ groupVersion: `${group}/v1`, version: 'v1' }],
    preferredVersion: { groupVersion: `${group}/v1`, version: 'v1' },
  });

  test('lists the groups of aggregated servers', async () => {
    const { json: groups } = await get('/apis');
    expect(groups.groups).toEqual(expect.arrayContaining([entry('lab.example.com'), entry('old.example.com')]));
    expect((await get('/apis/old.example.com')).json).toMatchObject(entry('old.example.com'));
    expect((await get('/apis/old.example.com/v1')).json).toEqual(list('old.example.com', 'Gadget', 'gadgets'));
  });

  test('lists their resources in the aggregated document, too', async () => {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { json: document } = await get('/apis', { accept });
    const group = (document.items as { metadata: JsonObject; versions: JsonObject[] }[]).find(
      ({ metadata }) => metadata.name === 'old.example.com',
    );
    const responseKind = { group: 'old.example.com', version: 'v1', kind: 'Gadget' };
    expect(group?.versions).toEqual([
      {
        version: 'v1',
        freshness: 'Current',
        resources: [
          {
            resource: 'gadgets',
            responseKind,
            scope: 'Cluster',
            singularResource: 'gadget',
            verbs: ['get', 'list', 'create', 'delete'],
            shortNames: ['ga'],
            subresources: [{ subresource: 'status', responseKind, verbs: ['get'] }],
          },
        ],
      },
    ]);
  });
});

describe('OpenAPI', () => {
  test('of a server that publishes v3 is listed with its own hash, and passed on when requested', async () => {
    newer.seen.length = 0;
    expect((await entries())['apis/lab.example.com/v1']).toEqual({ serverRelativeURL: `${widgetsDocument}?hash=LAB1` });
    expect(newer.seen.filter(({ url }) => url.startsWith('/openapi/v3/'))).toEqual([]);
    const answer = await get(`${widgetsDocument}?hash=LAB1`);
    expect(answer.json).toEqual(widgetsV3);
    expect([answer.headers.etag, answer.headers['x-own']]).toEqual(['"LAB1"', 'kept']);
    const passed = newer.seen.filter(({ url }) => url.startsWith('/openapi/v3/'));
    expect(passed.map(({ url, headers }) => [url, headers['x-remote-user']])).toEqual([
      [`${widgetsDocument}?hash=LAB1`, 'sandbox-admin'],
    ]);
  });

  test("is limited to the server's own group and version", async () => {
    const paths = await entries();
    expect(JSON.stringify([paths['api/v1'], paths['apis/apps/v1']])).not.toContain('LAB1');
    newer.seen.length = 0;
    const asked = await eventually(
      async () => newer.seen.map(({ url }) => url),
      (urls) => urls.filter((url) => url === '/openapi/v3').length === 2,
    );
    // As recorded: it may publish v2, too.
    expect(asked).toContain('/openapi/v2');
  });

  test('of a server that publishes v2 is converted: the recorded document, in both representations', async () => {
    const text = await get(gadgetsDocument);
    expect(text.json).toEqual(JSON.parse(fixture('aggregated-old-v3.json').toString()));
    const accept = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
    const binary = await get(gadgetsDocument, { accept });
    expect([binary.headers['content-type'], binary.bytes.includes('listGadgets')]).toEqual([
      accept.replace('@', '.'),
      true,
    ]);
    expect(binary.headers.etag).toBe(text.headers.etag);
    const hash = String(text.headers.etag).slice(1, -1);
    expect((await entries())['apis/old.example.com/v1']).toEqual({
      serverRelativeURL: `${gadgetsDocument}?hash=${hash}`,
    });
    expect((await get(gadgetsDocument, { accept: 'text/html' })).status).toBe(406);
    const stale = await get(`${gadgetsDocument}?hash=ABC`);
    expect([stale.status, stale.headers.location]).toEqual([301, `${gadgetsDocument}?hash=${hash}`]);
  });

  test('of a server that is down is kept, and removed with its APIService', async () => {
    const group = 'short.example.com';
    const own = `/apis/${group}/v1/shorts`;
    const paths = Object.fromEntries([own, `/apis/${group}/v1beta1/shorts`, '/api/v1/pods'].map((path) => [path, {}]));
    const v2 = { swagger: '2.0', info: { title: 's', version: '1' }, paths };
    const answers: Answers = ({ url }, response) => {
      if (url === `/apis/${group}/v1`) {
        return json(response, list(group, 'Short', 'shorts'));
      }
      return url === '/openapi/v2' ? json(response, v2) : false;
    };
    older.answers = (seen, response) =>
      seen.url.includes(group) || seen.url === '/openapi/v2' ? answers(seen, response) : answersOfOlder(seen, response);
    await send(sandbox, 'POST', apiServices, { body: apiService(group, 'older', { caBundle: older.caBundle }) });
    await untilCondition(`v1.${group}`, 'Passed');
    const before = await entries();
    expect(before[`apis/${group}/v1`]).toBeDefined();
    newer.answers = broken;
    older.answers = broken;
    await untilCondition(`v1.${group}`, 'FailedDiscoveryCheck');
    await untilCondition('v1.lab.example.com', 'FailedDiscoveryCheck');
    const after = await entries();
    expect([after[`apis/${group}/v1`], after['apis/lab.example.com/v1']]).toEqual([
      before[`apis/${group}/v1`],
      before['apis/lab.example.com/v1'],
    ]);
    // A converted document is available here; one that is passed on is not.
    expect(Object.keys((await get(`/openapi/v3/apis/${group}/v1`)).json.paths as object)).toEqual([own]);
    expect((await get(widgetsDocument)).status).toBe(503);
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const { text } = await get('/apis', { accept });
    expect(text).toContain('"freshness":"Stale","resources":[{"resource":"shorts"');
    await send(sandbox, 'DELETE', `${apiServices}/v1.${group}`);
    await eventually(entries, (paths) => !(`apis/${group}/v1` in paths));
    newer.answers = answersOfNewer;
    older.answers = answersOfOlder;
    await untilCondition('v1.lab.example.com', 'Passed');
    await untilCondition('v1.old.example.com', 'Passed');
  });
});

describe('a malicious or broken server', () => {
  const group = 'hostile.example.com';

  async function withHostile(answers: Answers, check: () => Promise<void>): Promise<void> {
    newer.answers = (seen, response) => {
      const isShared = ['/apis', '/openapi/v2', '/openapi/v3'].includes(seen.url);
      if (seen.url.includes(group) || isShared) {
        return answers(seen, response);
      }
      return answersOfNewer(seen, response);
    };
    await send(sandbox, 'POST', apiServices, { body: apiService(group, 'newer', { caBundle: newer.caBundle }) });
    try {
      await check();
    } finally {
      newer.answers = answersOfNewer;
      await send(sandbox, 'DELETE', `${apiServices}/v1.${group}`);
      await eventually(
        () => get(`/apis/${group}/v1`),
        ({ status }) => status === 404,
      );
    }
  }

  const endless: Answers = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const chunk = Buffer.alloc(256 * 1024, ' ');
    const more = () => {
      while (!response.destroyed && response.write(chunk)) {
        // Until the client is slower.
      }
    };
    response.on('drain', more);
    more();
    return true;
  };

  test('an endless response to the check does not count', async () => {
    await withHostile(endless, async () => {
      const condition = await untilCondition(`v1.${group}`, 'FailedDiscoveryCheck');
      expect(condition.message).toContain('is longer than 1048576 bytes');
    });
  });

  test('an unresponsive server does not affect others', async () => {
    await withHostile(
      () => true,
      async () => {
        const timed = async () => {
          const begin = performance.now();
          expect((await get(`/apis/${group}/v1/x`)).status).toBe(503);
          expect((await get('/apis')).status).toBe(200);
          expect((await get('/openapi/v3')).status).toBe(200);
          expect((await get('/apis/old.example.com/v1/gadgets')).status).toBe(200);
          return performance.now() - begin;
        };
        // A request that waits for it would take two seconds each time; a busy machine is only occasionally slow.
        expect(await eventually(timed, (ms) => ms < 2000)).toBeLessThan(2000);
      },
    );
  });

  test('what is not a response of HTTP is one at once, for clients and for the check', async () => {
    const own = `/apis/${group}/v1`;
    const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
    let [hostileUrl, hostile] = [`${own}/x`, ''];
    await withHostile(
      ({ url }, response) => {
        if (url === hostileUrl) {
          response.socket?.end(hostile);
          return true;
        }
        return json(response, url === own ? { resources: [] } : {});
      },
      async () => {
        await untilCondition(`v1.${group}`, 'Passed');
        for (const [answer, code] of [
          ['HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n', 502],
          ['HTTP/1.1 777 No\r\nContent-Length: 0\r\n\r\n', 502],
          ['hello\r\n\r\n', 503],
          [switching, 502],
        ] as const) {
          hostile = answer;
          expect((await get(hostileUrl)).status, answer).toBe(code);
        }
        const begin = performance.now();
        hostileUrl = own;
        await untilCondition(`v1.${group}`, 'FailedDiscoveryCheck');
        hostileUrl = '';
        await untilCondition(`v1.${group}`, 'Passed');
        expect(performance.now() - begin).toBeLessThan(10_000);
      },
    );
  });

  test('values of types that clients do not expect are dropped', async () => {
    const verbs = ['get', 7, {}];
    const kind = { group: 1, version: null, kind: [] };
    const resources = [
      { name: 5, verbs },
      { name: 'things', verbs, namespaced: 'x', ...kind, shortNames: [{}] },
      { name: 'things/', verbs },
      { name: 'others', verbs: 'x', singularName: 1, kind: {}, categories: {}, more: 1 },
    ];
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    await withHostile(
      ({ url }, response) => json(response, url === `/apis/${group}/v1` ? { resources } : {}),
      async () => {
        await untilCondition(`v1.${group}`, 'Passed');
        const all = (await get('/apis', { accept })).json.items as { metadata: JsonObject; versions: JsonObject[] }[];
        const responseKind = { group, version: 'v1', kind: '' };
        expect(all.find(({ metadata }) => metadata.name === group)?.versions[0]?.resources).toEqual([
          { resource: 'things', responseKind, scope: 'Cluster', singularResource: '', verbs: ['get'] },
          { resource: 'others', responseKind, scope: 'Cluster', singularResource: '', verbs: [] },
        ]);
      },
    );
  });

  test('a document that would grow many times its size is not converted', async () => {
    const schema = {
      properties: Object.fromEntries(Array.from({ length: 8_000 }, (_, index) => [`p${index}`, { type: 'string' }])),
    };
    const produces = Array.from({ length: 50 }, (_, index) => `application/t${index}`);
    const responses = { 200: { description: '', schema } };
    const paths = { [`/apis/${group}/v1/things`]: { get: { produces, responses } } };
    let asked = 0;
    await withHostile(
      ({ url }, response) => {
        if (url === '/openapi/v3') {
          return false;
        }
        if (url === '/openapi/v2') {
          asked++;
          return json(response, { swagger: '2.0', info: { title: 't', version: '1' }, paths });
        }
        return json(response, url === `/apis/${group}/v1` ? { resources: [] } : {});
      },
      async () => {
        await untilCondition(`v1.${group}`, 'Passed');
        expect(asked).toBeGreaterThan(0);
        expect(Object.keys((await get('/openapi/v3')).json.paths as object)).not.toContain(`apis/${group}/v1`);
      },
    );
  });

  test('garbage in place of documents results in none', async () => {
    await withHostile(
      ({ url }, response) =>
        json(
          response,
          url === `/apis/${group}/v1` ? { resources: [1, { name: 'a/b/c' }, { name: ['x'] }] } : { nonsense: true },
        ),
      async () => {
        await untilCondition(`v1.${group}`, 'Passed');
        const paths = (await get('/openapi/v3')).json.paths as object;
        expect(Object.keys(paths)).not.toContain(`apis/${group}/v1`);
        expect(
          (await get('/apis', { accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList' }))
            .status,
        ).toBe(200);
      },
    );
  });
});

describe('kubectl', needs('kubectl'), () => {
  let folder: string;
  const run = promisify(execFile);
  const kubectl = async (...args: string[]) =>
    (
      await run('kubectl', [
        `--kubeconfig=${join(folder, 'kubeconfig')}`,
        `--cache-dir=${join(folder, 'cache')}`,
        ...args,
      ])
    ).stdout;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'aggregation-'));
    writeFileSync(join(folder, 'kubeconfig'), sandbox.kubeconfig);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('gets and explains resources of aggregated servers', async () => {
    // In the tests above the server responds with garbage: that ends once it has been called again.
    const before = newer.seen.length;
    await eventually(
      async () => newer.seen.slice(before).some(({ url }) => url === '/openapi/v3'),
      (isAsked) => isAsked,
    );
    await eventually(entries, (paths) => 'apis/lab.example.com/v1' in paths);
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    await eventually(
      () => get('/apis', { accept }),
      ({ text }) => ['widgets', 'gadgets'].every((plural) => text.includes(`"resource":"${plural}"`)),
    );
    expect(await kubectl('get', 'gadgets')).toMatch(/^NAME +AGE\ng +\S+\n$/);
    expect(await kubectl('explain', 'widgets.width')).toMatch(/FIELD: width <integer>\s[\s\S]*how wide/);
    // The recorded document lacks what kubectl needs to find the kind of a resource.
    const v2 = JSON.parse(fixture('aggregated-old-v2.json').toString()) as { paths: Record<string, JsonObject> };
    const kind = { group: 'old.example.com', version: 'v1', kind: 'Gadget' };
    const operation = { responses: { 200: { description: 'OK' } }, 'x-kubernetes-group-version-kind': kind };
    const path = '/apis/old.example.com/v1/gadgets/{name}';
    v2.paths[path] = { ...v2.paths[path], get: operation };
    older.answers = (seen, response) =>
      seen.url === '/openapi/v2' ? json(response, v2 as unknown as JsonObject) : answersOfOlder(seen, response);
    const { etag } = (await get(gadgetsDocument)).headers;
    await eventually(
      () => get(gadgetsDocument),
      ({ headers }) => headers.etag !== etag,
    );
    expect(await kubectl('explain', 'gadgets.colour')).toMatch(/FIELD: colour <string>/);
    const items = [{ apiVersion: 'old.example.com/v1', kind: 'Gadget', metadata: { name: 'g' }, color: 'red' }];
    writeFileSync(join(folder, 'list'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await expect(kubectl('create', '-f', join(folder, 'list'))).rejects.toThrow(
      'ValidationError(Gadget): unknown field "color" in com.example.old.v1.Gadget',
    );
  });
});
