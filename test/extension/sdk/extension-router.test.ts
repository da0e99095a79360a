import express, { type Express } from 'express';
import supertest from 'supertest';
import { describe, expect, test } from 'vitest';
import { createExtensionRouter, type ExtensionRouterOptions, handler } from '../../../src/extension/index.ts';
import { requestFor } from '../../../src/extension/sdk/testing/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { collectingLog } from '../../server/running.ts';

const root = `/extensions/lab/${hooksGroup}/v1alpha1`;
const path = `${root}/beforeclustercreate/create`;
const body = JSON.stringify(requestFor('BeforeClusterCreate'));
const create = handler('BeforeClusterCreate', { name: 'create', handle: (_, { answer }) => answer.done() });

/** An application with the handlers, and with a route and a body parser of its own. */
function mounted(options: Partial<ExtensionRouterOptions> = {}, isParserFirst = false) {
  const { log, lines } = collectingLog();
  const extension = createExtensionRouter({ handlers: [create], log, ...options });
  const application: Express = express();
  if (isParserFirst) {
    application.use(express.json());
  }
  application.use('/extensions/lab', extension);
  application.use(express.json());
  application.post('/own', (request, response) => void response.json({ own: request.body }));
  application.use((_request, response) => void response.status(404).send('not of the extension'));
  return { application, extension, lines };
}

/** Posts a body as Cluster API does: without a content type. */
const post = (application: Express, to: string, text: string | Buffer) =>
  supertest(application)
    .post(to)
    .type('')
    .serialize((bytes) => bytes as string)
    .send(text);

test('an extension answers in an application of yours, beside its own routes', async () => {
  const { application, lines } = mounted();
  const answer = await post(application, `${path}?timeout=10s`, body);
  expect([answer.status, answer.type, answer.body]).toEqual([
    200,
    'application/json',
    {
      apiVersion: `${hooksGroup}/v1alpha1`,
      kind: 'BeforeClusterCreateResponse',
      status: 'Success',
      retryAfterSeconds: 0,
    },
  ]);
  expect(lines).toMatchObject([{ handler: 'create', result: 'success', msg: 'call answered' }]);
  expect((await post(application, `${root}/discovery`, '{}')).body.handlers).toMatchObject([{ name: 'create' }]);
  expect((await supertest(application).post('/own').send({ a: 1 })).body).toEqual({ own: { a: 1 } });
});

test.each([
  [`${root}/beforeclusterdelete/create`],
  [`${path}/`],
  [path.replace('/extensions/lab', '')],
  [path.replace('beforeclustercreate', 'BeforeClusterCreate')],
])('%s is left to the application', async (other) => {
  const answer = await post(mounted().application, other, body);
  expect([answer.status, answer.text]).toEqual([404, 'not of the extension']);
});

describe('a body', () => {
  test.each([
    ['over the limit', ' '.repeat(1001), {}, 'the body must not be larger than 1000 bytes'],
    ['that is compressed', body, { 'content-encoding': 'gzip' }, 'the body must not be compressed'],
  ])('%s is a Failure', async (_, text, headers, problem) => {
    const { application, lines } = mounted({ limits: { maxBodyBytes: 1_000 } });
    const answer = await post(application, path, text).set(headers);
    expect([answer.status, answer.body.status, answer.body.message]).toEqual([
      200,
      'Failure',
      expect.stringContaining(`error reading request: ${problem}`),
    ]);
    expect(lines).toMatchObject([{ level: 40, msg: 'request refused' }]);
  });

  test('that a parser read before is a Failure that says so, and no caller waits', async () => {
    const answer = await post(mounted({}, true).application, path, body).type('json');
    expect([answer.status, answer.body.message]).toEqual([
      200,
      'error reading request: the body was read before: no other body parser may come first',
    ]);
  });

  test('may be as large as the limit of an extension server, unless it is changed', async () => {
    const padded = Buffer.from(body + ' '.repeat(20 * 1024 * 1024 - body.length));
    expect((await post(mounted().application, path, padded)).body.status).toBe('Success');
  });
});

test('metrics are those of its calls', async () => {
  const { application, extension } = mounted();
  await post(application, path, body);
  expect(await extension.metrics()).toContain(
    'runtime_extension_calls_total{hook="BeforeClusterCreate",handler="create",result="success"} 1\n',
  );
});

test('a stop aborts work in the background, and names what has not ended', async () => {
  let aborted = false;
  const working = handler('BeforeClusterCreate', {
    name: 'create',
    handle: (_, { answer, stopping, waitUntil }) => {
      stopping.addEventListener('abort', () => {
        aborted = true;
      });
      waitUntil(new Promise(() => {}), 'a backup');
      return answer.done();
    },
  });
  const { application, extension } = mounted({ handlers: [working] });
  await post(application, path, body);
  expect([await extension.stop(10), aborted]).toEqual([['a backup'], true]);
});

test('warnings about handlers are logged, and problems thrown', () => {
  const slow = handler('BeforeClusterDelete', {
    name: 'slow',
    timeoutSeconds: 20,
    handle: (_, { answer }) => answer.done(),
  });
  const { extension, lines } = mounted({ handlers: [slow] });
  expect(extension.warnings).toEqual([expect.stringMatching(/timeoutSeconds 20 is more than 10/)]);
  expect(lines).toEqual([{ level: 40, msg: extension.warnings[0] }]);
  expect(() => mounted({ handlers: [create, create] })).toThrow('has the same name');
  expect(() => mounted({ limits: { maxBodyBytes: 0 } })).toThrow('limits.maxBodyBytes: 0 must be');
});
